"""LaTeX commands by name, before anything else takes their backslashes for Markdown."""

import re
import unicodedata

from voiceagent.speech.english.numbers import cardinal, digits
from voiceagent.speech.mapped import Kept, Replacement, Said
from voiceagent.speech.rules import alternatives, rule

_NAMES = {
    "times": "times",
    "cdot": "times",
    "div": "divided by",
    "pm": "plus or minus",
    "leq": "is at most",
    "le": "is at most",
    "geq": "is at least",
    "ge": "is at least",
    "neq": "is not equal to",
    "approx": "is about",
    "infty": "infinity",
    "sum": "the sum of",
    "int": "the integral of",
    "to": "to",
    "rightarrow": "to",
    "left": "",
    "right": "",
    "quad": "",
    "ldots": "and so on",
    "dots": "and so on",
    **{
        name: name.lower()
        for name in (
            "alpha beta gamma delta epsilon theta lambda mu pi rho sigma tau phi psi omega Gamma "
            "Delta Theta Lambda Pi Sigma Phi Psi Omega sin cos tan log ln exp lim max min"
        ).split()
    },
}


def _command(match: re.Match[str]) -> Replacement:
    return f" {_NAMES[match['name']]} "


def _over(match: re.Match[str]) -> Replacement:
    top, bottom = match.span("top"), match.span("bottom")
    return [top, (" over ", top[1], bottom[0]), bottom]


def _root(match: re.Match[str]) -> Replacement:
    begin, end = match.span("said")
    return [("the square root of ", match.start(), begin), (begin, end)]


def _inner(match: re.Match[str]) -> Replacement:
    return [match.span("said")]


def _base(match: re.Match[str]) -> Replacement:
    """``log₂(8)``, before the small digit becomes a large one."""
    base = f" base {cardinal(int(unicodedata.normalize('NFKC', match['base'])))} of "
    parts: list[Kept | Said] = [(base, *match.span("base"))]
    return [*parts, match.span("of")] if match["of"] else parts


def _masked(match: re.Match[str]) -> Replacement:
    """``****4242``: the end of a number that the rest of is kept back."""
    return digits(match["number"])


def _power(match: re.Match[str]) -> Replacement:
    """``2**8`` is no bold text."""
    return "^"


RULES = [
    rule(r"(?:[*•]{3,}|\b[xX]{4})[ -]?(?P<number>\d{2,4})(?![\d*])", _masked),
    rule(r"(?<=\d)\*\*(?=\d+(?![\d*]))", _power),
    rule(r"(?<=\blog)(?P<base>[₀-₉]+)(?:\((?P<of>[^()\n]{1,30})\))?", _base),
    rule(r"\\[dt]?frac\s*\{(?P<top>[^{}]*)\}\s*\{(?P<bottom>[^{}]*)\}", _over),
    rule(r"\\sqrt\s*\{(?P<said>[^{}]*)\}", _root),
    rule(r"\\(?:text|mathrm|mathbf|mathit|operatorname)\s*\{(?P<said>[^{}]*)\}", _inner),
    rule(rf"\\(?P<name>{alternatives(_NAMES)})(?![a-zA-Z])", _command),
]
