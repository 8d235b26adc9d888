"""The simplest agent there is: it answers 200 ms after the last loud sample with a tone of 400 ms.

Nothing in it takes time but the sound card, so that what a rig measures of it is the rig's own
doing. With ``--delay MS`` it waits longer. Prints "listening" once it does.
"""

import argparse
import sys
import threading
from typing import Any

import numpy as np
import sounddevice

RATE_HZ = 16_000
BLOCK = 320
MARGIN = 25 * BLOCK
"""What is decided in one callback is said in a later one."""
LOUD = 0.02
PAUSE = RATE_HZ // 5
TONE = (0.2 * np.sin(2 * np.pi * 440 * np.arange(RATE_HZ * 2 // 5) / RATE_HZ)).astype(np.float32)


class Toy:
    """Counts samples on both streams; what it says lies a fixed number of them behind what it
    heard, wherever in a block that is."""

    def __init__(self, *, delay: int) -> None:
        self._due = PAUSE + delay
        self._heard = 0
        self._spoken = 0
        self._last_loud: int | None = None
        self._tone_at: int | None = None
        self._lead: int | None = None
        """Output samples ahead of input samples, once both streams run."""

    def hear(self, block: Any, frames: int, times: Any, status: Any) -> None:
        loud = np.flatnonzero(np.abs(block[:, 0]) > LOUD)
        if len(loud):
            self._last_loud = self._heard + int(loud[-1])
        self._heard += frames
        if self._lead is None and self._spoken and self._heard > RATE_HZ:
            self._lead = self._spoken - self._heard
        due = self._last_loud is not None and self._heard - self._last_loud >= PAUSE
        if due and self._lead is not None:
            self._tone_at = self._last_loud + self._due + MARGIN + self._lead
            self._last_loud = None

    def speak(self, block: Any, frames: int, times: Any, status: Any) -> None:
        block[:, 0] = 0
        if self._tone_at is not None:
            at = self._spoken - self._tone_at
            first, last = max(at, 0), min(at + frames, len(TONE))
            if first < last:
                block[first - at : last - at, 0] = TONE[first:last]
            if last >= len(TONE):
                self._tone_at = None
        self._spoken += frames


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--delay", type=float, default=0.0)
    toy = Toy(delay=int(parser.parse_args().delay * RATE_HZ / 1000))
    form: dict[str, Any] = {
        "samplerate": RATE_HZ,
        "blocksize": BLOCK,
        "channels": 1,
        "dtype": "float32",
        "latency": "low",
    }
    with (
        sounddevice.InputStream(callback=toy.hear, **form),
        sounddevice.OutputStream(callback=toy.speak, **form),
    ):
        sys.stdout.write("listening\n")
        sys.stdout.flush()
        threading.Event().wait()


if __name__ == "__main__":
    main()
