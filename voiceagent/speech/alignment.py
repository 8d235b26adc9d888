"""Which stretch of phonemes belongs to which word, where the phonemizer joins and splits words.

espeak speaks "of the" as one word and "24" as two. Both sequences run in the same order, so the
cheapest monotone pairing of runs is found by dynamic programming, as Gale and Church (1993) align
sentences: by length, and here also by the first and last sound.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from voiceagent.core.errors import VoiceAgentError

_STEPS = ((1, 1), (1, 2), (2, 1), (1, 3), (3, 1), (1, 4), (4, 1), (1, 0), (0, 1))
"""(groups, words) that one link may hold: "to be a" is one group, "www" is three."""
_JOIN_COST = 0.6
"""Added for each word or group beyond one, so that one to one wins where both fit."""
_BAND = 8
"""How far from the diagonal a path may run, beyond the difference in length."""
_ODD_COST = 3.0
"""For what fits nothing, so that every pair of sequences can be aligned."""


class AlignmentError(VoiceAgentError):
    """Phonemes without words, or words without phonemes."""


@dataclass(frozen=True, slots=True)
class Link:
    """Groups ``groups`` of phonemes speak words ``words``; half-open ranges of indices."""

    groups: range
    words: range


def align(groups: Sequence[str], words: Sequence[str]) -> list[Link]:
    """Pairs the sounds of a whole utterance with the sounds of its words, spoken one by one.

    ``groups`` are the phonemes between blanks, ``words`` the phonemes of each word alone. The
    links cover both sequences in order.

    Raises:
        AlignmentError: one sequence is empty and the other is not.
    """
    if not groups and not words:
        return []
    if not groups or not words:
        raise AlignmentError(f"cannot align {len(groups)} phoneme groups with {len(words)} words")
    if _agree(groups, words):
        return [Link(range(i, i + 1), range(i, i + 1)) for i in range(len(words))]
    return _cheapest(groups, words)


def _agree(groups: Sequence[str], words: Sequence[str]) -> bool:
    return len(groups) == len(words) and all(
        _cost(len(group), len(word), group[:1] == word[:1], group[-1:] == word[-1:]) <= 0.5
        for group, word in zip(groups, words, strict=True)
    )


def _cheapest(groups: Sequence[str], words: Sequence[str]) -> list[Link]:
    table = _Table(groups, words)
    for i in range(len(groups) + 1):
        for j in table.band(i):
            table.fill(i, j)
    return table.walk_back()


class _Table:
    """The cheapest way to each pair of prefixes."""

    def __init__(self, groups: Sequence[str], words: Sequence[str]) -> None:
        self._groups, self._words = groups, words
        self._group_ends = [0, *accumulate(map(len, groups))]
        self._word_ends = [0, *accumulate(map(len, words))]
        self._best = {(0, 0): 0.0}
        self._taken: dict[tuple[int, int], tuple[int, int]] = {}

    def band(self, i: int) -> range:
        """The columns that are looked at in row ``i``: those near the diagonal."""
        columns = len(self._words)
        centre = i * columns // len(self._groups)
        reach = _BAND + abs(columns - len(self._groups))
        return range(max(0, centre - reach), min(columns, centre + reach) + 1)

    def fill(self, i: int, j: int) -> None:
        for down, right in _STEPS:
            before = self._best.get((i - down, j - right))
            if before is not None:
                self._offer(i, j, (down, right), before + self._step_cost(i, j, down, right))

    def _offer(self, i: int, j: int, step: tuple[int, int], cost: float) -> None:
        if cost < self._best.get((i, j), math.inf):
            self._best[i, j], self._taken[i, j] = cost, step

    def _step_cost(self, i: int, j: int, down: int, right: int) -> float:
        if not down or not right:
            return _ODD_COST
        cost = _cost(
            self._group_ends[i] - self._group_ends[i - down],
            self._word_ends[j] - self._word_ends[j - right],
            self._groups[i - down][:1] == self._words[j - right][:1],
            self._groups[i - 1][-1:] == self._words[j - 1][-1:],
        )
        return cost + _JOIN_COST * (down + right - 2)

    def walk_back(self) -> list[Link]:
        links = []
        i, j = len(self._groups), len(self._words)
        while (i, j) != (0, 0):
            down, right = self._taken[i, j]
            links.append(Link(range(i - down, i), range(j - right, j)))
            i, j = i - down, j - right
        return links[::-1]


def _cost(group_length: int, word_length: int, same_first: bool, same_last: bool) -> float:
    """How badly two strings of phonemes fit, from 0: length, first sound, last sound."""
    longer = max(group_length, word_length, 1)
    apart = 2.0 * abs(group_length - word_length) / longer
    return apart + 0.25 * (not same_first) + 0.25 * (not same_last)
