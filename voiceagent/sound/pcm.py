"""Conversion between the two sample formats in use: float32 in [-1, 1] and int16."""

import numpy as np
from numpy.typing import NDArray

Float32 = NDArray[np.float32]
Int16 = NDArray[np.int16]

_FULL_SCALE = 32768.0
"""One step of int16 is 1/32768, as in libsndfile, so that int16 -> float32 -> int16 is exact."""


def to_float32(pcm: Int16) -> Float32:
    """int16 samples, any shape, as float32 in [-1, 1)."""
    return pcm.astype(np.float32) / np.float32(_FULL_SCALE)


def to_int16(pcm: Float32) -> Int16:
    """float32 samples, any shape, as int16; what lies outside [-1, 1) is clipped."""
    scaled = np.rint(pcm.astype(np.float64) * _FULL_SCALE)
    return np.clip(scaled, -_FULL_SCALE, _FULL_SCALE - 1).astype(np.int16)
