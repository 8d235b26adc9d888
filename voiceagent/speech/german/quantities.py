"""German money, measures, fractions, ordinals, ranges, and the plain numbers that are left."""

import re

from voiceagent.speech.german.dates import ending_after
from voiceagent.speech.german.nouns import is_feminine, is_masculine
from voiceagent.speech.german.numbers import cardinal, digits, is_one, number, ordinal
from voiceagent.speech.german.units import CURRENCIES, PERIODS, SCALES, UNITS, VULGAR_FRACTIONS
from voiceagent.speech.mapped import Replacement
from voiceagent.speech.rules import alternatives, numeric, rule

NUMBER = r"(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d+)?"
"""1.234,5 or 12."""
_ENGLISH = r"\d+\.\d{1,2}(?!\d)"
_ANY = rf"(?:{_ENGLISH}|{NUMBER})"
SIGNED = rf"(?:(?<![\w.)])[-−+])?{_ANY}"
_SYMBOL = rf"(?P<symbol>{alternatives(CURRENCIES)})"
_SCALE = rf"(?: ?(?P<scale>{alternatives(SCALES)})(?!\w))?"


def _money(match: re.Match[str]) -> Replacement:
    """``3,50 €`` -> ``drei Euro fünfzig``, ``0,99 €`` -> ``neunundneunzig Cent``."""
    low = match.groupdict().get("low")
    if low and "," not in low + match["number"]:
        return f"{number(low)} bis {_sum(match, match['number'])}"
    return (f"{_sum(match, low)} bis " if low else "") + _sum(match, match["number"])


def _sum(match: re.Match[str], text: str) -> str:
    major, minor = CURRENCIES[match["symbol"]]
    minus = "minus " if text[0] in "-−" else ""
    text = text.lstrip("-−+")
    if match["scale"]:
        return f"{minus}{_scaled(text, match['scale'])} {major}"
    whole, decimals = _split(text)
    if len(decimals) != 2 or not minor:
        return f"{minus}{number(text, one='ein')} {major}"
    units, hundredths = int(whole.replace(".", "") or 0), int(decimals)
    if not units and hundredths:
        return f"{minus}{cardinal(hundredths, one='ein')} {minor}"
    said = f"{minus}{cardinal(units, one='ein')} {major}"
    return f"{said} {cardinal(hundredths)}" if hundredths else said


def _euros_and_cents(match: re.Match[str]) -> Replacement:
    """``2 Euro 50`` -> ``zwei Euro fünfzig``, ``5,- €`` -> ``fünf Euro``."""
    said = f"{number(match['euros'], one='ein')} Euro"
    return f"{said} {cardinal(int(match['cents']))}" if match["cents"] else said


def _by(match: re.Match[str]) -> Replacement:
    return " mal "


def _divided(match: re.Match[str]) -> Replacement:
    return " geteilt durch "


def _always(match: re.Match[str]) -> Replacement:
    """``24/7`` is no fraction."""
    return "vierundzwanzig sieben"


def _code(match: re.Match[str]) -> Replacement:
    """``PIN 1234``, ``IBAN DE89 3704``: digit by digit, a pause between the groups."""
    begin, end = match.span("number")
    said = re.sub(r"\d+", lambda group: f" {digits(group.group())},", match["number"])
    return [(match.start(), begin), (said.strip(" ,").replace(",  ", ", "), begin, end)]


def _split(text: str) -> tuple[str, str]:
    """The whole part and the decimals, behind a comma or (two digits) a point."""
    whole, comma, decimals = text.partition(",")
    if comma or not re.fullmatch(r"\d+\.\d\d", text):
        return whole, decimals
    whole, _, decimals = text.partition(".")
    return whole, decimals


def _scaled(text: str, scale: str) -> str:
    one, many = SCALES[scale]
    said = number(text, one="eine")
    return f"{said} {one if is_one(text) else many}"


def _large(match: re.Match[str]) -> Replacement:
    return _scaled(match["number"], match["scale"])


