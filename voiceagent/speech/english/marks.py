"""Signs and punctuation: what is said of them, and what only makes a pause."""

import re

from voiceagent.speech.english.rule import rule
from voiceagent.speech.mapped import Replacement

_SIGNS = {
    "&": "and",
    "%": "percent",
    "@": "at",
    "$": "dollar",
    "€": "euro",
    "£": "pound",
    "§": "section",
    "°": "degree",
    "º": "degree",
    "+": "plus",
    "=": "equals",
    "×": "times",
    "÷": "divided by",
    "≈": "about",
    "≠": "is not equal to",
    "≤": "at most",
    "≥": "at least",
    "±": "plus or minus",
    "√": "square root of",
    "∞": "infinity",
    "π": "pi",
    "©": "copyright",
    "®": "",
    "™": "",
    "~": "about",
    "^": "to the power of",
    "<": "less than",
    ">": "greater than",
    "#": "hash",
    "*": "asterisk",
    "\\": "backslash",
    "_": "",
    "|": "",
    "¿": "",
    "¡": "",
}


def _about(match: re.Match[str]) -> Replacement:
    return match["word"]


def _sign(match: re.Match[str]) -> Replacement:
    return f" {_SIGNS[match.group()]} "


def _comma(match: re.Match[str]) -> Replacement:
    """A pause that no word stands for."""
    return [(", ", match.start(), match.start())]


def _ellipsis(match: re.Match[str]) -> Replacement:
    """Three dots pause; at the end they end the sentence."""
    rest = match.string[match.end() :].lstrip(" \"'”’)")
    return "." if not rest else ", "


def _opening(match: re.Match[str]) -> Replacement:
    """An aside pauses before its first word, unless it opens the sentence."""
    before = match.string[: match.start()].rstrip()
    return " " if not before or before[-1] in ".!?:;,—(" else _comma(match)


def _closing(match: re.Match[str]) -> Replacement:
    rest = match.string[match.end() :].lstrip()
    return "" if not rest or rest[0] in ".!?:;,)" else _comma(match)


def _slash(match: re.Match[str]) -> Replacement:
    return " slash "


def _either(match: re.Match[str]) -> Replacement:
    return match.group().replace("/", " or ")


def _speed(match: re.Match[str]) -> Replacement:
    return "kilometers per hour"


def _sharp(match: re.Match[str]) -> Replacement:
    return " sharp"


def _and_or(match: re.Match[str]) -> Replacement:
    return "and or"


def _nothing(match: re.Match[str]) -> Replacement:
    return ""


def _hyphen(match: re.Match[str]) -> Replacement:
    return " "


def _first(match: re.Match[str]) -> Replacement:
    return [(match.start(), match.start() + 1)]


def _blank(match: re.Match[str]) -> Replacement:
    return " "


RULES = [
    rule(r"(?:\.[ ]?){2,}\.?|…+", _ellipsis),
    rule(r"\band/or\b", _and_or),
    rule(
        r"\b(?:[Hh]e/she|[Ss]he/he|[Hh]is/her|[Hh]im/her|[Yy]es/[Nn]o|[Tt]rue/[Ff]alse)\b", _either
    ),
    rule(r"(?<=\b[A-Z])/(?=[A-Z]\b)|(?<=[A-Z]{2})/(?=[A-Z]{2,}\b)", _blank),
    rule(r"(?<![\w/])km/h\b", _speed),
    rule(r"(?<=\b[A-G])#(?!\w)", _sharp),
    rule(r"(?<=\w) ?/ ?(?=\w)", _slash),
    # Dashes between words, blank or not, pause; a hyphen inside a word does not.
    rule(r"\s*[—―]\s*|\s+[–-]{1,3}\s+|(?<=[^\W\d])–(?=[^\W\d])|\s*--+\s*", _comma),
    rule(
        r"(?<=[A-Za-z])-(?=(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
        r"thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|"
        r"sixty|seventy|eighty|ninety)\b)",
        _hyphen,
    ),
    rule(r"\s*[(\[{]\s*", _opening),
    rule(r"\s*[)\]}]", _closing),
    rule(r"\s*(?:→|⇒|->|=>)\s*", _comma),
    rule(r"(?P<word>\b[Aa]bout ) ?[~≈] ?", _about),
    rule(f"[{re.escape(''.join(_SIGNS))}]", _sign),
    rule(r"[\"“”„«»‹›`]|(?<!\w)['‘’]|['’](?!\w)", _blank),
    rule(r"[!?]{2,}", _first),
    rule(r"\s+(?=[,.;:!?](?:\s|$))", _nothing),
    rule(r"(?:[,;:]\s*)+(?=[.!?])|(?:,\s*)+(?=[,;:])", _nothing),
    rule(r"^\s*[,;:.]+\s*(?=\w)", _nothing),
    rule(r"(?<=[,.;:!?])(?=[^\W\d])", _blank),
]
