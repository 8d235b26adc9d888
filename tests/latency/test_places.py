"""Where pieces of sound lie in a longer recording of them."""

import numpy as np
import pytest
from known_sounds import voice

from voiceagent.latency.places import Places

RATE_HZ = 16_000


def test_a_piece_that_was_played_again_is_found_again() -> None:
    """In order, however far apart, at another rate, and not where it is not."""
    rng = np.random.default_rng(0)
    piece, other = (voice(0.5, rng, rate_hz=RATE_HZ).astype(np.float32) for _ in range(2))
    recording = np.zeros(50 * RATE_HZ, dtype=np.float32)
    for at_s, sound in ((1.25, piece), (3.0, other), (5.5, piece), (45.5, piece)):
        recording[int(at_s * RATE_HZ) :][: len(sound)] = sound
    recording += (0.01 * rng.standard_normal(len(recording))).astype(np.float32)
    places = Places(recording, rate_hz=RATE_HZ)
    found = [places.find_s(each, rate_hz=RATE_HZ) for each in (piece, other, piece, piece)]
    assert found == pytest.approx([1.25, 3.0, 5.5, 45.5], abs=0.0002)
    assert places.find_s(other, rate_hz=RATE_HZ) is None
    assert Places(recording, rate_hz=RATE_HZ).find_s(piece[::2], rate_hz=RATE_HZ // 2) is not None
