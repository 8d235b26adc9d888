"""What every figure stands on: onsets and ends of 200 recordings whose answers are known."""

from functools import cache

import numpy as np
import pytest
from known_sounds import known_sound

from voiceagent.sound.onset import speech_stretches

HALF = 100
"""Recordings at each signal-to-noise ratio."""


@cache
def errors_ms(snr_db: int) -> tuple[list[float], list[float]]:
    """The errors of begin and end in a hundred recordings, each of which must hold one stretch."""
    begins, ends = [], []
    for number in range(HALF):
        known = known_sound(np.random.default_rng([number, snr_db]), snr_db=snr_db)
        found = speech_stretches(known.pcm, rate_hz=known.rate_hz)
        assert len(found) == 1, f"recording {number} at {snr_db} dB: {found}"
        begins.append(1000 * (found[0].begin_s - known.begin_s))
        ends.append(1000 * (found[0].end_s - known.end_s))
    return begins, ends


@pytest.mark.parametrize(("snr_db", "most_ms"), [(60, 1.0), (20, 2.0), (10, 10.0)])
def test_edges_are_where_they_are_known_to_be(snr_db: int, most_ms: float) -> None:
    """No edge of any recording is further off than is promised; clicks and breaths are none."""
    begins, ends = errors_ms(snr_db)
    assert max(map(abs, begins)) <= most_ms
    assert max(map(abs, ends)) <= most_ms


def test_errors_cancel_out() -> None:
    """At 20 dB the median error is below half a millisecond: no figure is shifted by the method."""
    begins, ends = errors_ms(20)
    assert abs(np.median(begins)) < 0.5
    assert abs(np.median(ends)) < 0.5
