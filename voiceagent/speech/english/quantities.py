"""Money, measures, fractions, ranges, ordinals, sums: numbers that count something."""

import re

from voiceagent.speech.english.numbers import cardinal, digits, is_one, number, ordinal, plural
from voiceagent.speech.english.rule import NUMBER, alternatives, rule
from voiceagent.speech.english.units import CURRENCIES, PERIODS, SCALES, UNITS, VULGAR_FRACTIONS
from voiceagent.speech.mapped import Replacement

_SIGNED = rf"(?:(?<![\w.)])[-−])?(?:{NUMBER})"
_SYMBOL = rf"(?:{alternatives(CURRENCIES)})"
_SCALE = rf"(?: ?(?P<scale>{alternatives(SCALES)})\b)?"
_UNIT = rf"(?:{alternatives(UNITS)})"


# Money ---------------------------------------------------------------------------------------


def _money(match: re.Match[str]) -> Replacement:
    """``$3.50`` -> ``three dollars fifty cents``, ``$20/mo`` -> ``twenty dollars per month``."""
    minus = "minus " if match["sign"] else ""
    said = _amount(match["number"], symbol=match["symbol"], scale=match["scale"])
    period = match["period"]
    return minus + said + (f" per {PERIODS.get(period, period)}" if period else "")


def _money_range(match: re.Match[str]) -> Replacement:
    low = number(match["number"])
    return f"{low} to {_amount(match['high'], symbol=match['symbol'], scale=match['scale'])}"


def _amount(text: str, *, symbol: str, scale: str | None) -> str:
    major, minor = CURRENCIES[symbol]
    if scale:
        return f"{number(text)} {SCALES[scale]} {_many(major)}"
    whole, _, decimals = text.replace(",", "").partition(".")
    small = decimals.rstrip("0") if len(decimals) > 2 else decimals
    if not minor or len(small) > 2:
        return f"{number(text)} {major if is_one(text) else _many(major)}"
    units, hundredths = int(whole or 0), int(small.ljust(2, "0")[:2] or 0)
    parts = []
    if units or not hundredths:
        parts.append(f"{cardinal(units)} {major if units == 1 else _many(major)}")
    if hundredths:
        parts.append(f"{cardinal(hundredths)} {minor if hundredths == 1 else _many(minor)}")
    return " ".join(parts)


def _many(name: str) -> str:
    if name in ("yen", "won", "yuan", "pence", "baht"):
        return name
    return "pence" if name == "penny" else plural(name)


# Measures ------------------------------------------------------------------------------------


def _measure(match: re.Match[str]) -> Replacement:
    """``12kg`` -> ``twelve kilograms``, ``2-5lb`` -> ``two to five pounds``."""
    amount = match["number"]
    said = f"{_said(amount)}{_scale_word(match)} {_unit(match['unit'], one=is_one(amount))}"
    if match["low"]:
        said = f"{_said(match['low'])} to {said}"
    if match["per"]:
        said += f" per {_unit(match['per'], one=True)}"
    return said


def _per_unit(match: re.Match[str]) -> Replacement:
    return f"{number(match['number'])} per {_unit(match['unit'], one=True)}"


def _compound(match: re.Match[str]) -> Replacement:
    """``55-millimeter``, ``100-car``: the number is said, the hyphen is not."""
    return f"{number(match['number'])} "


def _unit(text: str, *, one: bool) -> str:
    name = UNITS[text]
    if one or name in ("percent", "hertz", "kilohertz", "megahertz", "gigahertz"):
        return name
    for singular, many in (("foot", "feet"), ("inch", "inches"), ("degree ", "degrees ")):
        if name.startswith(singular):
            return name.replace(singular, many, 1)
    return plural(name)


def _scale_word(match: re.Match[str]) -> str:
    return f" {SCALES[match['scale']]}" if match["scale"] else ""


def _feet_and_inches(match: re.Match[str]) -> Replacement:
    feet = f"{cardinal(int(match['feet']))} {'foot' if match['feet'] == '1' else 'feet'}"
    inches = match["inches"]
    return f"{feet} {number(inches)} {'inch' if inches == '1' else 'inches'}"


def _inches(match: re.Match[str]) -> Replacement:
    """``12"`` where the quotation mark closes nothing."""
    if match.string[: match.start()].count('"') % 2:
        return None
    return f"{number(match['number'])} {'inch' if is_one(match['number']) else 'inches'}"


def _degrees(match: re.Match[str]) -> Replacement:
    scale = {"C": " Celsius", "F": " Fahrenheit", None: ""}[match["scale"]]
    one = is_one(match["number"])
    return f"{_said(match['number'])} degree{'' if one else 's'}{scale}"


# Fractions, ordinals, ranges -----------------------------------------------------------------


def _well_known(match: re.Match[str]) -> Replacement:
    """``24/7``, ``50/50`` and ``9/11`` are no fractions."""
    if match.group() not in ("24/7", "50/50", "9/11"):
        return None
    return f"{cardinal(int(match['left']))} {cardinal(int(match['right']))}"


def _fraction(match: re.Match[str]) -> Replacement:
    """``3/4`` -> ``three quarters``, ``2 1/2`` -> ``two and a half``."""
    top, bottom = int(match["top"].replace(",", "")), int(match["bottom"])
    if bottom < 2 or len(match["bottom"]) > 4:
        return None
    whole = match["whole"]
    if whole and (top, bottom) == (1, 2):
        return f"{number(whole)} and a half"
    said = f"{cardinal(top)} {_parts(bottom, one=top == 1)}"
    return f"{number(whole)} and {said}" if whole else said


