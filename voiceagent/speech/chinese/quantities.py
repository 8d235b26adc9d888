"""Chinese dates, times, money, measures, fractions, ranges, and the plain numbers that are left."""

import re

from voiceagent.speech.chinese.numbers import amount, cardinal, digits, number
from voiceagent.speech.chinese.units import (
    CURRENCIES,
    LATIN_SCALES,
    MEASURE_WORDS,
    UNITS,
    VULGAR_FRACTIONS,
)
from voiceagent.speech.mapped import Replacement
from voiceagent.speech.patterns import ADDRESS_4, CARD
from voiceagent.speech.rules import alternatives, numeric, rule

NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
SIGNED = rf"(?:(?<![A-Za-z0-9.)）])[-−+])?{NUMBER}"
_BEGIN = r"(?<![\d.A-Za-z])(?<!\d,)"


# Dates and times ------------------------------------------------------------------------------


def _year(match: re.Match[str]) -> Replacement:
    """``2024年``: digit by digit."""
    begin, end = match.span("year")
    return [(match.start(), begin), (digits(match["year"]), begin, end)]


def _years(match: re.Match[str]) -> Replacement:
    return f"{digits(match['first'])}到{digits(match['last'])}"


def _date(match: re.Match[str]) -> Replacement:
    """``2024-03-14``, ``2024/3/14`` -> ``二零二四年三月十四日``."""
    month, day = int(match["month"]), int(match["day"])
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    return f"{digits(match['year'])}年{cardinal(month)}月{cardinal(day)}日"


def _day(match: re.Match[str]) -> Replacement:
    """``2月``, ``2日``, ``2号``: never 两."""
    return cardinal(int(match["number"]))


def _days(match: re.Match[str]) -> Replacement:
    return f"{cardinal(int(match['first']))}到{cardinal(int(match['last']))}"


def _clock(hour: str, minute: str, second: str | None = None) -> str:
    said = f"{amount(str(int(hour)))}点"
    if int(minute) or second:
        said += f"{'零' if int(minute) < 10 else ''}{cardinal(int(minute))}分"
    return said + (f"{cardinal(int(second))}秒" if second else "")


def _time(match: re.Match[str]) -> Replacement:
    """``8:05`` -> ``八点零五分``."""
    if int(match["hour"]) > 24 or int(match["minute"]) > 59:
        return None
    return _clock(match["hour"], match["minute"], match["second"])


def _times(match: re.Match[str]) -> Replacement:
    first = _clock(match["hour"], match["minute"])
    return f"{first}到{_clock(match['until'], match['until_minute'])}"


# Money, measures ------------------------------------------------------------------------------


def _money(match: re.Match[str]) -> Replacement:
    """``¥3.50`` -> ``三点五元``; where 元 is written too, it is said once."""
    text, scale = match["number"], match["scale"] or ""
    sign = "负" if match["sign"] else ""
    name = CURRENCIES[match["symbol"]]
    if scale in LATIN_SCALES:
        return f"{sign}{_scaled(text, LATIN_SCALES[scale])}{name}"
    return f"{sign}{_trimmed(text)}{scale}{name}"


