"""English number words."""

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
).split()
_TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()
_SCALES = (
    (10**15, "quadrillion"),
    (10**12, "trillion"),
    (10**9, "billion"),
    (10**6, "million"),
    (10**3, "thousand"),
)
_IRREGULAR_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
LARGEST = 10**18 - 1
"""Longer numbers are read digit by digit: nobody follows a name for them."""


def cardinal(number: int) -> str:
    """``1234`` -> ``one thousand two hundred thirty four``; beyond ``LARGEST`` digit by digit."""
    if number < 0:
        return f"minus {cardinal(-number)}"
    if number > LARGEST:
        return digits(str(number))
    for size, name in _SCALES:
        if number >= size:
            return _with_rest(f"{cardinal(number // size)} {name}", number % size)
    if number >= 100:
        return _with_rest(f"{_ONES[number // 100]} hundred", number % 100)
    if number >= 20:
        return _with_rest(_TENS[number // 10], number % 10)
    return _ONES[number]


def ordinal(number: int) -> str:
    """``23`` -> ``twenty third``."""
    *before, last = cardinal(number).split()
    if last in _IRREGULAR_ORDINALS:
        last = _IRREGULAR_ORDINALS[last]
    elif last.endswith("y"):
        last = last[:-1] + "ieth"
    else:
        last += "th"
    return " ".join([*before, last])


def year(number: int) -> str:
    """``1984`` -> ``nineteen eighty four``, ``2005`` -> ``two thousand five``."""
    century, rest = divmod(number, 100)
    if not 1000 <= number <= 9999 or (century % 10 == 0 and rest < 10) or number % 1000 == 0:
        return cardinal(number)
    if rest == 0:
        return f"{cardinal(century)} hundred"
    return f"{cardinal(century)} {pair(rest)}"


def pair(number: int) -> str:
    """The last two digits of a year or a time: ``5`` -> ``oh five``."""
    return f"oh {_ONES[number]}" if number < 10 else cardinal(number)


def digits(text: str) -> str:
    """Each digit by itself: ``905`` -> ``nine zero five``; anything else is passed over."""
    return " ".join(_ONES[int(character)] for character in text if character.isdecimal())


def number(text: str) -> str:
    """``1,234.50``, ``-2``, ``.5``: a number as it is written, as it is said."""
    text = text.replace(",", "").replace("−", "-").strip()
    sign = "minus " if text[:1] in "-−" and text else ""
    whole, point, decimals = text.lstrip("+-−").partition(".")
    if not point or not decimals:
        return sign + cardinal(int(whole))
    said = cardinal(int(whole)) + " " if whole else ""
    return f"{sign}{said}point {digits(decimals)}"


def is_one(text: str) -> bool:
    """Whether what is counted stands in the singular."""
    return text.lstrip("-−+") == "1"


def plural(noun: str) -> str:
    """``penny`` -> ``pennies``, ``square foot`` -> ``square feet``, ``miles per hour``."""
    if " per " in noun:
        first, rest = noun.split(" per ", 1)
        return f"{plural(first)} per {rest}"
    if noun.endswith(("percent", "hertz", "P S I", "RPM", "feet")):
        return noun
    if noun.endswith("foot"):
        return noun.removesuffix("foot") + "feet"
    if noun.endswith(("s", "x", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"


def fraction(top: int, bottom: int, *, whole: str | None) -> str | None:
    """``3/4`` -> ``three quarters``, ``2 1/2`` -> ``two and a half``; None if it is none."""
    if not 2 <= bottom <= 9999:
        return None
    if top == bottom:
        return f"{cardinal(top)} out of {cardinal(bottom)}"
    if whole and (top, bottom) == (1, 2):
        return f"{number(whole)} and a half"
    said = f"{cardinal(top)} {parts(bottom, one=top == 1)}"
    return f"{number(whole)} and {said}" if whole else said


def parts(bottom: int, *, one: bool) -> str:
    """What a fraction counts: ``4`` -> ``quarters``."""
    if bottom == 2:
        return "half" if one else "halves"
    name = "quarter" if bottom == 4 else ordinal(bottom)
    return name if one else plural(name)


def _with_rest(words: str, rest: int) -> str:
    return f"{words} {cardinal(rest)}" if rest else words
