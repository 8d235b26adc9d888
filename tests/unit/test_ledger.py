"""The ledger: watermark order at every step, gates, and illegal steps that change nothing."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from conversations import commit_of

from voiceagent.core.errors import VoiceAgentError
from voiceagent.core.ledger import (
    MAX_REPLY_CHARS,
    Author,
    Confirmed,
    Draft,
    Drafted,
    Ended,
    EndReason,
    Finish,
    Finished,
    Flushed,
    Heard,
    Ledger,
    LedgerError,
    Paused,
    Released,
    Resumed,
    Rollback,
    RollbackCause,
    RolledBack,
    Started,
    Synthesized,
    Turn,
    Verified,
    Verify,
    VoidCause,
    Voided,
)
from voiceagent.core.watermarks import Watermarks

HEAD = {"reply": "r", "epoch": 0}


def make_ledger(*, turn: Turn = Turn.CONFIRMED) -> Ledger:
    ledger = Ledger(reply="r", epoch=0, turn=turn, author=Author.MODEL, now_s=0.0)
    ledger.events()
    return ledger


def make_spoken(*, text: str = "One. Two. ", verified: int = 5) -> Ledger:
    """Committed, synthesized and released up to ``verified``."""
    ledger = make_ledger()
    ledger.apply(Draft(text=text), now_s=1.0)
    ledger.apply(Verify(to=verified), now_s=1.0)
    ledger.commit(commit_of(ledger, verified), now_s=1.0)
    ledger.synthesize(verified, now_s=1.0)
    ledger.release(verified, now_s=1.0)
    ledger.events()
    return ledger


def snapshot(ledger: Ledger) -> tuple[Any, ...]:
    return (
        ledger.text,
        ledger.marks,
        ledger.turn,
        ledger.paused,
        ledger.finished,
        ledger.ended,
        ledger.voided,
    )


def refuses(ledger: Ledger, step: Callable[[], None], *, saying: str) -> None:
    """The step raises, says why, and leaves no trace of itself."""
    before = snapshot(ledger)
    ledger.events()
    with pytest.raises(LedgerError, match=saying):
        step()
    assert snapshot(ledger) == before
    assert ledger.events() == []


# Watermarks -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "marks",
    [
        {"heard": 1},
        {"released": 1},
        {"synthesized": 1},
        {"committed": 1},
        {"verified": 1},
        {"drafted": -1, "verified": -1},
        {"heard": -1},
    ],
)
def test_watermarks_out_of_order_are_known(marks: dict[str, int]) -> None:
    """Any mark above the one before it, or below nothing, is out of order."""
    assert not Watermarks(**marks).in_order


def test_watermarks_print_in_the_order_of_the_rule() -> None:
    """A message reads like the invariant it speaks of."""
    marks = Watermarks(drafted=3, verified=2)
    assert str(marks) == (
        "heard 0 <= released 0 <= synthesized 0 <= committed 0 <= verified 2 <= drafted 3"
    )


# The source -----------------------------------------------------------------------------------


def test_start_is_recorded() -> None:
    """A ledger's first event says whose text it is and whether the turn is confirmed."""
    ledger = Ledger(reply="r", epoch=2, turn=Turn.EAGER, author=Author.SCRIPT, now_s=3.0)
    assert ledger.events() == [
        Started(reply="r", epoch=2, at_s=3.0, turn=Turn.EAGER, author=Author.SCRIPT)
    ]
    assert (ledger.reply, ledger.epoch, ledger.author) == ("r", 2, Author.SCRIPT)


def test_provisional_text_is_drafted_verified_and_rolled_back() -> None:
    """Drafted text is appended, verified up to a position, and taken back behind it."""
    ledger = make_ledger()
    ledger.apply(Draft(text="Yes, mayb"), now_s=0.1)
    ledger.apply(Verify(to=5), now_s=0.2)
    ledger.apply(Rollback(to=5, cause=RollbackCause.DRAFT_REJECTED), now_s=0.3)
    ledger.apply(Draft(text="no."), now_s=0.4)
    assert ledger.text == "Yes, no."
    assert (ledger.drafted, ledger.verified) == (8, 5)
    assert ledger.events() == [
        Drafted(**HEAD, at_s=0.1, at=0, text="Yes, mayb"),
        Verified(**HEAD, at_s=0.2, to=5),
        RolledBack(**HEAD, at_s=0.3, to=5, cause=RollbackCause.DRAFT_REJECTED),
        Drafted(**HEAD, at_s=0.4, at=5, text="no."),
    ]