def _parts(bottom: int, *, one: bool) -> str:
    if bottom == 2:
        return "half" if one else "halves"
    name = "quarter" if bottom == 4 else ordinal(bottom)
    return name if one else plural(name)


def _vulgar_fraction(match: re.Match[str]) -> Replacement:
    top, bottom = VULGAR_FRACTIONS[match["sign"]]
    if match["whole"]:
        said = "a half" if bottom == 2 else f"{cardinal(top)} {_parts(bottom, one=top == 1)}"
        return f"{number(match['whole'])} and {said}"
    return f"{cardinal(top)} {_parts(bottom, one=top == 1)}"


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
    return f"{_said(match['low'])} to {_said(match['high'])}"


def _said(text: str) -> str:
    return number(text.replace("−", "-"))


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
    parts: list[tuple[int, int] | tuple[str, int, int]] = []
    for token in re.finditer(rf"\s*({_OPERATOR})\s*|[^+*×·/÷=≠≈<>≤≥−–-]+", text):
        begin, end = match.start() + token.start(), match.start() + token.end()
        if token[1] and (parts or token[1] not in "-−–"):
            parts.append((f" {_OPERATORS[token[1]]} ", begin, end))
        elif token[1]:
            parts.append(("minus ", begin, end))
        else:
            parts.append((begin, end))
    return parts


def _product(match: re.Match[str]) -> Replacement:
    word = "times" if match.string[match.end() :].lstrip()[:1] == "=" else "by"
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
    if re.fullmatch(r"0\d+|\d{7,}", bare):
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
    rule(
        rf"(?P<symbol>{_SYMBOL}) ?(?P<number>{NUMBER}) ?[-–] ?{_SYMBOL}?(?P<high>{NUMBER}){_SCALE}"
        r"(?![\w-])",
        _money_range,
    ),
    rule(
        rf"(?P<sign>(?<![\w)])[-−])?(?P<symbol>{_SYMBOL}) ?(?P<number>{NUMBER}){_SCALE}"
        rf"(?: ?/ ?(?P<period>{alternatives(PERIODS)})\b)?",
        _money,
    ),
    rule(
        rf"(?P<sign>(?<![\w.)])[-−])?(?<![\w.,])(?P<number>{NUMBER}){_SCALE} ?(?P<symbol>[€£¥₩₹])"
        r"(?P<period>(?!))?",
        _money,
    ),
    rule(r"(?<!\w)(?P<feet>\d{1,2})['′] ?(?P<inches>\d{1,2}(?:\.\d)?)[\"″]", _feet_and_inches),
    rule(rf"(?<![\w.\"])(?P<number>{NUMBER})[\"″](?!\w)", _inches),
    rule(rf"(?P<number>{_SIGNED}) ?[°º] ?(?P<scale>[CF])?\b", _degrees),
    rule(rf"(?P<number>{_SIGNED}) ?[°º](?P<scale>[CF])?", _degrees),
    rule(
        rf"(?:(?<![\w.,-])(?P<low>{NUMBER}) ?[-–] ?|(?<![\w.,]))(?P<number>{_SIGNED}){_SCALE}[ -]?"
        rf"(?P<unit>{_UNIT})(?: ?/ ?(?P<per>{_UNIT}))?(?![\w²³]|\^)(?:\.(?= [a-z]))?",
        _measure,
    ),
    rule(
        rf"(?<![\w.,])(?P<number>{NUMBER}) ?/ ?(?P<unit>kg|km|min|hr|h|s|GB|MB|day|lb|oz|L|l)\b",
        _per_unit,
    ),
    rule(r"(?<![\w.,/])(?P<left>24|50|9)/(?P<right>7|50|11)(?![\w/]|[.,]\d)", _well_known),
    rule(
        r"(?<![\w.,/])(?:(?P<whole>\d+) )?(?P<top>\d+) ?/ ?(?P<bottom>\d+)"
        r"(?P<ending>(?i:st|nd|rd|ths?|s))?(?![\w/]|[.,]\d|-\d| ?[=+*])",
        _fraction,
    ),
    rule(rf"(?:(?P<whole>\d+) ?)?(?P<sign>[{''.join(VULGAR_FRACTIONS)}])", _vulgar_fraction),
    rule(r"(?<![\w.,])(?P<number>\d{1,3}(?:,\d{3})+|\d+)(?P<ending>(?i:st|nd|rd|th))\b", _ordinal),
    rule(
        rf"(?<![\w.,)(]){_TERM}(?:\s*{_OPERATOR}\s*{_TERM})+(?![\w]|-\w)",
        _equation,
    ),
    rule(rf"(?<![\w.,])(?P<left>{NUMBER}) ?(?P<sign>[x×]) ?(?P<right>{NUMBER})(?!\w)", _product),
    rule(r"(?<=[\w)])(?P<base>)\^?(?P<exponent>(?<=\^)-?\d+|[²³])", _power),
    rule(
        rf"(?<![\w.,/-])(?P<low>{NUMBER}) ?[-–—] ?(?P<high>{NUMBER})(?![\w/-]|[.,]\d)",
        _range,
    ),
    rule(rf"(?<![\w.,])(?P<number>{_SIGNED})-(?=[a-zA-Z]{{3,}})", _compound),
]

PLAIN_NUMBER_RULES = [
    rule(rf"(?<![\w.,]){_SIGNED}(?![\w]|[.,]\d)", _number),
    rule(r"\d+(?:\.\d+)*", _in_a_serial),
]
