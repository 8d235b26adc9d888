"""Chinese number words."""

_DIGITS = "零一二三四五六七八九"
_SIZES = ((10**8, "亿"), (10**4, "万"))
_LARGEST = 10**16


def cardinal(number: int) -> str:
    """``12`` -> ``十二``, ``20305`` -> ``两万零三百零五``; what is too large, digit by digit."""
    if number >= _LARGEST:
        return digits(str(number))
    said = _part(number)
    return said[1:] if said.startswith("一十") else said


def _part(number: int) -> str:
    for size, name in _SIZES:
        if number >= size:
            count, rest = divmod(number, size)
            gap = "零" if 0 < rest < size // 10 else ""
            return f"{_count(count)}{name}{gap}{_part(rest) if rest else ''}"
    return _below_ten_thousand(number)


def _below_ten_thousand(number: int) -> str:
    for size, name in ((1000, "千"), (100, "百")):
        if number >= size:
            count, rest = divmod(number, size)
            gap = "零" if 0 < rest < size // 10 else ""
            return f"{_count(count)}{name}{gap}{_below_ten_thousand(rest) if rest else ''}"
    tens, ones = divmod(number, 10)
    if tens:
        return f"{_DIGITS[tens]}十{_DIGITS[ones] if ones else ''}"
    return _DIGITS[ones]


def _count(number: int) -> str:
    """How many hundreds, thousands and so on: two of them are 两."""
    return "两" if number == 2 else _part(number)


def digits(text: str, *, one: str = "一") -> str:
    """Each digit by itself; anything else is passed over."""
    said = "".join(_DIGITS[int(character)] for character in text if character.isdecimal())
    return said.replace("一", one)


def number(text: str) -> str:
    """``1,234.5``, ``-2``: a number as it is written, as it is said."""
    text = text.replace(",", "").replace("，", "")
    sign = "负" if text[:1] in ("-", "−") else ""
    whole, point, decimals = text.lstrip("-−+").partition(".")
    said = sign + cardinal(int(whole or 0))
    return f"{said}点{digits(decimals)}" if point and decimals else said


def amount(text: str) -> str:
    """The same before a measure word: two is 两."""
    return "两" if text == "2" else number(text)
