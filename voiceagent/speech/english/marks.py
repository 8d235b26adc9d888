"""Signs and punctuation: what is said of them, and what only makes a pause."""

import re

from voiceagent.speech.mapped import Replacement
from voiceagent.speech.punctuation import punctuation
from voiceagent.speech.rules import blank, rule

_SIGNS = {
    "&": "and",
    "%": "percent",
    "‰": "per mille",
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


RULES = [
    rule(r"\band/or\b", _and_or),
    rule(
        r"\b(?:[Hh]e/she|[Ss]he/he|[Hh]is/her|[Hh]im/her|[Yy]es/[Nn]o|[Tt]rue/[Ff]alse)\b", _either
    ),
    rule(r"(?<=\b[A-Z])/(?=[A-Z]\b)|(?<=[A-Z]{2})/(?=[A-Z]{2,}\b)", blank),
    rule(r"(?<![\w/])km/h\b", _speed),
    rule(r"(?<=\b[A-G])#(?!\w)", _sharp),
    rule(r"(?<=\w) ?/ ?(?=\w)", _slash),
    rule(
        r"(?<=[A-Za-z])-(?=(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
        r"thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|"
        r"sixty|seventy|eighty|ninety)\b)",
        blank,
    ),
    rule(r"(?P<word>\b[Aa]bout ) ?[~≈] ?", _about),
    *punctuation(_SIGNS),
]
