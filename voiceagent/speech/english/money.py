"""Sums of money."""

import re

from voiceagent.speech.english.numbers import cardinal, is_one, number, plural
from voiceagent.speech.english.rule import NUMBER
from voiceagent.speech.english.units import CURRENCIES, PERIODS, SCALES
from voiceagent.speech.mapped import Replacement
from voiceagent.speech.rules import alternatives, numeric, rule

_AMOUNT = rf"\d{{1,3}}(?:\.\d{{3}})+,\d\d(?!\d)|\d+,\d\d(?![\d,])|{NUMBER}"
_SCALES = SCALES | {"m": "million"}  # of money; elsewhere a metre
_SCALE = rf"(?: ?(?P<scale>{alternatives(_SCALES)})\b)?"
_SYMBOL = rf"(?:{alternatives(CURRENCIES)})"
_PERIOD = rf" ?/ ?(?P<period>(?:{alternatives(PERIODS)}|[a-z]{{3,}}|ea)(?!\w))"
_HELD_APART = (
    "a|an|and|as|at|back|because|but|by|each|every|extra|for|from|if|in|is|less|more|off|on|or|out|"
    "over|per|so|than|that|the|then|to|total|under|when|with|worth"
)
"""Behind a sum these begin something new; any other word is what "a $5 bill" counts."""


def _money(match: re.Match[str]) -> Replacement:
    """``$3.50`` -> ``three dollars fifty cents``, ``$20/mo`` -> ``twenty dollars per month``."""
    minus = "minus " if match["sign"] else ""
    if _describes(match):
        return minus + _describing(match)
    said = _amount(match["number"], symbol=match["symbol"], scale=match["scale"])
    return minus + said + _per(match["period"])


def _per(period: str | None) -> str:
    """What ``/mo`` says."""
    if period == "ea":
        return " each"
    return f" per {PERIODS.get(period, period)}" if period else ""


def _describing(match: re.Match[str]) -> str:
    """``$1.2 billion`` -> ``one point two billion dollar``, ``$3.50`` -> ``three dollar fifty``."""
    unit, text = CURRENCIES[match["symbol"]][0], match["number"].replace(",", "")
    if match["scale"]:
        return f"{number(text)} {_SCALES[match['scale']]} {unit}"
    whole, _, cents = text.partition(".")
    if int(cents or 0):
        return f"{cardinal(int(whole or 0))} {unit} {cardinal(int(cents))}"
    return f"{cardinal(int(whole or 0))} {unit}"


def _describes(match: re.Match[str]) -> bool:
    """``a $5 bill``, ``a $1.2 billion deal``: in the singular before what it describes."""
    if match["period"]:
        return False
    before, after = match.string[: match.start()], match.string[match.end() :]
    return bool(
        re.search(r"\b[Aa]n? $", before) and re.match(rf" (?!(?:{_HELD_APART})\b)[a-z]", after)
    )


def _money_range(match: re.Match[str]) -> Replacement:
    """``$5-10`` -> ``five to ten dollars``; with cents or millions each side is said in full."""
    high = _amount(match["high"], symbol=match["symbol"], scale=match["scale"])
    if match["low_scale"] or "." in match["number"]:
        low = _amount(match["number"], symbol=match["symbol"], scale=match["low_scale"])
    else:
        low = number(match["number"])
    return f"{low} to {high}{_per(match['period'])}"


def _amount(text: str, *, symbol: str, scale: str | None) -> str:
    major, minor = CURRENCIES[symbol]
    # In Europe cents follow a comma; thousands have three digits behind it.
    if re.search(r",\d\d?$", text):
        text = text.replace(".", "").replace(",", ".")
    if scale:
        return f"{number(text)} {_SCALES[scale]} {_many(major)}"
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


RULES = numeric(
    [
        rule(
            rf"(?P<symbol>{_SYMBOL}) ?(?P<number>{NUMBER})"
            rf"(?: ?(?P<low_scale>{alternatives(_SCALES)}))? ?[-–] ?{_SYMBOL}?(?P<high>{NUMBER})"
            rf"{_SCALE}(?![\w-])(?:{_PERIOD})?",
            _money_range,
        ),
        rule(
            rf"(?P<sign>(?<![\w)])[-−])?(?P<symbol>{_SYMBOL}) ?(?P<number>{_AMOUNT}){_SCALE}"
            rf"(?:{_PERIOD}|(?<=\d)s\b)?",
            _money,
        ),
        rule(
            rf"(?P<sign>(?<![\w.)])[-−])?(?<![\w.,])(?P<number>{_AMOUNT}){_SCALE} ?"
            r"(?P<symbol>[€£¥₩₹]|(?<= )\$(?![\d.]))(?P<period>(?!))?",
            _money,
        ),
    ]
)
