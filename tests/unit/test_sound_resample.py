"""The resampler: right length, right sound, short delay, the same however it is fed."""

import numpy as np
import pytest

from voiceagent.sound.resample import Resampler, resample

PAIRS = [
    (22_050, 16_000),
    (22_050, 24_000),
    (22_050, 8_000),
    (48_000, 16_000),
    (44_100, 16_000),
    (16_000, 24_000),
    (8_000, 16_000),
    (16_000, 16_000),
]


def sine(hz: float, *, rate_hz: int, seconds: float = 0.5) -> np.ndarray:
    return np.sin(2 * np.pi * hz * np.arange(int(rate_hz * seconds)) / rate_hz).astype(np.float32)


@pytest.mark.parametrize(("from_hz", "to_hz"), PAIRS)
@pytest.mark.parametrize("hz", [100, 1_000, 3_000])
def test_a_tone_stays_the_tone(from_hz: int, to_hz: int, hz: int) -> None:
    """In the pass band the output is the same sine at the same instants: error below -70 dB."""
    got = resample(sine(hz, rate_hz=from_hz), from_hz=from_hz, to_hz=to_hz)
    want = sine(hz, rate_hz=to_hz)
    middle = slice(len(want) // 4, -len(want) // 4)
    error = got[: len(want)][middle] - want[middle]
    assert 10 * np.log10((error**2).mean() / 0.5 + 1e-20) < -70


@pytest.mark.parametrize(("from_hz", "to_hz"), [pair for pair in PAIRS if pair[0] > pair[1]])
def test_what_cannot_be_represented_is_gone(from_hz: int, to_hz: int) -> None:
    """A tone above the new Nyquist frequency does not come back as another: below -75 dB."""
    got = resample(sine(to_hz * 0.52, rate_hz=from_hz), from_hz=from_hz, to_hz=to_hz)
    middle = got[len(got) // 4 : -len(got) // 4]
    assert 20 * np.log10(np.abs(middle).max()) < -75


@pytest.mark.parametrize(("from_hz", "to_hz"), PAIRS)
def test_silence_and_constants_pass_unchanged(from_hz: int, to_hz: int) -> None:
    """No phase of the filter is louder than another: a constant stays constant."""
    got = resample(np.full(from_hz // 4, 0.5, np.float32), from_hz=from_hz, to_hz=to_hz)
    assert got[len(got) // 4 : -len(got) // 4] == pytest.approx(0.5, abs=1e-5)


@pytest.mark.parametrize(("from_hz", "to_hz"), PAIRS)
def test_the_delay_is_short_and_constant(from_hz: int, to_hz: int) -> None:
    """After each push all but the last 4.1 ms have come out: nothing is held back in bursts."""
    resampler = Resampler(from_hz, to_hz)
    chunk = from_hz // 50
    received = emitted = 0
    for _ in range(20):
        received += chunk
        emitted += len(resampler.push(np.zeros(chunk, dtype=np.float32)))
        lag_s = received / from_hz - emitted / to_hz
        assert lag_s <= resampler.delay_s + 1 / to_hz
    assert resampler.delay_s <= 0.0041


def test_a_flushed_resampler_begins_anew() -> None:
    """Nothing of one stream is heard in the next."""
    resampler = Resampler(22_050, 16_000)
    noise = np.random.default_rng(0).standard_normal(1_000).astype(np.float32)
    resampler.push(noise)
    resampler.flush()
    again = np.concatenate([resampler.push(noise), resampler.flush()])
    assert np.array_equal(again, resample(noise, from_hz=22_050, to_hz=16_000))


def test_a_reset_resampler_forgets() -> None:
    """After a reset (sound was flushed) no old samples come out."""
    resampler = Resampler(22_050, 16_000)
    resampler.push(np.ones(1_000, dtype=np.float32))
    resampler.reset()
    silence = np.concatenate([resampler.push(np.zeros(500, dtype=np.float32)), resampler.flush()])
    assert not silence.any()


@pytest.mark.parametrize("pcm", [np.zeros(3, dtype=np.int16), np.zeros((2, 2), dtype=np.float32)])
def test_other_samples_are_a_mistake(pcm: np.ndarray) -> None:
    """Only float32 of shape (n,) is taken."""
    with pytest.raises(ValueError, match="expected float32"):
        Resampler(8_000, 16_000).push(pcm)


def test_other_rates_are_a_mistake() -> None:
    """Rates must be positive."""
    with pytest.raises(ValueError, match="positive"):
        Resampler(0, 16_000)
