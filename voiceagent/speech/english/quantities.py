"""Fractions, ordinals, ranges, sums, and the plain numbers that are left."""

import re

from voiceagent.speech.english.numbers import cardinal, digits, fraction, number, ordinal, parts
from voiceagent.speech.english.rule import NUMBER, SIGNED
from voiceagent.speech.english.units import VULGAR_FRACTIONS
from voiceagent.speech.mapped import Kept, Replacement, Said
from voiceagent.speech.rules import numeric, rule

# Fractions, ordinals, ranges -----------------------------------------------------------------


def _well_known(match: re.Match[str]) -> Replacement:
    """``24/7``, ``50/50`` and ``9/11`` are no fractions."""
    if match.group() not in ("24/7", "50/50", "9/11"):
        return None
    return f"{cardinal(int(match['left']))} {cardinal(int(match['right']))}"


def _minus(match: re.Match[str]) -> Replacement:
    return "minus "


def _fraction(match: re.Match[str]) -> Replacement:
    """``3/4`` -> ``three quarters``, ``2 1/2`` -> ``two and a half``."""
    top, bottom = int(match["top"].replace(",", "")), int(match["bottom"])
    in_a_sum = re.match(r" ?[=+*]", match.string[match.end() :])
    if in_a_sum and (top >= bottom or bottom > 20):
        return None
    return fraction(top, bottom, whole=match["whole"])


def _vulgar_fraction(match: re.Match[str]) -> Replacement:
    top, bottom = VULGAR_FRACTIONS[match["sign"]]
    if match["whole"]:
        said = "a half" if bottom == 2 else f"{cardinal(top)} {parts(bottom, one=top == 1)}"
        return f"{number(match['whole'])} and {said}"
    return f"{cardinal(top)} {parts(bottom, one=top == 1)}"


def _ordinal(match: re.Match[str]) -> Replacement:
    """``23rd`` -> ``twenty third``; a wrong ending (``4rd``) is not an ordinal."""
    count = int(match["number"].replace(",", ""))
    ending = match["ending"].lower()
    right = {1: "st", 2: "nd", 3: "rd"}.get(count % 10, "th")
    right = "th" if count % 100 in (11, 12, 13) else right
    if ending != right:
        said = digits(match["number"]) if count > 99 else cardinal(count)
        return f"{said} {match['ending']}"
    return ordinal(count)


def _range(match: re.Match[str]) -> Replacement:
    return f"{number(match['low'])} to {number(match['high'])}"


def _compound(match: re.Match[str]) -> Replacement:
    """``55-millimeter``, ``100-car``: the number is said, the hyphen is not."""
    return f"{number(match['number'])} "


# Sums ----------------------------------------------------------------------------------------

_OPERATORS = {
    "+": "plus",
    "-": "minus",
    "−": "minus",
    "–": "minus",
    "*": "times",
    "×": "times",
    "·": "times",
    "x": "times",
    "/": "divided by",
    "÷": "divided by",
    "=": "equals",
    "≠": "is not equal to",
    "≈": "is about",
    "<": "is less than",
    ">": "is greater than",
    "≤": "is at most",
    "≥": "is at least",
    "==": "equals",
    "<=": "is at most",
    ">=": "is at least",
    "!=": "is not equal to",
}
_TERM = rf"(?:(?:{NUMBER})[a-z]?[²³]?|[a-zA-Z][²³]?(?:\^\d+)?|\([^()\n]{{1,30}}\))"
_OPERATOR = r"(?:==|<=|>=|!=|[+*×·/÷=≠≈<>≤≥−–-])"


def _equation(match: re.Match[str]) -> Replacement:
    """Terms and operators in turn: in a sum a hyphen is a minus."""
    text = match.group()
    if not re.search(r"[+*×÷=≠≈<>≤≥^²³]", text):
        return None
    parts: list[Kept | Said] = []
    for token in re.finditer(rf"\s*({_OPERATOR})\s*|[^+*×·/÷=≠≈<>≤≥−–!-]+", text):
        begin, end = match.start() + token.start(), match.start() + token.end()
        if token[1] and (parts or token[1] not in "-−–"):
            parts.append((f" {_OPERATORS[token[1]]} ", begin, end))
        elif token[1]:
            parts.append(("minus ", begin, end))
        else:
            parts.append((begin, end))
    return parts


def _function(match: re.Match[str]) -> Replacement:
    return f"{match['name']} of {match['of']}"


def _to(match: re.Match[str]) -> Replacement:
    return " to "


def _factorial(match: re.Match[str]) -> Replacement:
    return " factorial"


def _absolute(match: re.Match[str]) -> Replacement:
    return f"the absolute value of {match['of']}"


