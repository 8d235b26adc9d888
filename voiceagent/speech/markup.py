"""Marks that are for the eye: Markdown, HTML, emoji. They go, and what they wrap stays."""

import html
import re
import unicodedata
from collections.abc import Callable

from voiceagent.speech.mapped import Kept, Mapped, Replacement, Rule, Said


def strip_formula_borders(mapped: Mapped) -> None:
    """Takes away what sets a formula off: ``$...$``, ``$$``, ``\\(`` and the like."""
    mapped.apply(_FORMULA_BORDERS)


def strip_markup(mapped: Mapped) -> None:
    """Takes the marks away, and ends the lines that ended without a mark of their own."""
    mapped.apply(_RULES)


def _inner(match: re.Match[str]) -> Replacement:
    """Only the group ``said`` of the match stays."""
    return [match.span("said")]


def _nothing(match: re.Match[str]) -> Replacement:
    return ""


def _blank(match: re.Match[str]) -> Replacement:
    return " "


def _entity(match: re.Match[str]) -> Replacement:
    character = html.unescape(match.group())
    return None if character == match.group() else character


def _line(match: re.Match[str]) -> Replacement:
    """A heading or a list item is a sentence of its own."""
    begin, end = match.span("said")
    parts: list[Kept | Said] = [(begin, end)]
    if "number" in match.groupdict():
        number = match.span("number")
        parts = [number, (", ", number[1], number[1]), *parts]
    if not _ends_with_mark(match.group("said")):
        parts.append((".", end, end))
    return parts


def _table_row(match: re.Match[str]) -> Replacement:
    parts: list[Kept | Said] = []
    for cell in re.finditer(r"[^|\s](?:[^|\n]*[^|\s])?", match.group()):
        begin, end = match.start() + cell.start(), match.start() + cell.end()
        parts += [(begin, end), (", ", end, end)]
    return [*parts[:-1], (".", end, end)] if parts else ""


def _full_stop(match: re.Match[str]) -> Replacement:
    return [(". ", match.start(), match.start())]


def _ends_with_mark(text: str) -> bool:
    return text.rstrip(" \t\"'”’)*_`")[-1:] in tuple(".!?:;,…。！？")


_EMOJI = (
    "[\U0001f000-\U0001faff\U00002600-\U000026ff\U00002700-\U000027bf\U00002b00-\U00002bff"
    "\U0000231a\U0000231b\U000023e9-\U000023fa\U0000fe0f\U0000200d\U000020e3\U000e0020-\U000e007f]+"
)


def _rule(pattern: str, say: Callable[[re.Match[str]], Replacement], flags: int = 0) -> Rule:
    return Rule(re.compile(pattern, flags), say)


_FORMULA_BORDERS = [
    _rule(r"\$\$|\\[\[\]()]", _blank),
    _rule(
        r"(?<![\w$])\$(?=\S)(?P<said>[^$\n]*[\\^_={}][^$\n]*|[a-zA-Z])(?<=\S)\$(?![\w$])",
        _inner,
    ),
]


def _plain(match: re.Match[str]) -> Replacement:
    """``①``, ``𝐁``, ``ﬁ``, ``５``: dressed letters and digits as the plain ones."""
    plain = unicodedata.normalize("NFKC", match.group())
    return f" {plain} " if "\u2460" <= match.group() <= "\u24ff" else plain


_UNHEARD = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]+"
"""Control characters and directions: nothing to hear, and a NUL stops a phonemizer."""
_DRESSED = (
    "[\u2080-\u2089\u2160-\u2188\u2460-\u24ff\ufb00-\ufb06\uff10-\uff19\uff21-\uff3a\uff41-\uff5a"
    "\U0001d400-\U0001d7ff]"
)

_RULES = [
    _rule(_UNHEARD, _nothing),
    _rule(_DRESSED, _plain),
    # Fenced code is committed as silent; where a whole fence comes in, it is passed over.
    _rule(r"^[ \t]*(```|~~~).*?^[ \t]*\1[ \t]*$", _nothing, re.M | re.S),
    _rule(r"<!--.*?-->", _nothing, re.S),
    _rule(
        r"!?\[(?P<said>[^\]\n]*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?\)", _inner
    ),
    _rule(r"\[\^[^\]\s]+\]", _nothing),
    _rule(r"\[(?P<said>[^\]\n]+)\]\[[^\]\n]*\]", _inner),
    _rule(r"<(?P<said>(?:https?://|mailto:)?[^\s<>@]+(?:@|\.)[^\s<>]+)>", _inner),
    _rule(r"</?[A-Za-z][\w:-]*(?:\s[^<>\n]{0,200})?/?>", _blank),
    _rule(r"&(?:[a-z]+|#\d+|#x[0-9a-f]+);", _entity, re.I),
    # Blocks, by their first character on the line.
    _rule(r"^[ \t]*\|?[ \t]*:?-{3,}:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$", _nothing, re.M),
    _rule(r"^[ \t]*([-*_])[ \t]*(?:\1[ \t]*){2,}$", _nothing, re.M),
    _rule(r"^[ \t]*\|[^\n]*\|[ \t]*$", _table_row, re.M),
    _rule(r"^[ \t]*(?:>[ \t]?)+(?<!>)(?=\d)|^[ \t]*(?:>[ \t]?)+(?![\d=])", _nothing, re.M),
    _rule(r"^[ \t]*#{1,6}[ \t]+(?P<said>[^\n]*?)[ \t]*#*[ \t]*$", _line, re.M),
    _rule(r"^[ \t]*[-*+•‣◦–][ \t]+(?:\[[ xX]\][ \t]+)?(?P<said>[^\n]+?)[ \t]*$", _line, re.M),
    _rule(r"^[ \t]*(?P<number>\d{1,3})[.)][ \t]+(?P<said>[^\n]+?)[ \t]*$", _line, re.M),
    # Inline marks; a mark that the segment cut off from its partner goes as well.
    _rule(r"`+(?P<said>[^`\n]+)`+", _inner),
    _rule(r"\\(?P<said>[\\`*_{}\[\]()#+.!|<>~$-])", _inner),
    _rule(r"(?<![\w*])\*{1,3}(?=\S)(?P<said>[^*\n]+?)(?<=\S)\*{1,3}(?![\w*])", _inner),
    _rule(r"(?<![\w_])_{1,3}(?=\S)(?P<said>[^\n]+?)(?<=\S)_{1,3}(?![\w_])", _inner),
    _rule(r"~~(?P<said>[^~\n]+)~~", _inner),
    _rule(
        r"\*\*+|__+|~~+|(?<!\S)[*_]+(?=\w)|(?<=[\w.,;:!?])[*_]+(?!\S)|(?<=\w)\*(?=[.,;:!?])",
        _nothing,
    ),
    _rule(r"``|`", _nothing),
    _rule(_EMOJI, _blank),
    _rule(r"(?<![\w(])(?:[:;]['’]?-?[()DPp|]+|<3+|\^_*\^)(?!\w)", _blank),
    # A blank line ends a sentence; any other line break is a blank.
    _rule(r"(?<=[^\s.!?:;,…])[ \t]*\n[ \t]*\n\s*(?=\S)", _full_stop),
]