def _measure(match: re.Match[str]) -> Replacement:
    """``5 kg`` -> ``fünf Kilogramm``, ``1 h`` -> ``eine Stunde``."""
    one, many, article = UNITS[match["unit"]]
    text = match["number"]
    if match["low"]:
        said = f"{number(match['low'])} bis {number(text)} {many}"
    else:
        if _DATIVE.search(match.string[: match.start()]):
            article = {"ein": "einem", "eine": "einer"}[article]
        said = f"{number(text, one=article)} {one if is_one(text) else many}"
    return said + (_per(match) if match["per"] else "")


def _per(match: re.Match[str]) -> str:
    """``/s`` -> ``pro Sekunde``, ``/100 km`` -> ``pro einhundert Kilometer``."""
    count = match["per_number"]
    return f" pro {number(count) + ' ' if count else ''}{PERIODS[match['per']]}"


def _fraction(match: re.Match[str]) -> Replacement:
    """``3/4`` -> ``drei Viertel``, ``1 1/2`` -> ``eineinhalb``."""
    said = _said_fraction(int(match["top"]), int(match["bottom"]), match["whole"])
    return said and said + _unit_after(match)


def _vulgar_fraction(match: re.Match[str]) -> Replacement:
    said = _said_fraction(*VULGAR_FRACTIONS[match["sign"]], match["whole"])
    return said and said + _unit_after(match)


def _unit_after(match: re.Match[str]) -> str:
    return f" {UNITS[match['unit']][0]}" if match["unit"] else ""


def _said_fraction(top: int, bottom: int, whole: str | None) -> str | None:
    if not 2 <= bottom <= 1000:
        return None
    if (top, bottom) == (1, 2):
        return f"{cardinal(int(whole), one='ein')}einhalb" if whole else "ein halb"
    if bottom == 2:
        return f"{cardinal(top)} halbe"
    said = f"{cardinal(top, one='ein')} {ordinal(bottom, 'el').capitalize()}"
    return f"{number(whole)} {said}" if whole else said


def _ordinal(match: re.Match[str]) -> Replacement:
    """``im 19. Jahrhundert`` -> ``im neunzehnten Jahrhundert``."""
    before = match["before"]
    ending = "en" if match["case"] else ending_after(before)
    begin, end = match.span("number")
    return [(match.start(), begin), (ordinal(int(match["number"]), ending), begin, end + 1)]


def _last_ordinal(match: re.Match[str]) -> Replacement:
    """``Heute ist der 5.``: the dot ends the sentence as well."""
    begin, end = match.span("number")
    said = ordinal(int(match["number"]), ending_after(match["before"]))
    return [(match.start(), begin), (said, begin, end)]


def _range(match: re.Match[str]) -> Replacement:
    return f"{number(match['low'])} bis {number(match['high'])}"


def _ratio(match: re.Match[str]) -> Replacement:
    return f"{cardinal(int(match['left']))} zu {cardinal(int(match['right']))}"


def _times(match: re.Match[str]) -> Replacement:
    """``3x`` -> ``dreimal``, ``3-mal``."""
    return f"{cardinal(int(match['number']), one='ein')}mal"


def _product(match: re.Match[str]) -> Replacement:
    return f"{number(match['left'])} mal {number(match['right'])}"


def _minus(match: re.Match[str]) -> Replacement:
    return [match.span("left"), (" minus ", *match.span("sign"))]


def _compound(match: re.Match[str]) -> Replacement:
    """``5-jährig`` -> ``fünfjährig``, ``100-Meter-Lauf``: the number, and no hyphen."""
    said = cardinal(int(match["number"]), one="ein")
    return said if match["rest"].islower() else f"{said} "


def _factorial(match: re.Match[str]) -> Replacement:
    return " Fakultät"


