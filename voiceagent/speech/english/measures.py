"""Numbers with a unit."""

import re

from voiceagent.speech.english.numbers import cardinal, fraction, is_one, number, plural
from voiceagent.speech.english.rule import NUMBER, SIGNED
from voiceagent.speech.english.units import PERIODS, SCALE, SCALES, UNITS, VULGAR_FRACTIONS
from voiceagent.speech.mapped import Replacement
from voiceagent.speech.rules import alternatives, numeric, rule

_UNIT = rf"(?:{alternatives(UNITS)})"
_PER = {unit: name for unit, name in UNITS.items() if unit.isalpha() or unit[-1] in "²³"} | PERIODS
_PER_UNIT = rf" ?/ ?(?:(?P<per_number>\d+) ?)?(?P<per>{alternatives(_PER)}|[a-z]{{4,}})(?![\w²³])"
_SIZES = "brisk|easy|full|large|long|mere|new|nice|quick|short|single|small|standard|total|whole"
_PREDICATES = (
    "above|across|after|ago|and|apart|as|at|away|before|below|beyond|by|deep|down|each|every|for|"
    "from|high|if|in|into|is|later|left|less|long|longer|more|of|off|on|or|over|per|so|tall|than|"
    "that|the|thick|to|total|under|up|was|when|wide|with|without"
)
_MEASURED = (
    "bag|battery|block|bottle|box|bulb|charger|dash|delay|drive|engine|film|freestyle|hike|hurdles|interval|jar|lens|"
    "limit|man|monitor|motor|pack|package|race|radius|relay|ride|run|sprint|screen|steak|tank|timer|walk|woman"
)
"""What is called by its size: "5 min. walk"."""


def _describes(match: re.Match[str]) -> bool:
    """``a 5 min. walk``, ``1000 mAh battery``: in the singular before what it describes."""
    before, after = match.string[: match.start()], match.string[match.end() :]
    if re.match(rf" (?:{_MEASURED})\b", after):
        return True
    if not re.match(rf"[ -](?!(?:{_PREDICATES})\b)[A-Za-z]", after):
        return False
    return re.search(rf"\b[Aa]n? (?:(?:{_SIZES}) )?$", before) is not None


def _measure(match: re.Match[str]) -> Replacement:
    """``12kg`` -> ``twelve kilograms``, ``2-5lb`` -> ``two to five pounds``."""
    amount = match["number"]
    one = is_one(amount) or _describes(match)
    more = " plus" if match["more"] else ""
    said = f"{number(amount)}{more}{_scale_word(match)} {_unit(match['unit'], one=one)}"
    if match["low"]:
        said = f"{number(match['low'])} to {said}"
    return said + (_per(match) if match["per"] else "")


def _per(match: re.Match[str]) -> str:
    """``/s`` -> ``per second``, ``/100 km`` -> ``per one hundred kilometers``."""
    name, count = _PER.get(match["per"], match["per"]), match["per_number"]
    if count:
        return f" per {number(count)} {name if is_one(count) else plural(name)}"
    return f" per {name}"


def _part_of_an_inch(match: re.Match[str]) -> Replacement:
    """``5/16"`` where the quotation mark closes nothing."""
    if match.string[: match.start()].count('"') % 2:
        return None
    top, bottom = int(match["top"] or 0), int(match["bottom"] or 0)
    if match["sign"]:
        top, bottom = VULGAR_FRACTIONS[match["sign"]]
    said = fraction(top, bottom, whole=match["whole"])
    return said and f"{said} {'inches' if match['whole'] else 'inch'}"


def _per_one(match: re.Match[str]) -> Replacement:
    """``$5 per lb.``"""
    return _PER[match["per"]]


def _bare_rate(match: re.Match[str]) -> Replacement:
    """``speeds in MB/s``: no number stands before it."""
    return f"{plural(UNITS[match['unit']])}{_per(match)}"


def _per_unit(match: re.Match[str]) -> Replacement:
    return f"{number(match['number'])} per {_unit(match['unit'], one=True)}"


def _unit(text: str, *, one: bool) -> str:
    return UNITS[text] if one else plural(UNITS[text])


def _scale_word(match: re.Match[str]) -> str:
    return f" {SCALES[match['scale']]}" if match["scale"] else ""


def _feet_and_inches(match: re.Match[str]) -> Replacement:
    written, inches = match["feet"] or match["feet_"], match["inches"] or match["inches_"]
    feet = f"{cardinal(int(written))} {'foot' if written == '1' else 'feet'}"
    return f"{feet} {number(inches)} {'inch' if inches == '1' else 'inches'}"


def _inches(match: re.Match[str]) -> Replacement:
    """``12"`` where the quotation mark closes nothing."""
    if match.string[: match.start()].count('"') % 2:
        return None
    return f"{number(match['number'])} {'inch' if is_one(match['number']) else 'inches'}"


def _degrees(match: re.Match[str]) -> Replacement:
    scale = {"C": " Celsius", "F": " Fahrenheit", None: ""}[match["scale"]]
    one = is_one(match["number"]) or re.match(r" (?:angle|turn|view|lens)\b", _after(match))
    return f"{number(match['number'])} degree{'' if one else 's'}{scale}"


def _after(match: re.Match[str]) -> str:
    return match.string[match.end() :]


def _degree_range(match: re.Match[str]) -> Replacement:
    scale = {"C": "Celsius", "F": "Fahrenheit"}[match["scale"]]
    return f"{number(match['low'])} to {number(match['number'])} degrees {scale}"


