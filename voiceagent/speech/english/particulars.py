"""Numbers that are read by what stands beside them: codes, chapters, sizes, lap times."""

import re
import unicodedata

from voiceagent.speech.english.numbers import cardinal, digits, number, pair, plural, year
from voiceagent.speech.english.units import SCALES
from voiceagent.speech.mapped import Kept, Replacement, Said
from voiceagent.speech.rules import numeric, rule

_BOOKS = (
    "Genesis|Exodus|Leviticus|Deuteronomy|Joshua|Judges|Ruth|Samuel|Kings|Job|Psalms?|Proverbs|"
    "Ecclesiastes|Isaiah|Jeremiah|Ezekiel|Daniel|Hosea|Amos|Jonah|Micah|Matthew|Mark|Luke|John|"
    "Acts|Romans|Corinthians|Galatians|Ephesians|Philippians|Colossians|Thessalonians|Timothy|"
    "Hebrews|James|Revelation|Surah|Quran"
)


def _verse(match: re.Match[str]) -> Replacement:
    """``John 3:16`` -> ``John three sixteen``."""
    said = f"{cardinal(int(match['chapter']))} {cardinal(int(match['verse']))}"
    if match["last"]:
        said += f" to {cardinal(int(match['last']))}"
    return [(match.start(), match.start("chapter")), (said, match.start("chapter"), match.end())]


def _lap(match: re.Match[str]) -> Replacement:
    """``in 45:30`` is no ratio and no time of day."""
    minutes, seconds = int(match["minutes"]), int(match["seconds"])
    if minutes < 25 or seconds > 59:
        return None
    return f"{cardinal(minutes)} {pair(seconds) if seconds else 'minutes'}"


def _year_of(match: re.Match[str]) -> Replacement:
    """``FY2023`` -> ``FY twenty twenty three``."""
    return f" {year(int(match.group()))}"


def _scientific(match: re.Match[str]) -> Replacement:
    """``1.5e-3`` -> ``one point five times ten to the minus three``."""
    return f"{number(match['number'])} times ten to the {number(match['exponent'])}"


def _scientific_sign(match: re.Match[str]) -> Replacement:
    return " times "


def _lines(match: re.Match[str]) -> Replacement:
    """``1080p`` -> ``ten eighty p``."""
    return _pairs(match["number"]) + " p"


def _pairs(text: str) -> str:
    """``747`` -> ``seven forty seven``, ``1080`` -> ``ten eighty``."""
    return f"{cardinal(int(text[:-2]))} {pair(int(text[-2:]))}"


def _over(match: re.Match[str]) -> Replacement:
    """Blood pressure: ``120/80 mmHg`` -> ``one hundred twenty over eighty ...``."""
    said = f"{cardinal(int(match['high']))} over {cardinal(int(match['low']))}"
    unit = " millimeters of mercury" if match["unit"] else ""
    return [
        (match.start(), match.start("high")),
        (said + unit, match.start("high"), match.end()),
    ]


def _plan(match: re.Match[str]) -> Replacement:
    """``401(k)`` -> ``four oh one k``."""
    return f"four oh {cardinal(int(match['number']))} {match['letter']}"


def _code(match: re.Match[str]) -> Replacement:
    """Digit by digit, the groups apart."""
    groups = re.findall(r"\d+", match["number"])
    begin, end = match.span("number")
    return [(match.start(), begin), (", ".join(map(digits, groups)), begin, end)]


def _duration(match: re.Match[str]) -> Replacement:
    """``2h30m`` -> ``two hours thirty minutes``."""
    parts = [
        f"{cardinal(int(match[name]))} {name if int(match[name]) == 1 else plural(name)}"
        for name in ("hour", "minute", "second")
        if match[name]
    ]
    return " ".join(parts)


def _port(match: re.Match[str]) -> Replacement:
    return f" colon {digits(match['port'])}"


def _compass(match: re.Match[str]) -> Replacement:
    name = {"N": "north", "S": "south", "E": "east", "W": "west"}[match["way"]]
    return f"{number(match['number'])} degrees {name}"


