"""Where to cut a segment that grows long without a mark: at a blank that is heard least.

Never inside a number, a date, a name or a span, never after a word that leans on the next one; best
of all before a word that begins a phrase ("and", "because", "in").
"""

import re
from collections.abc import Callable

from voiceagent.core.languages import Language
from voiceagent.core.scan.characters import WIDE, index_of_weight

_JOIN = re.compile(r"(\S+)\s(?=(\S))")
_PLAIN_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*[,;:]?")
_NEXT_WORD = re.compile(r"[^\W\d_]+(?=\s)")
_LEANS_BACK = "、的了着过吧呢吗はがをにでとも"
"""After these a pause is heard least: the Chinese enumeration comma and particles."""


def break_point(
    text: str,
    *,
    least: int,
    relaxed: bool,
    language: Language,
    keeps_together: Callable[[int], bool],
) -> int | None:
    """The index of the last good place to cut, or None.

    Args:
        text: a stretch of the segment and one character more, which is looked at, not cut after.
        least: how much must stand before the cut, in Latin characters.
        relaxed: accept any blank between plain words, or any two CJK characters.
        language: whose function words no cut may follow.
        keeps_together: whether an index lies inside a span.
    """
    floor = max(1, index_of_weight(text, least))
    best: int | None = None
    phrase: int | None = None
    for join in _JOIN.finditer(text):
        at = join.end(1)
        if at < floor or keeps_together(at):
            continue
        if _separable(join.group(1), join.group(2), relaxed=relaxed, language=language):
            best = at
            following = _NEXT_WORD.match(text, at + 1)
            if following and following.group() in language.phrase_words:
                phrase = at
    if phrase is not None or best is not None:
        return phrase if phrase is not None else best
    return _between_wide(text, floor, relaxed=relaxed, keeps_together=keeps_together)


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
