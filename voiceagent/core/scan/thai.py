"""Thai: no blanks between words; a blank stands where others write a comma or a stop."""

import re

from voiceagent.core.scan.state import LONGEST_WORD, Scan

_LETTER = re.compile(r"[\u0e01-\u0e3a\u0e40-\u0e4e]")
_SENTENCE_ENDS = ("ครับ", "ค่ะ", "คะ", "ครับผม", "จ้ะ", "จ้า", "หรือไม่", "ไหม", "มั้ย")
_SENTENCE_OPENERS = (
    "แต่",
    "ดังนั้น",
    "นอกจากนี้",
    "อย่างไรก็ตาม",
    "จากนั้น",
    "ต่อมา",
    "เพราะฉะนั้น",
    "ขั้นแรก",
    "สุดท้าย",
)
_LONGEST_OPENER = max(map(len, _SENTENCE_OPENERS))
_NAMES = ("นาย", "นาง", "นางสาว", "คุณ", "ดร.", "เช่น", "ได้แก่", "คือ", "ๆ")
"""After these a blank separates nothing."""
SHORTEST_PHRASE = 8
"""Characters; a shorter piece between blanks is a name or a number in words."""


def blank(scan: Scan, at: int) -> bool:
    """A blank between two Thai phrases ends a clause; after a polite particle, a sentence."""
    text = scan.text
    phrase = text[max(scan.unit, at - LONGEST_WORD, 0) : at].rpartition(" ")[2]
    rest = text[at + 1 : at + 1 + _LONGEST_OPENER]
    if not rest and not scan.ended:
        return False
    if not _LETTER.match(phrase[-1:]) or not _LETTER.match(rest):
        return scan.advance(at + 1)
    if phrase.endswith(_SENTENCE_ENDS):
        scan.cut_sentence(at, at, "a polite particle and a blank")
        return scan.advance(at + 1)
    if (
        len(rest) < _LONGEST_OPENER
        and not scan.ended
        and any(opener.startswith(rest) for opener in _SENTENCE_OPENERS)
    ):
        return False
    if rest.startswith(_SENTENCE_OPENERS):
        scan.cut_sentence(at, at, "a blank and a word that opens sentences")
        return scan.advance(at + 1)
    if len(phrase) < SHORTEST_PHRASE or phrase.endswith(_NAMES):
        return scan.advance(at + 1)
    scan.cut_clause(at, at)
    return scan.advance(at + 1)
