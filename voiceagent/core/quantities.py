"""Numbers, times and dates in a text, written in words or in digits, made comparable."""

import re
from dataclasses import dataclass
from fractions import Fraction

from voiceagent.core import severity_words as lexicon


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit, a time of day, or a day."""

    value: str
    unit: str = ""
    """A known unit of measure; empty for a bare number."""

    def __str__(self) -> str:
        return f"{self.value} {self.unit}".strip()

    def agrees(self, other: "Quantity") -> bool:
        """Whether both may mean the same: equal, where no unit says otherwise."""
        if self.value == other.value and "" in (self.unit, other.unit):
            return True
        return self._measure == other._measure or self._is_hour(other) or other._is_hour(self)

    def _is_hour(self, time: "Quantity") -> bool:
        """Whether a bare number may mean a time: "at six" is "at six o'clock"."""
        return not self.unit and time.value == f"{self.value}:00"

    @property
    def _measure(self) -> tuple[str, object]:
        """What is measured, and how much of it in one unit; as it is, where there is no other."""
        if self.unit in lexicon.MEASURES:
            measured, factor = lexicon.MEASURES[self.unit]
            return measured, Fraction(self.value) * Fraction(factor)
        return self.unit, self.value


_PHRASES = (
    (r"\bminus (?=\d)", "-"),
    (r"\btwice\b", "2"),
    (r"\b(\d+)( degrees)? below (?:0|freezing)\b", r"-\1\2"),
    (r"\b(?:a|1) (third|quarter|half) of\b", r"1 \1 of"),
    (r"\ba fortnight\b", "1 fortnight"),
    (r"\ba couple of\b", "2"),
    (r"\ban hour and a half\b", "90 minutes"),
    (r"\b(\d+) and a half\b", r"\1.5"),
    (r"\bhalf an hour\b|\bhalf hour\b", "30 minutes"),
    (r"\b(?:a )?quarter of an hour\b", "15 minutes"),
    (r"\ba dozen\b|\bdozen\b", "12"),
    (r"\bhalf (?:of|the)\b", "50 percent of"),
    (r"\b(?:a|1) quarter of\b", "25 percent of"),
    (r"\b(?:a|1) quarter\b(?! past)", "0.25"),
    (r"\b3 quarters\b|\b3/4\b", "0.75"),
    (r"\bhalf an?\b|\b1/2\b", "0.5"),
    (r"\b1/4\b", "0.25"),
    (r"\bhalf past (\w+)\b", r"\1:30"),
    (r"\b(?:a )?quarter past (\w+)\b", r"\1:15"),
    (r"\b(\w+) o['’]?clock\b", r"\1:00"),
    (r"\bnoon\b|\bmidday\b", "12:00 pm"),
    (r"\bmidnight\b", "12:00 am"),
    (r"\b(?:in the|this) morning\b", "am"),
    (r"\b(?:in the|this) (?:afternoon|evening)\b|\bat night\b", "pm"),
    (r"\b([ap])\.m\.", r"\1m"),
    (r"\bper cent\b", "percent"),
)
_QUARTER_TO = re.compile(r"\b(?:a )?quarter to (\d{1,2})\b")
_MINUTES_TO = re.compile(
    r"(?<=\b(?:is|at|by|'s|’s) )(\d{1,2})(?: minutes)? (to|past) (\d{1,2})\b(?! [^\W\d_])"
)
_TO_ONE = re.compile(r"\b((?:quarter|half|five|ten|twenty|minutes|\d{1,2}) (?:past|to)) one\b")
_ONE_IN = re.compile(r"\b(?:1|one) in (\d{1,2}) (?=[^\W\d_])")
_MAY = re.compile(r"\bMay\b(?= \d)|(?<=\b(?:in|of|by) )May\b|(?<=\bsince )May\b")
_TIME = re.compile(
    r"\b(\d{1,2})(?::(\d{2})|\.(\d{2})(?=\s*[ap]m))\s*([ap]m)?\b|\b(\d{1,2})\s*([ap]m)\b"
)
_NUMBER = re.compile(
    r"([$€£¥]?)\s?((?:(?<![\w.-])-)?\d[\d,]*(?:\.\d+)?)(?:st|nd|rd|th)?\b\s*(%|°?[^\W\d_]+)?"
)
_SEASON = re.compile(
    r"\b(?:in|this|last|next|every|each|until|since|during|early|late|by)(?: the)? "
    rf"({'|'.join(lexicon.SEASONS)})\b"
)
_CODE = re.compile(r"\b(?:\d+[A-Z]|[A-Z]{1,2}-?\d+)\b")
"""What a number is part of: seat 4B, gate A12, room C-7."""
_DAY = re.compile(rf"\b(?:{'|'.join(sorted(lexicon.DAYS))})s?\b")
_NOT_COUNTED = frozenset(
    ["", *". , ; ! ? is was of can should must in with for who to and or".split()]
)
"""What follows "one" where it counts nothing."""


def quantities(text: str) -> list[Quantity]:
    """All quantities of a text, in the order times, days, numbers."""
    found: list[Quantity] = []

    def take(match: re.Match[str]) -> str:
        found.append(Quantity(match[match.lastindex or 0].lower().replace("-", "")))
        return " "

    plain = _MAY.sub("may_month", _CODE.sub(take, text)).lower()
    plain = _SEASON.sub(take, plain)
    plain = _TO_ONE.sub(r"\1 1", plain)
    plain = re.sub(r"\ban? (?=hundred|thousand|million|billion)", "one ", plain)
    plain = _digits(re.sub(r"\b(?:a|one) (?:second|moment|minute)\b", "a moment", plain))
    plain = _QUARTER_TO.sub(lambda match: f"{(int(match[1]) - 2) % 12 + 1}:45", plain)
    plain = _MINUTES_TO.sub(_clock, plain)
    plain = _ONE_IN.sub(lambda match: f"{100 / int(match[1]):g} percent of ", plain)
    for phrase, meaning in _PHRASES:
        plain = re.sub(phrase, meaning, plain)

    def take_time(match: re.Match[str]) -> str:
        found.append(_time(match))
        return " "

    def take_day(match: re.Match[str]) -> str:
        found.append(Quantity(match[0].rstrip("s")))
        return " "

    plain = _TIME.sub(take_time, plain)
    plain = _DAY.sub(take_day, plain)
    found += [_number(match) for match in _NUMBER.finditer(plain)]
    return found


def unmatched(one: list[Quantity], other: list[Quantity]) -> tuple[list[Quantity], list[Quantity]]:
    """The quantities of each side that agree with none of the other's."""
    left, right = list(one), list(other)
    for quantity in one:
        partner = next((each for each in right if quantity.agrees(each)), None)
        if partner is not None:
            left.remove(quantity)
            right.remove(partner)
    return left, right


