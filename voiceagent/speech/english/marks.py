"""Signs and punctuation: what is said of them, and what only makes a pause."""

import re

from voiceagent.speech.english.units import PERIODS
from voiceagent.speech.mapped import Replacement
from voiceagent.speech.punctuation import punctuation
from voiceagent.speech.rules import blank, rule

_GREEK = dict(
    zip(
        "αβγδεζηθικλμνξοπρστυφχψωΔΣΩΦΨΓΛΘΠ",
        (
            "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi "
            "rho sigma tau upsilon phi chi psi omega "
            "delta sigma omega phi psi gamma lambda theta pi"
        ).split(),
        strict=True,
    )
)
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
    "∑": "the sum of",
    "∫": "the integral of",
    "∂": "partial",
    "∈": "in",
    "∪": "union",
    "∩": "intersection",
    "∅": "the empty set",
    "⊂": "is a subset of",
    "∀": "for all",
    "∃": "there is",
    "∠": "angle",
    "⊥": "is perpendicular to",
    "∥": "is parallel to",
    "∴": "therefore",
    "∝": "is proportional to",
    "¶": "paragraph",
    **_GREEK,
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


def _sharp(match: re.Match[str]) -> Replacement:
    return " sharp"


def _and_or(match: re.Match[str]) -> Replacement:
    return "and or"


def _heart(match: re.Match[str]) -> Replacement:
    return "love"


def _stars(match: re.Match[str]) -> Replacement:
    """``★★★★☆`` -> ``four out of five stars``, ``4★ hotel`` -> ``4 star hotel``."""
    full, empty = len(match["full"]), len(match["empty"])
    if match["count"]:
        return f"{match['count']} star"
    return f"{full} out of {full + empty} stars" if empty else f"{full} star{'s' * (full > 1)}"


EMOJI_RULES = [
    rule(r"(?<=\bI )[❤♥]\ufe0f?(?= \w)", _heart),
    rule(r"(?P<count>\d)?(?P<full>★+)(?P<empty>☆*)", _stars),
]
"""Of the emoji only these are read out."""


def _towards(match: re.Match[str]) -> Replacement:
    """``x→0``."""
    return " to "


def _per(match: re.Match[str]) -> Replacement:
    """``days/yr``."""
    return f" per {PERIODS[match['per']]}"


def _versus(match: re.Match[str]) -> Replacement:
    """``Roe v. Wade``."""
    return [match.span("one"), (" versus ", match.end("one"), match.end())]


def _joined(match: re.Match[str]) -> Replacement:
    return ""


RULES = [
    rule(r"\band/or\b", _and_or),
    rule(r"(?<=\bTL);(?=DR\b)", _joined),
    rule(r"(?P<one>\b[A-Z][\w'-]+) v\. (?=[A-Z])", _versus),
    rule(r"(?<=\b[a-z]) ?(?:→|->) ?(?=(?:[a-z]|zero|one|infinity|∞)(?!\w))", _towards),
    rule(
        r"(?<=[a-z]s)/(?P<per>yr|mo|wk|hr|min|sec|year|month|week|day|hour|night|person|user)\b",
        _per,
    ),
    rule(
        r"\b(?:[Hh]e/she|[Ss]he/he|[Hh]is/her|[Hh]im/her|[Yy]es/[Nn]o|[Tt]rue/[Ff]alse)\b", _either
    ),
    rule(r"(?<=\bhe)/(?=him\b)|(?<=\bshe)/(?=her\b)|(?<=\bthey)/(?=them\b)", blank),
    rule(r"(?<=\b[A-Z])/(?=[A-Z]\b)|(?<=[A-Z]{2})/(?=[A-Z]{2,}\b)", blank),
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
