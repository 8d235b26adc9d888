"""The playout clock: what was heard, to the word."""

from dataclasses import dataclass

import pytest

from voiceagent.sound.playout import Heard, PlayoutClock


@dataclass(frozen=True)
class Timed:
    start: int
    end: int
    begin_sample: int
    end_sample: int


# "Hello there, my friend." with a pause of 100 samples after it.
WORDS = (
    Timed(0, 5, 0, 100),
    Timed(6, 12, 100, 200),
    Timed(13, 15, 250, 300),
    Timed(16, 23, 300, 400),
)


def clock_with_a_segment(*, reply: str = "a", start: int = 0) -> PlayoutClock:
    clock = PlayoutClock()
    queue(clock, reply=reply, start=start)
    return clock


def queue(clock: PlayoutClock, *, reply: str = "a", start: int = 0, epoch: int = 0) -> None:
    words = [Timed(w.start + start, w.end + start, w.begin_sample, w.end_sample) for w in WORDS]
    clock.queue(reply=reply, epoch=epoch, start=start, end=start + 24, samples=500, words=words)


def heard(clock: PlayoutClock, *, reply: str = "a") -> int:
    return clock.position(reply=reply, epoch=0)


@pytest.mark.parametrize(
    ("played", "position"),
    [
        (0, 0),
        (49, 0),
        (50, 5),
        (100, 5),
        (149, 5),
        (150, 12),
        (260, 12),
        (275, 15),
        (349, 15),
        (350, 23),
        (399, 23),
        (400, 24),
        (500, 24),
    ],
)
def test_a_word_is_heard_at_half_of_its_sound(played: int, position: int) -> None:
    """Half of a word's sound counts as the word; the whole of the last one as the segment."""
    clock = clock_with_a_segment()
    clock.play(played)
    assert heard(clock) == position


def test_samples_are_conserved() -> None:
    """queued = played + flushed + pending, through queueing, playing, flushing and again."""
    clock = clock_with_a_segment()
    clock.play(120)
    assert (clock.queued, clock.played, clock.flushed, clock.pending) == (500, 120, 0, 380)
    assert clock.flush() == 380
    assert (clock.queued, clock.played, clock.flushed, clock.pending) == (500, 120, 380, 0)
    queue(clock, start=12)
    clock.play(500)
    assert (clock.queued, clock.played, clock.flushed, clock.pending) == (1000, 620, 380, 0)


def test_what_was_flushed_is_never_heard() -> None:
    """After a flush the heard position stays where it was, whatever is reported."""
    clock = clock_with_a_segment()
    clock.play(60)
    clock.flush()
    clock.play(1_000)
    clock.play_to(500)
    assert heard(clock) == 5
    assert clock.played == 60


def test_late_and_repeated_reports_change_nothing() -> None:
    """A report of a place that was passed already, or that was flushed, is old news."""
    clock = clock_with_a_segment()
    clock.play_to(200)
    clock.play_to(100)
    clock.play_to(200)
    assert (clock.played, heard(clock)) == (200, 12)
    clock.flush()
    queue(clock, reply="b")
    clock.play_to(450)
    assert (clock.played, heard(clock, reply="b")) == (200, 0)
    clock.play_to(550)
    assert (clock.played, heard(clock, reply="b")) == (250, 5)


def test_nothing_is_heard_beyond_a_gap() -> None:
    """What follows flushed text does not count as heard until that text is queued again."""
    clock = clock_with_a_segment()
    clock.play(160)
    clock.flush()
    queue(clock, start=24)
    clock.play(500)
    assert heard(clock) == 12
    clock.queue(reply="a", epoch=0, start=12, end=24, samples=100)
    queue(clock, start=24)
    clock.play(600)
    assert heard(clock) == 48


def test_an_output_that_plays_its_own_silence() -> None:
    """Samples played beyond what was queued are the output's own and count for nothing."""
    clock = clock_with_a_segment()
    clock.play(10_000)
    assert (clock.played, clock.pending) == (500, 0)
    queue(clock, start=24)
    assert heard(clock) == 24


def test_segments_follow_each_other() -> None:
    """The position runs on through the segments of a reply, and each advance is news once."""
    clock = clock_with_a_segment()
    queue(clock, start=24)
    clock.play(700)
    assert heard(clock) == 36
    clock.play(300)
    assert clock.drain() == [Heard("a", 0, 24), Heard("a", 0, 36), Heard("a", 0, 48)]
    assert clock.drain() == []


def test_a_silent_stretch_is_heard_with_what_is_before_it() -> None:
    """Text without sound is passed as soon as all sound before it was played, never earlier."""
    clock = clock_with_a_segment()
    clock.queue(reply="a", epoch=0, start=24, end=100)
    clock.play(499)
    assert heard(clock) == 24
    clock.play(1)
    assert heard(clock) == 100


def test_a_silent_beginning_is_heard_at_once() -> None:
    """With nothing before it a silent stretch is heard when it is queued."""
    clock = PlayoutClock()
    clock.queue(reply="a", epoch=0, start=0, end=30)
    assert clock.drain() == [Heard("a", 0, 30)]


def test_a_segment_without_word_times() -> None:
    """Without word times nothing of a segment counts as heard before its end."""
    clock = PlayoutClock()
    clock.queue(reply="a", epoch=0, start=0, end=30, samples=100)
    clock.play(99)
    assert heard(clock) == 0
    clock.play(1)
    assert heard(clock) == 30


def test_replies_and_epochs_are_apart() -> None:
    """Two replies, or two epochs of one, each have their own position."""
    clock = clock_with_a_segment()
    queue(clock, epoch=1)
    clock.play(550)
    assert heard(clock) == 24
    assert clock.position(reply="a", epoch=1) == 5
    assert clock.position(reply="other", epoch=0) == 0


@pytest.mark.parametrize(("samples", "end"), [(-1, 5), (5, -1)])
def test_impossible_segments_are_refused(samples: int, end: int) -> None:
    """A negative number of samples and positions that go back are mistakes."""
    with pytest.raises(ValueError, match="cannot queue"):
        PlayoutClock().queue(reply="a", epoch=0, start=0, end=end, samples=samples)