def _factor(match: re.Match[str]) -> Replacement:
    """``1.5x faster`` -> ``one point five times faster``."""
    return f"{number(match['number'])} times"


def _airliner(match: re.Match[str]) -> Replacement:
    """``Boeing 747-400`` -> ``Boeing seven forty seven four hundred``."""
    said = _pairs(match["number"])
    if match["series"]:
        said += f" {cardinal(int(match['series']))}"
    return [(match.start(), match.start("number")), (said, match.start("number"), match.end())]


_PLACES = (
    "Apt|Apartment|Bay|Block|Building|Bus|Door|Exit|Flat|Floor|Gate|Grade|Level|Line|Lot|Platform|"
    "Room|Route|Row|Seat|Section|Suite|Terminal|Track|Unit|Zone"
)
_LINKS = "and|are|at|for|from|has|in|is|off|on|or|to|was|were|with"


_RANGE = r"(?<![\w.,$€£¥])(?<![\d$€£¥][-–])(?:(?P<low>\d+(?:\.\d+)?) ?[-–] ?)?"
"""The lower end, if there is one; sums of money have rules of their own."""
_COUNTED_IN_MILLIONS = (
    "barrels|bottles|cars|children|copies|customers|downloads|followers|homes|households|jobs|"
    "listeners|members|passengers|patients|people|players|readers|rows|subscribers|tonnes|tons|"
    "tourists|units|users|vehicles|viewers|views|visitors|visits|voters|workers"
)
"""Where "m" is no metre."""


def _people(match: re.Match[str]) -> Replacement:
    """``1.2B users`` -> ``one point two billion users``; "Exit 14B off the highway" is none."""
    before, after = match.string[: match.start()], match.string[match.end() :]
    named = re.search(rf"\b(?:{_PLACES}) $", before) or re.match(rf" (?:{_LINKS})\b", after)
    if named and "." not in match["number"]:
        return None
    scale = "million" if match["scale"] == "m" else SCALES[match["scale"]]
    low = f"{number(match['low'])} to " if match["low"] else ""
    return f"{low}{number(match['number'])} {scale}"


def _military(match: re.Match[str]) -> Replacement:
    """``0800 hours`` -> ``oh eight hundred hours``."""
    hour, minute = int(match["hour"]), int(match["minute"])
    if hour > 24 or minute > 59:
        return None
    return f"{pair(hour)} {pair(minute) if minute else 'hundred'}"


def _grade(match: re.Match[str]) -> Replacement:
    """``an A-``, ``Cl- ions``."""
    return " minus"


def _numbered(match: re.Match[str]) -> Replacement:
    """``Room 101`` -> ``Room one oh one``, ``Flight 1234`` -> ``Flight twelve thirty four``."""
    if match["number"].endswith("00"):
        return None
    begin, end = match.span("what")
    what: Kept | Said = (begin, end)
    if match["what"] == "Hwy ":
        what = ("Highway ", begin, end)
    return [what, (_pairs(match["number"]), *match.span("number"))]


def _plain_digits(match: re.Match[str]) -> Replacement:
    """``¹⁴C``."""
    return unicodedata.normalize("NFKC", match.group()) + " "


def _raised(match: re.Match[str]) -> Replacement:
    """``10⁻³`` for the rules that know ``10^-3``."""
    return "^" + unicodedata.normalize("NFKC", match.group()).replace("−", "-")


def _out_of(match: re.Match[str]) -> Replacement:
    """``4.5/5``, ``rated 9/10``."""
    said = f"{number(match['points'])} out of {number(match['most'])}"
    begin = match.start("points")
    return [(match.start(), begin), (said, begin, match.end())]


def _one_in(match: re.Match[str]) -> Replacement:
    """``1-in-10``, ``3-to-1``."""
    many = cardinal(int(match["many"].replace(",", "")))
    return f"{cardinal(int(match['one']))} {match['word']} {many}"


