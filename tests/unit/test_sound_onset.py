"""Onsets and ends in recordings whose answers are known."""

import numpy as np
import pytest

from voiceagent.sound.onset import response_gap, response_gaps, speech_stretches

RATE_HZ = 16_000


def voice(seconds: float, rng: np.random.Generator, *, rate_hz: int = RATE_HZ) -> np.ndarray:
    """Something like a voiced sound: harmonics of a low tone with a little noise."""
    times = np.arange(int(seconds * rate_hz)) / rate_hz
    pitch = rng.uniform(90, 250)
    tones = [np.sin(2 * np.pi * pitch * k * times + rng.uniform(0, 6)) / k for k in range(1, 8)]
    return 0.1 * (np.sum(tones, axis=0) + 0.1 * rng.standard_normal(len(times)))


def noisy(
    pcm: np.ndarray, rng: np.random.Generator, *, snr_db: float, of: np.ndarray
) -> np.ndarray:
    level = np.sqrt((of**2).mean()) * 10 ** (-snr_db / 20)
    return (pcm + level * rng.standard_normal(len(pcm))).astype(np.float32)


@pytest.mark.parametrize(("snr_db", "most_ms"), [(60, 1.0), (20, 2.0), (10, 10.0)])
@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 48_000])
def test_known_answers(rate_hz: int, snr_db: float, most_ms: float) -> None:
    """Begin and end are found within 2 ms at 20 dB and 10 ms at 10 dB of signal to noise."""
    rng = np.random.default_rng(4)
    for _ in range(12):
        sound = voice(rng.uniform(0.2, 1.5), rng, rate_hz=rate_hz)
        before = int(rng.uniform(0.3, 1.0) * rate_hz)
        pcm = np.concatenate([np.zeros(before), sound, np.zeros(rate_hz)])
        (found,) = speech_stretches(noisy(pcm, rng, snr_db=snr_db, of=sound), rate_hz=rate_hz)
        assert abs(found.begin_s - before / rate_hz) * 1000 <= most_ms
        assert abs(found.end_s - (before + len(sound)) / rate_hz) * 1000 <= most_ms


@pytest.mark.parametrize("level", [0.0, 1e-4, 0.01, 0.1])
def test_noise_alone_is_no_speech(level: float) -> None:
    """Silence and steady noise hold no stretch of speech, however long."""
    rng = np.random.default_rng(1)
    pcm = (level * rng.standard_normal(20 * RATE_HZ)).astype(np.float32)
    assert speech_stretches(pcm, rate_hz=RATE_HZ) == []


def test_clicks_are_no_speech() -> None:
    """A click of a millisecond is no onset, before speech or alone."""
    rng = np.random.default_rng(2)
    sound = voice(0.5, rng)
    pcm = np.concatenate([np.zeros(RATE_HZ), sound, np.zeros(RATE_HZ)])
    for at in (2_000, RATE_HZ - 1_200, 2 * RATE_HZ):
        pcm[at : at + 16] = 0.9
    (found,) = speech_stretches(pcm.astype(np.float32), rate_hz=RATE_HZ)
    assert found.begin_s == pytest.approx(1.0, abs=0.002)
    assert found.end_s == pytest.approx(1.5, abs=0.002)


def test_pauses_inside_an_utterance_are_no_end() -> None:
    """Silence shorter than the least pause joins, longer silence separates."""
    rng = np.random.default_rng(3)
    gap = np.zeros(int(0.3 * RATE_HZ))
    pcm = np.concatenate([gap, voice(0.4, rng), gap, voice(0.4, rng), gap]).astype(np.float32)
    assert len(speech_stretches(pcm, rate_hz=RATE_HZ)) == 1
    assert len(speech_stretches(pcm, rate_hz=RATE_HZ, least_pause_s=0.2)) == 2


def test_a_short_release_belongs_to_the_word() -> None:
    """A burst of 15 ms after a closure of 80 ms (a final "t") is part of the utterance."""
    rng = np.random.default_rng(5)
    pcm = np.concatenate(
        [np.zeros(8_000), voice(0.3, rng), np.zeros(1_280), 0.05 * rng.standard_normal(240)]
    )
    pcm = np.concatenate([pcm, np.zeros(8_000)]).astype(np.float32)
    (found,) = speech_stretches(pcm, rate_hz=RATE_HZ)
    assert found.end_s == pytest.approx(0.5 + 0.3 + 0.08 + 0.015, abs=0.002)


def test_nothing_at_all() -> None:
    """An empty recording has no stretches."""
    assert speech_stretches(np.zeros(0, dtype=np.float32), rate_hz=RATE_HZ) == []


def turn(begin_s: float, end_s: float, *, total_s: float = 8.0) -> np.ndarray:
    rng = np.random.default_rng(int(begin_s * 1000))
    pcm = np.zeros(int(total_s * RATE_HZ))
    sound = voice(end_s - begin_s, rng)
    pcm[int(begin_s * RATE_HZ) :][: len(sound)] = sound
    return pcm.astype(np.float32)


def test_the_response_gap() -> None:
    """From the user's last sound to the reply's first, on the clock of one recording."""
    gap = response_gap(turn(1, 2), turn(2.7, 4), RATE_HZ)
    assert gap == pytest.approx(0.7, abs=0.001)


def test_gaps_of_several_turns() -> None:
    """Each answered turn has its gap; a greeting before any turn and an ignored turn have none."""
    mouth = turn(1, 2) + turn(4, 4.5) + turn(6, 6.5)
    ear = turn(0.2, 0.6) + turn(2.5, 3) + turn(7, 7.5)
    assert response_gaps(mouth, ear, RATE_HZ) == pytest.approx([0.5, 0.5], abs=0.001)


def test_a_reply_that_cuts_in_has_a_negative_gap() -> None:
    """A reply that begins while the user still speaks came too early, and the figure says so."""
    assert response_gap(turn(1, 3), turn(2.8, 4), RATE_HZ) == pytest.approx(-0.2, abs=0.001)


def test_no_answer_no_gap() -> None:
    """Where nobody answered there is no gap."""
    assert response_gap(turn(1, 2), np.zeros(8 * RATE_HZ, dtype=np.float32), RATE_HZ) is None
