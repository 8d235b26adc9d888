"""Where a piece of sound lies in a long recording of the same sound."""

import numpy as np
from numpy.typing import NDArray

from voiceagent.sound.pcm import Float32
from voiceagent.sound.resample import resample

MATCH_HZ = 8_000
LEAST_CORRELATION = 0.5
AS_GOOD = 0.8
SAME_S = 0.05
"""A place nearly as good as the best is the same sound played before; of lags so close together,
each a period of the voice apart, the best one is meant."""
STEP_S = 30.0
"""The recording is gone through in windows: a piece that was played twice is in it twice, and the
first place behind the piece before is meant."""


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
        """Where ``piece`` (samples,) begins in the recording behind the piece before: seconds, to a
        sample of 8 kHz. None where it is not in it (correlation below one half)."""
        needle = resample(piece, from_hz=rate_hz, to_hz=MATCH_HZ).astype(np.float64)
        step = int(STEP_S * MATCH_HZ)
        for begin in range(self._latest, len(self._hay), step):
            lag = _lag(needle, self._hay[begin : begin + step + len(needle)])
            if lag is not None:
                self._latest = max(begin + lag + len(needle), 0)
                return (begin + lag) / MATCH_HZ
        return None


def _lag(needle: NDArray[np.float64], hay: NDArray[np.float64]) -> int | None:
    """The first sample of ``hay`` at which ``needle`` fits about as well as anywhere in it;
    negative where its beginning is cut off."""
    if not needle.any() or not hay.any():
        return None
    size = 1 << (len(needle) + len(hay)).bit_length()
    wrapped = np.fft.irfft(np.fft.rfft(hay, size) * np.conj(np.fft.rfft(needle, size)), size)
    scores = np.concatenate([wrapped[size - len(needle) :], wrapped[: len(hay)]])
    first = int(np.flatnonzero(scores >= AS_GOOD * scores.max())[0])
    best = first + int(scores[first : first + int(SAME_S * MATCH_HZ)].argmax())
    lag = best - len(needle)
    found = hay[max(lag, 0) : lag + len(needle)]
    norm = np.sqrt((found**2).sum() * (needle**2).sum())
    return lag if norm > 0 and scores[best] >= LEAST_CORRELATION * norm else None
