"""German dates, years and times of day."""

import re

from voiceagent.speech.german.numbers import cardinal, ordinal, year
from voiceagent.speech.mapped import Replacement
from voiceagent.speech.rules import alternatives, numeric, rule

MONTHS = (
    "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"
).split()
_SHORT = {f"{name[:3]}.": name for name in MONTHS if len(name) > 3} | {"Sept.": "September"}
_NAMES = {name: name for name in MONTHS} | _SHORT
_MONTH = rf"(?P<month>{alternatives(_NAMES)})"
_SHORT_DAY = "Mo|Di|Mi|Do|Fr|Sa|So"
_WEEKDAYS = {
    f"{name[:2]}.": name
    for name in "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag".split()
}
_YEAR = r"(?P<year>[12]\d{3}|\d\d)"
_BENT = "am vom zum beim im den dem des der seit bis ab dieses jedes".split()
"""Behind these a day ends in -en: "am dritten Mai", "den dritten Mai"."""
_BEFORE = rf"(?:(?P<before>\b(?i:{alternatives(_BENT)}|die|der|das|,)) )?"


_COUNTED = {
    **dict.fromkeys("Klasse Etage Liga Bundesliga Runde Halbzeit Auflage Staffel".split(), "e"),
    **dict.fromkeys("Stock Platz Tag Weltkrieg Geburtstag Advent Akt Satz".split(), "er"),
    **dict.fromkeys("Mal Kapitel Semester Quartal Jahrhundert Obergeschoss".split(), "es"),
}
"""What ordinals stand before, with the ending that they take without an article."""


def ending_after(before: str | None) -> str:
    """The ending of an ordinal behind an article or a preposition; -er where none stands."""
    word = (before or "").lower()
    if word in ("der", "die", "das"):
        return "e"
    return "en" if word else "er"


def _day(day: str, before: str | None) -> str:
    return ordinal(int(day), ending_after(before))


def _is_date(day: str, month: int) -> bool:
    return 1 <= int(day) <= 31 and 1 <= month <= 12


def _said(match: re.Match[str], month: str, *, begin: int) -> Replacement:
    """Day, month and year of the match, behind what stands before them."""
    said = f"{_day(match['day'], match['before'])} {month}"
    if match["year"]:
        said += f" {year(int(match['year']))}" if len(match["year"]) == 4 else ""
        said += f" {cardinal(int(match['year']))}" if len(match["year"]) == 2 else ""
    return [(match.start(), begin), (said, begin, match.end())]


def _date(match: re.Match[str]) -> Replacement:
    """``am 3. Mai 1990`` -> ``am dritten Mai neunzehnhundertneunzig``."""
    month = _NAMES[match["month"]]
    if not _is_date(match["day"], 1):
        return None
    return _said(match, month, begin=match.start("day"))


def _numeric_date(match: re.Match[str]) -> Replacement:
    """``am 03.10.1990``, ``bis 3.10.``."""
    month = int(match["month"])
    if not _is_date(match["day"], month):
        return None
    return _said(match, MONTHS[month - 1], begin=match.start("day"))


def _iso_date(match: re.Match[str]) -> Replacement:
    month = int(match["month"])
    if not _is_date(match["day"], month):
        return None
    return _said(match, MONTHS[month - 1], begin=match.start("year"))


def _days(match: re.Match[str]) -> Replacement:
    """``3.-5. Mai`` -> ``dritter bis fünfter Mai``."""
    ending = ending_after(match["before"])
    first, last = (ordinal(int(match[name]), ending) for name in ("first", "last"))
    begin = match.start("first")
    said = f"{first} bis {last} {_NAMES[match['month']]}"
    return [(match.start(), begin), (said, begin, match.end())]


def _counted(match: re.Match[str]) -> Replacement:
    """``7. Klasse`` at the beginning of a line is no item of a list."""
    return ordinal(int(match["number"]), _COUNTED[match["noun"]]) + " "


def _short_month(match: re.Match[str]) -> Replacement:
    return _SHORT[match.group()]


def _weekday(match: re.Match[str]) -> Replacement:
    return _WEEKDAYS[match.group()]


def _weekdays(match: re.Match[str]) -> Replacement:
    """``Mo–Fr`` -> ``Montag bis Freitag``, ``Sa./So.`` -> ``Samstag und Sonntag``."""
    sign = match["sign"]
    word = sign if sign.isalpha() else "und" if sign in "/+&" else "bis"
    return f"{_WEEKDAYS[match['first'] + '.']} {word} {_WEEKDAYS[match['last'] + '.']}"


def _months(match: re.Match[str]) -> Replacement:
    """``Jan.–März``."""
    return f"{_NAMES[match['month']]} bis {_NAMES[match['last']]}"


def _decade(match: re.Match[str]) -> Replacement:
    """``die 1990er`` -> ``die neunzehnhundertneunziger``."""
    text = match["number"]
    return f"{year(int(text)) if len(text) == 4 else cardinal(int(text))}er"