def test_positions_are_code_points() -> None:
    """A character outside the first plane counts once."""
    ledger = make_ledger()
    ledger.apply(Draft(text="👍é"), now_s=0.1)
    assert ledger.drafted == 2


def test_steps_that_move_nothing_leave_no_event() -> None:
    """Said twice is said once."""
    ledger = make_spoken()
    ledger.apply(Draft(text=""), now_s=2.0)
    ledger.apply(Verify(to=5), now_s=2.0)
    ledger.apply(Rollback(to=10), now_s=2.0)
    ledger.confirm(now_s=2.0)
    ledger.resume(now_s=2.0)
    ledger.synthesize(5, now_s=2.0)
    ledger.release(5, now_s=2.0)
    ledger.hear(0, now_s=2.0)
    assert ledger.events() == []
    ledger.pause(now_s=2.0)
    ledger.pause(now_s=2.0)
    assert ledger.events() == [Paused(**HEAD, at_s=2.0)]


@pytest.mark.parametrize(
    ("event", "saying"),
    [
        (Verify(to=99), "out of order|would make"),
        (Verify(to=4), "take anything back"),
        (Rollback(to=4), "would make"),
        (Rollback(to=11), "no text at 11"),
        (Rollback(to=-1), "would make"),
        (Draft(text="\ud800"), "surrogate"),
        (Draft(text="x" * MAX_REPLY_CHARS), "at most"),
    ],
)
def test_illegal_source_events_change_nothing(event: Any, saying: str) -> None:
    """A source that breaks the order is refused, with the step and the marks named."""
    ledger = make_spoken()
    refuses(ledger, lambda: ledger.apply(event, now_s=2.0), saying=saying)


def test_errors_name_reply_step_and_watermarks() -> None:
    """The message alone is enough to find the step."""
    ledger = make_ledger()
    with pytest.raises(LedgerError, match=r"r epoch 0: verify: .*now heard 0 <= .*drafted 0"):
        ledger.apply(Verify(to=1), now_s=0.0)
    assert issubclass(LedgerError, VoiceAgentError)
    assert issubclass(LedgerError, ValueError)


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        (EndReason.STOP, RollbackCause.STOP),
        (EndReason.LENGTH, RollbackCause.STOP),
        (EndReason.CANCELLED, RollbackCause.INTERRUPTED),
        (EndReason.ERROR, RollbackCause.INTERRUPTED),
    ],
)
def test_finish_takes_provisional_text_back(reason: EndReason, cause: RollbackCause) -> None:
    """Whatever the source, no provisional text is left behind it."""
    ledger = make_ledger()
    ledger.apply(Draft(text="ab"), now_s=0.1)
    ledger.apply(Verify(to=1), now_s=0.1)
    ledger.events()
    ledger.apply(Finish(reason=reason), now_s=0.2)
    assert ledger.events() == [
        RolledBack(**HEAD, at_s=0.2, to=1, cause=cause),
        Finished(**HEAD, at_s=0.2, reason=reason),
    ]
    assert ledger.finished is reason
    refuses(ledger, lambda: ledger.apply(Draft(text="c"), now_s=0.3), saying="has finished")


# Time -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("now_s", [0.9, -1.0, math.nan, math.inf])
def test_time_does_not_run_backwards(now_s: float) -> None:
    """A step earlier than the last, or at no time at all, is refused."""
    ledger = make_spoken()
    refuses(ledger, lambda: ledger.pause(now_s=now_s), saying="time ran")


def test_a_ledger_opens_at_a_time() -> None:
    """There is no reply at no time."""
    with pytest.raises(LedgerError, match="time ran"):
        Ledger(reply="r", epoch=0, turn=Turn.EAGER, author=Author.MODEL, now_s=math.nan)


# The turn -------------------------------------------------------------------------------------


