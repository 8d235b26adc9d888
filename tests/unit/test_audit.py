"""The audit: honest traces pass, and every kind of lie is caught in its line."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from conversations import Talk, commit_of, good_trace

from voiceagent.core.audit import Audit, Lie, Violation, audit
from voiceagent.core.events import (
    Committed,
    Confirmed,
    Drafted,
    Ended,
    Finished,
    Flushed,
    Heard,
    Paused,
    Recorded,
    Released,
    Resumed,
    RolledBack,
    Started,
    Synthesized,
    Verified,
    Voided,
)
from voiceagent.core.ledger import (
    Author,
    Draft,
    EndReason,
    Finish,
    RollbackCause,
    Turn,
    Verify,
    VoidCause,
)
from voiceagent.core.redact import redact
from voiceagent.core.trace import (
    FiguresRecord,
    Record,
    SpeechRecord,
    ToolRecord,
    TraceError,
    TurnRecord,
    encode,
)

Records = list[Record]


def audited(records: Records) -> list[Violation]:
    return audit([encode(record) for record in records])


def find(records: Records, form: type[Any], **match: Any) -> int:
    """Where the first record of a form is whose fields match."""
    for index, record in enumerate(records):
        if isinstance(record, form) and all(
            getattr(record, name) == value for name, value in match.items()
        ):
            return index
    raise AssertionError(f"no {form.__name__} with {match}")


def change(form: type[Any], match: dict[str, Any], **changes: Any) -> Callable[[Records], int]:
    """A lie that changes one record; returns its line."""

    def doctor(records: Records) -> int:
        index = find(records, form, **match)
        records[index] = replace(records[index], **changes)
        return index + 1

    return doctor


def remove(
    form: type[Any], match: dict[str, Any], *, then: type[Any], **later: Any
) -> Callable[[Records], int]:
    """A lie that leaves out a record; the first ``then`` after it that matches shows it."""

    def doctor(records: Records) -> int:
        index = find(records, form, **match)
        del records[index]
        return index + 1 + find(records[index:], then, **later)

    return doctor


def insert(
    form: type[Any], match: dict[str, Any], record: Callable[[Any], Record]
) -> Callable[[Records], int]:
    """A lie that adds a record behind another; returns its line."""

    def doctor(records: Records) -> int:
        index = find(records, form, **match)
        records.insert(index + 1, record(records[index]))
        return index + 2

    return doctor


def event(form: type[Any], **fields: Any) -> Callable[[Any], Record]:
    """An event of the same reply and time as the record before it."""
    return lambda before: form(reply=before.reply, epoch=before.epoch, at_s=before.at_s, **fields)


R1, R2 = {"reply": "r1", "epoch": 1}, {"reply": "r2", "epoch": 0}
ANSWER_SOUND = {"reply": "r1", "start": 16}


def first_word(**changes: Any) -> Callable[[Records], int]:
    """A lie about the first word of the answer's sound."""

    def doctor(records: Records) -> int:
        index = find(records, SpeechRecord, **ANSWER_SOUND)
        speech = records[index]
        assert isinstance(speech, SpeechRecord)
        word = replace(speech.words[0], **changes)
        records[index] = replace(speech, words=(word,))
        return index + 1

    return doctor


def second_answer(records: Records) -> int:
    """A lie by which the turn that r1 answered is answered by another reply too."""
    index = find(records, TurnRecord, turn=2)
    del records[index]
    return index + 1 + find(records[index:], Released, **R2)


def figures_of_what_did_not_end(records: Records) -> int:
    """A lie that reports figures before there can be any."""
    figures = records.pop(find(records, FiguresRecord, **R2))
    index = find(records, Ended, **R2)
    records.insert(index, replace(figures, at_s=records[index].at_s))
    return index + 1


