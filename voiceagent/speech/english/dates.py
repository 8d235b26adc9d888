"""Dates, years and decades."""

import re

from voiceagent.speech.english.numbers import cardinal, ordinal, plural, year
from voiceagent.speech.mapped import Replacement
from voiceagent.speech.rules import numeric, rule

_MONTHS = (
    "January February March April May June July August September October November December"
).split()
_SHORT = {name[:3].lower(): name for name in _MONTHS} | {"sept": "September"}
_MONTH = rf"(?P<month>(?:{'|'.join(_MONTHS)})\b|(?:{'|'.join([*_SHORT])})\b\.?)"
_MONTH_CAPITAL = (
    rf"(?P<month>(?:{'|'.join(_MONTHS)})\b|(?:{'|'.join(key.title() for key in _SHORT)})\b\.?)"
)
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_WEEKDAYS = {
    "Mon": "Monday",
    "Tue": "Tuesday",
    "Tues": "Tuesday",
    "Wed": "Wednesday",
    "Thu": "Thursday",
    "Thur": "Thursday",
    "Thurs": "Thursday",
    "Fri": "Friday",
    "Sat": "Saturday",
    "Sun": "Sunday",
}
_YEAR = r"(?P<year>[12]\d{3}|'\d\d)\b"
_PAST_AND_NEAR = range(1010, 2100)
"""A number of four digits in this range, without a comma, is read as a year."""


def _month_name(text: str) -> str:
    return _SHORT[text.lower().rstrip(".")[:3]]


def _said_year(text: str) -> str:
    return year(int(text)) if len(text) == 4 else cardinal(int(text.strip("'")))


def _month_first(match: re.Match[str]) -> Replacement:
    """``Jan. 15, 2020`` -> ``January fifteenth, twenty twenty``."""
    if not 1 <= int(match["day"]) <= 31 or _is_rather_a_verb(match):
        return None
    said = f"{_month_name(match['month'])} {ordinal(int(match['day']))}"
    return said + (f"{match['comma'] or ''} {_said_year(match['year'])}" if match["year"] else "")


def _days_of_a_month(match: re.Match[str]) -> Replacement:
    """``May 5-7`` -> ``May fifth to seventh``."""
    first, last = int(match["day"]), int(match["last"])
    if not 1 <= first < last <= 31:
        return None
    return f"{_month_name(match['month'])} {ordinal(first)} to {ordinal(last)}"


def _day_first(match: re.Match[str]) -> Replacement:
    """``15 January 2020`` -> ``the fifteenth of January twenty twenty``."""
    if not 1 <= int(match["day"]) <= 31 or _is_rather_a_verb(match):
        return None
    article = match["the"] or "the "
    said = f"{article}{ordinal(int(match['day']))} of {_month_name(match['month'])}"
    return said + (f"{match['comma'] or ''} {_said_year(match['year'])}" if match["year"] else "")


def _is_rather_a_verb(match: re.Match[str]) -> bool:
    """``rule 15 may apply``, ``we march 5 miles``."""
    return match["month"] in ("may", "march", "mar") and not match["year"]


def _month_and_year(match: re.Match[str]) -> Replacement:
    return f"{_month_name(match['month'])} {_said_year(match['year'])}"


def _numeric(match: re.Match[str]) -> Replacement:
    """Month and day in the order that the pattern named them in."""
    month, day = int(match["month"]), int(match["day"])
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    return f"{_MONTHS[month - 1]} {ordinal(day)} {_said_year(match['year'])}"


def _month_and_day(match: re.Match[str]) -> Replacement:
    """``on 3/4``: behind such a word it is a day and no fraction."""
    month, day = int(match["month"]), int(match["day"])
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    return f"{_MONTHS[month - 1]} {ordinal(day)}"


def _numeric_day_first(match: re.Match[str]) -> Replacement:
    month, day = int(match["month"]), int(match["day"])
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    return f"the {ordinal(day)} of {_MONTHS[month - 1]} {_said_year(match['year'])}"


def _decade(match: re.Match[str]) -> Replacement:
    """``1980s`` -> ``nineteen eighties``, ``'90s`` -> ``nineties``."""
    return _decade_name(match["number"])


def _decade_name(number: str) -> str:
    said = year(int(number)) if len(number) == 4 else cardinal(int(number))
    *before, last = said.split()
    return " ".join([*before, plural(last)])


def _decades(match: re.Match[str]) -> Replacement:
    return f"{_decade_name(match['first'])} to {_decade_name(match['second'])}"


