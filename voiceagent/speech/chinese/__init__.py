"""How written Chinese (Mandarin, either script) is said, in the order in which rules are applied.

Dates, times, money, measures, percentages, fractions, telephone numbers, addresses and signs. Words
of other scripts are left to the voice, digits never.
"""

import re

from voiceagent.speech.chinese import quantities
from voiceagent.speech.chinese.numbers import digits
from voiceagent.speech.mapped import Replacement
from voiceagent.speech.patterns import ADDRESS_6, HARDWARE_ADDRESS, HASH, PATH, UUID
from voiceagent.speech.punctuation import punctuation
from voiceagent.speech.rules import blank, nothing, rule

_SYMBOLS = {
    ".": "点",
    "/": "斜杠",
    "\\": "反斜杠",
    "-": "横杠",
    "_": "下划线",
    ":": "冒号",
    "@": "艾特",
    "?": "问号",
    "=": "等于",
    "&": "和",
    "#": "井号",
    "+": "加",
    "%": "百分号",
    "~": "波浪号",
}


def _address(match: re.Match[str]) -> Replacement:
    """A web or e-mail address, or a file: letters as they are, signs by name."""
    address = match.group().rstrip(".,;:!?")
    begin, end = match.start(), match.start() + len(address)
    said = []
    for piece in re.findall(r"[^\W\d_]+|\d+|[^\w\s]|_", address):
        said.append(digits(piece) if piece.isdecimal() else _SYMBOLS.get(piece, piece))
    return [(" ".join(said), begin, end), (end, match.end())]


def _by_characters(match: re.Match[str]) -> Replacement:
    """``fe80::1``: each letter, digit and sign by itself."""
    return " ".join(
        digits(character) if character.isdecimal() else _SYMBOLS.get(character, character.upper())
        for character in match.group()
    )


_TAIL = r"[A-Za-z0-9._~/?#@!$&'()*+,;=%-]"
_ADDRESS_RULES = [
    rule(UUID, _by_characters),
    rule(HARDWARE_ADDRESS, _by_characters),
    rule(ADDRESS_6, _by_characters),
    rule(HASH, _by_characters),
    rule(PATH, _address),
    rule(rf"(?:https?|ftp)://{_TAIL}+|(?<![A-Za-z0-9])www\.{_TAIL}+", _address, re.I),
    rule(r"(?<![A-Za-z0-9._])[A-Za-z0-9._+-]+@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}", _address),
    rule(
        r"(?<![A-Za-z0-9._@/])(?:[a-z0-9-]+\.)+(?:com|cn|org|net|io|gov|edu|tw|hk)"
        r"(?:/[A-Za-z0-9._/-]*)?(?![A-Za-z0-9])",
        _address,
    ),
    rule(
        r"(?<![A-Za-z0-9._])[A-Za-z0-9_-]+\.(?:py|md|txt|json|pdf|docx?|xlsx?|csv|png|jpe?g|zip|mp3)"
        r"(?![A-Za-z0-9])",
        _address,
    ),
]

_SIGNS = {
    "&": "和",
    "%": "百分号",
    "@": "艾特",
    "$": "美元",
    "€": "欧元",
    "£": "英镑",
    "¥": "元",
    "￥": "元",
    "°": "度",
    "+": "加",
    "＋": "加",
    "−": "减",
    "=": "等于",
    "＝": "等于",
    "×": "乘",
    "÷": "除以",
    "≈": "约等于",
    "≠": "不等于",
    "≤": "小于等于",
    "≥": "大于等于",
    "±": "正负",
    "√": "根号",
    "π": "派",
    "²": "的平方",
    "³": "的立方",
    "<": "小于",
    ">": "大于",
    "#": "井号",
    "*": "",
    "~": "",
    "～": "",
    "^": "",
    "_": "",
    "|": "",
    "\\": "",
    "®": "",
    "™": "",
}


def _per(match: re.Match[str]) -> Replacement:
    """``元/月``."""
    return "每"


def _minus(match: re.Match[str]) -> Replacement:
    return "减"


def _number_one(match: re.Match[str]) -> Replacement:
    return "第"


def _pause(match: re.Match[str]) -> Replacement:
    """A pause that no word stands for."""
    return [("，", match.start(), match.start())]


def _full_stop(match: re.Match[str]) -> Replacement:
    return "。"


def _after_mark(match: re.Match[str]) -> Replacement:
    """Words end at marks: Chinese has no blanks, and the way back goes word by word."""
    return [match.span(), (" ", match.end(), match.end())]


_HAN = r"[\u3400-\u9fff]"
RULES = (
    *_ADDRESS_RULES,
    rule(r"(?:No\.|№) ?(?=\d)", _number_one, re.I),
    rule(r"(?<=\d) ?[-−–] ?(?=\d+(?:\.\d+)? ?=)", _minus),
    *quantities.RULES,
    *quantities.PLAIN_NUMBER_RULES,
    rule(
        r"(?<=[元块分吨克升米里时])/(?=(?:月|年|天|日|小时|分钟|秒|人|次|件|个|斤|公斤|平米|平方米|吨|晚|张|份))",
        _per,
    ),
    rule(r"(?<=[A-Za-z])/(?=[A-Za-z])", blank),
    # Dots and dashes pause; brackets, titles and quotation marks are for the eye.
    rule(r"(?:\.{3,}|…+|。{2,})(?=.*\w)|\s*(?:——+|—|–)\s*", _pause),
    rule(r"(?<=\S)\s*[（(【]\s*(?=\w)|[）)】](?=\w)", _pause),
    rule(r"[（()）【】「」『』《》〈〉“”‘’〔〕]", blank),
    *punctuation(_SIGNS),
    rule(rf"(?<={_HAN}) +(?={_HAN})", nothing),
    rule(rf"(?<={_HAN})\.(?=\s|$)", _full_stop),
    rule(r"\s+(?=[，。！？；：、])", nothing),
    rule(r"[，。！？；：、]+(?=\S)", _after_mark),
)
