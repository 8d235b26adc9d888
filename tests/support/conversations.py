"""Conversations of ledgers for tests: every step recorded, on a clock that ticks by itself."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any
from zlib import crc32

from voiceagent.core.audit import ChurnAccount
from voiceagent.core.kinds import Kind
from voiceagent.core.ledger import (
    Author,
    Draft,
    EndReason,
    Finish,
    Ledger,
    LedgerEvent,
    Rollback,
    RollbackCause,
    SourceEvent,
    Turn,
    Verify,
    VoidCause,
)
from voiceagent.core.trace import (
    FiguresRecord,
    Header,
    Record,
    RoundRecord,
    SpeechRecord,
    TroubleRecord,
    TurnRecord,
    WordRecord,
)

RATE_HZ = 1000


def commit_of(
    ledger: Ledger, to: int, *, kind: Kind = Kind.SENTENCE, segment: int = 0, gap: int = 0
) -> Any:
    """Something of a commit's shape: only the committer can make a real one."""
    start = ledger.committed + gap
    return SimpleNamespace(
        reply=ledger.reply,
        epoch=ledger.epoch,
        start=start,
        end=to,
        text=ledger.text[start:to],
        kind=kind,
        segment=segment,
    )


def round_fields(
    earlier: Sequence[Mapping[str, Any]], *, drafted: Sequence[str], accepted: int, then: str
) -> dict[str, Any]:
    """A round as the engine gives it, with a token number for each text."""
    emitted = [*drafted[:accepted], *([then] if then else [])]
    follows = "bonus" if accepted == len(drafted) else "recovered"
    return {
        "index": len(earlier),
        "start": sum(len(each["emitted"]) for each in earlier),
        "drafter": "ngram",
        "drafted": [crc32(text.encode()) for text in drafted],
        "drafted_text": list(drafted),
        "accepted": accepted,
        "emitted": [crc32(text.encode()) for text in emitted],
        "emitted_text": emitted,
        "outcome": "end" if not then else follows if drafted else "plain",
    }


class Talk:
    """Holds a conversation and keeps its trace; every step takes a tenth of a second."""

    def __init__(self) -> None:
        self.records: list[Record] = [
            Header(preset="tiny", models={"target": "0" * 64}, config={"persona": "Be kind."})
        ]
        self.events: list[LedgerEvent] = []
        self._account = ChurnAccount()
        self._ticks = 0

    def tick(self) -> float:
        self._ticks += 1
        return self._ticks / 10

    def open(
        self,
        reply: str,
        *,
        epoch: int = 0,
        turn: Turn = Turn.CONFIRMED,
        author: Author = Author.MODEL,
    ) -> Ledger:
        ledger = Ledger(reply=reply, epoch=epoch, turn=turn, author=author, now_s=self.tick())
        self.drain(ledger)
        return ledger

    def drain(self, ledger: Ledger) -> None:
        for event in ledger.events():
            self.records.append(event)
            self.events.append(event)
            self._account.feed(event)

    def say(self, ledger: Ledger, *events: SourceEvent) -> None:
        for event in events:
            ledger.apply(event, now_s=self.tick())
        self.drain(ledger)

    def do(self, ledger: Ledger, step: str, *arguments: Any) -> None:
        getattr(ledger, step)(*arguments, now_s=self.tick())
        self.drain(ledger)

    def turn(self, turn: int, text: str, state: str = "confirmed") -> None:
        self.records.append(TurnRecord(turn=turn, at_s=self.tick(), text=text, state=state))

    def round(self, ledger: Ledger, *, drafted: list[str], accepted: int, then: str = "") -> None:
        """A round of the target: what it accepts of the draft, and its own text behind that."""
        earlier = [
            record.fields
            for record in self.records
            if isinstance(record, RoundRecord)
            and (record.reply, record.epoch) == (ledger.reply, ledger.epoch)
        ]
        fields = round_fields(earlier, drafted=drafted, accepted=accepted, then=then)
        self.records.append(
            RoundRecord(reply=ledger.reply, epoch=ledger.epoch, at_s=self.tick(), fields=fields)
        )

    def commit(self, ledger: Ledger, to: int, *, kind: Kind = Kind.SENTENCE) -> None:
        segment = sum(type(event).__name__ == "Committed" for event in self.events)
        self.do(ledger, "commit", commit_of(ledger, to, kind=kind, segment=segment))

    def speak(self, ledger: Ledger, start: int, end: int) -> None:
        text = ledger.text[start:end]
        word = text.split()[0]
        at = start + text.index(word)
        self.records.append(
            SpeechRecord(
                reply=ledger.reply,
                epoch=ledger.epoch,
                at_s=self.tick(),
                start=start,
                end=end,
                text=text,
                samples=500,
                rate_hz=RATE_HZ,
                words=(
                    WordRecord(
                        text=word, start=at, end=at + len(word), begin_sample=0, end_sample=300
                    ),
                ),
            )
        )
        self.do(ledger, "synthesize", end)

    def figures(self, ledger: Ledger) -> None:
        self.records.append(
            FiguresRecord(
                reply=ledger.reply,
                epoch=ledger.epoch,
                at_s=self.tick(),
                churn=self._account.of(ledger.reply, epoch=ledger.epoch),
                latencies={"response_gap_ms": 640.0},
            )
        )


