"""What every voice does to its segments, so that they sound like one speaker in one breath."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from voiceagent.core.committer import Commit, Kind
from voiceagent.sound.pcm import Float32, Int16

Span = tuple[int, int, int, int]
"""Source start and end, first and last sample."""
_FRAME_S = 0.005
_MARGIN_S = 0.010
"""Kept before and after what is loud enough: the onset of an "f" or "h" is quiet."""


@dataclass(frozen=True, kw_only=True)
class VoiceProfile:
    """What one voice needs."""

    gain: float
    """Fixed for the voice: scaling every segment to its own peak makes the level jump."""
    sentence_pause_ms: int
    clause_pause_ms: int
    """Silence after a segment that ends a sentence, or a clause."""
    least_words: int
    """A first clause of fewer words waits for more, unless it ends a sentence or is long."""
    threshold_dbfs: float
    """Quieter than this (root mean square of 5 ms) is silence around the words."""
    evenness_db: float
    """The most by which the levels (root mean square of what sounds) of two segments differ."""

    def pause_after(self, commit: Commit, *, rate_hz: int) -> Int16:
        """The silence that follows a segment."""
        pause_ms = self.sentence_pause_ms
        if commit.kind is Kind.CLAUSE:
            # One that was cut at a blank goes on in the same breath.
            marked = not commit.text.rstrip()[-1:].isalnum()
            pause_ms = self.clause_pause_ms if marked else 0
        elif commit.kind is Kind.END:
            # Nothing follows: a pause would only delay the end of the turn.
            pause_ms = 0
        return np.zeros(rate_hz * pause_ms // 1000, dtype=np.int16)

    def loud_part(self, pcm: Float32, *, rate_hz: int) -> tuple[int, int]:
        """The samples from the first to the last that are no silence, with a margin around them."""
        frame = int(rate_hz * _FRAME_S)
        frames = pcm[: len(pcm) // frame * frame].reshape(-1, frame)
        levels = np.sqrt((frames.astype(np.float64) ** 2).mean(axis=1))
        loud = np.flatnonzero(levels > 10 ** (self.threshold_dbfs / 20))
        if not len(loud):
            return 0, 0
        margin = int(rate_hz * _MARGIN_S)
        begin = int(loud[0]) * frame - margin
        end = (int(loud[-1]) + 1) * frame + margin
        return max(begin, 0), min(end, len(pcm))


def merged(spans: Iterable[Span]) -> list[Span]:
    """Spans that overlap in the source become one: "five dollars" speaks for "$5"."""
    whole: list[Span] = []
    for start, end, first, last in spans:
        if whole and start < whole[-1][1]:
            before = whole.pop()
            start, end = before[0], max(end, before[1])
            first = before[2]
        whole.append((start, end, first, last))
    return whole
