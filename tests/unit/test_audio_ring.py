"""Rings of samples: in order, round the end, and honest about what did not fit."""

import numpy as np

from voiceagent.audio.ring import Ring


def samples(first: int, count: int) -> np.ndarray[tuple[int], np.dtype[np.int16]]:
    """Consecutive numbers, to see order and loss."""
    return np.arange(first, first + count, dtype=np.int16)


def test_samples_come_out_in_order_round_the_end() -> None:
    """Many writes and reads of uneven size are one stream."""
    ring, out, at = Ring(7), [], 0
    for size in (3, 5, 2, 6, 1, 7, 4) * 20:
        at += ring.write(samples(at, min(size, ring.room)))
        out.append(ring.take(size - 1))
    out.append(ring.take(7))
    assert np.array_equal(np.concatenate(out), samples(0, at))
    assert ring.overruns == 0


def test_what_does_not_fit_is_dropped_and_counted() -> None:
    """The oldest stay: they are about to be played."""
    ring = Ring(4)
    assert ring.write(samples(0, 6)) == 4
    assert ring.overruns == 2
    assert np.array_equal(ring.take(9), samples(0, 4))


def test_dropping_forgets_the_oldest() -> None:
    """And no more than there is."""
    ring = Ring(4)
    ring.write(samples(0, 3))
    ring.drop(2)
    assert np.array_equal(ring.take(9), samples(2, 1))
    ring.drop(5)
    assert (ring.held, ring.room) == (0, 4)
