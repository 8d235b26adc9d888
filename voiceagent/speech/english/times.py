"""Times of day and durations written with colons."""

import re

from voiceagent.speech.english.numbers import cardinal, digits, pair, plural
from voiceagent.speech.english.rule import ends_sentence
from voiceagent.speech.mapped import Replacement
from voiceagent.speech.rules import numeric, rule

_HALF = r"(?P<half>[aApP])\.? ?[mM]\b(?P<dot>\.?)"
_ZONE = (
    r"(?P<zone> ?(?:[eEcCmMpP](?:\.[sSdD]\.[tT]\b\.?|[sSdD][tT]\b)|"
    r"(?:UTC|GMT|CET|CEST|BST)\b))?"
)


def _clock(match: re.Match[str]) -> Replacement:
    """``1:59 p.m.`` -> ``one fifty nine PM``."""
    hour, minute = int(match["hour"]), match["minute"]
    if hour > 24 or (minute is not None and int(minute) > 59):
        return None
    said = cardinal(hour)
    if minute is not None and int(minute):
        said += f" {pair(int(minute))}"
    return f"{said} {_half(match)}{_zone(match)}{_final_stop(match)}"


def _bare_clock(match: re.Match[str]) -> Replacement:
    """``14:30`` -> ``fourteen thirty``, ``23:00`` -> ``twenty three o'clock``."""
    hour, minute = int(match["hour"]), int(match["minute"])
    if hour > 24 or minute > 59:
        return None
    opens_a_span = re.match(r" to \d\d?(?::\d\d)? ?[aApP]\.?[mM]\b", match.string[match.end() :])
    full = "" if opens_a_span else " o'clock"
    said = cardinal(hour) + (f" {pair(minute)}" if minute else full)
    return f"{said}{_zone(match)}"


def _ratio(match: re.Match[str]) -> Replacement:
    return f"{cardinal(int(match['left']))} to {cardinal(int(match['right']))}"


def _with_seconds(match: re.Match[str]) -> Replacement:
    """``1:01:30`` -> ``one hour one minute and thirty seconds``; with ``p.m.`` it is a clock's."""
    hours, minutes, seconds = (int(match[name]) for name in ("hour", "minute", "second"))
    if minutes > 59 or seconds > 59:
        return None
    if match["half"]:
        clock = f"{cardinal(hours)} {pair(minutes) if minutes else ''}".rstrip()
        clock += f" and {_count(seconds, 'second')}" if seconds else ""
        return f"{clock} {_half(match)}{_zone(match)}{_final_stop(match)}"
    said = f"{_count(hours, 'hour')} {_count(minutes, 'minute')} and {_count(seconds, 'second')}"
    return said + _zone(match)


def _count(number: int, noun: str) -> str:
    return f"{cardinal(number)} {noun if number == 1 else plural(noun)}"


def _half(match: re.Match[str]) -> str:
    return match["half"].upper() + "M"


def _zone(match: re.Match[str]) -> str:
    zone = (match["zone"] or "").replace(".", "").strip().upper()
    return f" {zone}" if zone else ""


def _final_stop(match: re.Match[str]) -> str:
    """The dot of ``p.m.`` ends the sentence as well where nothing comes after it."""
    at_the_end = ends_sentence(match.string[match.end() :])
    return "." if match["dot"] and at_the_end and not match["zone"] else ""


def _lap(match: re.Match[str]) -> Replacement:
    """``1:23.45``: minutes, seconds and their hundredths."""
    seconds = f"{pair(int(match['second']))} point {digits(match['part'])}"
    return f"{cardinal(int(match['minute']))} {seconds}"


def _minus(match: re.Match[str]) -> Replacement:
    return " minus "


def _lone_half(match: re.Match[str]) -> Replacement:
    return match["half"].upper() + "M" + _final_stop(match)


def _to(match: re.Match[str]) -> Replacement:
    return " to "


def _iso(match: re.Match[str]) -> Replacement:
    """``2023-01-05T10:00:00Z``: the date and the time, each for the rules that know them."""
    zone = [(" UTC", *match.span("utc"))] if match["utc"] else []
    return [match.span("date"), (" ", *match.span("t")), match.span("time"), *zone]


RULES = [
    *numeric(
        [
            rule(
                r"\b(?P<date>\d{4}-\d\d-\d\d)(?P<t>T)(?P<time>\d\d:\d\d)(?::\d\d(?:\.\d+)?)?"
                r"(?P<utc>Z)?\b",
                _iso,
            ),
            rule(r"(?<=\bUTC)[-−](?=\d)|(?<=\bGMT)[-−](?=\d)", _minus),
            rule(r"(?<![\d:.])(?P<minute>\d{1,2}):(?P<second>[0-5]\d)\.(?P<part>\d{1,3})\b", _lap),
            rule(r"(?<=\bnoon)\s*[-–]\s*(?=\d)", _to),
            rule(r"(?<=[\dmM.])\s*[-–]\s*(?=\d{1,2}(?::\d\d)? ?[apAP]\.?[mM]\b)", _to),
            rule(r"(?<=(?<![\d:.,/-])\d)\s*[-–]\s*(?=\d{1,2}:\d\d(?![:\d]))", _to),
            rule(r"(?<=:\d\d)\s*[-–]\s*(?=\d{1,2}:\d\d(?![:\d]))", _to),
            rule(
                rf"\b(?P<hour>\d{{1,2}}):(?P<minute>\d\d):(?P<second>\d\d)(?: ?{_HALF})?{_ZONE}"
                r"(?![\d:])",
                _with_seconds,
            ),
            rule(rf"\b(?P<hour>\d{{1,2}})(?:[:.](?P<minute>\d\d))? ?{_HALF}{_ZONE}", _clock),
            rule(rf"(?<![\d:.])(?P<hour>\d{{1,2}}):(?P<minute>\d\d){_ZONE}(?![\d:])", _bare_clock),
            rule(r"(?<![\w:.])(?P<left>\d{1,6}):(?P<right>\d{1,6})(?![\w:])", _ratio),
        ]
    ),
    rule(r"(?<=[a-z] )(?P<half>[ap])\.m(?P<dot>\.)(?P<zone>)", _lone_half),
]
