"""German number words."""

_ONES = (
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn "
    "fünfzehn sechzehn siebzehn achtzehn neunzehn"
).split()
_TENS = " zehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split(" ")
_SCALES = (
    (10**12, "Billion", "Billionen"),
    (10**9, "Milliarde", "Milliarden"),
    (10**6, "Million", "Millionen"),
)
_LARGEST = 10**15
_IRREGULAR_ORDINALS = {"eins": "erst", "drei": "dritt", "sieben": "siebt", "acht": "acht"}


def cardinal(number: int, *, one: str = "eins") -> str:
    """``21`` -> ``einundzwanzig``; what is too large is read digit by digit.

    Args:
        number: at least 0.
        one: what a last "1" is called: ``ein`` and ``eine`` before what is counted.
    """
    if number >= _LARGEST:
        return digits(str(number))
    for size, name, names in _SCALES:
        if number >= size:
            count, rest = divmod(number, size)
            said = f"eine {name}" if count == 1 else f"{cardinal(count, one='eine')} {names}"
            return f"{said} {cardinal(rest, one=one)}" if rest else said
    return _below_a_million(number, one)


def _below_a_million(number: int, one: str) -> str:
    if number >= 1000:
        thousands, rest = divmod(number, 1000)
        lead = "" if thousands == 1 else _below_a_million(thousands, "ein")
        return f"{lead}tausend{_below_a_million(rest, one) if rest else ''}"
    if number >= 100:
        hundreds, rest = divmod(number, 100)
        lead = "ein" if hundreds == 1 else _ONES[hundreds]
        return f"{lead}hundert{_below_a_million(rest, one) if rest else ''}"
    if number >= 20:
        tens, ones = divmod(number, 10)
        return f"{_joined(ones)}und{_TENS[tens]}" if ones else _TENS[tens]
    return one if number == 1 else _ONES[number]


def _joined(ones: int) -> str:
    return "ein" if ones == 1 else _ONES[ones]


def ordinal(number: int, ending: str) -> str:
    """``3`` and ``en`` -> ``dritten``."""
    said = cardinal(number)
    for word, stem in _IRREGULAR_ORDINALS.items():
        # "einundzwanzig" ends in no such word, "einhunderteins" does.
        if number % 100 < 20 and said.endswith(word):
            return said[: -len(word)] + stem + ending
    return said + ("t" if 0 < number % 100 < 20 else "st") + ending


def year(number: int) -> str:
    """``1984`` -> ``neunzehnhundertvierundachtzig``, ``2005`` -> ``zweitausendfünf``."""
    if not 1100 <= number <= 1999:
        return cardinal(number)
    hundreds, rest = divmod(number, 100)
    return f"{_ONES[hundreds]}hundert{cardinal(rest) if rest else ''}"


def digits(text: str) -> str:
    """Each digit by itself; anything else is passed over."""
    return " ".join(_ONES[int(character)] for character in text if character.isdecimal())


def number(text: str, *, one: str = "eins") -> str:
    """``1.234,5``, ``-2``: a number as it is written, as it is said."""
    sign = "minus " if text[:1] in ("-", "−") else ""
    whole, comma, decimals = text.lstrip("-−+").partition(",")
    if not comma and whole.count(".") == 1 and len(whole.partition(".")[2]) != 3:
        whole, _, decimals = whole.partition(".")  # written the English way
        return f"{sign}{cardinal(int(whole or 0))} Punkt {digits(decimals)}"
    whole = whole.replace(".", "")
    if not decimals:
        return sign + cardinal(int(whole), one=one)
    return f"{sign}{cardinal(int(whole or 0))} Komma {digits(decimals)}"


def is_one(text: str) -> bool:
    """Whether what is counted stands in the singular."""
    return text.lstrip("-−+") == "1"