def _placed(match: re.Match[str]) -> Replacement:
    """``Sie wurde 2. im Rennen``."""
    begin, end = match.span("number")
    return [(match.start(), begin), (ordinal(int(match["number"]), "e"), begin, end + 1)]


def _decimal_compound(match: re.Match[str]) -> Replacement:
    """``3,5-Zimmer-Wohnung``."""
    return number(match["number"]) + " "


def _one(match: re.Match[str]) -> Replacement:
    """``1 Tag``, ``in 1 Stunde``: one has the gender of what it counts, and the case that the
    preposition asks for."""
    before, noun = match.string[: match.start()], match["noun"]
    if re.search(r"(?:Artikel|Absatz|Nummer|Seite|Kapitel|Band|Gleis|Platz|Zimmer) $", before):
        return None
    feminine = is_feminine(noun)
    if _DATIVE.search(before):
        return "einer" if feminine else "einem"
    if _ACCUSATIVE.search(before) and is_masculine(noun):
        return "einen"
    return "eine" if feminine else "ein"


def _number(match: re.Match[str]) -> Replacement:
    """A count, a decimal, or a string of digits that counts nothing."""
    text = match.group()
    if re.fullmatch(r"[-−+]?(?:0\d+|\d{7,})", text) and not re.fullmatch(r"[1-9]\d*000", text):
        return digits(text)
    plus = "plus " if text[0] == "+" else ""
    return plus + number(text)


def _in_a_serial(match: re.Match[str]) -> Replacement:
    """Digits with letters around them: ``A380`` -> ``A dreihundertachtzig``."""
    text = match.group()
    said = digits(text) if len(text) > 3 or text[0] == "0" < text[1:] else cardinal(int(text))
    before = " " if match.start() and match.string[match.start() - 1].isalpha() else ""
    after = " " if match.string[match.end() : match.end() + 1].isalpha() else ""
    return f"{before}{said}{after}"


_DATIVE = re.compile(
    r"\b(?i:in|mit|nach|seit|vor|ab|bei|aus|von|zu|unter) (?:1 \w+(?:,| und| oder) )*$"
)
_ACCUSATIVE = re.compile(r"\b(?i:für|um|durch|ohne|gegen|pro) (?:1 \w+(?:,| und| oder) )*$")
_UNIT = (
    rf"(?P<unit>{alternatives(UNITS)})(?: ?/ ?(?:(?P<per_number>\d+) ?)?"
    rf"(?P<per>{alternatives(PERIODS)})(?!\w))?(?![\w/²³])"
)
_PART_UNIT = rf"(?P<unit>{alternatives(UNITS)})(?![\w/²³])"
_CASE = r"(?P<case>\b(?i:in|von|mit|nach|zu|an|aus|auf|bei|seit|vor|ab|bis) )?"
_ARTICLE = (
    r"(?P<before>(?i:am|vom|zum|zur|beim|im|den|dem|des|der|die|das|ihr|sein|mein|dein|unser|jeder|"
    r"jede|jedes|jeden|ihrem|seinem|meinem|ihren|seinen|meinen|eine|einen|einem|einer)) "
)