DOCTORED: list[tuple[str, Lie, Callable[[Records], int]]] = [
    ("time runs backwards", Lie.TIME, change(Heard, R2, at_s=0.01)),
    ("an event before the start", Lie.NOT_STARTED, change(Paused, {}, reply="r7")),
    (
        "an epoch starts twice",
        Lie.NOT_STARTED,
        insert(Started, R2, event(Started, turn=Turn.CONFIRMED, author=Author.MODEL)),
    ),
    (
        "sound of a reply that nobody began",
        Lie.NOT_STARTED,
        change(SpeechRecord, ANSWER_SOUND, reply="r7"),
    ),
    (
        "an event after the end",
        Lie.AFTER_END,
        insert(Ended, R2, event(Heard, to=8)),
    ),
    (
        "a reply ends twice",
        Lie.AFTER_END,
        insert(Ended, R2, event(Ended, at=8, reason=EndReason.INTERRUPTED)),
    ),
    ("a draft with a gap", Lie.TEXT, change(Drafted, R2, at=1)),
    ("a draft of other words", Lie.TEXT, insert(Drafted, R2, event(Drafted, at=2, text="x"))),
    (
        "committed text was never drafted",
        Lie.TEXT,
        change(Committed, R2, text="There is no more."),
    ),
    (
        "the source finished with a draft left",
        Lie.TEXT,
        insert(Verified, R2, event(Finished, reason=EndReason.STOP)),
    ),
    (
        "the reply ended with a draft left",
        Lie.TEXT,
        remove(RolledBack, R2, then=Ended, **R2),
    ),
    ("verified beyond the text", Lie.ORDER, change(Verified, R2, to=99)),
    ("verified falls", Lie.ORDER, insert(Verified, R2, event(Verified, to=3))),
    (
        "rolled back to behind the end",
        Lie.ORDER,
        insert(Verified, R2, event(RolledBack, to=99, cause=RollbackCause.STOP)),
    ),
    ("sound with a gap", Lie.ORDER, change(Synthesized, R2, start=4)),
    ("released what has no sound", Lie.ORDER, change(Released, R2, to=25)),
    ("released falls", Lie.ORDER, insert(Released, R2, event(Released, to=3))),
    ("flushed to more than was heard", Lie.ORDER, change(Flushed, R1, to=22)),
    ("heard falls", Lie.ORDER, insert(Heard, R2, event(Heard, to=3))),
    (
        "verified text was rolled back",
        Lie.RETRACTED,
        change(RolledBack, R1, to=20),
    ),
    ("a commit of unverified text", Lie.UNVERIFIED, remove(Verified, R2, then=Committed, **R2)),
    ("a commit with a gap before it", Lie.UNVERIFIED, change(Committed, R2, start=2)),
    (
        "sound before its commit",
        Lie.UNCOMMITTED,
        change(Synthesized, {**R1, "to": 27}, to=38),
    ),
    (
        "released before the turn was confirmed",
        Lie.UNCONFIRMED,
        remove(Confirmed, {}, then=Released, **R1),
    ),
    ("released while paused", Lie.PAUSED, remove(Resumed, {}, then=Released, **R1, to=38)),
    (
        "released from a withdrawn epoch",
        Lie.VOIDED,
        insert(Voided, {}, event(Released, to=0)),
    ),
    (
        "withdrawn after its turn was confirmed",
        Lie.VOIDED,
        insert(Started, {"reply": "greeting"}, event(Voided, cause=VoidCause.SUPERSEDED)),
    ),
    ("heard more than was released", Lie.UNRELEASED, change(Heard, {**R1, "to": 20}, to=29)),
    ("an interrupted reply ends past the ear", Lie.UNRELEASED, change(Ended, R2, at=24)),
    (
        "a reply ends with sound still out",
        Lie.UNRELEASED,
        remove(Flushed, R2, then=Ended, **R2),
    ),
    ("two replies to one turn", Lie.TWICE, second_answer),
    (
        "a second epoch while the first lives",
        Lie.TWICE,
        remove(Voided, {}, then=Started, **R1),
    ),
    ("sound of other words", Lie.SPEECH, change(SpeechRecord, ANSWER_SOUND, text="No, it isn’t.")),
    ("sound beyond its commit", Lie.SPEECH, change(SpeechRecord, ANSWER_SOUND, end=30)),
    (
        "sound of nothing committed",
        Lie.SPEECH,
        change(SpeechRecord, ANSWER_SOUND, start=27, end=28),
    ),
    ("sound of an empty span", Lie.SPEECH, change(SpeechRecord, ANSWER_SOUND, end=16, text="")),
    ("a word that is not there", Lie.SPEECH, first_word(text="No,")),
    ("a word outside its sound", Lie.SPEECH, first_word(start=3, end=7)),
    ("a word after the sound is over", Lie.SPEECH, first_word(end_sample=501)),
    (
        "sound of silent text",
        Lie.SILENT,
        change(SpeechRecord, ANSWER_SOUND, start=0, end=16, text="<think>é</think>", words=()),
    ),
    (
        "better churn than it was",
        Lie.CHURN,
        change(FiguresRecord, R1, churn={"token_push": {"churn": 1.0}}),
    ),
    (
        "a figure that cannot be derived",
        Lie.CHURN,
        change(FiguresRecord, R1, churn={"token_push": {"joy": 1.0}}),
    ),
    ("figures that are none", Lie.CHURN, change(FiguresRecord, R1, churn={"token_push": 1.0})),
    (
        "figures of a protocol that does not exist",
        Lie.CHURN,
        change(FiguresRecord, R1, churn={"shout": {"churn": 1.0}}),
    ),
    ("figures of what did not end", Lie.CHURN, figures_of_what_did_not_end),
]