def _port_number(match: re.Match[str]) -> Replacement:
    return digits(match["port"])


def _arc(match: re.Match[str]) -> Replacement:
    """``30°15'``."""
    said = [f"{cardinal(int(match['degrees']))} degrees"]
    said += [
        f"{cardinal(int(match[name]))} {name if int(match[name]) == 1 else plural(name)}"
        for name in ("minute", "second")
        if match[name]
    ]
    return " ".join(said)


def _countdown(match: re.Match[str]) -> Replacement:
    return "T minus "


def _local_port(match: re.Match[str]) -> Replacement:
    return f"localhost colon {digits(match['port'])}"


def _protocol(match: re.Match[str]) -> Replacement:
    return " "


def _current(match: re.Match[str]) -> Replacement:
    """``5V/2A``."""
    return f"{number(match['volts'])} volts, {number(match['amps'])} amps"


def _life(match: re.Match[str]) -> Replacement:
    return "born" if match.group()[0] == "b" else "died"


def _world_war(match: re.Match[str]) -> Replacement:
    return f"World War {'two' if match['which'] in ('II', '2') else 'one'}"


def _letter(match: re.Match[str]) -> Replacement:
    """``H.264``: the dot is not said."""
    return match["letter"] + " "


def _to(match: re.Match[str]) -> Replacement:
    return " to "


