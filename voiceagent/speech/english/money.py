"""Sums of money."""

import re

from voiceagent.speech.english.numbers import cardinal, is_one, number, plural
from voiceagent.speech.english.rule import NUMBER
from voiceagent.speech.english.units import CURRENCIES, PERIODS, SCALES
from voiceagent.speech.mapped import Replacement
from voiceagent.speech.rules import alternatives, numeric, rule

_AMOUNT = rf"\d+,\d\d(?![\d,])|{NUMBER}"
_SCALES = SCALES | {"m": "million"}  # of money; elsewhere a metre
_SCALE = rf"(?: ?(?P<scale>{alternatives(_SCALES)})\b)?"
_SYMBOL = rf"(?:{alternatives(CURRENCIES)})"


def _money(match: re.Match[str]) -> Replacement:
    """``$3.50`` -> ``three dollars fifty cents``, ``$20/mo`` -> ``twenty dollars per month``."""
    minus = "minus " if match["sign"] else ""
    said = _amount(match["number"], symbol=match["symbol"], scale=match["scale"])
    period = match["period"]
    return minus + said + (f" per {PERIODS.get(period, period)}" if period else "")


def _money_range(match: re.Match[str]) -> Replacement:
    low = number(match["number"])
    return f"{low} to {_amount(match['high'], symbol=match['symbol'], scale=match['scale'])}"


def _amount(text: str, *, symbol: str, scale: str | None) -> str:
    major, minor = CURRENCIES[symbol]
    # In Europe cents follow a comma; thousands have three digits behind it.
    text = re.sub(r",(?=\d\d?$)", ".", text)
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
            rf"(?P<symbol>{_SYMBOL}) ?(?P<number>{NUMBER}) ?[-–] ?{_SYMBOL}?(?P<high>{NUMBER})"
            rf"{_SCALE}(?![\w-])",
            _money_range,
        ),
        rule(
            rf"(?P<sign>(?<![\w)])[-−])?(?P<symbol>{_SYMBOL}) ?(?P<number>{_AMOUNT}){_SCALE}"
            rf"(?: ?/ ?(?P<period>{alternatives(PERIODS)})\b|(?<=\d)s\b)?",
            _money,
        ),
        rule(
            rf"(?P<sign>(?<![\w.)])[-−])?(?<![\w.,])(?P<number>{_AMOUNT}){_SCALE} ?"
            r"(?P<symbol>[€£¥₩₹]|(?<= )\$(?![\d.]))(?P<period>(?!))?",
            _money,
        ),
    ]
)
