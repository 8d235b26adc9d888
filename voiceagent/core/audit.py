"""The proof, from a trace alone: no sound of text that was not verified, nothing released early.

The audit does not trust the ledger that wrote the trace: every record is checked against text and
watermarks of its own (:mod:`voiceagent.core.audit_epoch`), and reported churn against streams that
are built again from the events.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from voiceagent.core.audit_epoch import EpochAudit, Finding, Lie
from voiceagent.core.audit_rounds import Vocabulary
from voiceagent.core.churn import ChurnFigures
from voiceagent.core.events import (
    Author,
    Confirmed,
    Ended,
    LedgerEvent,
    Recorded,
    Started,
    Turn,
    Voided,
)
from voiceagent.core.streams import Stream, StreamError, StreamProtocol
from voiceagent.core.trace import (
    FiguresRecord,
    Header,
    Record,
    RoundRecord,
    SpeechRecord,
    ToolRecord,
    TurnRecord,
    read,
)

__all__ = ["Audit", "ChurnAccount", "Lie", "Summary", "Violation", "audit"]

TOLERANCE = 1e-5
"""Between reported and derived figures, which are rounded to six places."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One line that cannot be true."""

    line: int
    lie: Lie
    detail: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.lie}: {self.detail}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What a trace tells, counted."""

    records: int
    turns: int
    """Turns of the user that were confirmed."""
    replies: int
    """Epochs that were not withdrawn."""
    withdrawn: int
    unfinished: int
    """Epochs that were under way where the trace ends."""
    commits: int
    heard_chars: int
    speech_s: float
    churn: Mapping[str, Any]
    """``ChurnFigures.to_object`` by stream protocol, of all replies together."""
    violations: tuple[str, ...]

    def to_object(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self) | {"violations": list(self.violations), "honest": not self.violations}


class ChurnAccount:
    """The churn of every epoch in every protocol, from its ledger events."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, int], dict[str, Stream]] = {}
        self._over: dict[tuple[str, int], dict[str, ChurnFigures]] = {}

    def feed(self, event: LedgerEvent) -> None:
        """Takes one ledger event.

        Raises:
            StreamError: its epoch has not started, or is over.
        """
        key = event.reply, event.epoch
        if isinstance(event, Started):
            self._open[key] = {str(each): Stream(each) for each in StreamProtocol}
        if key not in self._open:
            raise StreamError(f"reply {event.reply}: epoch {event.epoch} is not under way")
        for stream in self._open[key].values():
            stream.feed(event)
            stream.frames()
        if isinstance(event, Ended | Voided):
            self._over[key] = _figures(self._open.pop(key))

    def of(self, reply: str, *, epoch: int) -> dict[str, dict[str, Any]]:
        """Figures by protocol of an epoch that is over (``FiguresRecord.churn``); else empty."""
        figures = self._over.get((reply, epoch), {})
        return {name: each.to_object() for name, each in figures.items()}

    def total(self) -> dict[str, ChurnFigures]:
        """Figures by protocol of all epochs so far."""
        total = {str(each): ChurnFigures() for each in StreamProtocol}
        for figures in [*self._over.values(), *map(_figures, self._open.values())]:
            total = {name: each + figures[name] for name, each in total.items()}
        return total


def _figures(streams: Mapping[str, Stream]) -> dict[str, ChurnFigures]:
    return {name: stream.figures() for name, stream in streams.items()}


