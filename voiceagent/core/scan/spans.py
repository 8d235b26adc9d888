"""Spans: short pieces inside a sentence that no cut may enter. Each function finds one's end.

The answer is an index, ``WAIT`` where more text is needed, or ``NONE`` where there is no such span.
An unclosed span holds the stream back for at most ``LONGEST_SPAN`` characters.
"""

import re

WAIT = -1
"""More text is needed."""
NONE = -2
"""There is no such span here."""
LONGEST_SPAN = 300
"""Precedent: a stray ``<`` stalled LiveKit's tokenizer until the end of the turn."""

_NEWLINE = re.compile(r"[\n\r]")
_BACKTICKS = re.compile("`+")


def _open_end(text: str, at: int, limit: int, *, ended: bool) -> int:
    """WAIT while the closing mark may still come on this line, NONE afterwards."""
    open_line = limit == len(text) and not ended and len(text) - at < LONGEST_SPAN
    return WAIT if open_line else NONE


def _line_end(text: str, at: int) -> int:
    newline = _NEWLINE.search(text, at, at + LONGEST_SPAN)
    return newline.start() if newline else min(len(text), at + LONGEST_SPAN)


def code_end(text: str, at: int, *, ended: bool) -> int:
    """Inline code: a run of backticks up to an equal run on the same line."""
    opening = _BACKTICKS.match(text, at)
    assert opening is not None  # the caller saw a backtick
    length, cursor = opening.end() - at, opening.end()
    limit = _line_end(text, at)
    while (run := _BACKTICKS.search(text, cursor, limit)) is not None:
        if run.end() == len(text) and not ended:
            return WAIT
        if run.end() - run.start() == length:
            return run.end()
        cursor = run.end()
    return _open_end(text, at, limit, ended=ended)


# Inline maths: $x$, $$x$$, \(x\), \[x\]

_AMOUNT = re.compile(r"\$[\d.,]*\d[\d.,]*(?:[ \t]|[-–/%)\]\"'”’!?;:]|[kKmMbB]\b|\w\w|\Z)")
_DOLLAR_CLOSES = re.compile(r"(?<![\s\\$])\$(?![\d$])")


def dollar_end(text: str, at: int, *, ended: bool) -> int:
    """Maths between dollar signs, by Pandoc's rule: no blank inside the signs, no digit after.

    A sum of money ("$5", "$3.50,") is none.
    """
    following = text[at + 1 : at + 2]
    if not following and not ended:
        return WAIT
    if following == "$":
        return _closed_by(text, at, 2, "$$", ended=ended)
    if following.isspace() or not following:
        return NONE
    limit = _line_end(text, at)
    if following.isdigit():
        amount = _AMOUNT.match(text, at)
        if amount and (amount.end() < len(text) or ended):
            return NONE
    closing = _DOLLAR_CLOSES.search(text, at + 2, limit)
    if closing is None:
        return _open_end(text, at, limit, ended=ended)
    if closing.end() == len(text) and not ended:
        return WAIT
    return closing.end()


def backslash_end(text: str, at: int, *, ended: bool) -> int:
    r"""Maths between ``\(`` and ``\)``, or ``\[`` and ``\]``; else the escaped character."""
    following = text[at + 1 : at + 2]
    if following in ("(", "["):
        return _closed_by(text, at, 2, "\\)" if following == "(" else "\\]", ended=ended)
    if not following:
        return NONE if ended else WAIT
    return at + 2 if following in "`*_{}[]()#+-.!$<>\\" else NONE


def _closed_by(text: str, at: int, skip: int, closer: str, *, ended: bool) -> int:
    limit = _line_end(text, at)
    found = text.find(closer, at + skip, limit)
    return found + len(closer) if found >= 0 else _open_end(text, at, limit, ended=ended)


# Links: [text](address "title"), also of a picture

_LINK_TEXT = re.compile(r"\[[^\[\]\n\r]*")
_LINK_TARGET = re.compile(r"\][(][^()\s]*(?:[(][^()\s]*[)][^()\s]*)*(?:[ ]\"[^\"\n\r]*\")?[)]")


def link_end(text: str, at: int, *, ended: bool) -> tuple[int, int]:
    """Where the text of a link ends and where the link does; twice WAIT or NONE."""
    limit = _line_end(text, at)
    words = _LINK_TEXT.match(text, at, limit)
    assert words is not None  # the caller saw the bracket
    close = words.end()
    if close < limit and text[close] == "[":
        return NONE, NONE
    if close < limit and text.startswith("](", close):
        target = _LINK_TARGET.match(text, close, limit)
        if target:
            return close, target.end()
    elif close + 1 < limit or (close + 1 == limit < len(text)):
        return NONE, NONE
    end = _open_end(text, at, limit, ended=ended)
    return end, end


# Tags

_NAME = re.compile(r"<(/?)([A-Za-z][\w:-]{0,31})(?=[\s/>=])")
_NAME_BEGINS = re.compile(r"<(?:/?(?:[A-Za-z][\w:-]{0,31})?|!-?)")
_ATTRIBUTES = re.compile(r"""(?:[^<>"'\n\r]|"[^"\n\r]*"|'[^'\n\r]*')*""")
_AUTOLINK = re.compile(r"<(?:https?|mailto|ftp|tel):[^\s<>]{0,300}(>?)")
VOID = frozenset("br hr img wbr break mark speed volume emotion pause sound sfx bookmark".split())
PAIRS = frozenset(
    """
    spell say-as sub sup phoneme prosody emphasis lang w b i em strong u s a code kbd samp var span
    small mark q cite abbr time math tex whisper soft loud slow fast
    """.split()
)
"""Elements that are short by nature: no cut inside them."""


def tag_end(text: str, at: int, *, ended: bool) -> int:
    """A tag, or a whole short element ("<spell>ann.lee@example.com</spell>")."""
    autolink = _AUTOLINK.match(text, at, at + LONGEST_SPAN)
    if autolink and autolink.group(1):
        return autolink.end()
    if autolink:
        return _open_end(text, at, autolink.end(), ended=ended)
    name = _NAME.match(text, at)
    if name is None:
        begins = _NAME_BEGINS.fullmatch(text, at)
        return WAIT if begins and not ended else NONE
    limit = _line_end(text, at)
    attributes = _ATTRIBUTES.match(text, name.end(), limit)
    close = attributes.end() if attributes else name.end()
    if close == limit or text[close] in "\"'":
        return _open_end(text, at, limit, ended=ended)
    if text[close] != ">":
        return NONE
    short = not name.group(1) and text[close - 1] != "/" and name.group(2).lower() in PAIRS
    if not short:
        return close + 1
    element = _closed_by(text, at, close - at, f"</{name.group(2)}>", ended=ended)
    return close + 1 if element == NONE else element


def void_tag_end(text: str, at: int, *, ended: bool) -> int:
    """A tag that needs no closing one, glued to what stands before it."""
    name = _NAME.match(text, at)
    end = tag_end(text, at, ended=ended)
    if name is None or end < 0 or name.group(1):
        return end if end == WAIT else NONE
    return end if name.group(2).lower() in VOID or text[end - 2] == "/" else NONE