def _mid_decade(match: re.Match[str]) -> Replacement:
    return f"{match['part']} {_decade_name(match['number'])}"


def _year_range(match: re.Match[str]) -> Replacement:
    first, second = int(match["first"]), match["second"]
    if match["sign"] == "/" and int(second) != (first + 1) % 100:
        return None
    if first not in _PAST_AND_NEAR or (len(second) == 4 and int(second) not in _PAST_AND_NEAR):
        return None
    return f"{year(first)} to {_said_year(second)}"


def _plain_year(match: re.Match[str]) -> Replacement:
    return year(int(match["year"])) if int(match["year"]) in _PAST_AND_NEAR else None


def _short_month(match: re.Match[str]) -> Replacement:
    stop = "." if match.end() == len(match.string) else ""
    return _month_name(match["month"]) + stop


def _weekdays(match: re.Match[str]) -> Replacement:
    return f"{_WEEKDAYS[match['first']]} to {_WEEKDAYS[match['last']]}"


def _weekday(match: re.Match[str]) -> Replacement:
    stop = "." if match.end() == len(match.string) else ""
    return _WEEKDAYS[match["day"]] + stop


_THEN_YEAR = rf"(?:(?P<comma>,)? {_YEAR})?"
_UNIT_AHEAD = r"(?! ?(?:kg|km|cm|mm|lbs?|oz|mph|kWh|MB|GB|ml|mg)\b)"

RULES = [
    *numeric(
        [
            rule(
                rf"\b{_MONTH_CAPITAL} {_DAY} ?[-–] ?(?P<last>[0-3]?\d)(?:st|nd|rd|th)?\b(?![:.]\d)",
                _days_of_a_month,
            ),
            rule(
                rf"\b{_MONTH}[ -]{_DAY}\b(?![:.]\d)(?:(?P<comma>,)?[ -]{_YEAR})?",
                _month_first,
                re.I,
            ),
            rule(rf"\b(?P<the>[tT]he )?{_DAY}(?: of)? {_MONTH}{_THEN_YEAR}", _day_first, re.I),
            rule(rf"\b{_MONTH},? {_YEAR}", _month_and_year, re.I),
            rule(r"\b(?P<year>[12]\d{3})([-/.])(?P<month>\d{1,2})\2(?P<day>\d{1,2})\b", _numeric),
            rule(r"\b(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4}|\d\d)\b", _numeric),
            rule(r"\b(?P<day>\d{1,2})/(?P<month>\d{1,2})/(?P<year>\d{4})\b", _numeric_day_first),
            rule(r"(?<=\b[Oo]n )(?P<month>\d{1,2})/(?P<day>\d{1,2})(?![\w/]|\.\d)", _month_and_day),
            rule(r"\b(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})\b", _numeric_day_first),
            rule(r"\b(?P<first>[12]\d{3})s[-–](?P<second>(?:[12]\d)?\d0)s\b", _decades),
            rule(
                r"\b(?P<part>[Mm]id|[Ee]arly|[Ll]ate)[- ](?P<number>(?:[12]\d)?\d0)'?s\b",
                _mid_decade,
            ),
            rule(r"(?<![\w.,$€£])(?P<number>[12]\d{2}0)(?: ?s|'s)\b", _decade),
            rule(r"(?<![\w.])['’](?P<number>[1-9]0)s\b", _decade),
            rule(
                rf"(?<![\w.,$€£-])(?P<first>[12]\d{{3}})(?P<sign>[-–/])(?P<second>[12]\d{{3}}|\d\d)(?![\w-]){_UNIT_AHEAD}",
                _year_range,
            ),
            rule(
                r"(?<![\w.,$€£¥₩₹/+=*-])(?<![+=*/-] )(?P<year>\d{4})"
                rf"(?![\w%°/*+=-]|[.,]\d| [/*+=×]){_UNIT_AHEAD}",
                _plain_year,
            ),
        ]
    ),
    rule(rf"\b{_MONTH_CAPITAL}(?<=\.)(?= \d|$)", _short_month),
    rule(
        rf"\b(?P<first>{'|'.join(_WEEKDAYS)})\.? ?[-–] ?(?P<last>{'|'.join(_WEEKDAYS)})\b\.?",
        _weekdays,
    ),
    rule(
        rf"\b(?P<day>{'|'.join(_WEEKDAYS)})\.(?=,|$| \d| at\b| (?:{'|'.join(_MONTHS)}))", _weekday
    ),
]
