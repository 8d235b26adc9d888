"""Where to cut a segment that grows long without a mark: at a blank that is heard least.

Never inside a number, a date, a name or a span, never after a word that leans on the next one; best
of all before a word that begins a phrase ("and", "because", "in").
"""

import re
from collections.abc import Callable

from voiceagent.core.languages import Language
from voiceagent.core.scan.characters import WIDE, weight

_JOIN = re.compile(r"(\S+)\s(?=(\S))")
_PLAIN_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*[,;:]?")
_NEXT_WORD = re.compile(r"[^\W\d_]+(?=\s)")
_LEANS_BACK = "、的了着过吧呢吗はがをにでとも"
"""After these a pause is heard least: the Chinese enumeration comma and particles."""


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

    Only the characters up to the one that makes the text longer than ``most`` are looked at, so the
    answer does not depend on how much more of it there is.

    Args:
        text: the segment so far; longer than ``most``.
        most: greatest length of the part before the cut, in Latin characters.
        least: its least length.
        relaxed: accept any blank between plain words, or any two CJK characters.
        language: whose function words no cut may follow.
        keeps_together: whether an index lies inside a span.
    """
    limit = _index_of_weight(text, most)
    floor = max(1, _index_of_weight(text, least))
    seen = text[: limit + 1]
    best: int | None = None
    phrase: int | None = None
    for join in _JOIN.finditer(seen):
        at = join.end(1)
        if at < floor or keeps_together(at):
            continue
        if _separable(join.group(1), join.group(2), relaxed=relaxed, language=language):
            best = at
            following = _NEXT_WORD.match(seen, at + 1)
            if following and following.group() in language.phrase_words:
                phrase = at
    if phrase is not None or best is not None:
        return phrase if phrase is not None else best
    return _between_wide(seen, floor, relaxed=relaxed, keeps_together=keeps_together)


def _separable(left: str, right: str, *, relaxed: bool, language: Language) -> bool:
    if not _PLAIN_WORD.fullmatch(left) or not right.isalpha():
        return False
    if left[0].isupper() and right.isupper():
        return False  # a name
    return relaxed or left.lower() not in language.function_words


def _between_wide(
    seen: str, floor: int, *, relaxed: bool, keeps_together: Callable[[int], bool]
) -> int | None:
    for at in range(len(seen) - 1, floor - 1, -1):
        left, right = seen[at - 1], seen[at]
        if not (WIDE.match(left) and WIDE.match(right) and right.isalpha()):
            continue
        if (relaxed or left in _LEANS_BACK) and not keeps_together(at):
            return at
    return None


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