RULES = numeric(
    [
        rule(
            r"\b(?:PIN|PLZ|Postleitzahl|[Cc]ode|IBAN|\w+nummer)(?: ist| lautet)?:? "
            r"(?P<number>(?:[A-Z]{2})?\d{2,}(?: \d{2,4})*)\b(?![.,]\d)",
            _code,
        ),
        rule(r"(?<![\w.,])24/7(?![\w/])", _always),
        rule(r"(?<![\w.,])(?P<euros>\d+) (?:Euro|€) (?P<cents>\d\d)\b(?![.,]\d)", _euros_and_cents),
        rule(
            rf"(?<![\w.,])(?P<euros>{NUMBER}),[-–—]+ ?(?:Euro|€)(?P<cents>(?!))?", _euros_and_cents
        ),
        rule(r"(?<=m) ?[x×] ?(?=\d)|(?<=\d) ?[x×] ?(?=[\d,]+ ?(?:mm|cm|m|km)\b)", _by),
        rule(r"(?<=\d) : (?=\d+(?:,\d+)? ?=)", _divided),
        rule(
            rf"(?<![\w.,])(?P<low>{_ANY}) ?[-–] ?(?P<number>{_ANY}){_SCALE} ?{_SYMBOL}(?!\w)",
            _money,
        ),
        rule(rf"(?<!\d)(?P<number>{SIGNED}){_SCALE} ?{_SYMBOL}(?!\w)", _money),
        rule(rf"(?<!\w){_SYMBOL} ?(?P<number>{SIGNED}){_SCALE}", _money),
        rule(
            rf"(?<![\w.,])(?:(?P<low>{_ANY}) ?(?:[-–]|bis) ?)?(?P<number>{SIGNED}) ?{_UNIT}",
            _measure,
        ),
        rule(rf"(?<![\w.,])(?P<number>{SIGNED}) (?P<scale>{alternatives(SCALES)})(?!\w)", _large),
        rule(
            r"(?<![\w.,/])(?:(?P<whole>\d+) )?(?P<top>\d{1,3})/(?P<bottom>\d{1,4})"
            rf"(?![\w/]|[.,]\d)(?: {_PART_UNIT})?",
            _fraction,
        ),
        rule(rf"{_CASE}\b{_ARTICLE}(?P<number>\d{{1,4}})\.(?= ?[^\W\d_]|,)", _ordinal),
        rule(
            r"(?P<case>(?!))?\b(?P<before>[Dd]er|[Dd]en|[Dd]em|[Aa]m|[Vv]om|[Zz]um) "
            r"(?P<number>\d{1,3})(?=\.\s*$)",
            _last_ordinal,
        ),
        rule(r"(?<![\w.,:])(?P<left>\d{1,3}):(?P<right>\d{1,3})(?![\w:]|[.,]\d)", _ratio),
        rule(r"(?<![\w.,])(?P<number>\d{1,4})(?:x|×|-?mal)(?![\w²³]| ?\d| [-−–+=])", _times),
        rule(rf"(?<![\w.,])(?P<left>{NUMBER}) ?[x×·*] ?(?P<right>{NUMBER})(?!\w)", _product),
        rule(r"(?P<left>[\dxyz²³])(?P<sign> [-−–] )(?=\d+(?:,\d+)? ?=)", _minus),
        rule(rf"(?<![\w.,/-])(?P<low>{NUMBER}) ?[-–—] ?(?P<high>{NUMBER})(?![\w/-]|,\d)", _range),
        rule(r"(?<=\d)!(?= ?[=+*/])", _factorial),
        rule(
            r"(?P<case>(?!))?(?P<before>\b(?:wurde|wird|ist|war|als|wurden) )(?P<number>\d{1,3})\."
            r"(?= (?:im|in|bei|beim|von|vor|hinter)\b)",
            _placed,
        ),
        rule(
            r"(?<![\w.,])(?P<number>\d+,\d+)-(?=(?P<rest>[A-ZÄÖÜ][^\W\d_]{2,}))", _decimal_compound
        ),
        rule(r"(?<![\w.,])(?P<number>\d{1,6})-(?=(?P<rest>[^\W\d_]{3,}))", _compound),
        rule(r"(?<![\w.,])1(?= (?P<noun>[A-ZÄÖÜ][a-zäöüß]+))", _one),
    ]
)
VULGAR_FRACTION_RULES = [
    rule(
        rf"(?:(?<!\d)(?P<whole>\d+) ?)?(?P<sign>[{''.join(VULGAR_FRACTIONS)}])(?: {_PART_UNIT})?",
        _vulgar_fraction,
    )
]
PLAIN_NUMBER_RULES = numeric(
    [
        rule(rf"(?<![\w.,]){SIGNED}(?![\w]|[.,]\d)", _number),
        rule(r"\d+", _in_a_serial),
    ]
)