def test_an_honest_trace_passes() -> None:
    """Eager turns, withdrawals, pauses, flushes, silence and barge-in are no lies."""
    assert audited(good_trace()) == []


def test_a_redacted_trace_still_passes() -> None:
    """Positions and figures stay provable without the words."""
    assert audited([redact(record) for record in good_trace()]) == []


@pytest.mark.parametrize(
    ("lie", "doctor"), [pytest.param(lie, doctor, id=name) for name, lie, doctor in DOCTORED]
)
def test_every_lie_is_caught_in_its_line(lie: Lie, doctor: Callable[[Records], int]) -> None:
    """The first violation names the doctored line and the kind of lie."""
    records = good_trace()
    line = doctor(records)
    violations = audited(records)
    assert (violations[0].line, violations[0].lie) == (line, lie)


@pytest.mark.parametrize(
    ("lie", "doctor"),
    [pytest.param(lie, doctor, id=name) for name, lie, doctor in DOCTORED],
)
def test_redaction_hides_no_lie_but_words(lie: Lie, doctor: Callable[[Records], int]) -> None:
    """A doctored trace is caught without its words too, unless only words of one length differ."""
    records = good_trace()
    doctor(records)
    redacted = audited([redact(record) for record in records])
    assert redacted or lie in (Lie.TEXT, Lie.SPEECH)


def test_every_kind_of_lie_has_a_doctored_trace() -> None:
    """No kind that is named is never caught."""
    assert {lie for _, lie, _ in DOCTORED} == set(Lie)


def test_violations_read_as_sentences() -> None:
    """Line, kind and detail."""
    violation = Violation(line=7, lie=Lie.PAUSED, detail="released while paused")
    assert str(violation) == "line 7: paused: released while paused"


def test_a_broken_trace_is_no_trace() -> None:
    """A lie is one thing, a broken file another."""
    with pytest.raises(TraceError, match="line 1"):
        audit(["{}"])


def test_the_reply_to_a_tool_result_is_a_reply_of_its_own() -> None:
    """A turn may be answered again once a tool has answered."""
    talk = Talk()
    talk.turn(1, "Will it rain?")
    for name in ("r1", "r2"):
        reply = talk.open(name)
        talk.say(reply, Draft(text="Yes."), Verify(to=4), Finish())
        talk.commit(reply, 4)
        talk.speak(reply, 0, 4)
        talk.do(reply, "release", 4)
        talk.do(reply, "hear", 4)
        talk.do(reply, "end", EndReason.STOP)
        talk.records.append(ToolRecord(reply=name, at_s=talk.tick(), name="n", outcome="ran"))
    assert audited(talk.records) == []
    del talk.records[find(talk.records, ToolRecord, reply="r1")]
    assert [each.lie for each in audited(talk.records)] == [Lie.TWICE]


def test_a_commit_without_sound_is_no_speech() -> None:
    """A record of no samples and no words says that there was nothing to say."""
    talk = Talk()
    reply = talk.open("r")
    talk.say(reply, Draft(text="..."), Verify(to=3))
    talk.do(reply, "commit", commit_of(reply, 3))
    talk.records.append(
        SpeechRecord(
            reply="r",
            epoch=0,
            at_s=talk.tick(),
            start=0,
            end=3,
            text="...",
            samples=0,
            rate_hz=8000,
        )
    )
    assert audited(talk.records) == []


def test_the_summary_counts_the_conversation() -> None:
    """What a person asks first."""
    auditor = Audit()
    for line, record in enumerate(good_trace(), start=1):
        auditor.feed(record, line=line)
    summary = auditor.summary().to_object()
    assert summary["honest"]
    assert summary["violations"] == []
    counted = ("turns", "replies", "withdrawn", "unfinished", "commits", "heard_chars", "speech_s")
    assert [summary[name] for name in counted] == [3, 3, 1, 0, 5, 58, 2.0]
    assert summary["churn"]["boundary_commit"]["churn"] == 1.0
    assert summary["records"] == len(good_trace())


def test_every_event_of_a_ledger_occurs_in_the_honest_trace() -> None:
    """The doctored ones are made of it, so it has to have them all."""
    kinds = {type(record) for record in good_trace() if isinstance(record, Recorded)}
    assert len(kinds) == 15
