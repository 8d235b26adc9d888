"""Where to cut a segment that grows long without a mark: at a blank that is heard least.

Never inside a number, a date, a name or a span, never after a word that leans on the next one.
"""

import re
from collections.abc import Callable

from voiceagent.core.languages import Language
from voiceagent.core.scan.characters import WIDE, weight

_JOIN = re.compile(r"(\S+)(\s+)(?=(\S+))")
_PLAIN_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*[,;:]?")


def break_point(
    text: str,
    *,
    most: int,
    least: int,
    relaxed: bool,
    language: Language,
    keeps_together: Callable[[int], bool],
) -> int | None:
    """The index of the last good place to cut, or None.

    Args:
        text: the segment so far; longer than ``most``.
        most: greatest length of the part before the cut, in Latin characters.
        least: its least length.
        relaxed: accept any blank between plain words, or any two CJK characters.
        language: whose function words no cut may follow.
        keeps_together: whether an index lies inside a span.
    """
    limit = _index_of_weight(text, most)
    floor = _index_of_weight(text, least)
    best = None
    for join in _JOIN.finditer(text, 0, min(len(text), limit + 64)):
        at = join.end(1)
        if at > limit:
            break
        good = _separable(join.group(1), join.group(3), relaxed=relaxed, language=language)
        if at >= floor and good and not keeps_together(at):
            best = at
    if best is None:
        best = _between_wide(text, floor, limit, relaxed, keeps_together)
    return best


def _separable(left: str, right: str, *, relaxed: bool, language: Language) -> bool:
    if not _PLAIN_WORD.fullmatch(left) or not right[0].isalpha():
        return False
    if left[0].isupper() and right[0].isupper():
        return False
    return relaxed or left.lower() not in language.function_words


def _between_wide(
    text: str, floor: int, limit: int, relaxed: bool, keeps_together: Callable[[int], bool]
) -> int | None:
    for at in range(min(limit, len(text) - 1), max(0, floor - 1), -1):
        both = WIDE.match(text[at - 1]) and WIDE.match(text[at]) and text[at].isalpha()
        if both and (relaxed or text[at - 1] in _LEANS_BACK) and not keeps_together(at):
            return at
    return None


_LEANS_BACK = "、的了着过吧呢吗はがをにでとも"
"""After these a pause is heard least: the Chinese enumeration comma and particles."""


def _index_of_weight(text: str, most: int) -> int:
    """How many characters of the text weigh at most ``most``."""
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