def _years(match: re.Match[str]) -> Replacement:
    first, last = int(match["first"]), match["last"]
    if not 1100 <= first <= 2100:
        return None
    said = year(int(last)) if len(last) == 4 else cardinal(int(last))
    return f"{year(first)} {'bis ' if match['sign'] != '/' else ''}{said}"


def _plain_year(match: re.Match[str]) -> Replacement:
    return year(int(match.group()))


# Times ----------------------------------------------------------------------------------------


def _clock(hour: str, minute: str | None, second: str | None = None) -> str:
    said = f"{cardinal(int(hour), one='ein')} Uhr"
    if minute and (int(minute) or second):
        said += f" {cardinal(int(minute))}"
    if second:
        said += f" und {cardinal(int(second), one='eine')} Sekunden"
    return said


def _time(match: re.Match[str]) -> Replacement:
    """``14:30 Uhr``, ``8:05``, ``8 Uhr``."""
    if int(match["hour"]) > 24 or int(match["minute"] or 0) > 59:
        return None
    return _clock(match["hour"], match["minute"], match.groupdict().get("second"))


def _times(match: re.Match[str]) -> Replacement:
    """``9-17 Uhr``, ``9:30–11:00 Uhr``."""
    if int(match["hour"]) > 24 or int(match["until"]) > 24:
        return None
    first = _clock(match["hour"], match["minute"])
    if not match["minute"] and not match["until_minute"]:
        first = first.removesuffix(" Uhr")
    return f"{first} bis {_clock(match['until'], match['until_minute'])}"


BEFORE_MARKUP = numeric(
    [
        rule(
            rf"^(?P<number>\d{{1,3}})\. (?=(?P<noun>{alternatives(_COUNTED)})\b)",
            _counted,
            re.MULTILINE,
        ),
        rule(
            rf"{_BEFORE}\b(?P<first>[0-3]?\d)\. ?(?:[-–]|bis) ?(?P<last>[0-3]?\d)\. ?{_MONTH}",
            _days,
        ),
        rule(rf"{_BEFORE}\b(?P<day>[0-3]?\d)\. ?{_MONTH}(?: {_YEAR}\b)?", _date),
    ]
)
"""A line that begins with "3. Mai" is no item of a list."""

RULES = [
    *numeric(
        [
            *BEFORE_MARKUP,
            rule(
                rf"{_BEFORE}(?<![\d.])(?P<day>[0-3]?\d)\.(?P<month>[01]?\d)\.{_YEAR}(?![\w.]\d)\b",
                _numeric_date,
            ),
            rule(
                r"(?P<before>\b(?i:am|vom|zum|bis|ab|seit|den|der)) (?P<day>[0-3]?\d)"
                r"\.(?P<month>[01]?\d)\.(?P<year>)(?=\W|$)",
                _numeric_date,
            ),
            rule(
                r"(?P<before>(?<=[MDFS][oira]\.)|(?<=tag)|(?<=[Mm]ittwoch)),? (?P<day>[0-3]?\d)"
                r"\.(?P<month>[01]?\d)\.(?P<year>)(?=\W|$)",
                _numeric_date,
            ),
            rule(
                rf"{_BEFORE}\b(?P<year>[12]\d{{3}})-(?P<month>[01]\d)-(?P<day>[0-3]\d)\b",
                _iso_date,
            ),
            rule(
                r"(?<![\w:.,])(?P<hour>\d{1,2})(?:[:.](?P<minute>\d\d))? ?[-–] ?"
                r"(?P<until>\d{1,2})(?:[:.](?P<until_minute>\d\d))? ?Uhr\b",
                _times,
            ),
            rule(
                r"(?<![\w:.,])(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d))?"
                r"(?: ?Uhr\b| ?h\b)?(?![\d:])",
                _time,
            ),
            rule(r"(?<![\w:.,])(?P<hour>\d{1,2})(?:\.(?P<minute>\d\d))? ?Uhr\b", _time),
            rule(r"\b(?P<number>[12]\d\d0|[1-9]0)er\b", _decade),
            rule(
                r"(?<![\w.,])(?P<first>[12]\d{3}) ?(?P<sign>[-–/]) ?(?P<last>[12]\d{3}|\d\d)(?!\w)",
                _years,
            ),
            rule(
                r"(?<![\w.,€$])1[1-9]\d\d(?![\w%]|[.,]\d| ?(?:€|%|EUR|Euro|[kcm]?m|k?g|l|Meter)\b)",
                _plain_year,
            ),
        ]
    ),
    rule(rf"\b(?:{alternatives(_SHORT)})(?= \d|$)", _short_month),
    rule(
        rf"\b(?P<first>{_SHORT_DAY})\.? ?(?P<sign>[-–/+&]) ?(?P<last>{_SHORT_DAY})\b\.?", _weekdays
    ),
    rule(
        rf"\b(?P<first>{_SHORT_DAY})\. (?P<sign>und|bis|oder) (?P<last>{_SHORT_DAY})\.", _weekdays
    ),
    rule(rf"\b{_MONTH} ?[-–] ?(?P<last>{alternatives(_NAMES)})(?!\w)", _months),
    rule(rf"\b(?:{alternatives(_WEEKDAYS)})(?=,? ?(?:den )?\d|, |[-–])", _weekday),
]
