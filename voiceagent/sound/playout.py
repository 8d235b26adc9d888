"""What was heard: sample counts in, a position in the reply out. Pure arithmetic, no clock.

Samples are counted along one output stream. A place in the stream, once used, is never used
again: what was flushed keeps its place, so a report that comes late or twice cannot be mistaken
for news about what was queued afterwards.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

HEARD_SHARE = 0.5
"""A word counts as heard once this share of it was played: by then it is mostly understood
(Grosjean 1980: words are recognized before their end), and a later share would let the agent say
again what the user just heard."""


class TimedWord(Protocol):
    """A word of a reply with the samples that it sounds in."""

    @property
    def start(self) -> int:
        """First position in the reply."""
        ...

    @property
    def end(self) -> int:
        """Position after the last."""
        ...

    @property
    def begin_sample(self) -> int:
        """First sample, from the beginning of the segment."""
        ...

    @property
    def end_sample(self) -> int:
        """Sample after the last."""
        ...


@dataclass(frozen=True, slots=True)
class Heard:
    """The user has heard a reply up to a position."""

    reply: str
    epoch: int
    to: int


@dataclass(frozen=True, slots=True)
class _Span:
    """A segment's place in the stream."""

    reply: str
    epoch: int
    start: int
    end: int
    begin: int
    """Its first sample, counted along the stream."""
    samples: int
    words: tuple[TimedWord, ...]

    def heard_to(self, at: int) -> int:
        """The position up to which it was heard when the stream was played up to ``at``.

        Up to the end of the last word of which ``HEARD_SHARE`` was played; once the last word is
        over (the pause after it need not be), up to the end of the segment, its marks included.
        """
        played = at - self.begin
        if played < 0 or (played == 0 and self.samples):
            return self.start
        if played >= min([self.samples, *(word.end_sample for word in self.words[-1:])]):
            return self.end
        heard = self.start
        for word in self.words:
            if played < (1 - HEARD_SHARE) * word.begin_sample + HEARD_SHARE * word.end_sample:
                break
            heard = word.end
        return heard


class PlayoutClock:
    """Follows one output stream. At all times ``queued == played + flushed + pending``."""

    def __init__(self) -> None:
        self._spans: deque[_Span] = deque()
        self._queued = 0
        self._played = 0
        self._flushed = 0
        self._at = 0
        """The place in the stream that has been played to, or flushed to."""
        self._heard: dict[tuple[str, int], int] = {}
        self._news: list[Heard] = []

    @property
    def queued(self) -> int:
        """All samples that were ever queued."""
        return self._queued

    @property
    def played(self) -> int:
        """Of those, the samples that were reported as played."""
        return self._played

    @property
    def flushed(self) -> int:
        """Of those, the samples that were thrown away before they were played."""
        return self._flushed

    @property
    def pending(self) -> int:
        """Of those, the samples that are still to be played."""
        return self._queued - self._at

    def queue(
        self,
        *,
        reply: str,
        epoch: int,
        start: int,
        end: int,
        samples: int = 0,
        words: Sequence[TimedWord] = (),
    ) -> None:
        """Appends the sound of the reply's text from ``start`` to ``end``.

        Without samples it is a silent stretch: heard as soon as everything before it was. The
        segments of a reply must join: after a flush nothing beyond the gap counts as heard, until
        the text from the heard position on is queued again.

        Raises:
            ValueError: a negative number of samples, or positions that go back.
        """
        if samples < 0 or end < start:
            raise ValueError(f"cannot queue {samples} samples of positions {start} to {end}")
        span = _Span(reply, epoch, start, end, self._queued, samples, tuple(words))
        self._spans.append(span)
        self._queued += samples
        self._advance()

    def play(self, samples: int) -> None:
        """Counts ``samples`` more samples as played, at most all that are pending.

        What an output plays beyond what was queued is its own silence and counts for nothing.
        For an output whose reports may come late or twice, use :meth:`play_to`.
        """
        self.play_to(self._at + max(samples, 0))

    def play_to(self, place: int) -> None:
        """The stream was played up to ``place``, counted as :attr:`queued` counts.

        A report of a place that was passed already, or flushed, is old and changes nothing.
        """
        place = min(place, self._queued)
        if place > self._at:
            self._played += place - self._at
            self._at = place
        self._advance()

    def flush(self) -> int:
        """Everything pending is thrown away; returns how many samples that were."""
        dropped = self.pending
        self._flushed += dropped
        self._at = self._queued
        self._spans.clear()
        return dropped

    def position(self, *, reply: str, epoch: int) -> int:
        """How far a reply was heard; 0 for one of which nothing was."""
        return self._heard.get((reply, epoch), 0)

    def drain(self) -> list[Heard]:
        """Every advance of a heard position since the last call, in order."""
        news, self._news = self._news, []
        return news

    def _advance(self) -> None:
        while self._spans:
            span = self._spans[0]
            self._note(span, span.heard_to(self._at))
            if self._at < span.begin + span.samples:
                return
            self._spans.popleft()

    def _note(self, span: _Span, to: int) -> None:
        key = (span.reply, span.epoch)
        position = self._heard.get(key, 0)
        # Text that was flushed was not heard, and what comes after it is not heard "up to there".
        if span.start <= position < to:
            self._heard[key] = to
            self._news.append(Heard(span.reply, span.epoch, to))
