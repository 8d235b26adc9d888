"""Characters that matter to boundaries, by what they do. Facts of Unicode (UAX 29, UAX 44)."""

import re

NEWLINES = "\n\r\x85\u2028\u2029"
_BLANK_SET = " \t\xa0\u1680\u2000-\u200b\u202f\u205f\u3000\ufeff"
_EMOJI_SET = "\U0001f1e6-\U0001f1ff\U0001f300-\U0001faff☀-➿⭐⭕"
BLANKS = frozenset(" \t\xa0\u1680\u202f\u205f\u3000\ufeff") | {
    chr(c) for c in range(0x2000, 0x200C)
}
"""Blanks that do not end a line."""
BLANK_OR_NEWLINE = BLANKS | set(NEWLINES)
BLANK_OR_NOTHING = BLANK_OR_NEWLINE | {""}

SOFT_STOPS = ".!?…‼⁇⁈⁉"
"""Need a blank after them: "3.14", "a.b" and "Yahoo!" hold the same characters."""
HARD_STOPS = "。！？｡．。﹒﹖﹗؟۔܀܁܂։።፧፨।॥၊။។៕᙮᠃᠉᥄᥅᪨᪩᪪᪫᭚᭛᭞᭟᰻᰼᱾᱿⸮꓿꘎꘏꛳꛷꡶꡷꣎꣏꤯꧈꧉꩝꩞꩟꫰꫱꯫\u037e།༎"
"""End a sentence whatever follows, but for closing marks (property Sentence_Terminal)."""

ASCII_MARKS = ",;:"
WIDE_MARKS = "，；：､،؛፣፤፥﹐﹔﹕"
DASHES = "—–"
IDEOGRAPHIC_COMMA = "、"
"""A clause mark in Japanese; in Chinese it separates the items of a list."""
BULLETS = "•⁃‣▪◦●○■"

STOPS = re.compile(f"[{re.escape(SOFT_STOPS + HARD_STOPS)}]+")
SPACED_DOTS = re.compile(r"\.(?: \.){1,20}")
GAP = re.compile(f"[{_BLANK_SET}]*")
NEWLINE = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
ANY_GAP = re.compile(f"[{_BLANK_SET}\n\r\x85\u2028\u2029]*")

_ON_TOP = "\u0300-\u036f\u064b-\u0652\ufe00-\ufe0f\u200d-\u200f\u202a-\u202e\u2066-\u2069"
_MODIFIERS = "\U0001f3fb-\U0001f3ff\ufe0f\u200d\u20e3"
_WIDE_CLOSER_SET = rf"\"'”’»)\]}}*_」』）】》〉〕〗｝］＂＇{_ON_TOP}"
EMOJI = re.compile(f"[{_EMOJI_SET}](?:[{_EMOJI_SET}{_MODIFIERS}]| (?=[{_EMOJI_SET}]))*")
"""Emoji in a row, blanks between them too."""
CLOSERS = re.compile(
    rf"(?:[{_WIDE_CLOSER_SET}«“‘›‹{_EMOJI_SET}]|</[A-Za-z][\w-]{{0,20}}>|\[\d{{1,3}}\])+"
)
"""After a soft stop: quotes, brackets, emphasis, tags, footnotes, emoji, combining marks."""
WIDE_CLOSERS = re.compile(f"[{_WIDE_CLOSER_SET}{_EMOJI_SET}]+")
"""After a hard stop, where opening quotes may follow without a blank."""
CLAUSE_CLOSERS = re.compile(rf"[\"'”’»“*_{_ON_TOP}]+")
CLOSER_BEGINS = re.compile(r"<(?:/[\w-]{0,21})?|\[\d{0,3}")
"""The beginning of a closing tag or of a footnote."""

_OPENER_SET = r"\"'“„‘‚«»‹›(\[{¿¡*_~#>「『（【《〈"
OPENERS = re.compile(rf"(?:[{_OPENER_SET}][{_BLANK_SET}]?|[-–—―•⁃]+[{_BLANK_SET}]?){{0,4}}")
MARKS_BEFORE_A_WORD = f" \t\r\n\"'“„‘«»([{{*_#>-–—{BULLETS}¿¡"
"""What may stand between the beginning of a sentence and its first word."""
LEADING_DOTS = re.compile(r"[.…]+")
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
LAST_WORD = re.compile(rf"[^\s\"'“„‘«(\[{{*_¿¡—{BULLETS}]*\Z")

IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
"""Han and kana, which are written without blanks."""
WIDE = re.compile(
    r"[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef"
    r"\U00020000-\U0003ffff]"
)
"""Scripts whose characters carry a syllable or more."""
WEIGHT_OF_WIDE = 4
"""6 CJK characters count like 24 Latin ones: field practice for first clauses."""


def weight(text: str) -> int:
    """How much there is to say, in Latin characters."""
    if text.isascii():
        return len(text)
    return len(text) + (WEIGHT_OF_WIDE - 1) * len(WIDE.findall(text))


def index_of_weight(text: str, most: int) -> int:
    """How many characters from the beginning of the text weigh at most ``most``."""
    if text.isascii():
        return min(len(text), most)
    low, high = 0, min(len(text), most)
    while low < high:
        middle = (low + high + 1) // 2
        if weight(text[:middle]) <= most:
            low = middle
        else:
            high = middle - 1
    return low