def _currency_first(match: re.Match[str]) -> Replacement:
    amount = match["number"]
    return f"{number(amount)} {_unit(match['unit'], one=is_one(amount))}"


def _seconds(match: re.Match[str]) -> Replacement:
    """``takes 30 s``: behind words; alone it may be anything."""
    low = f"{number(match['low'])} to " if match["low"] else ""
    one = is_one(match["number"]) or _describes(match)
    return f"{low}{number(match['number'])} second{'' if one else 's'}"


def _by(match: re.Match[str]) -> Replacement:
    """``8.5 x 11 in.``, ``3m x 4m``."""
    end = match.end("measured") if match["measured"] else match.start()
    return [(match.start(), end), (" by ", end, match.end())]


_DIVISIBLE = UNITS.keys() - {"%", "h", "m", "g", "l", "L", "in.", "V", "W"}
"""Units of which a fraction is written; a single letter is rather a name."""


def _part_of_a_unit(match: re.Match[str]) -> Replacement:
    """``1/4 tsp`` -> ``one quarter teaspoon``, ``1 1/2 tsp.`` -> ``one and a half teaspoons``."""
    if match["sign"]:
        top, bottom = VULGAR_FRACTIONS[match["sign"]]
    else:
        top, bottom = int(match["top"]), int(match["bottom"])
    said = fraction(top, bottom, whole=match["whole"])
    return said and f"{said} {_unit(match['unit'], one=not match['whole'])}"


_SIGNS = "".join(VULGAR_FRACTIONS)
RULES = [
    rule(
        rf"(?<![\w.,/])(?:(?P<whole>\d+)(?: |(?=[{_SIGNS}])))?"
        rf"(?:(?P<top>\d{{1,2}})/(?P<bottom>\d{{1,2}})|(?P<sign>[{_SIGNS}]))[\"″](?!\w)",
        _part_of_an_inch,
    ),
    rule(
        rf"(?<![\w.,/])(?:(?P<whole>\d+)(?: |(?=[{_SIGNS}])))?"
        rf"(?:(?P<top>\d{{1,2}})/(?P<bottom>\d{{1,2}})|(?P<sign>[{_SIGNS}]))"
        rf"[ -]?(?P<unit>{alternatives(_DIVISIBLE)})(?![\w/])(?:\.(?= [a-z]))?",
        _part_of_a_unit,
    ),
    *numeric(
        [
            rule(r"(?<![\w.,])(?P<low>(?!))?(?P<number>\d+\.\d+) ?s\b", _seconds),
            rule(
                rf"(?<=[a-z,:(] )(?<!\bthe )(?:(?P<low>{NUMBER}) ?[-–] ?)?(?P<number>{NUMBER})"
                r" s\b(?!['’])",
                _seconds,
            ),
            rule(
                r"(?<=[\d½¼¾\"″'′]) ?[x×] ?(?=[\d.,½¼¾]+(?: ?[x×] ?[\d.,½¼¾]+)? ?"
                r"(?:mm|cm|m|km|ft|in|px|feet|inches|meters|pixels|[\"″'′])(?!\w))"
                r"|(?P<measured>\d ?(?:mm|cm|m|km|ft|in|px)) ?[x×] ?(?=\d)",
                _by,
            ),
            rule(
                r"(?<!\w)(?P<feet>\d{1,2})['′] ?(?P<inches>\d{1,2}(?:\.\d)?)[\"″]"
                r"|(?<!\w)(?P<feet_>\d{1,2}) ?ft\.? (?P<inches_>\d{1,2}(?:\.\d)?) ?in\b(?!\.)",
                _feet_and_inches,
            ),
            rule(rf"(?<![\w.\"])(?P<number>{NUMBER})[\"″](?!\w)", _inches),
            rule(
                rf"(?<![\w.,-])(?P<low>{NUMBER}) ?[-–] ?(?P<number>{NUMBER}) ?[°º] ?"
                r"(?P<scale>[CF])\b",
                _degree_range,
            ),
            rule(rf"(?<!\d)(?P<number>{SIGNED}) ?[°º] ?(?P<scale>[CF])\b", _degrees),
            rule(rf"(?<!\d)(?P<number>{SIGNED}) ?[°º](?P<scale>(?!))?", _degrees),
            rule(
                rf"\b(?P<unit>USD|EUR|GBP|CHF) ?(?P<number>{NUMBER})(?![\w]|[.,]\d)",
                _currency_first,
            ),
            rule(
                rf"(?:(?<![\w.,-])(?P<low>{NUMBER}) ?[-–] ?|(?<![\w.,])(?<![A-Za-z]-))"
                rf"(?P<number>{SIGNED})(?P<more>\+)?{SCALE}[ -]?(?P<unit>{_UNIT})"
                rf"(?:{_PER_UNIT})?(?![\w²³]|\^)"
                r"(?:\.(?= [a-z]| \d+ ?(?:min|sec|in|oz)s?\b))?",
                _measure,
            ),
            rule(
                rf"(?<![\w.,])(?P<number>{NUMBER}) ?/ ?"
                r"(?P<unit>kg|km|min|hr|h|s|GB|MB|day|lb|oz|L|l)\b",
                _per_unit,
            ),
        ]
    ),
    rule(
        r"(?<=\bper )(?P<per>lb|kg|km|oz|hr|yr|wk|mo|min|sec|gal|mi|sq ft)\b"
        r"(?:\.(?=[ ,;:.!?)]))?",
        _per_one,
    ),
    rule(rf"(?<![\w/])(?P<unit>km|m|mi|g|kg|mg|[kMG]B|[MG]b){_PER_UNIT}", _bare_rate),
]