def greet(talk: Talk) -> None:
    """A scripted reply, heard to its end."""
    greeting = talk.open("greeting", author=Author.SCRIPT)
    talk.say(greeting, Draft(text="Hello there!"), Verify(to=12), Finish())
    talk.commit(greeting, 12, kind=Kind.END)
    talk.speak(greeting, 0, 12)
    talk.do(greeting, "release", 12)
    talk.do(greeting, "hear", 12)
    talk.do(greeting, "end", EndReason.STOP)
    talk.figures(greeting)


def answer(talk: Talk) -> None:
    """An eager epoch that is withdrawn, then one that is heard, with a pause in the middle."""
    talk.turn(1, "is it", "eager")
    wrong = talk.open("r1", turn=Turn.EAGER)
    talk.say(wrong, Draft(text="No."), Verify(to=2))
    talk.do(wrong, "void", VoidCause.TURN_REVISED)
    talk.figures(wrong)
    talk.turn(1, "is it far?", "eager")
    reply = talk.open("r1", epoch=1, turn=Turn.EAGER)
    talk.say(reply, Draft(text="<think>é</think>Yes, it is. M"), Verify(to=27))
    talk.round(reply, drafted=["<think>", "\ufffd"], accepted=2, then="\ufffd")
    talk.round(reply, drafted=["</think>", "Yes, ", "no"], accepted=2, then="it is. ")
    talk.commit(reply, 16, kind=Kind.SILENT)
    talk.commit(reply, 27)
    talk.speak(reply, 16, 27)
    talk.turn(1, "is it far?")
    talk.do(reply, "confirm")
    talk.do(reply, "release", 27)
    talk.say(
        reply,
        Rollback(to=28, cause=RollbackCause.DRAFT_REJECTED),
        Draft(text="Two miles."),
        Verify(to=38),
    )
    talk.round(reply, drafted=["M"], accepted=0, then="Two miles.")
    talk.round(reply, drafted=["\n"], accepted=1)
    talk.say(reply, Finish())
    talk.commit(reply, 38, kind=Kind.END)
    talk.do(reply, "hear", 20)
    talk.do(reply, "pause")
    talk.do(reply, "flush")
    talk.speak(reply, 27, 38)
    talk.do(reply, "resume")
    talk.do(reply, "release", 38)
    talk.do(reply, "hear", 38)
    talk.do(reply, "end", EndReason.STOP)
    talk.figures(reply)


def barge_in(talk: Talk) -> None:
    """A reply that is interrupted in its first sentence."""
    talk.turn(2, "Tell me more.")
    reply = talk.open("r2")
    talk.say(reply, Draft(text="There is a lot to tell. A"), Verify(to=24))
    talk.round(reply, drafted=[], accepted=0, then="There is a lot to tell. ")
    talk.commit(reply, 24)
    talk.speak(reply, 0, 24)
    talk.do(reply, "release", 24)
    talk.do(reply, "hear", 8)
    talk.do(reply, "end", EndReason.INTERRUPTED)
    talk.figures(reply)
    talk.records.append(TroubleRecord(at_s=talk.tick(), line="The microphone went away."))
    talk.turn(3, "Enough.")


def good_trace() -> list[Record]:
    """An honest trace in which every kind of record and of event occurs."""
    talk = Talk()
    greet(talk)
    answer(talk)
    barge_in(talk)
    return talk.records