class Audit:
    """Reads a trace record by record and keeps what cannot be true."""

    def __init__(self) -> None:
        self.violations: list[Violation] = []
        self._epochs: dict[tuple[str, int], EpochAudit] = {}
        self._account = ChurnAccount()
        self._at_s = 0.0
        self._records = 0
        self._turns = 0
        self._speech_s = 0.0
        self._answering: str | None = None
        """The model's reply to the latest turn of which something was released."""
        self._asked: str | None = None
        """The reply that answers the latest confirmed turn; empty if none has begun to."""
        self._rate_hz: int | None = None
        self._vocabulary: Vocabulary | None = Vocabulary()
        """None where the token numbers were redacted."""
        self._line = 0
        self._over_lines: dict[tuple[str, int], int] = {}
        self._reported: set[tuple[str, int]] = set()

    def feed(self, record: Record, *, line: int) -> None:
        """Takes the record in ``line``, counted from 1."""
        self._records += 1
        self._line = line
        for lie, detail in self._findings(record):
            self.violations.append(Violation(line=line, lie=lie, detail=detail))

    def finish(self) -> None:
        """There are no more records: names what should have come and did not, in its place."""
        for key, epoch in self._epochs.items():
            if epoch.over is None:
                lie, line, detail = Lie.INCOMPLETE, self._line, "the trace ends before the epoch"
            elif key not in self._reported:
                lie, line, detail = Lie.MISSING, self._over_lines[key], "its figures are missing"
            else:
                continue
            detail = f"{_name(epoch)}: {detail}"
            self.violations.append(Violation(line=line, lie=lie, detail=detail))
        self.violations.sort(key=lambda each: each.line)

    def summary(self) -> Summary:
        """What the trace has told so far."""
        epochs = self._epochs.values()
        return Summary(
            records=self._records,
            turns=self._turns,
            replies=sum(not isinstance(each.over, Voided) for each in epochs),
            withdrawn=sum(isinstance(each.over, Voided) for each in epochs),
            unfinished=sum(each.over is None for each in epochs),
            commits=sum(each.commit_count for each in epochs),
            heard_chars=sum(each.heard for each in epochs),
            speech_s=round(self._speech_s, 3),
            churn={name: each.to_object() for name, each in self._account.total().items()},
            violations=tuple(map(str, self.violations)),
        )

    def _findings(self, record: Record) -> Iterator[Finding]:
        yield from self._take_time(getattr(record, "at_s", None))
        match record:
            case Started():
                yield from self._start(record)
            case Recorded():
                yield from self._take_event(record)
            case Header() if record.redacted:
                self._vocabulary = None
            case SpeechRecord():
                yield from self._take_speech(record)
            case RoundRecord():
                yield from self._take_round(record)
            case FiguresRecord():
                yield from self._take_figures(record)
            case TurnRecord():
                if record.state == "confirmed":
                    self._turns += 1
                    self._answering, self._asked = None, ""
            case ToolRecord():
                # The reply to a tool's result is a reply of its own to the same turn.
                self._answering = None
                self._asked = self._asked and ""
            case _:
                pass

    def _take_time(self, at_s: float | None) -> Iterator[Finding]:
        if at_s is None:
            return
        if at_s < self._at_s:
            yield Lie.TIME, f"{at_s} s follows {self._at_s} s"
        self._at_s = at_s

    def _start(self, event: Started) -> Iterator[Finding]:
        earlier = [each for each in self._epochs.values() if each.reply == event.reply]
        if any(each.epoch >= event.epoch for each in earlier):
            yield Lie.NOT_STARTED, f"{_name(event)} starts after that epoch or a later one"
            return
        if any(not isinstance(each.over, Voided) for each in earlier):
            yield Lie.TWICE, f"{_name(event)} starts, but its last epoch was not withdrawn"
        epoch = self._epochs[event.reply, event.epoch] = EpochAudit(event)
        if event.turn is Turn.CONFIRMED:
            self._ask_for(epoch)
        self._count(event)

    def _ask_for(self, epoch: EpochAudit) -> None:
        """Lets an epoch answer the latest confirmed turn, unless another reply does."""
        if epoch.author is Author.MODEL and self._asked in ("", epoch.reply):
            self._asked = epoch.reply
            epoch.is_asked_for = True

    def _take_event(self, event: LedgerEvent) -> Iterator[Finding]:
        epoch = self._epochs.get((event.reply, event.epoch))
        if epoch is None:
            yield Lie.NOT_STARTED, f"{_name(event)} has not started"
            return
        if isinstance(event, Confirmed):
            self._ask_for(epoch)
        spoke, was_released = epoch.speaks, epoch.was_released
        for lie, detail in epoch.take(event):
            yield lie, f"{_name(event)}: {detail}"
        if isinstance(event, Ended | Voided):
            self._over_lines[event.reply, event.epoch] = self._line
        if epoch.author is Author.MODEL:
            if epoch.speaks and not spoke:
                yield from self._take_answer(event)
            if epoch.was_released and not was_released and not epoch.is_asked_for:
                yield Lie.UNCONFIRMED, f"{_name(event)}: no confirmed turn is left to answer"
        self._count(event)

    def _take_answer(self, event: LedgerEvent) -> Iterator[Finding]:
        if self._answering not in (None, event.reply):
            yield Lie.TWICE, f"{_name(event)}: {self._answering} answered the turn already"
        self._answering = event.reply

    def _take_round(self, record: RoundRecord) -> Iterator[Finding]:
        epoch = self._epochs.get((record.reply, record.epoch))
        if epoch is None:
            yield Lie.NOT_STARTED, f"{_name(record)} has not started"
            return
        for lie, detail in epoch.take_round(record):
            yield lie, f"{_name(record)}: {detail}"
        if self._vocabulary is not None:
            for detail in self._vocabulary.learn(record.fields):
                yield Lie.ROUND, f"{_name(record)}: {detail}"

    def _take_speech(self, record: SpeechRecord) -> Iterator[Finding]:
        epoch = self._epochs.get((record.reply, record.epoch))
        if epoch is None:
            yield Lie.NOT_STARTED, f"{_name(record)} has not started"
            return
        for lie, detail in epoch.take_speech(record):
            yield lie, f"{_name(record)}: {detail}"
        if record.samples:
            if self._rate_hz not in (None, record.rate_hz):
                yield Lie.RATE, f"{_name(record)}: {record.rate_hz} Hz follows {self._rate_hz} Hz"
            self._rate_hz = record.rate_hz
        self._speech_s += record.samples / max(1, record.rate_hz)

    def _take_figures(self, record: FiguresRecord) -> Iterator[Finding]:
        key = record.reply, record.epoch
        if key in self._reported:
            yield Lie.MISSING, f"{_name(record)}: its figures are there twice"
        self._reported.add(key)
        derived = self._account.of(record.reply, epoch=record.epoch)
        for protocol in derived.keys() - record.churn.keys():
            yield Lie.CHURN, f"{_name(record)}: no figures of {protocol}"
        for protocol, reported in record.churn.items():
            truth = derived.get(protocol)
            if not isinstance(reported, Mapping) or truth is None:
                yield Lie.CHURN, f"{_name(record)}: no figures can be derived for {protocol}"
                continue
            for name, value in reported.items():
                if not _equal(value, truth.get(name)):
                    yield (
                        Lie.CHURN,
                        f"{_name(record)}: {protocol} {name} is {value}, derived {truth.get(name)}",
                    )

    def _count(self, event: LedgerEvent) -> None:
        with suppress(StreamError):  # an event out of place, which was named above
            self._account.feed(event)


def audit(lines: Iterable[str | bytes]) -> list[Violation]:
    """Everything in a trace that cannot be true, in order; empty for an honest one.

    Raises:
        TraceError: it is not a trace.
    """
    auditor = Audit()
    for number, record in read(lines):
        auditor.feed(record, line=number)
    auditor.finish()
    return auditor.violations


def _name(record: LedgerEvent | SpeechRecord | FiguresRecord | RoundRecord | EpochAudit) -> str:
    return f"reply {record.reply} epoch {record.epoch}"


def _equal(reported: Any, derived: Any) -> bool:
    if isinstance(reported, int | float) and isinstance(derived, int | float):
        return abs(reported - derived) <= TOLERANCE
    return bool(reported == derived)
