"""Rings of samples between a sound card's callbacks and the event loop.

One side writes, the other reads, each on a thread of its own. A callback may neither allocate
much, nor wait, nor call anything that might: it copies a slice and moves an index.
"""

import numpy as np

from voiceagent.sound.pcm import Int16


class Ring:
    """The last samples written, for one writer and one reader.

    The two counters only grow and each is moved by one side, so no lock is needed: the reader may
    see a write late, never half.

    Args:
        capacity: in samples; what does not fit is dropped by the writer and counted.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.written = 0
        """Samples that went in, ever."""
        self.read = 0
        """Samples that came out or were dropped, ever."""
        self.overruns = 0
        """Samples that did not fit."""
        self._samples = np.zeros(capacity, dtype=np.int16)

    @property
    def held(self) -> int:
        """Samples that are in it."""
        return self.written - self.read

    @property
    def room(self) -> int:
        """Samples that fit into it."""
        return self.capacity - self.held

    def write(self, pcm: Int16) -> int:
        """Puts in what fits of ``pcm`` (samples,); returns how many samples that were."""
        count = min(len(pcm), self.room)
        self.overruns += len(pcm) - count
        at = self.written % self.capacity
        first = min(count, self.capacity - at)
        self._samples[at : at + first] = pcm[:first]
        self._samples[: count - first] = pcm[first:count]
        self.written += count
        return count

    def take(self, most: int) -> Int16:
        """Takes out up to ``most`` samples, oldest first."""
        count = min(most, self.held)
        at = self.read % self.capacity
        first = min(count, self.capacity - at)
        taken = np.concatenate([self._samples[at : at + first], self._samples[: count - first]])
        self.read += count
        return taken

    def drop(self, count: int) -> None:
        """Forgets the oldest ``count`` samples."""
        self.read += min(count, self.held)
