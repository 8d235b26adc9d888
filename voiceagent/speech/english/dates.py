"""Dates, years and decades."""

import re

from voiceagent.speech.english.numbers import cardinal, ordinal, pair, plural, year
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
_DATED = re.compile(
    r"\b(?:(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day|s)?\b|appointment|arriv|"
    r"birthday|book|calendar|check-?in|clos(?:es|ed)\b|conference|dates?\b|deadline|deliver|depart|"
    r"due\b|easter|christmas|halloween|thanksgiving|event|expir|flight|holiday|interview|launch|meet|open(?:s|ed)\b|party|"
    r"reserv|RSVP|sale runs|schedul|starts?\b|submi|this year|next year|wedding|week of)",
    re.I,
)
"""What a text speaks of where "4/5" is a day."""
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
_DAY_OF_MONTH = r"(?<![\w./$,-])(?P<month>\d{1,2})/(?P<day>\d{1,2})"
_PARTS = frozenset("1/2 1/3 2/3 1/4 3/4 1/8 3/8 5/8 7/8 9/10 9/11 10/10".split())
"""Rather parts of something, unless "on" stands before them."""
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
    """``on 3/4``, ``the deadline is 4/5``: where the text speaks of days, it is no fraction."""
    day, written = _day_of_the_year(match["month"], match["day"]), match["written"]
    by = match["by"] and re.search(r"/(?:1|1[1-57-9]|2\d|3[01])$", written)
    speaks_of_days = by or (written not in _PARTS and _DATED.search(match.string))
    if day is None or not (match["on"] or speaks_of_days):
        return None
    begin = match.start("written")
    return [(match.start(), begin), (day, begin, match.end())]


def _days_to_days(match: re.Match[str]) -> Replacement:
    """``11/24-11/27``, ``from 5/1 to 5/15``."""
    first = _day_of_the_year(match["month"], match["day"])
    last = _day_of_the_year(match["last_month"], match["last"])
    parts = match["written"] in _PARTS and match["last_written"] in _PARTS
    joined = match["sign"] in ("to", "and") and not match["from"]
    if first is None or last is None or parts or joined:
        return None
    begin, word = match.start("written"), "and" if match["sign"] == "and" else "to"
    return [(match.start(), begin), (f"{first} {word} {last}", begin, match.end())]


def _day_of_the_year(month: str, day: str) -> str | None:
    if not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):
        return None
    return f"{_MONTHS[int(month) - 1]} {ordinal(int(day))}"


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


def _decade_of_a_life(match: re.Match[str]) -> Replacement:
    """``in the 90s``, ``in her 30s``."""
    return [match.span("before"), (_decade_name(match["number"]), *match.span("number_s"))]


def _short_year(match: re.Match[str]) -> Replacement:
    """``the class of '05``."""
    return pair(int(match["year"]))


def _around_a_year(match: re.Match[str]) -> Replacement:
    """``pre-1990``."""
    return f"{match['part']} {year(int(match['year']))}"


def _decades(match: re.Match[str]) -> Replacement:
    return f"{_decade_name(match['first'])} to {_decade_name(match['second'])}"


def _mid_decade(match: re.Match[str]) -> Replacement:
    return f"{match['part']} {_decade_name(match['number'])}"


def _year_range(match: re.Match[str]) -> Replacement:
    first, second = int(match["first"]), match["second"]
    if match["sign"] == "/" and int(second) % 100 != (first + 1) % 100:
        return None
    if first not in _PAST_AND_NEAR or (len(second) == 4 and int(second) not in _PAST_AND_NEAR):
        return None
    return f"{year(first)} to {_said_year(second)}"


def _plain_year(match: re.Match[str]) -> Replacement:
    return year(int(match["year"])) if int(match["year"]) in _PAST_AND_NEAR else None


def _short_month(match: re.Match[str]) -> Replacement:
    stop = "." if match.end() == len(match.string) else ""
    return _month_name(match["month"]) + stop