def _scaled(text: str, scale: int) -> str:
    """``1.5`` million is 一百五十万."""
    whole, _, decimals = text.replace(",", "").partition(".")
    return cardinal(int(whole + decimals) * scale // 10 ** len(decimals))


def _trimmed(text: str) -> str:
    """A sum of money without the zeros that only show hundredths."""
    return amount(re.sub(r"\.?0+$", "", text) if "." in text else text)


def _written_money(match: re.Match[str]) -> Replacement:
    return _trimmed(match["number"])


def _percent(match: re.Match[str]) -> Replacement:
    """``50%`` -> ``百分之五十``."""
    name = "千分之" if match["sign"] == "‰" else "百分之"
    if match["low"]:
        return f"{name}{number(match['low'])}到{name}{number(match['number'])}"
    return name + number(match["number"])


def _measure(match: re.Match[str]) -> Replacement:
    """``5kg`` -> ``五公斤``; degrees below zero are 零下."""
    text, unit = match["number"], UNITS[match["unit"]]
    below = "零下" if unit in ("摄氏度", "华氏度") and text[0] in "-−" else ""
    low = ""
    if match["low"]:
        cold = "零下" if unit in ("摄氏度", "华氏度") and match["low"][0] in "-−" else ""
        low = f"{cold}{number(match['low'].lstrip('-−') if cold else match['low'])}到"
    return f"{low}{below}{amount(text.lstrip('-−') if below else text)}{unit}"


def _range_of(match: re.Match[str]) -> Replacement:
    """``5-10个`` -> ``五到十个``."""
    return f"{number(match['low'])}到{number(match['high'])}"


def _count(match: re.Match[str]) -> Replacement:
    """``2个`` -> ``两个``."""
    return amount(match["number"])


# Fractions, ordinals, ratios ------------------------------------------------------------------


def _fraction(match: re.Match[str]) -> Replacement:
    """``3/4`` -> ``四分之三``."""
    return _said_fraction(int(match["top"]), int(match["bottom"]), match["whole"])


def _vulgar_fraction(match: re.Match[str]) -> Replacement:
    return _said_fraction(*VULGAR_FRACTIONS[match["sign"]], match["whole"])


def _said_fraction(top: int, bottom: int, whole: str | None) -> str | None:
    if bottom < 2:
        return None
    said = f"{cardinal(bottom)}分之{cardinal(top)}"
    return f"{cardinal(int(whole))}又{said}" if whole else said


def _ordinal(match: re.Match[str]) -> Replacement:
    return f"第{cardinal(int(match['number']))}"


def _ratio(match: re.Match[str]) -> Replacement:
    return f"{number(match['left'])}比{number(match['right'])}"


# Digits that count nothing --------------------------------------------------------------------


def _telephone(match: re.Match[str]) -> Replacement:
    """Digit by digit, 1 as 幺, with a pause where the groups meet."""
    text = re.sub(r"(?<!\d)(1\d\d)(\d{4})(\d{4})$", r"\1 \2 \3", match.group())
    groups = re.findall(r"\d+", text)
    plus = "加" if match.group().startswith("+") else ""
    return plus + "，".join(digits(group, one="幺") for group in groups)


def _called(match: re.Match[str]) -> Replacement:
    """``拨打110``, ``302室``: a name made of digits."""
    return digits(match["number"], one="幺")


def _named(match: re.Match[str]) -> Replacement:
    """``密码是1234``."""
    begin, end = match.span("number")
    return [(match.start(), begin), (digits(match["number"]), begin, end)]


def _card(match: re.Match[str]) -> Replacement:
    """``6222 0200 1234 5678``: digit by digit, the groups apart."""
    return "，".join(map(digits, re.findall(r"\d+", match.group())))


def _internet_address(match: re.Match[str]) -> Replacement:
    """``192.168.1.1:8080``: digit by digit."""
    address, _, port = match.group().partition(":")
    said = "点".join(map(digits, address.split(".")))
    return f"{said}冒号{digits(port)}" if port else said


def _day_of_the_year(match: re.Match[str]) -> Replacement:
    """``截止日期是5/20``: where the text speaks of days, it is no fraction."""
    month, day = int(match["month"]), int(match["day"])
    if not (1 <= month <= 12 and 1 <= day <= 31 and _DATED.search(match.string)):
        return None
    return f"{cardinal(month)}月{cardinal(day)}日"


def _score(match: re.Match[str]) -> Replacement:
    """``比分是3-2``."""
    said = f"{number(match['left'])}比{number(match['right'])}"
    begin = match.start("left")
    return [(match.start(), begin), (said, begin, match.end())]


def _always(match: re.Match[str]) -> Replacement:
    return "二十四七"


def _tall(match: re.Match[str]) -> Replacement:
    """``1米75``: the rest digit by digit."""
    return digits(match.group())


def _comma(match: re.Match[str]) -> Replacement:
    return "，"


def _letters_and_number(match: re.Match[str]) -> Replacement:
    """``GPT-4``: the hyphen is not said."""
    return " "


def _season(match: re.Match[str]) -> Replacement:
    """``2024/25赛季`` is no fraction."""
    return digits(match["first"]) + digits(match["last"])


def _version(match: re.Match[str]) -> Replacement:
    return "点".join(cardinal(int(part)) for part in match["numbers"].split("."))


def _number(match: re.Match[str]) -> Replacement:
    text = match.group()
    if re.fullmatch(r"[-−+]?(?:0\d+|\d{9,})", text):
        return digits(text)
    return ("加" if text[0] == "+" else "") + number(text)


def _in_a_serial(match: re.Match[str]) -> Replacement:
    text = match.group()
    if "." in text:
        return number(text)
    return digits(text) if len(text) > 3 or text[0] == "0" < text[1:] else cardinal(int(text))


_DATED = re.compile(
    r"日期|截止|会议|开会|活动|生日|出发|到期|开始|结束|星期|周[一二三四五六日末]|放假|见面"
)
_DASH = r" ?[-–—~～至到] ?"
_SCALE = r"(?P<scale>[万亿千百]+|[KkMB](?![A-Za-z]))?"

_ALONE = r"(?<![A-Za-z0-9_.-])"

RULES = [
    *numeric(
        [
            # An ASCII comma that does not set thousands apart is a comma.
            rule(r"(?<=\d),(?=\d)(?!\d{3}(?!\d))|(?<=[%％\u3400-\u9fff]),(?=\S)", _comma),
            rule(CARD, _card),
            rule(rf"{_ALONE}{ADDRESS_4}(?::\d{{2,5}})?(?![\dA-Za-z])", _internet_address),
            rule(
                rf"{_ALONE}(?:\+86[ -]?)?1\d{{2}}[ -]?\d{{4}}[ -]?\d{{4}}(?!\d)"
                rf"|{_ALONE}0\d{{2,3}}-\d{{3,4}}-?\d{{4}}(?!\d)"
                rf"|{_ALONE}[48]00-\d{{3,4}}-\d{{3,4}}(?!\d)"
                rf"|{_ALONE}\+\d{{1,3}}(?:[ -]\d{{2,4}}){{2,5}}(?!\d)",
                _telephone,
            ),
            rule(r"(?<=\d[或和、])(?P<number>1(?:10|19|20|22)|911|999)(?!\d)", _called),
            rule(r"(?<![\w.])24/7(?!\d)", _always),
            rule(
                r"比分(?:是|为)?(?P<left>\d{1,3}) ?[-–:：] ?(?P<right>\d{1,3})(?![\d.])",
                _score,
            ),
            rule(r"(?<=\d米)\d{2}(?!\d|[.%])", _tall),
            rule(
                r"(?<=[是为到至于在自从])(?P<month>\d{1,2})/(?P<day>\d{1,2})(?![\d/]|的|以|多)",
                _day_of_the_year,
            ),
            rule(r"(?<=[拨打电话号码])(?P<number>\d{3,6})(?!\d|[.,年月日个元])", _called),
            rule(r"(?P<number>\d{3,4})(?=[室房](?!间))", _called),
            rule(
                r"(?<=[码编号])(?P<sep>[是为：:] ?)?(?P<number>\d{3,})(?!\d|[.,年月日个元])", _named
            ),
            rule(r"(?<!\d)(?P<first>[12]\d{3})/(?P<last>\d\d)(?=赛季|学年|年度)", _season),
            rule(r"(?<=[vV])(?P<numbers>\d+(?:\.\d+)+)", _version),
            rule(rf"{_BEGIN}(?P<numbers>\d+(?:\.\d+){{2,}})(?![\d])", _version),
            rule(
                r"(?<!\d)(?P<year>[12]\d{3})([-/.])(?P<month>[01]?\d)\2(?P<day>[0-3]?\d)(?!\d)",
                _date,
            ),
            rule(
                rf"(?<!\d)(?P<first>[12]\d{{3}})年?{_DASH}(?P<last>[12]\d{{3}})(?=年|赛季|学年)",
                _years,
            ),
            rule(rf"(?<=公元前)(?P<first>\d{{1,4}})年?{_DASH}(?P<last>\d{{1,4}})(?=年)", _years),
            rule(r"(?<=公元)前?(?P<year>\d{3,4})(?=年)(?<!00)", _year),
            rule(r"(?<!\d)(?P<year>\d0)(?=后(?!天))", _year),  # who was born in those years
            rule(r"(?<=[A-Za-z])-(?=\d)", _letters_and_number),
            rule(r"(?<!\d)(?P<year>[12]\d{3}|\d\d)(?=年(?!前|后|来|内|间|级|以))", _year),
            rule(
                r"(?<!\d)(?P<first>\d{1,2})[月日号]?" + _DASH + r"(?P<last>\d{1,2})(?=[月日号])",
                _days,
            ),
            rule(r"(?<![\d.])(?P<number>\d{1,2})(?=(?:月(?!饼)|日|号))", _day),
            rule(
                rf"{_BEGIN}(?P<hour>\d{{1,2}})[:：](?P<minute>\d\d){_DASH}"
                r"(?P<until>\d{1,2})[:：](?P<until_minute>\d\d)(?!\d)",
                _times,
            ),
            rule(
                rf"{_BEGIN}(?P<hour>\d{{1,2}})[:：](?P<minute>[0-5]\d)(?:[:：](?P<second>[0-5]\d))?"
                r"(?![\d:：])",
                _time,
            ),
            rule(rf"{_BEGIN}(?P<left>\d{{1,3}})[:：](?P<right>\d{{1,3}})(?![\d:：])", _ratio),
            rule(
                rf"(?P<sign>[-−])?(?P<symbol>{alternatives(CURRENCIES)}) ?(?P<number>{NUMBER}) ?"
                rf"{_SCALE}(?:元|美元|欧元|英镑|人民币)?",
                _money,
            ),
            rule(
                rf"{_BEGIN}(?P<sign>[-−])?(?P<number>{NUMBER}){_SCALE} ?"
                rf"(?P<symbol>{alternatives(CURRENCIES)})(?![A-Za-z\d])",
                _money,
            ),
            rule(
                rf"{_BEGIN}(?P<number>\d[\d,]*\.\d+)(?=[万亿]?(?:元|块|美元|欧元|英镑))",
                _written_money,
            ),
            rule(
                rf"{_BEGIN}(?:(?P<low>{NUMBER})[%％]?{_DASH})?(?P<number>{SIGNED}) ?"
                r"(?P<sign>[%％‰])",
                _percent,
            ),
            rule(
                rf"{_BEGIN}(?:(?P<low>{SIGNED}){_DASH})?(?P<number>{SIGNED}) ?"
                rf"(?P<unit>{alternatives(UNITS)})(?![A-Za-z\d/²³])",
                _measure,
            ),
            rule(
                rf"{_BEGIN}(?:(?P<whole>\d+) )?(?P<top>\d{{1,4}})/(?P<bottom>\d{{1,4}})(?![\d/.])",
                _fraction,
            ),
            rule(r"第 ?(?P<number>\d{1,9})(?!\d)", _ordinal),
            rule(rf"{_BEGIN}(?P<low>{SIGNED}){_DASH}(?P<high>{NUMBER})(?![\d-])", _range_of),
            rule(rf"{_BEGIN}(?P<number>2) ?(?=[{MEASURE_WORDS}])", _count),
        ]
    ),
    rule(rf"(?:(?<!\d)(?P<whole>\d+))?(?P<sign>[{''.join(VULGAR_FRACTIONS)}])", _vulgar_fraction),
]
PLAIN_NUMBER_RULES = numeric(
    [rule(rf"{_BEGIN}{SIGNED}(?![\dA-Za-z]|[.,]\d)", _number), rule(r"\d+(?:\.\d+)?", _in_a_serial)]
)
