"""Characters that matter to boundaries, by what they do. Facts of Unicode (UAX 29, UAX 44)."""

import re

NEWLINES = "\n\r\x85\u2028\u2029"
BLANKS = " \t\xa0\u1680\u2000-\u200b\u202f\u205f\u3000\ufeff"
"""The body of a regular expression's set: blanks that do not end a line."""

SOFT_STOPS = ".!?…‼⁇⁈⁉"
"""Need a blank after them: "3.14", "a.b" and "Yahoo!" hold the same characters."""
HARD_STOPS = "。！？｡．؟۔܀܁܂։።፧፨।॥၊။។៕᙮᠃᠉᥄᥅᪨᪩᪪᪫᭚᭛᭞᭟᰻᰼᱾᱿⸮꓿꘎꘏꛳꛷꡶꡷꣎꣏꤯꧈꧉꩝꩞꩟꫰꫱꯫﹒﹖﹗\u037e།༎"
"""End a sentence whatever follows, but for closing marks (property Sentence_Terminal)."""

ASCII_MARKS = ",;:"
WIDE_MARKS = "，；：､،؛፣፤፥؍﹐﹔﹕"
DASHES = "—–"
IDEOGRAPHIC_COMMA = "、"
"""A clause mark in Japanese; in Chinese it separates the items of a list."""

STOPS = re.compile(f"[{re.escape(SOFT_STOPS + HARD_STOPS)}]+")
GAP = re.compile(f"[{BLANKS}]*")
NEWLINE = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
ANY_BLANK = re.compile(f"[{BLANKS}\n\r\x85\u2028\u2029]*")

_MARKS_ON_TOP = (
    "\u0300-\u036f\u064b-\u0652\ufe00-\ufe0f\u200d\u200e\u200f\u202a-\u202e\u2066-\u2069"
)
CLOSERS = re.compile(
    rf"(?:[\"'”’»«“‘›‹)\]}}*_」』）】》〉〕〗｝］＂＇{_MARKS_ON_TOP}\U0001f300-\U0001faff☀-➿]"
    r"|</[A-Za-z][\w-]{0,20}>|\[\d{1,3}\])+"
)
"""After a soft stop: quotes, brackets, emphasis, closing tags, footnotes, emoji, combining marks."""
WIDE_CLOSERS = re.compile(rf"[\"'”’»)\]}}*_」』）】》〉〕〗｝］＂＇{_MARKS_ON_TOP}]+")
"""After a hard stop, where opening quotes may follow without a blank."""
OPEN_TAIL = re.compile(r"(?:<(?:/[\w-]{0,21})?|\[\d{0,3})$")
"""The beginning of a closing tag or footnote at the end of what is known so far."""

OPENERS = re.compile(
    rf"(?:[\"'“„‘‚«»‹›(\[{{¿¡*_#>「『（【《〈]+[{BLANKS}]?|[-–—―•]+[{BLANKS}]?)" + "{0,4}"
)
LEADING_DOTS = re.compile(r"[.…]+")
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
LAST_WORD = re.compile(r"[^\s\"'“„‘«(\[{*_¿¡—]*$")

WIDE = re.compile(
    r"[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef"
    r"\U00020000-\U0003ffff]"
)
"""Scripts whose characters carry a syllable or more."""
WEIGHT_OF_WIDE = 4
"""6 CJK characters take about as long to say as 24 Latin ones (field practice for first clauses)."""


def weight(text: str) -> int:
    """How much there is to say, in Latin characters."""
    if text.isascii():
        return len(text)
    return len(text) + (WEIGHT_OF_WIDE - 1) * len(WIDE.findall(text))
