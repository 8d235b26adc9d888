"""The audit: honest traces pass, and every kind of lie is caught in its line."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from zlib import crc32

import pytest
from conversations import RATE_HZ, Talk, commit_of, good_trace, round_fields

from voiceagent.core.audit import Audit, Lie, Violation, audit
from voiceagent.core.audit_rounds import RoundsAudit
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
from voiceagent.core.kinds import Kind
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
    RoundRecord,
    SpeechRecord,
    ToolRecord,
    TraceError,
    TurnRecord,
    WordRecord,
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


def second_epoch(records: Records) -> int:
    """A lie by which an epoch goes on beside the one that followed it."""
    del records[find(records, Voided)]
    del records[find(records, FiguresRecord, reply="r1", epoch=0)]
    return 1 + find(records, Started, **R1)


def delete(form: type[Any], **match: Any) -> Callable[[Records], int]:
    """A lie that leaves out every record that matches; its line is where the first one was."""

    def doctor(records: Records) -> int:
        first = find(records, form, **match)
        records[:] = [
            record
            for record in records
            if not (
                isinstance(record, form)
                and all(getattr(record, name) == value for name, value in match.items())
            )
        ]
        return first + 1

    return doctor


def shown_by(
    doctor: Callable[[Records], int], then: type[Any], **match: Any
) -> Callable[[Records], int]:
    """A lie that shows in another line: the first that matches."""

    def doctor_and_find(records: Records) -> int:
        doctor(records)
        return 1 + find(records, then, **match)

    return doctor_and_find


def round_of(at: int, **changes: Any) -> Callable[[Records], int]:
    """A lie about a field of one of the answer's rounds."""

    def doctor(records: Records) -> int:
        rounds = [
            index
            for index, record in enumerate(records)
            if isinstance(record, RoundRecord) and record.reply == "r1"
        ]
        index = rounds[at]
        record = records[index]
        assert isinstance(record, RoundRecord)
        records[index] = replace(record, fields=dict(record.fields) | changes)
        return index + 1

    return doctor


def turn_behind_its_answer(records: Records) -> int:
    """A lie by which a turn is confirmed when its answer is over."""
    turn = records.pop(find(records, TurnRecord, turn=1, state="confirmed"))
    line = 1 + find(records, Released, **R1)
    end = find(records, Ended, **R1)
    assert isinstance(turn, TurnRecord)
    records.insert(end + 1, replace(turn, at_s=records[end].at_s))  # type: ignore[union-attr]  # it is an Ended
    return line


def second_sound(records: Records) -> int:
    """A lie that makes a piece of sound twice."""
    index = find(records, SpeechRecord, **ANSWER_SOUND)
    records.insert(index + 1, records[index])
    return index + 2


def second_figures(records: Records) -> int:
    """A lie that reports figures twice."""
    index = find(records, FiguresRecord, **R1)
    records.insert(index + 1, records[index])
    return index + 2


def cut_off(records: Records) -> int:
    """A lie that leaves out how it ended."""
    del records[find(records, Heard, **R2) :]
    return len(records)


def round_after_the_end(records: Records) -> int:
    """A lie by which the target went on when the reply was over."""
    line = insert(Ended, R1, lambda before: replace(last_round(records), at_s=before.at_s))
    return line(records)


def last_round(records: Records) -> RoundRecord:
    rounds = [each for each in records if isinstance(each, RoundRecord) and each.reply == "r1"]
    return rounds[-1]


def round_after_the_last(records: Records) -> int:
    """A lie by which the target went on behind the token that ended the reply."""
    last = last_round(records)
    index = records.index(last)
    fields = dict(last.fields) | {"index": 4, "start": 9}
    records.insert(index + 1, replace(last, fields=fields))
    return index + 2