def test_release_waits_for_the_turn() -> None:
    """Everything up to synthesis may be done early; release waits for the confirmed turn."""
    ledger = make_ledger(turn=Turn.EAGER)
    ledger.apply(Draft(text="Yes. "), now_s=0.1)
    ledger.apply(Verify(to=5), now_s=0.1)
    ledger.commit(commit_of(ledger, 5), now_s=0.1)
    ledger.synthesize(5, now_s=0.1)
    refuses(ledger, lambda: ledger.release(5, now_s=0.2), saying="not confirmed")
    ledger.confirm(now_s=0.3)
    ledger.release(5, now_s=0.3)
    assert ledger.events() == [Confirmed(**HEAD, at_s=0.3), Released(**HEAD, at_s=0.3, to=5)]
    assert (ledger.synthesized, ledger.released) == (5, 5)


def test_an_unconfirmed_epoch_can_be_withdrawn() -> None:
    """After that nothing of it can be said or done."""
    ledger = make_ledger(turn=Turn.EAGER)
    ledger.void(VoidCause.TURN_REVISED, now_s=0.1)
    assert ledger.events() == [Voided(**HEAD, at_s=0.1, cause=VoidCause.TURN_REVISED)]
    assert ledger.voided is VoidCause.TURN_REVISED
    assert not ledger.alive
    refuses(ledger, lambda: ledger.confirm(now_s=0.2), saying="over")
    refuses(ledger, lambda: ledger.void(VoidCause.SUPERSEDED, now_s=0.2), saying="over")


def test_a_confirmed_epoch_cannot_be_withdrawn() -> None:
    """Clients that cannot retract have seen it."""
    ledger = make_ledger()
    refuses(ledger, lambda: ledger.void(VoidCause.SUPERSEDED, now_s=0.2), saying="is confirmed")


# The way to the ear ---------------------------------------------------------------------------


def test_pause_closes_the_release_gate_and_resume_opens_it() -> None:
    """What was released before may still be heard or flushed; nothing more is released."""
    ledger = make_spoken()
    ledger.pause(now_s=2.0)
    assert ledger.paused
    refuses(ledger, lambda: ledger.release(5, now_s=2.1), saying="paused")
    ledger.hear(3, now_s=2.2)
    ledger.flush(now_s=2.3)
    ledger.resume(now_s=2.4)
    ledger.release(5, now_s=2.5)
    assert ledger.events() == [
        Heard(**HEAD, at_s=2.2, to=3),
        Flushed(**HEAD, at_s=2.3, to=3),
        Resumed(**HEAD, at_s=2.4),
        Released(**HEAD, at_s=2.5, to=5),
    ]


@pytest.mark.parametrize(
    ("changes", "saying"),
    [
        ({"reply": "other"}, "belongs to other"),
        ({"epoch": 1}, "belongs to r epoch 1"),
        ({"start": 4}, "does not follow"),
        ({"end": 5, "text": ""}, "does not follow"),
        ({"text": "Tow. "}, "not the reply's"),
    ],
)
def test_only_the_next_commit_of_this_text_is_taken(changes: dict[str, Any], saying: str) -> None:
    """Commits are contiguous, of this epoch, and say what the ledger says."""
    ledger = make_spoken(verified=5)
    ledger.apply(Verify(to=10), now_s=2.0)
    commit = commit_of(ledger, 10)
    for name, value in changes.items():
        setattr(commit, name, value)
    refuses(ledger, lambda: ledger.commit(commit, now_s=2.0), saying=saying)


def test_unverified_text_cannot_be_committed() -> None:
    """The commit gate lets verified text through only."""
    ledger = make_spoken(verified=5)
    refuses(ledger, lambda: ledger.commit(commit_of(ledger, 6), now_s=2.0), saying="would make")


def test_sound_needs_a_commit_and_release_needs_sound() -> None:
    """No stage overtakes the one before it, and none takes anything back."""
    ledger = make_spoken(verified=5)
    refuses(ledger, lambda: ledger.synthesize(6, now_s=2.0), saying="would make")
    refuses(ledger, lambda: ledger.synthesize(4, now_s=2.0), saying="take anything back")
    refuses(ledger, lambda: ledger.release(6, now_s=2.0), saying="would make")
    refuses(ledger, lambda: ledger.release(4, now_s=2.0), saying="take anything back")
    refuses(ledger, lambda: ledger.hear(6, now_s=2.0), saying="would make")


