"""Where a piece of sound lies in a long recording of the same sound."""

import numpy as np
from numpy.typing import NDArray

from voiceagent.sound.pcm import Float32
from voiceagent.sound.resample import resample

MATCH_HZ = 8_000
LEAST_CORRELATION = 0.5
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
