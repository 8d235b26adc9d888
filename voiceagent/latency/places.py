"""Where a piece of sound lies in a long recording of the same sound."""

import numpy as np
from numpy.typing import NDArray

from voiceagent.sound.pcm import Float32
from voiceagent.sound.resample import resample

MATCH_HZ = 8_000
LEAST_CORRELATION = 0.5
NEAR_S = 30.0
"""Pieces come in order: the next one is looked for so far behind the one before, then
everywhere."""


class Places:
    """Finds pieces of sound in a recording, by correlation at 8 kHz.

    Args:
        within: the recording (samples,).
        rate_hz: of it.
    """

    def __init__(self, within: Float32, *, rate_hz: int) -> None:
        self._hay = resample(within, from_hz=rate_hz, to_hz=MATCH_HZ).astype(np.float64)
        self._latest = 0

    def find_s(self, piece: Float32, *, rate_hz: int) -> float | None:
        """Where ``piece`` (samples,) begins in the recording: seconds, to a sample of 8 kHz. None
        where it is not in it (correlation below one half)."""
        needle = resample(piece, from_hz=rate_hz, to_hz=MATCH_HZ).astype(np.float64)
        near = self._hay[self._latest : self._latest + int(NEAR_S * MATCH_HZ)]
        lag = _lag(needle, near)
        if lag is None:
            self._latest = 0
            lag = _lag(needle, self._hay)
        if lag is None:
            return None
        self._latest += max(lag, 0)
        return (self._latest + min(lag, 0)) / MATCH_HZ


def _lag(needle: NDArray[np.float64], hay: NDArray[np.float64]) -> int | None:
    """The sample of ``hay`` at which ``needle`` fits best; negative where its beginning is cut
    off."""
    if not needle.any() or not hay.any():
        return None
    size = 1 << (len(needle) + len(hay)).bit_length()
    scores = np.fft.irfft(np.fft.rfft(hay, size) * np.conj(np.fft.rfft(needle, size)), size)
    best = int(scores.argmax())
    lag = best if best < len(hay) else best - size
    found = hay[max(lag, 0) : lag + len(needle)]
    norm = np.sqrt((found**2).sum() * (needle**2).sum())
    return lag if norm > 0 and scores[best] >= LEAST_CORRELATION * norm else None
