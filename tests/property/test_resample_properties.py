"""The resampler, for any rates and any way of cutting the input."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from voiceagent.sound.resample import Resampler, resample

RATES = st.sampled_from([8_000, 11_025, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000])


@settings(max_examples=60, deadline=None)
@given(RATES, RATES, st.lists(st.integers(0, 700), max_size=12), st.integers(0, 2**32 - 1))
def test_any_cutting_gives_the_same_samples(
    from_hz: int, to_hz: int, chunks: list[int], seed: int
) -> None:
    """Bit for bit the same output, and ceil(n * to / from) samples of it: no tail is lost."""
    pcm = np.random.default_rng(seed).standard_normal(sum(chunks)).astype(np.float32)
    resampler = Resampler(from_hz, to_hz)
    ends = np.cumsum(chunks, dtype=int)
    pieces = [resampler.push(pcm[end - size : end]) for size, end in zip(chunks, ends, strict=True)]
    got = np.concatenate([*pieces, resampler.flush()])
    assert len(got) == -(-len(pcm) * to_hz // from_hz)
    assert np.array_equal(got, resample(pcm, from_hz=from_hz, to_hz=to_hz))
