"""Numbers with a unit."""

import re

from voiceagent.speech.english.numbers import cardinal, fraction, is_one, number, plural
from voiceagent.speech.english.rule import NUMBER, SIGNED
from voiceagent.speech.english.units import SCALE, SCALES, UNITS
from voiceagent.speech.mapped import Replacement
from voiceagent.speech.rules import alternatives, numeric, rule

_UNIT = rf"(?:{alternatives(UNITS)})"


def _measure(match: re.Match[str]) -> Replacement:
    """``12kg`` -> ``twelve kilograms``, ``2-5lb`` -> ``two to five pounds``."""
    amount = match["number"]
    said = f"{number(amount)}{_scale_word(match)} {_unit(match['unit'], one=is_one(amount))}"
    if match["low"]:
        said = f"{number(match['low'])} to {said}"
    if match["per"]:
        said += f" per {_unit(match['per'], one=True)}"
    return said


def _per_unit(match: re.Match[str]) -> Replacement:
    return f"{number(match['number'])} per {_unit(match['unit'], one=True)}"


def _unit(text: str, *, one: bool) -> str:
    name = UNITS[text]
    if one or name in ("percent", "hertz", "kilohertz", "megahertz", "gigahertz"):
        return name
    for singular, many in (
        ("square foot", "square feet"),
        ("foot", "feet"),
        ("inch", "inches"),
        ("degree ", "degrees "),
    ):
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
    return f"{number(match['number'])} degree{'' if one else 's'}{scale}"


def _degree_range(match: re.Match[str]) -> Replacement:
    scale = {"C": "Celsius", "F": "Fahrenheit"}[match["scale"]]
    return f"{number(match['low'])} to {number(match['number'])} degrees {scale}"


def _currency_first(match: re.Match[str]) -> Replacement:
    amount = match["number"]
    return f"{number(amount)} {_unit(match['unit'], one=is_one(amount))}"


def _seconds(match: re.Match[str]) -> Replacement:
    return f"{number(match['number'])} seconds"


_DIVISIBLE = UNITS.keys() - {"%", "h", "m", "g", "l", "L", "in.", "V", "W"}
"""Units of which a fraction is written; a single letter is rather a name."""


def _part_of_a_unit(match: re.Match[str]) -> Replacement:
    """``1/4 tsp`` -> ``one quarter teaspoon``, ``1 1/2 tsp.`` -> ``one and a half teaspoons``."""
    said = fraction(int(match["top"]), int(match["bottom"]), whole=match["whole"])
    return said and f"{said} {_unit(match['unit'], one=not match['whole'])}"


RULES = numeric(
    [
        rule(
            r"(?<![\w.,/])(?:(?P<whole>\d+) )?(?P<top>\d{1,2})/(?P<bottom>\d{1,2})[ -]?"
            rf"(?P<unit>{alternatives(_DIVISIBLE)})"
            r"(?![\w/])(?:\.(?= [a-z]))?",
            _part_of_a_unit,
        ),
        rule(r"(?<![\w.,])(?P<number>\d+\.\d+) ?s\b", _seconds),
        rule(r"(?<!\w)(?P<feet>\d{1,2})['′] ?(?P<inches>\d{1,2}(?:\.\d)?)[\"″]", _feet_and_inches),
        rule(rf"(?<![\w.\"])(?P<number>{NUMBER})[\"″](?!\w)", _inches),
        rule(
            rf"(?<![\w.,-])(?P<low>{NUMBER}) ?[-–] ?(?P<number>{NUMBER}) ?[°º] ?(?P<scale>[CF])\b",
            _degree_range,
        ),
        rule(rf"(?P<number>{SIGNED}) ?[°º] ?(?P<scale>[CF])\b", _degrees),
        rule(rf"(?P<number>{SIGNED}) ?[°º](?P<scale>(?!))?", _degrees),
        rule(rf"\b(?P<unit>USD|EUR|GBP|CHF) ?(?P<number>{NUMBER})(?![\w]|[.,]\d)", _currency_first),
        rule(
            rf"(?:(?<![\w.,-])(?P<low>{NUMBER}) ?[-–] ?|(?<![\w.,]))(?P<number>{SIGNED}){SCALE}"
            rf"[ -]?(?P<unit>{_UNIT})(?: ?/ ?(?P<per>{_UNIT}))?(?![\w²³]|\^)(?:\.(?= [a-z]))?",
            _measure,
        ),
        rule(
            rf"(?<![\w.,])(?P<number>{NUMBER}) ?/ ?"
            r"(?P<unit>kg|km|min|hr|h|s|GB|MB|day|lb|oz|L|l)\b",
            _per_unit,
        ),
    ]
)