def test_late_reports_of_the_ear_say_nothing_new() -> None:
    """A report of less than is known neither falls nor fails."""
    ledger = make_spoken()
    ledger.hear(4, now_s=2.0)
    ledger.hear(4, now_s=2.0)
    ledger.hear(2, now_s=2.0)
    assert ledger.events() == [Heard(**HEAD, at_s=2.0, to=4)]


def test_a_mark_of_flushed_sound_is_no_proof_of_hearing() -> None:
    """After a flush, a report beyond it is refused."""
    ledger = make_spoken()
    ledger.hear(2, now_s=2.0)
    ledger.flush(now_s=2.0)
    refuses(ledger, lambda: ledger.hear(5, now_s=2.1), saying="would make")


def test_synthesized_spans_follow_one_another() -> None:
    """Each event says where its span starts."""
    ledger = make_spoken(verified=5)
    ledger.apply(Verify(to=10), now_s=2.0)
    ledger.commit(commit_of(ledger, 10), now_s=2.0)
    ledger.events()
    ledger.synthesize(10, now_s=2.0)
    assert ledger.events() == [Synthesized(**HEAD, at_s=2.0, start=5, to=10)]


# The end --------------------------------------------------------------------------------------


def test_a_complete_reply_ends_when_all_was_heard() -> None:
    """Not before its source finished, its text was committed and its sound was heard."""
    ledger = make_spoken(verified=5)
    refuses(ledger, lambda: ledger.end(EndReason.STOP, now_s=2.0), saying="has not finished")
    ledger.apply(Verify(to=9), now_s=2.0)
    ledger.apply(Finish(), now_s=2.0)
    refuses(ledger, lambda: ledger.end(EndReason.LENGTH, now_s=2.0), saying="finished with stop")
    refuses(ledger, lambda: ledger.end(EndReason.STOP, now_s=2.0), saying="is not committed")
    ledger.commit(commit_of(ledger, 9), now_s=2.0)
    refuses(ledger, lambda: ledger.end(EndReason.STOP, now_s=2.0), saying="not heard yet")
    ledger.hear(5, now_s=2.0)
    ledger.events()
    ledger.end(EndReason.STOP, now_s=3.0)
    assert ledger.events() == [Ended(**HEAD, at_s=3.0, at=9, reason=EndReason.STOP)]
    assert ledger.ended is EndReason.STOP
    refuses(ledger, lambda: ledger.end(EndReason.STOP, now_s=4.0), saying="over")


def test_an_unconfirmed_turn_has_no_complete_reply() -> None:
    """Its reply is confirmed first, withdrawn, or cancelled."""
    ledger = make_ledger(turn=Turn.EAGER)
    ledger.apply(Finish(), now_s=0.1)
    refuses(ledger, lambda: ledger.end(EndReason.STOP, now_s=0.2), saying="not confirmed")
    refuses(ledger, lambda: ledger.end(EndReason.INTERRUPTED, now_s=0.2), saying="void it")
    ledger.end(EndReason.CANCELLED, now_s=0.3)
    assert ledger.ended is EndReason.CANCELLED


def test_an_interrupted_reply_ends_where_it_was_heard() -> None:
    """Provisional text goes, the output is flushed, and the end is the heard position."""
    ledger = make_spoken(verified=5)
    ledger.hear(3, now_s=2.0)
    ledger.events()
    ledger.end(EndReason.INTERRUPTED, now_s=2.5)
    assert ledger.events() == [
        RolledBack(**HEAD, at_s=2.5, to=5, cause=RollbackCause.INTERRUPTED),
        Flushed(**HEAD, at_s=2.5, to=3),
        Ended(**HEAD, at_s=2.5, at=3, reason=EndReason.INTERRUPTED),
    ]


def test_a_cancelled_reply_keeps_its_verified_text() -> None:
    """Whoever read it as text has that much of it."""
    ledger = make_ledger()
    ledger.apply(Draft(text="ab"), now_s=0.1)
    ledger.apply(Verify(to=1), now_s=0.1)
    ledger.events()
    ledger.end(EndReason.ERROR, now_s=0.2)
    assert ledger.events()[-1] == Ended(**HEAD, at_s=0.2, at=1, reason=EndReason.ERROR)
