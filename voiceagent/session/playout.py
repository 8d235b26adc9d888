"""What is on its way to the ear: spans handed to the output, and how far they were heard."""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from voiceagent.sound.pcm import Int16
from voiceagent.sound.playout import Heard, PlayoutClock
from voiceagent.speech.synthesizer import Speech, Word

CHUNK_MS = 20
"""Sound is handed over in pieces of this length: as fine as a pause or a flush can cut."""
LEAD_MS = 80
"""Sound handed over and not yet played: enough for a late event loop, little enough to pause."""


class Ear(Protocol):
    """The far end of the output: a device, a file, a client that reports."""

    def played_samples(self) -> int:
        """How many samples of those written have been played so far; never falls."""
        ...

    def cut(self) -> None:
        """Drops what was written and has not been played."""
        ...

    def hold(self) -> None:
        """Keeps what was written and has not been played, in silence, as far as it can."""
        ...

    def let_go(self) -> None:
        """Plays on from the sample at which it was held."""
        ...


class DeafEar:
    """An output that is not there yet: nothing is played."""

    def played_samples(self) -> int:
        """None."""
        return 0

    def cut(self) -> None:
        """There is nothing to drop."""

    def hold(self) -> None:
        """There is nothing to hold."""

    def let_go(self) -> None:
        """There is nothing to play."""


class Playout:
    """Follows the output stream from the release gate to the ear.

    Args:
        rate_hz: of the output; all sound handed over has it.
        lead_ms: how much of it may wait at the output.
    """

    def __init__(self, *, rate_hz: int, lead_ms: int = LEAD_MS) -> None:
        self.rate_hz = rate_hz
        self.lead_ms = lead_ms
        # pipecat counts a chunk in whole 10 ms, and 10 ms in whole samples.
        self.chunk_samples = rate_hz // 100 * (CHUNK_MS // 10)
        self.ear: Ear = DeafEar()
        self.travelling: Callable[[], int] = lambda: 0
        """How many samples have left the output and were not heard yet: an ear may be far away."""
        self._clock = PlayoutClock()
        self._handed_over = 0
        self._anchor = (0, 0)
        """A place in the stream and the ear's count at it."""
        self._ends: dict[tuple[str, int], int] = {}
        """The place after the last sound of each reply."""

    @property
    def _at(self) -> int:
        """The place that has been played to."""
        return self._clock.queued - self._clock.pending

    def is_sounding(self, reply: str, *, epoch: int) -> bool:
        """Whether sound of the reply was begun and has not been played to its end."""
        return self._ends.get((reply, epoch), 0) > self._at

    @property
    def in_flight_samples(self) -> int:
        """Samples handed to the output and not yet played."""
        return self._handed_over - self._at

    @property
    def has_room(self) -> bool:
        """Whether less waits at the output than may."""
        waiting = self.in_flight_samples - self.travelling()
        return waiting < self.lead_ms * self.rate_hz // 1000

    def begin(self, speech: Speech) -> Int16:
        """Queues one segment; returns its sound, filled up with silence to whole chunks."""
        pad = -len(speech.pcm) % self.chunk_samples
        pcm = np.concatenate([speech.pcm, np.zeros(pad, dtype=np.int16)])
        commit = speech.commit
        self._clock.queue(
            reply=commit.reply,
            epoch=commit.epoch,
            start=commit.start,
            end=commit.end,
            samples=len(pcm),
            words=speech.words,
        )
        self._ends[commit.reply, commit.epoch] = self._clock.queued
        return pcm

    def hand_over(self, samples: int) -> None:
        """``samples`` more of the queued sound went to the output."""
        self._handed_over += samples

    def listen(self) -> list[Heard]:
        """Asks the ear; returns every heard position that has advanced."""
        place, count = self._anchor
        self._clock.play_to(min(place + self.ear.played_samples() - count, self._handed_over))
        return self._clock.drain()

    def cut(self) -> list[Heard]:
        """Silences the output now; returns what was heard until then.

        An ear that is far away plays on until word of the cut reaches it: that was heard, too.
        """
        self.ear.cut()
        heard = self.listen()
        self._clock.flush()
        self._handed_over = self._clock.queued
        self._anchor = (self._clock.queued, self.ear.played_samples())
        return heard


def release_position(speech: Speech, *, samples: int) -> int:
    """How far the text of a segment is out once ``samples`` of its sound are.

    Every word that has begun is out: nothing can be heard that was not released before.
    """
    words = speech.words
    if samples >= len(speech.pcm) or (words and samples >= words[-1].end_sample):
        return speech.commit.end
    begun: list[Word] = [word for word in words if word.begin_sample <= samples]
    return begun[-1].end if begun else speech.commit.start