LIES_ABOUT_ROUNDS: list[tuple[str, Callable[[Records], int]]] = [
    ("more accepted than drafted", round_of(1, accepted=99)),
    ("less accepted than emitted", round_of(1, accepted=1)),
    ("accepted is negative", round_of(2, accepted=-1)),
    ("accepted is no number", round_of(1, accepted="2")),
    ("no outcome", round_of(1, outcome=None)),
    ("an outcome of another round", round_of(1, outcome="bonus")),
    ("an outcome that follows none", round_of(0, outcome="plain")),
    ("an end that went on", round_of(1, outcome="end")),
    ("an outcome that does not exist", round_of(1, outcome="luck")),
    ("tokens that are no list", round_of(1, emitted=7)),
    ("texts that are none", round_of(1, emitted_text=[7, 8, 9])),
    ("tokens without texts", round_of(1, emitted=[8, 5], outcome="end")),
    ("drafted tokens without texts", round_of(2, drafted_text=[])),
    ("accepted tokens that were not drafted", round_of(1, drafted=[1, 2, 3])),
    ("accepted text that was not drafted", round_of(1, drafted_text=["x", "Yes, ", "no"])),
    ("a round that is not the next", round_of(1, index=3)),
    ("a round elsewhere", round_of(1, start=4)),
    ("a round behind the last", round_after_the_last),
    ("a token of two texts", round_of(2, emitted=[crc32(b"it is. ")])),
]


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
        insert(RoundRecord, R2, event(Finished, reason=EndReason.STOP)),
    ),
    (
        "the reply ended with a draft left",
        Lie.TEXT,
        remove(RolledBack, R2, then=Ended, **R2),
    ),
    ("verified beyond the text", Lie.ORDER, change(Verified, R2, to=99)),
    ("verified falls", Lie.ORDER, insert(RoundRecord, R2, event(Verified, to=3))),
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
        second_epoch,
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
    ("no figures of a protocol", Lie.CHURN, change(FiguresRecord, R1, churn={})),
    (
        "the confirmed turn is left out",
        Lie.UNCONFIRMED,
        shown_by(delete(TurnRecord, turn=1, state="confirmed"), Released, **R1),
    ),
    ("the turn is confirmed behind its answer", Lie.UNCONFIRMED, turn_behind_its_answer),
    ("all sound is left out", Lie.SOUNDLESS, shown_by(delete(SpeechRecord), Released)),
    (
        "the first sound is left out",
        Lie.SOUNDLESS,
        shown_by(delete(SpeechRecord, **ANSWER_SOUND), Released, **R1),
    ),
    (
        "sound that begins late",
        Lie.SOUNDLESS,
        shown_by(
            change(
                SpeechRecord,
                ANSWER_SOUND,
                start=17,
                text="es, it is.",
                words=(WordRecord(text="es,", start=17, end=20, begin_sample=0, end_sample=9),),
            ),
            Released,
            **R1,
        ),
    ),
    ("sound made twice", Lie.SPEECH, second_sound),
    ("sound without words", Lie.SPEECH, change(SpeechRecord, ANSWER_SOUND, words=())),
    ("no sound of words", Lie.SPEECH, change(SpeechRecord, ANSWER_SOUND, words=(), samples=0)),
    ("sound at another rate", Lie.RATE, change(SpeechRecord, ANSWER_SOUND, rate_hz=RATE_HZ + 1)),
    (
        "all rounds are left out",
        Lie.UNPROVEN,
        shown_by(delete(RoundRecord), Verified, reply="r1", to=38),
    ),
    (
        "the rounds of a broken reply are left out",
        Lie.UNPROVEN,
        shown_by(delete(RoundRecord, **R2), Ended, **R2),
    ),
    (
        "other text was emitted",
        Lie.UNPROVEN,
        shown_by(
            round_of(1, emitted_text=["</think>", "Yes, ", "it was. "]), Verified, **R1, to=38
        ),
    ),
    (
        "the last text was emitted otherwise",
        Lie.UNPROVEN,
        shown_by(round_of(2, emitted_text=["Two feet."]), Finished, **R1),
    ),
    (
        "a script with rounds",
        Lie.UNPROVEN,
        shown_by(change(Started, R1, author=Author.SCRIPT), RoundRecord, **R1),
    ),
    (
        "a script that is written piece by piece",
        Lie.UNPROVEN,
        insert(Verified, {"reply": "greeting"}, event(Drafted, at=12, text=" And?")),
    ),
    ("a round of a reply that nobody began", Lie.NOT_STARTED, change(RoundRecord, R2, reply="r7")),
    ("a round after the end", Lie.AFTER_END, round_after_the_end),
    *((name, Lie.ROUND, doctor) for name, doctor in LIES_ABOUT_ROUNDS),
    ("all figures are left out", Lie.MISSING, shown_by(delete(FiguresRecord), Ended)),
    (
        "the figures of one reply are left out",
        Lie.MISSING,
        shown_by(delete(FiguresRecord, **R1), Ended, **R1),
    ),
    ("figures reported twice", Lie.MISSING, second_figures),
    ("cut in the middle of a reply", Lie.INCOMPLETE, cut_off),
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
    assert redacted or lie in (Lie.TEXT, Lie.SPEECH, Lie.ROUND, Lie.UNPROVEN)


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
        talk.say(reply, Draft(text="Yes."), Verify(to=4))
        talk.round(reply, drafted=["Yes"], accepted=1, then=".")
        talk.say(reply, Finish())
        talk.commit(reply, 4)
        talk.speak(reply, 0, 4)
        talk.do(reply, "release", 4)
        talk.do(reply, "hear", 4)
        talk.do(reply, "end", EndReason.STOP)
        talk.figures(reply)
        talk.records.append(ToolRecord(reply=name, at_s=talk.tick(), name="n", outcome="ran"))
    assert audited(talk.records) == []
    del talk.records[find(talk.records, ToolRecord, reply="r1")]
    assert [each.lie for each in audited(talk.records)] == [Lie.TWICE, Lie.UNCONFIRMED]


