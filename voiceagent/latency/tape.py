"""A recording under way: both sides, on one clock, and what can be waited for on it."""

import threading
import time
from collections.abc import Callable

import numpy as np

from voiceagent.sound.pcm import Float32, Int16, to_float32

AUDIBLE = 1e-3
"""-60 dBFS: what a voice is louder than, and a silent server is not."""
LOOK_S = 0.5
"""A recording that stands still is looked at again after so long."""


class Tape:
    """What has been recorded so far. One thread writes, another waits and reads.

    Args:
        rate_hz: of both sides.
    """

    def __init__(self, *, rate_hz: int) -> None:
        self.rate_hz = rate_hz
        self._pieces: list[Int16] = []
        self._length = 0
        self._sounds: list[tuple[int, int]] = []
        """First and last audible sample at the ear of each piece that has one."""
        self._grown = threading.Condition()
        self._first_s = self._latest_s = 0.0
        self._before_first = 0

    def write(self, both: Int16) -> None:
        """Adds ``both`` (samples, 2): mouth and ear."""
        loud = np.flatnonzero(np.abs(both[:, 1].astype(np.int32)) > AUDIBLE * 32768)
        with self._grown:
            if len(loud):
                begin = self._length
                self._sounds.append((begin + int(loud[0]), begin + int(loud[-1])))
            self._pieces.append(both)
            self._length += len(both)
            self._latest_s = time.monotonic()
            if not self._first_s:
                self._first_s, self._before_first = self._latest_s, self._length
            self._grown.notify_all()

    @property
    def length_s(self) -> float:
        """How much is recorded."""
        return self._length / self.rate_hz

    @property
    def elapsed_s(self) -> float:
        """How long it took, by the clock of the computer."""
        return self._before_first / self.rate_hz + self._latest_s - self._first_s

    def sides(self, *, from_s: float = 0.0) -> tuple[Float32, Float32]:
        """Mouth and ear, (samples,) each."""
        both = np.concatenate([np.zeros((0, 2), dtype=np.int16), *self._pieces])
        both = both[int(from_s * self.rate_hz) :]
        mouth, ear = (to_float32(np.ascontiguousarray(both[:, side])) for side in (0, 1))
        return mouth, ear

    def wait_until_s(self, at_s: float) -> None:
        """Waits until so much is recorded."""
        self._wait(lambda: self.length_s >= at_s, timeout_s=at_s - self.length_s + 10)

    def wait_for_sound(self, *, from_s: float, for_s: float, timeout_s: float) -> bool:
        """Waits until the ear has heard its first sound since ``from_s`` at least ``for_s`` ago;
        false if it has heard none for ``timeout_s``."""

        def is_due() -> bool:
            first_s = self._first_sound_s(from_s)
            return first_s is not None and self.length_s - first_s >= for_s

        return self._wait(is_due, timeout_s=timeout_s)

    def wait_for_quiet(self, *, for_s: float, timeout_s: float, not_before_s: float = 0.0) -> bool:
        """Waits until the ear has heard nothing for so long, counted from ``not_before_s`` at the
        earliest; false if it goes on for ``timeout_s``."""

        def is_over() -> bool:
            latest_s = self._sounds[-1][1] / self.rate_hz if self._sounds else 0.0
            return self.length_s - max(latest_s, not_before_s) >= for_s

        return self._wait(is_over, timeout_s=timeout_s)

    def _first_sound_s(self, from_s: float) -> float | None:
        """The first audible moment since ``from_s``, to a piece."""
        later = [first for first, last in self._sounds if last >= from_s * self.rate_hz]
        return max(later[0] / self.rate_hz, from_s) if later else None

    def _wait(self, is_so: Callable[[], bool], *, timeout_s: float) -> bool:
        deadline_s = time.monotonic() + timeout_s
        with self._grown:
            while not is_so():
                left_s = deadline_s - time.monotonic()
                if left_s <= 0:
                    return False
                self._grown.wait(timeout=min(left_s, LOOK_S))
        return True