RULES = [
    *numeric(
        [
            rule(
                rf"\b(?:{_BOOKS}) (?P<chapter>\d{{1,3}}):(?P<verse>\d{{1,3}})"
                r"(?:[-–](?P<last>\d{1,3}))?(?![\d:])",
                _verse,
            ),
            rule(
                r"(?:(?<=\bin )|(?<=\btime of ))(?P<minutes>\d\d):(?P<seconds>\d\d)(?![\d:])"
                r"(?! (?:ratio|odds|split|mix))",
                _lap,
            ),
            rule(r"(?<=\bFY)(?:19|20)\d\d\b", _year_of),
            rule(
                r"(?<![\w.])(?P<number>\d+(?:\.\d+)?)[eE](?P<exponent>[-+]?\d+)\b(?!-\w)",
                _scientific,
            ),
            rule(r"(?<=\d) ?[x×] ?(?=10\^)", _scientific_sign),
            rule(r"\b(?P<number>240|360|480|720|1080|1440|2160)p\b", _lines),
            rule(
                r"(?:(?<![\w/.])|\b(?:BP|blood pressure)(?: of| is| was)? )"
                r"(?P<high>\d{2,3})/(?P<low>\d{2,3}) ?(?P<unit>mm ?Hg)\b",
                _over,
            ),
            rule(
                r"\b(?:BP|[Bb]lood pressure)(?: of| is| was| at)? "
                r"(?P<high>\d{2,3})/(?P<low>\d{2,3})(?P<unit>(?!))?\b",
                _over,
            ),
            rule(r"\b40(?P<number>[1-9])\((?P<letter>[a-z])\)", _plan),
            rule(
                r"\b(?:PIN|pin|[Zz]ip(?: code)?|ZIP(?: code)?|[Pp]asscode|[Cc]ode|ISBN)"
                r"(?: is| number)?:? (?P<number>\d+(?:-\d+)*)\b(?![.,]\d|%|-?[^\W\d])",
                _code,
            ),
            rule(
                r"(?<![\w.])(?P<hour>\d{1,2})h ?(?P<minute>\d{1,2})(?:m|min)(?:in)?"
                r"(?: ?(?P<second>\d{1,2})s)?\b",
                _duration,
            ),
            rule(r"(?<=\d\.\d|\.\d\d|\d\d\d):(?P<port>\d{3,5})\b(?<!:\d\d)", _port),
            rule(r"(?<!\d)(?P<number>\d+(?:\.\d+)?) ?° ?(?P<way>[NSEW])\b", _compass),
            rule(
                r"(?<![\w.])(?P<number>\d+(?:\.\d+)?)[x×](?= (?:fast|slow|more|less|as |larg|bigg|"
                r"small|high|low|bett|cheap|long|short|the ))",
                _factor,
            ),
            rule(
                rf"{_RANGE}(?P<number>\d+(?:\.\d+)?)(?P<scale>[BMKk])(?= (?!run\b|race\b)[a-z])",
                _people,
            ),
            rule(
                rf"{_RANGE}(?P<number>\d+(?:\.\d+)?)(?P<scale>m)(?= (?:{_COUNTED_IN_MILLIONS})\b)",
                _people,
            ),
            rule(r"\b(?P<hour>[0-2]\d)(?P<minute>[0-5]\d)(?= hours\b)", _military),
            rule(r"(?<=[°º][CF])\s*[-–]\s*(?=\d)", _to),
            rule(r"\b(?P<letter>[A-Z])\.(?=\d{2,}\b)", _letter),
            rule(
                r"\b(?P<what>(?:Room|Highway|Hwy|Route|Flight|Interstate|RTX|GTX|RFC|HTTP|[Ee]rror)"
                r" (?:[A-Z]{2} ?)?)(?P<number>[1-9]\d{2,3})\b(?![.,]\d|-\d)",
                _numbered,
            ),
            rule(
                r"(?<![\w./])(?P<points>\d{1,2}\.\d\d?)/(?P<most>[45](?:\.0)?|10|100)"
                r"(?![\w/]|[.,]\d)",
                _out_of,
            ),
            rule(
                r"\b(?:[Rr]at(?:ed?|ing)|[Ss]cored?|[Gg]ot|[Gg]ave(?: \w+)?|[Gg]ive(?: \w+)?)"
                r"(?:(?: an?|:| of| is| was| it))*"
                r" (?P<points>\d{1,3})/(?P<most>\d{1,3})(?![\w/]|[.,]\d)",
                _out_of,
            ),
            rule(
                r"(?<![\w-])(?P<one>\d{1,3})-(?P<word>in|to|for)-(?P<many>\d[\d,]*)(?![\w-])",
                _one_in,
            ),
            rule(rf"{_RANGE}(?P<number>\d+(?:\.\d+)?)(?P<scale>bn|tn|mn)\b", _people),
            rule(r"(?<=\bport )(?P<port>\d{2,5})\b(?![.,]\d)", _port_number),
            rule(
                r"(?P<degrees>\d{1,3})°(?P<minute>\d{1,2})['′](?:(?P<second>\d{1,2})[\"″])?", _arc
            ),
            rule(r"\bT-(?=\d)", _countdown),
            rule(r"\blocalhost:(?P<port>\d{2,5})\b", _local_port),
            rule(r"(?<=\bHTTP)/(?=\d)", _protocol),
            rule(
                r"(?<![\w.])(?P<volts>\d+(?:\.\d+)?) ?V ?/ ?(?P<amps>\d+(?:\.\d+)?) ?A\b", _current
            ),
            rule(r"\b[bd]\.(?= [12]\d{3}\b)", _life),
            rule(r"\bBoeing (?P<number>7\d7)(?:-(?P<series>\d{1,4}))?\b(?!-)", _airliner),
        ]
    ),
    rule(r"(?<!\w)[⁰¹²³⁴-⁹]+(?=[A-Z])", _plain_digits),
    rule(
        r"(?<![^\W\d_]{2})(?<=[\w)])(?<![⁰¹²³⁴-⁹])(?:[⁰¹²³⁴-⁹⁺⁻ⁿ]{2,}|[⁰¹⁴-⁹ⁿ])",
        _raised,
    ),
    rule(
        r"(?:(?<=\b[A-FO])|(?<=\bAB)|(?<=\b[A-Z][a-z]))-(?=[\s.,;:!?)]|$)"
        r"(?! (?:and|or|to) [A-Z]?\w*-)",
        _grade,
    ),
    rule(r"\bWW ?(?P<which>I{1,2}|[12])\b", _world_war),
]
