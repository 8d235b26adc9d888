"""The echo canceller: what is played goes, what somebody says stays."""

import numpy as np
import pytest
from numpy.typing import NDArray

from voiceagent.sound.echo import BLOCK, LEARNED_BLOCKS, PARTITIONS, EchoCanceller, HalfDuplex

SECOND = 50


def noise(seconds: float, *, seed: int, level: float) -> NDArray[np.float32]:
    """A voice's power without its pauses, in whole blocks."""
    blocks = int(seconds * SECOND)
    return np.random.default_rng(seed).normal(0, level, blocks * BLOCK).astype(np.float32)


def echo_of(played: NDArray[np.float32], *, db: float) -> NDArray[np.float32]:
    """60 ms later, off two walls, so much quieter."""
    response = np.zeros(1500)
    response[[960, 1040, 1400]] = 1.0, -0.4, 0.2
    late = np.convolve(played, response)[: len(played)]
    return (late * 10 ** (db / 20)).astype(np.float32)


def run(
    guard: EchoCanceller | HalfDuplex, heard: NDArray[np.float32], played: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Block by block."""
    pairs = zip(heard.reshape(-1, BLOCK), played.reshape(-1, BLOCK), strict=True)
    return np.concatenate([guard.cancel(each, played=reference) for each, reference in pairs])


@pytest.mark.parametrize("db", [-20.0, -6.0])
def test_an_echo_alone_is_silence(db: float) -> None:
    """From the first sample on: before it has learned, nothing passes at all."""
    played = noise(6, seed=1, level=0.1)
    left = run(EchoCanceller(), echo_of(played, db=db), played)
    assert np.count_nonzero(left) < 0.02 * len(left)


@pytest.mark.parametrize("db", [-20.0, -6.0])
def test_somebody_who_speaks_over_it_is_heard(db: float) -> None:
    """As loud as the agent is in the room, and hardly changed."""
    played = noise(8, seed=1, level=0.1)
    user = noise(8, seed=2, level=0.05)
    user[: 4 * SECOND * BLOCK] = 0.0
    left = run(EchoCanceller(), echo_of(played, db=db) + user, played)
    spoken = slice(4 * SECOND * BLOCK, None)
    assert np.corrcoef(left[spoken], user[spoken])[0, 1] > 0.9


def test_without_anything_played_nothing_is_touched() -> None:
    """Not a sample."""
    heard = noise(2, seed=3, level=0.1)
    assert np.array_equal(run(EchoCanceller(), heard, np.zeros_like(heard)), heard)


def test_a_reference_that_is_not_heard_takes_nothing_away() -> None:
    """Headphones: the user is heard as before, once a second has been played."""
    played = noise(4, seed=1, level=0.1)
    user = noise(4, seed=2, level=0.05)
    left = run(EchoCanceller(), user, played)
    behind = slice((LEARNED_BLOCKS + SECOND) * BLOCK, None)
    assert np.corrcoef(left[behind], user[behind])[0, 1] > 0.9


def test_half_duplex_hears_nothing_while_it_plays() -> None:
    """And as long as the echo may last; then everything."""
    played = noise(2, seed=1, level=0.1)
    played[SECOND * BLOCK :] = 0.0
    heard = noise(2, seed=2, level=0.1)
    left = run(HalfDuplex(), heard, played)
    open_from = (SECOND + PARTITIONS - 1) * BLOCK
    assert not left[:open_from].any()
    assert np.array_equal(left[open_from:], heard[open_from:])
