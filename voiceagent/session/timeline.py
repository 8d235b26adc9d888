"""The ear of a conversation without a sound card: a device model with a clock of the session's.

It plays what is written at once and in order, has a short buffer, and keeps what was played, each
sample at its place on the conversation's timeline.
"""

from collections import deque

import numpy as np

from voiceagent.session.clock import Clock
from voiceagent.sound.pcm import Int16

BUFFER_S = 0.1
"""As much as a sound card's ring buffer holds: an event loop that is late by less is not heard."""


class EarTimeline:
    """What reached the ear, and when."""

    def __init__(self, *, clock: Clock, rate_hz: int) -> None:
        self.rate_hz = rate_hz
        self._clock = clock
        self._pieces: list[tuple[int, Int16]] = []
        self._unplayed: deque[tuple[int, int]] = deque()
        self._played = 0
        self._end = 0
        self._held: list[Int16] | None = None
        """What is kept back while the output is held; None while it is not."""
        self.cuts = 0
        """How often sound was dropped; a write that began before a cut is void after it."""

    @property
    def accepts_at_s(self) -> float:
        """When the buffer has room again."""
        return self._end / self.rate_hz - BUFFER_S

    def write(self, pcm: Int16) -> None:
        """Plays ``pcm`` (samples,) after what is already there, or now."""
        if self._held is not None:
            self._held.append(pcm)
            return
        begin = max(self._end, self._now())
        self._pieces.append((begin, pcm))
        self._end = begin + len(pcm)
        self._unplayed.append((begin, len(pcm)))

    def played_samples(self) -> int:
        """How many of the samples written have sounded."""
        now = self._now()
        while self._unplayed and sum(self._unplayed[0]) <= now:
            self._played += self._unplayed.popleft()[1]
        partly = max(0, now - self._unplayed[0][0]) if self._unplayed else 0
        return self._played + partly

    def cut(self) -> None:
        """Silence from now on: what has not sounded never will."""
        self._take_back()
        self._held = None
        self.cuts += 1

    def hold(self) -> None:
        """Silence from now on; what has not sounded is kept."""
        if self._held is None:
            self._held = self._take_back()

    def let_go(self) -> None:
        """Plays on where it was held."""
        held, self._held = self._held, None
        for pcm in held or ():
            self.write(pcm)

    def _take_back(self) -> list[Int16]:
        """Takes what has not sounded off the timeline, and returns it."""
        self._played = self.played_samples()
        self._unplayed.clear()
        now, taken = self._now(), []
        while self._pieces and sum(_span(self._pieces[-1])) > now:
            begin, pcm = self._pieces.pop()
            sounded = max(0, now - begin)
            taken.append(pcm[sounded:])
            if sounded:
                self._pieces.append((begin, pcm[:sounded]))
                break
        self._end = min(self._end, now)
        return taken[::-1]

    def between(self, begin: int, end: int) -> Int16:
        """What sounded from one sample of the timeline to another (end - begin,)."""
        heard = np.zeros(end - begin, dtype=np.int16)
        for at, pcm in reversed(self._pieces):
            if at + len(pcm) <= begin:
                break
            first, last = max(at, begin), min(at + len(pcm), end)
            if first < last:
                heard[first - begin : last - begin] = pcm[first - at : last - at]
        return heard

    def pcm(self) -> Int16:
        """The whole timeline (samples,), from the conversation's beginning."""
        timeline = np.zeros(self._end, dtype=np.int16)
        for begin, pcm in self._pieces:
            timeline[begin : begin + len(pcm)] = pcm
        return timeline

    def _now(self) -> int:
        return int(self._clock.now_s() * self.rate_hz)


def _span(piece: tuple[int, Int16]) -> tuple[int, int]:
    return piece[0], len(piece[1])
