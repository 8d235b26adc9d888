"""Counter-based noise: a number for each (seed, absolute position, purpose, vocabulary id).

Nothing is drawn in sequence, so nothing has to be rolled back when a draft is rejected, and the
same position sees the same noise whatever the drafter, the window or the order of the rounds.
The mixing function is splitmix64 (Steele, Lea and Flood, OOPSLA 2014), a counter run through a
64-bit finaliser.
"""

from enum import IntEnum

import numpy as np
import torch
from numpy.typing import NDArray

_GAMMA = 0x9E3779B97F4A7C15
_MULTIPLY_1 = 0xBF58476D1CE4E5B9
_MULTIPLY_2 = 0x94D049BB133111EB
_MASK = (1 << 64) - 1
_UNIT = 2.0**-53
"""The spacing of the uniform numbers: 53 bits, what a float64 holds."""


class Purpose(IntEnum):
    """What a number is drawn for: streams of different purposes are independent."""

    TARGET = 1
    DRAFT = 2
    ACCEPT = 3
    RECOVER = 4


def uniform(*, seed: int, position: int, purpose: Purpose) -> float:
    """One number in [0, 1): zero included, one excluded."""
    return (_mix(_key(seed, position, purpose)) >> 11) * _UNIT


def uniforms(
    ids: NDArray[np.int64], *, seed: int, position: int, purpose: Purpose
) -> NDArray[np.float64]:
    """One number in (0, 1) for each vocabulary id, float64 of the shape of ``ids``."""
    z = ids.astype(np.uint64)
    z *= np.uint64(_GAMMA)
    z += np.uint64(_key(seed, position, purpose))
    z ^= z >> np.uint64(30)
    z *= np.uint64(_MULTIPLY_1)
    z ^= z >> np.uint64(27)
    z *= np.uint64(_MULTIPLY_2)
    z ^= z >> np.uint64(31)
    z >>= np.uint64(11)
    numbers = z.astype(np.float64)
    numbers += 0.5
    numbers *= _UNIT
    return numbers


def stream_key(*, seed: int, purpose: Purpose) -> int:
    """What seed and purpose come to, a signed number of 64 bits: the key of ``uniform_rows``."""
    return _signed(_stream(seed, purpose))


def uniform_rows(ids: torch.Tensor, *, keys: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """The numbers of ``uniforms`` for several rows, on their device and without a host round trip.

    Args:
        ids: (vocabulary,) int64.
        keys: (rows,) int64, each of ``stream_key``.
        positions: (rows,) int64.

    Returns:
        (rows, vocabulary) float64, bit for bit what ``uniforms`` gives.
    """
    rows = _mixed(keys ^ _mixed(positions + _signed(_GAMMA)))
    z = _mixed(ids * _signed(_GAMMA) + rows[:, None])
    return (_shifted(z, 11).double() + 0.5) * _UNIT


def _mixed(z: torch.Tensor) -> torch.Tensor:
    """``_mix`` in signed arithmetic, which wraps to the same bits."""
    z = (z ^ _shifted(z, 30)) * _signed(_MULTIPLY_1)
    z = (z ^ _shifted(z, 27)) * _signed(_MULTIPLY_2)
    return z ^ _shifted(z, 31)


def _shifted(z: torch.Tensor, bits: int) -> torch.Tensor:
    """To the right, zeros coming in (torch's own shift keeps the sign)."""
    return (z >> bits) & ((1 << (64 - bits)) - 1)


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def _stream(seed: int, purpose: Purpose) -> int:
    return _mix((seed & _MASK) + int(purpose) * _GAMMA)


def _key(seed: int, position: int, purpose: Purpose) -> int:
    return _mix(_stream(seed, purpose) ^ _mix(position + _GAMMA))


def _mix(value: int) -> int:
    z = value & _MASK
    z = ((z ^ (z >> 30)) * _MULTIPLY_1) & _MASK
    z = ((z ^ (z >> 27)) * _MULTIPLY_2) & _MASK
    return z ^ (z >> 31)
