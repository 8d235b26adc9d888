"""The ear without a sound card: a short buffer, a clock, and every sample in its place."""

import numpy as np

from voiceagent.session.timeline import BUFFER_S, EarTimeline

RATE_HZ = 1000


class Hand:
    """A clock that is moved by hand."""

    at_s = 0.0

    def begin(self) -> None:
        """It is moved by hand."""

    def now_s(self) -> float:
        return self.at_s

    async def sleep_until(self, at_s: float) -> None:
        self.at_s = max(self.at_s, at_s)


def ones(count: int) -> np.ndarray[tuple[int], np.dtype[np.int16]]:
    """Sound that is not silence."""
    return np.ones(count, dtype=np.int16)


def test_sound_follows_sound_and_silence_fills_the_rest() -> None:
    """What is written late sounds late; what is written early waits for its turn."""
    clock = Hand()
    ear = EarTimeline(clock=clock, rate_hz=RATE_HZ)
    clock.at_s = 0.1
    ear.write(ones(50))
    ear.write(ones(50))
    clock.at_s = 0.3
    ear.write(ones(10))
    assert np.flatnonzero(ear.pcm()).tolist() == [*range(100, 200), *range(300, 310)]


def test_played_counts_what_has_sounded() -> None:
    """Sample by sample, across pieces and pauses."""
    clock = Hand()
    ear = EarTimeline(clock=clock, rate_hz=RATE_HZ)
    ear.write(ones(40))
    ear.write(ones(40))
    counts = []
    for clock.at_s in (0.0, 0.03, 0.06, 0.5):
        counts.append(ear.played_samples())
    assert counts == [0, 30, 60, 80]
    assert ear.accepts_at_s == 0.08 - BUFFER_S


def test_a_cut_silences_at_once() -> None:
    """Of what was written, only what has sounded remains, on the record and in the count."""
    clock = Hand()
    ear = EarTimeline(clock=clock, rate_hz=RATE_HZ)
    ear.write(ones(40))
    ear.write(ones(40))
    clock.at_s = 0.05
    ear.cut()
    assert (ear.played_samples(), np.count_nonzero(ear.pcm()), ear.cuts) == (50, 50, 1)
    clock.at_s = 0.06
    ear.write(ones(10))
    clock.at_s = 0.5
    assert ear.played_samples() == 60
    assert np.flatnonzero(ear.pcm())[-10:].tolist() == list(range(60, 70))


def test_what_is_held_sounds_later_and_whole() -> None:
    """Silence at once; afterwards the rest from the very sample, with what came meanwhile."""
    clock = Hand()
    ear = EarTimeline(clock=clock, rate_hz=1000)
    ear.write(np.arange(1, 101, dtype=np.int16))
    clock.at_s = 0.03
    ear.hold()
    ear.write(np.full(5, 7, dtype=np.int16))
    clock.at_s = 0.2
    assert ear.played_samples() == 30
    ear.let_go()
    clock.at_s = 0.5
    assert ear.played_samples() == 105
    heard = ear.pcm()
    assert heard[:30].tolist() == list(range(1, 31))
    assert not heard[30:200].any()
    assert heard[200:].tolist() == [*range(31, 101), *[7] * 5]


def test_a_cut_drops_what_was_held() -> None:
    """The user took the floor: nothing of it sounds any more."""
    clock = Hand()
    ear = EarTimeline(clock=clock, rate_hz=1000)
    ear.write(np.ones(100, dtype=np.int16))
    clock.at_s = 0.03
    ear.hold()
    ear.cut()
    ear.let_go()
    assert np.count_nonzero(ear.pcm()) == 30