def _clock(match: re.Match[str]) -> str:
    """ "Ten to four" and "ten past four" as the clock shows them."""
    minutes, hour = int(match[1]), int(match[3])
    if match[2] == "to":
        minutes, hour = 60 - minutes, (hour - 2) % 12 + 1
    return f"{hour}:{minutes:02}"


def _time(match: re.Match[str]) -> Quantity:
    hour, minute = match[1] or match[5], match[2] or match[3] or "00"
    half = match[4] or match[6] or ""
    if int(hour) > 12:
        hour, half = str(int(hour) - 12), "pm"
    return Quantity(f"{int(hour)}:{minute}", half)


def _number(match: re.Match[str]) -> Quantity:
    value = Fraction(match[2].replace(",", ""))
    word = match[1] or match[3] or ""
    unit = lexicon.UNITS.get(word) or lexicon.UNITS.get(word.rstrip("s"), "")
    return Quantity(str(value), unit)


def _digits(plain: str) -> str:
    """The text with numbers in words written in digits."""
    items = _ITEM.findall(re.sub(r"(?<=\w)-", " ", plain))
    written: list[str] = []
    while items:
        length, value = (0, Fraction(0)) if items[0].isspace() else _spelled(items)
        written.append(f"{float(value):f}".rstrip("0").rstrip(".") if length else items[0])
        del items[: max(1, length)]
    return "".join(written)


_ITEM = re.compile(r"[^\W\d_]+|\d[\d,]*(?:\.\d+)?|\s+|.", re.DOTALL)


def _spelled(items: list[str]) -> tuple[int, Fraction]:
    """How many items at the beginning spell one number, and which; 0 items for none."""
    total, current, length = Fraction(0), Fraction(0), 0
    for index, item in enumerate(items):
        if item in lexicon.SMALL and _may_follow(current, lexicon.SMALL[item], first=not length):
            current += lexicon.SMALL[item]
        elif item in lexicon.ORDINALS and _may_follow(current, lexicon.ORDINALS[item]):
            return index + 1, total + current + lexicon.ORDINALS[item]
        elif item in lexicon.SCALES and length:
            scaled = max(current, Fraction(1)) * lexicon.SCALES[item]
            total, current = (total, scaled) if item == "hundred" else (total + scaled, Fraction(0))
        elif item[0].isdigit() and not length and _next_word(items[1:]) in lexicon.SCALES:
            current = Fraction(item.replace(",", ""))
        elif item.isspace() or (item == "and" and length and current % 100 == 0):
            continue
        else:
            break
        length = index + 1
    if length == 1 and items[0] == "one" and _next_word(items[1:]) in _NOT_COUNTED | {""}:
        return 0, Fraction(0)  # "the blue one"
    return length, total + current


def _may_follow(current: Fraction, small: int, *, first: bool = False) -> bool:
    """Whether "five" continues "twenty" or "one hundred", and not "nine"."""
    return first or current % 100 == 0 or (current % 10 == 0 and current % 100 >= 20 and small < 10)


def _next_word(items: list[str]) -> str:
    """The word that follows, or the mark; empty at the end."""
    return next((item for item in items if not item.isspace()), "")