def _months(match: re.Match[str]) -> Replacement:
    """``Jan–Mar``."""
    stop = "." if match.group().endswith(".") and match.end() == len(match.string) else ""
    return f"{_month_name(match['month'])} to {_month_name(match['last'])}{stop}"


def _weekdays(match: re.Match[str]) -> Replacement:
    stop = (
        "." if re.search(r"^\w+[^.]+\.$", match.group()) and not match.string[match.end() :] else ""
    )
    word = "and" if match["sign"] in "&/" else "to"
    return f"{_WEEKDAYS[match['first']]} {word} {_WEEKDAYS[match['last']]}{stop}"


def _weekday(match: re.Match[str]) -> Replacement:
    stop = "." if match.end() == len(match.string) else ""
    return _WEEKDAYS[match["day"]] + stop


_THEN_YEAR = rf"(?:(?P<comma>,)? {_YEAR})?"
_UNIT_AHEAD = r"(?! ?(?:kg|km|cm|mm|lbs?|oz|mph|kWh|MB|GB|ml|mg)\b)"

RULES = [
    rule(
        rf"\b{_MONTH_CAPITAL} ?(?:[-–]|to) ?"
        rf"(?P<last>(?:{'|'.join(key.title() for key in _SHORT)})\b\.?)(?=$|[\s,.;:!?)])",
        _months,
    ),
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
            rule(
                rf"(?P<from>\b(?:[Ff]rom|[Bb]etween) )?(?P<written>{_DAY_OF_MONTH}) ?"
                r"(?P<sign>[-–]|to|and|through|until) ?(?P<last_written>(?P<last_month>\d{1,2})/"
                r"(?P<last>\d{1,2}))(?![\w/]|\.\d)",
                _days_to_days,
            ),
            rule(
                r"(?:\b(?:(?P<on>[Oo]n|[Uu]ntil|[Tt]ill|[Ss]ince|[Dd]ue|[Dd]ated)|"
                r"(?P<by>[Bb]y|[Bb]efore|[Aa]fter|[Ff]rom|through|[Ss]tarting|[Bb]eginning)) )?"
                rf"(?P<written>{_DAY_OF_MONTH})"
                r"(?![\w/]|\.\d| (?:of|cup|inch|mile|hour|ton|acre)| ?[+*=×])",
                _month_and_day,
            ),
            rule(r"\b(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})\b", _numeric_day_first),
            rule(r"\b(?P<first>[12]\d{3})s[-–](?P<second>(?:[12]\d)?\d0)s\b", _decades),
            rule(
                r"\b(?P<part>[Mm]id|[Ee]arly|[Ll]ate)[- ](?P<number>(?:[12]\d)?\d0)'?s\b",
                _mid_decade,
            ),
            rule(r"(?<![\w.,$€£])(?P<number>[12]\d{2}0)(?: ?s|'s)\b", _decade),
            rule(r"(?<![\w.])['’](?P<number>[1-9]0)s\b", _decade),
            rule(
                r"(?P<before>\b(?:[Tt]he|[Hh]is|[Hh]er|[Tt]heir|[Mm]y|[Yy]our|[Oo]ur|[Ii]ts) "
                r"(?:early |mid |late )?)"
                r"(?P<number_s>(?P<number>[2-9]0)s)\b",
                _decade_of_a_life,
            ),
            rule(r"(?<![\w.])['’](?P<year>0\d)\b(?!['’\"])", _short_year),
            rule(
                r"\b(?P<part>[Pp]re|[Pp]ost|[Mm]id)-(?P<year>1[1-9]\d\d|20\d\d)\b",
                _around_a_year,
            ),
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
        rf"\b(?P<first>{'|'.join(_WEEKDAYS)})\.? ?(?P<sign>[-–&/]) ?"
        rf"(?P<last>{'|'.join(_WEEKDAYS)})\b\.?",
        _weekdays,
    ),
    rule(
        rf"\b(?P<day>{'|'.join(_WEEKDAYS)})\.(?=,|$| \d| at\b| (?:{'|'.join(_MONTHS)}))", _weekday
    ),
]
