"""Stages of one reply, out of a trace whose times are known."""

from voiceagent.core.events import Author, Committed, Confirmed, Drafted, Released, Started, Turn
from voiceagent.core.kinds import Kind
from voiceagent.core.trace import Record, SpeechRecord, TurnRecord
from voiceagent.latency.waterfall import waypoints_s

WHO = {"reply": "r1", "epoch": 1}
RELEASED = Released(**WHO, at_s=3.0, to=4)


def turn(state: str, at_s: float) -> TurnRecord:
    return TurnRecord(turn=1, at_s=at_s, text="", state=state)


def reply(*, started_s: float, turn_state: Turn, speech_s: float) -> list[Record]:
    """A reply from its beginning to its first sound, and one of another epoch beside it."""
    other = {"reply": "r1", "epoch": 0}
    return [
        Started(**other, at_s=0.1, turn=Turn.EAGER, author=Author.MODEL),
        Drafted(**other, at_s=0.2, at=0, text="No."),
        Started(**WHO, at_s=started_s, turn=turn_state, author=Author.MODEL),
        Drafted(**WHO, at_s=started_s + 0.1, at=0, text="Yes."),
        Committed(**WHO, at_s=1.8, start=0, end=0, kind=Kind.SILENT, segment=0, text=""),
        Committed(**WHO, at_s=2.0, start=0, end=4, kind=Kind.SENTENCE, segment=1, text="Yes."),
        SpeechRecord(**WHO, at_s=2.1, start=0, end=0, text="", samples=0, rate_hz=8000),
        SpeechRecord(**WHO, at_s=speech_s, start=0, end=4, text="Yes.", samples=9, rate_hz=8000),
        RELEASED,
    ]


def test_a_reply_that_lay_ready_waited_for_the_decision() -> None:
    """Prepared on an eager turn: the end of the turn comes behind the synthesis. What is silent is
    no commit, what has no samples no sound, and the withdrawn epoch counts for nothing."""
    records = [
        turn("silent", 0.5),
        turn("silent", 1.0),
        turn("eager", 1.2),
        *reply(started_s=1.3, turn_state=Turn.EAGER, speech_s=2.2),
        turn("confirmed", 2.9),
        Confirmed(**WHO, at_s=2.9),
    ]
    assert waypoints_s(records, RELEASED) == [
        ("vad", 1.0),
        ("recognizer", 1.2),
        ("prefill", 1.3),
        ("first_token", 1.3 + 0.1),
        ("first_commit", 2.0),
        ("synthesis", 2.2),
        ("end_of_turn", 2.9),
        ("release", 3.0),
    ]


def test_a_reply_that_was_not_prepared_waited_before_it_began() -> None:
    """Begun on a confirmed turn: the decision comes behind the words, or together with them."""
    told = reply(started_s=1.6, turn_state=Turn.CONFIRMED, speech_s=2.2)
    words_first = [turn("silent", 1.0), turn("eager", 1.2), turn("confirmed", 1.5), *told]
    assert (waypoints_s(words_first, RELEASED) or [])[:4] == [
        ("vad", 1.0),
        ("recognizer", 1.2),
        ("end_of_turn", 1.5),
        ("prefill", 1.6),
    ]
    earlier = [turn("silent", 0.2), turn("eager", 0.3), turn("confirmed", 0.4), turn("began", 0.6)]
    together = [*earlier, turn("silent", 1.0), turn("confirmed", 1.5), *told]
    assert (waypoints_s(together, RELEASED) or [])[:3] == [
        ("vad", 1.0),
        ("recognizer", 1.5),
        ("end_of_turn", 1.5),
    ]


def test_a_trace_without_the_beginning() -> None:
    """A reply whose start is not on record has no stages."""
    assert waypoints_s([RELEASED], RELEASED) is None