def test_a_tool_answers_no_turn_that_nobody_took() -> None:
    """A tool's result without a turn before it asks for no reply."""
    records = good_trace()
    records.insert(1, ToolRecord(reply="r0", at_s=0.0, name="n", outcome="ran"))
    doctor = shown_by(delete(TurnRecord, turn=1, state="confirmed"), Released, **R1)
    line = doctor(records)
    assert [(each.line, each.lie) for each in audited(records)] == [(line, Lie.UNCONFIRMED)]


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        (["a\ufffd", "\ufffdb"], "aéb"),
        (["\ufffd", "\ufffd", "\ufffd\ufffd"], "👍"),
        (["\ufffd"], "\ufffd"),
        (["\ufffd\ufffd\ufffd"], "éé"),
        (["é", "."], "é"),
    ],
)
def test_broken_code_points_prove_whole_ones(pieces: list[str], text: str) -> None:
    """Tokens may hold a part of a code point each."""
    assert proven(pieces, text)


@pytest.mark.parametrize(
    ("pieces", "text"),
    [(["\ufffd"], "a"), (["\ufffd" * 5], "é."), (["e"], "é"), (["\ufffdb"], "éé"), ([], "é")],
)
def test_broken_code_points_prove_nothing_else(pieces: list[str], text: str) -> None:
    """Neither ASCII, nor more than they may be the pieces of."""
    assert not proven(pieces, text)


def proven(pieces: list[str], text: str) -> bool:
    rounds = RoundsAudit()
    earlier: list[dict[str, Any]] = []
    for piece in pieces:
        earlier.append(round_fields(earlier, drafted=[], accepted=0, then=piece))
        assert list(rounds.take(earlier[-1])) == []
    return rounds.proves(text)


def test_markup_alone_needs_no_sound() -> None:
    """Nothing is said for it, though it may hold letters."""
    talk = Talk()
    reply = talk.open("r", author=Author.SCRIPT)
    talk.say(reply, Draft(text="<br>"), Verify(to=4), Finish())
    talk.commit(reply, 4)
    talk.records.append(silence(talk, "<br>"))
    talk.do(reply, "synthesize", 4)
    talk.do(reply, "end", EndReason.INTERRUPTED)
    talk.figures(reply)
    assert audited(talk.records) == []


def silence(talk: Talk, text: str) -> SpeechRecord:
    """A record of no sound."""
    return SpeechRecord(
        reply="r",
        epoch=0,
        at_s=talk.tick(),
        start=0,
        end=len(text),
        text=text,
        samples=0,
        rate_hz=8000,
    )


@pytest.mark.parametrize("kind", [Kind.SENTENCE, Kind.SILENT])
def test_a_commit_without_sound_is_no_speech(kind: Kind) -> None:
    """A record of no samples and no words says that there was nothing to say."""
    talk = Talk()
    reply = talk.open("r")
    talk.say(reply, Draft(text="..."), Verify(to=3))
    talk.do(reply, "commit", commit_of(reply, 3, kind=kind))
    talk.records.append(silence(talk, "..."))
    talk.do(reply, "end", EndReason.INTERRUPTED)
    talk.figures(reply)
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