def _probability(match: re.Match[str]) -> Replacement:
    return f"P of {match['event']} given {match['given']}"


def _product(match: re.Match[str]) -> Replacement:
    is_sum = match.string[match.end() :].lstrip().startswith(("=", "equals"))
    word = "times" if is_sum else "by"
    return f"{number(match['left'])} {word} {number(match['right'])}"


_POWERS = {"²": " squared", "³": " cubed", "2": " squared", "3": " cubed"}


def _power(match: re.Match[str]) -> Replacement:
    exponent = match["exponent"]
    said = _POWERS.get(exponent) or f" to the power of {number(exponent)}"
    return [match.span("base"), (said, *match.span())]


# Plain numbers -------------------------------------------------------------------------------


def _number(match: re.Match[str]) -> Replacement:
    """What no other rule took: a count, a decimal, or a string of digits that counts nothing."""
    text = match.group().replace("−", "-")
    bare = text.lstrip("-")
    # Millions that are written out end in zeros; other long strings count nothing.
    if re.fullmatch(r"0\d+|\d{7,}", bare) and not re.fullmatch(r"[1-9]\d*000", bare):
        return ("minus " if text != bare else "") + digits(bare)
    return number(text)


def _in_a_serial(match: re.Match[str]) -> Replacement:
    """Digits with letters around them: ``B2A23C`` -> ``B two A twenty three C``."""
    text = match.group()
    if "." in text:
        said = (
            number(text) if text.count(".") == 1 else " point ".join(map(digits, text.split(".")))
        )
    else:
        said = digits(text) if len(text) > 3 or text[0] == "0" < text[1:] else cardinal(int(text))
    before = " " if match.start() and match.string[match.start() - 1].isalpha() else ""
    after = " " if match.string[match.end() : match.end() + 1].isalpha() else ""
    return f"{before}{said}{after}"


RULES = [
    rule(r"(?<=\dst|\dnd|\drd|\dth) ?[-–] ?(?=\d+(?:st|nd|rd|th)\b)", _to),
    rule(r"(?<=\bQ[1-4]) ?[-–] ?(?=Q?[1-4]\b)|(?<=\b[A-Z]\d)–(?=[A-Z]\d)", _to),
    *numeric(
        [
            rule(r"(?<![\w)])[-−](?=\d+/\d+(?![\w/]|[.,]\d|-\d))", _minus),
            rule(r"(?<![\w.,/])(?P<left>24|50|9)/(?P<right>7|50|11)(?![\w/]|[.,]\d)", _well_known),
            rule(
                r"(?<![\w.,/])(?:(?P<whole>\d+) )?(?P<top>\d+) ?/ ?(?P<bottom>\d+)"
                r"(?P<ending>(?i:(?:st|nd|rd|th)s?|s))?(?![\w/]|[.,]\d|-\d)",
                _fraction,
            ),
            rule(
                r"(?<![\w.,])(?P<number>\d{1,3}(?:,\d{3})+|\d+)(?P<ending>(?i:st|nd|rd|th))\b",
                _ordinal,
            ),
        ]
    ),
    rule(rf"(?:(?<!\d)(?P<whole>\d+) ?)?(?P<sign>[{''.join(VULGAR_FRACTIONS)}])", _vulgar_fraction),
    rule(r"(?<=\d)!(?= ?[=+*/−-])", _factorial),
    rule(r"\|(?P<of>\w+)\|(?= ?[=<>+*−-])", _absolute),
    rule(r"\bP\((?P<event>\w+) ?\| ?(?P<given>\w+)\)", _probability),
    rule(r"\b(?P<name>[a-zA-Z])\((?P<of>[a-z])\)", _function),
    rule(rf"(?<![\w.,)(]){_TERM}(?:\s*{_OPERATOR}\s*{_TERM})+(?![\w]|-\w)", _equation),
    rule(r"(?<=[\w)])(?P<base>)\^?(?P<exponent>(?<=\^)-?\d+|[²³])", _power),
    *numeric(
        [
            rule(rf"(?<![\w.,])(?P<left>{NUMBER}) ?[x×] ?(?P<right>{NUMBER})(?!\w)", _product),
            rule(
                rf"(?<![\w.,/-])(?P<low>{NUMBER}) ?[-–—] ?(?P<high>{NUMBER})(?![\w/-]|[.,]\d)",
                _range,
            ),
            rule(rf"(?<![\w.,])(?P<number>{SIGNED})-(?=[a-zA-Z]{{3,}})", _compound),
        ]
    ),
]

PLAIN_NUMBER_RULES = numeric(
    [
        rule(rf"(?<![\w.,]){SIGNED}(?![\w]|[.,]\d)", _number),
        rule(r"\d+(?:\.\d+)*", _in_a_serial),
    ]
)
