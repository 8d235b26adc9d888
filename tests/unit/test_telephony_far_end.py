"""What was heard at the far end: by the clock, by marks, and not by marks of what was cleared."""

import numpy as np

from voiceagent.telephony.far_end import (
    MOST_UNPROVEN_S,
    TRAVEL_S,
    UNACKNOWLEDGED_S,
    FarEnd,
)

RATE_HZ = 1000
PIECE = np.arange(1, 101, dtype=np.int16)


def far_end(*, acknowledges: bool = True, travel_s: float = TRAVEL_S) -> FarEnd:
    """A line of one sample a millisecond."""
    return FarEnd(rate_hz=RATE_HZ, acknowledges=acknowledges, travel_s=travel_s)


def test_a_mark_proves_the_sound_before_it():
    """Its lateness then stands for the way to the ear: what follows is heard so much later."""
    line = far_end()
    names = [line.send(PIECE, now_s=0.0) for _ in range(3)]
    assert line.played_samples(0.15) == 50
    assert line.marked(names[0], now_s=0.14)
    assert line.played_samples(0.14) == 100
    assert line.played_samples(0.24) == 200
    assert line.paced_samples(0.24) == 240


def test_a_mark_that_comes_too_soon_proves_only_what_can_have_been_played():
    """No peer can make us believe that a second was heard in a millisecond."""
    line = far_end()
    names = [line.send(PIECE, now_s=0.0) for _ in range(10)]
    line.marked(names[-1], now_s=0.05)
    assert line.played_samples(0.05) == 50
    assert line.played_samples(5.0) == 1000


def test_after_a_clear_the_marks_that_come_back_prove_nothing():
    """All of them do come back (Twilio, clear); the position stays where it was frozen."""
    line = far_end()
    names = [line.send(PIECE, now_s=0.0) for _ in range(5)]
    assert line.marked(names[0], now_s=0.1)
    unheard = line.clear(now_s=0.15)
    assert [line.marked(name, now_s=0.16) for name in names] == [False] * 5
    assert line.played_samples(10.0) == 150
    assert [piece.tolist() for piece in unheard] == [
        PIECE[50:].tolist(),
        *[PIECE.tolist()] * 3,
    ]


def test_the_far_end_plays_on_until_a_clear_has_come():
    """The clear is as long on its way as the sound before it was: 100 ms here, and 100 ms back."""
    line = far_end()
    names = [line.send(PIECE, now_s=0.0) for _ in range(5)]
    line.marked(names[0], now_s=0.3)
    assert line.played_samples(0.35) == 150
    line.clear(now_s=0.35)
    assert line.played_samples(0.35) == 350


def test_what_nobody_acknowledges_is_not_believed_for_long():
    """Behind the last mark only so much counts, however much time passes."""
    line = far_end()
    names = [line.send(PIECE, now_s=0.0) for _ in range(30)]
    line.marked(names[0], now_s=0.1)
    assert line.played_samples(2.9) == 100 + MOST_UNPROVEN_S * RATE_HZ
    assert line.overdue_s(2.9) > 2.5
    line.clear(now_s=2.9)
    assert line.played_samples(9.0) == 100 + MOST_UNPROVEN_S * RATE_HZ


def test_a_far_end_that_never_acknowledges_is_followed_by_the_clock():
    """A reply must come to its end even if the provider lacks marks."""
    line = far_end()
    line.send(PIECE, now_s=0.0)
    assert line.played_samples(0.1 + UNACKNOWLEDGED_S + 0.01) == 100
    assert line.overdue_s(9.0) == 0.0


def test_unknown_repeated_and_malformed_marks_prove_nothing():
    """Whatever a peer invents."""
    line = far_end()
    names = [line.send(PIECE, now_s=0.0) for _ in range(2)]
    assert line.marked(names[1], now_s=0.2)
    for name in (*names, "", ":", "0:", "0:50", "0:²", "1:100", "0:" + "9" * 400, "-0:100"):
        assert not line.marked(name, now_s=0.3)


def test_sound_that_cannot_be_taken_back_is_counted_when_it_is_settled():
    """On a line without a clear, what was sent will be heard; what comes then counts anew."""
    line = far_end(acknowledges=False, travel_s=0.05)
    line.send(PIECE, now_s=0.0)
    assert (line.played_samples(0.08), line.paced_samples(0.08)) == (30, 80)
    line.settle(now_s=0.08)
    assert line.played_samples(0.08) == 100
    line.send(PIECE, now_s=0.1)
    assert line.played_samples(0.2) == 150


def test_what_sounded_is_told_once_and_ends_where_it_was_cut():
    """A recording has what was heard and no more."""
    line = far_end(travel_s=0.0)
    for _ in range(3):
        line.send(PIECE, now_s=0.0)
    line.clear(now_s=0.25)
    sounded = line.drain_sounded()
    assert [(each.begin_s, len(each.pcm)) for each in sounded] == [
        (0.0, 100),
        (0.1, 100),
        (0.2, 50),
    ]
    assert line.drain_sounded() == []
