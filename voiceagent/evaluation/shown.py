"""What one recorded reply would have shown on each surface, in each protocol.

Nothing is decoded again: the surface decides where verified text is cut, the protocol what is sent,
and both are derived from the same events of the engine. Beside the three protocols stands what is
usual today: a client that only appends and is pushed every token, and a synthesizer that is fed
token by token.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from voiceagent.core.churn import ChurnFigures, ChurnMeter, Retraction
from voiceagent.core.events import (
    Draft,
    Drafted,
    Finish,
    Finished,
    LedgerEvent,
    Rollback,
    RolledBack,
    SourceEvent,
    Turn,
    Verified,
    Verify,
)
from voiceagent.core.frames import AppendFrame, CommitFrame, RollbackFrame
from voiceagent.core.reply import Reply
from voiceagent.core.severity import Assessment, Severity, assess
from voiceagent.core.streams import Stream, StreamProtocol
from voiceagent.gateway.requests import BOUNDARIES, SURFACES, default_protocol

SPEECH_MS_PER_CHARACTER = 65.0
"""Of English at the default rate of the default voice, where a trace brings no sound of its own."""
_REPLY = "reply"
Timed = tuple[float, SourceEvent]
"""Seconds since the request, and what the engine said."""


@dataclass(frozen=True, kw_only=True)
class Shown:
    """One reply on one surface in one protocol.

    Attributes:
        figures: churn, erasure and visible time.
        assessments: each retraction with its severity.
        first_text_s, first_commit_s: since the request; None where there was none.
    """

    figures: ChurnFigures
    assessments: tuple[Assessment, ...]
    first_text_s: float | None
    first_commit_s: float | None


def source_events(events: Iterable[LedgerEvent]) -> Iterator[Timed]:
    """What the engine said, from the ledger events of a trace."""
    for event in events:
        match event:
            case Drafted():
                yield event.at_s, Draft(text=event.text)
            case Verified():
                yield event.at_s, Verify(to=event.to)
            case RolledBack():
                yield event.at_s, Rollback(to=event.to, cause=event.cause)
            case Finished():
                yield event.at_s, Finish(reason=event.reason)
            case _:
                pass  # what became of the text afterwards


def ledger_events(
    events: Iterable[Timed], *, surface: str, name: str = _REPLY
) -> list[LedgerEvent]:
    """The ledger of a confirmed turn, cut as the surface wants it."""
    policy = BOUNDARIES[SURFACES[surface]]()
    reply = Reply(reply=name, epoch=0, turn=Turn.CONFIRMED, now_s=0.0, policy=policy)
    happened = reply.events()
    for at_s, event in events:
        if reply.ledger.finished is None:
            reply.apply(event, now_s=at_s)
            happened += reply.events()
    return happened


def show(events: Iterable[LedgerEvent], *, protocol: StreamProtocol) -> Shown:
    """Streams the ledger events of one reply."""
    stream, meter = Stream(protocol), ChurnMeter()
    text, first_text_s, first_commit_s = "", None, None
    for event in events:
        stream.feed(event)
        for frame in stream.frames():
            meter.feed(frame, at_s=event.at_s)
            if isinstance(frame, AppendFrame):
                text = text[: frame.at] + frame.text
                first_text_s = event.at_s if first_text_s is None else first_text_s
            if isinstance(frame, RollbackFrame):
                text = text[: frame.to]
            if isinstance(frame, CommitFrame) and first_commit_s is None:
                first_commit_s = event.at_s
    assessments = assess(meter.retractions(), final={_REPLY: text})
    return Shown(
        figures=meter.figures(),
        assessments=tuple(assessments),
        first_text_s=first_text_s,
        first_commit_s=first_commit_s,
    )


def protocol_of(surface: str) -> StreamProtocol:
    """The protocol of a surface that can retract if anything can."""
    return default_protocol(surface, retraction=True)


@dataclass(kw_only=True)
class Spectacle:
    """Many replies on one surface in one protocol, added up."""

    replies: int = 0
    figures: ChurnFigures = field(default_factory=ChurnFigures)
    classes: Counter[str] = field(default_factory=Counter)
    inversions: list[dict[str, Any]] = field(default_factory=list)
    first_text_s: list[float] = field(default_factory=list)
    first_commit_s: list[float] = field(default_factory=list)

    def add(self, shown: Shown) -> None:
        """Takes one reply."""
        self.replies += 1
        self.figures += shown.figures
        for each in shown.assessments:
            self.classes[str(each.judgement.severity)] += 1
            if each.judgement.severity is Severity.INVERSION:
                self.inversions.append(_inversion(each))
        if shown.first_text_s is not None:
            self.first_text_s.append(shown.first_text_s)
        if shown.first_commit_s is not None:
            self.first_commit_s.append(shown.first_commit_s)


def _inversion(assessment: Assessment) -> dict[str, Any]:
    return {
        "retracted": assessment.retraction.text,
        "replacement": assessment.replacement,
        "rule": assessment.judgement.rule,
        "evidence": assessment.judgement.evidence,
        "visible_ms": round(assessment.retraction.visible_s * 1000, 1),
    }


# What is usual today -------------------------------------------------------------------------


@dataclass(kw_only=True)
class UsualPractice:
    """What clients without retraction would have been left with.

    Attributes:
        replies, final: of the model, and the code points that it really said.
        standing: code points that were wrong and stayed on the screen of an append-only client.
        marred: replies that ended with such text in them.
        misspoken_ms: sound of retracted text from a synthesizer that is fed token by token.
        inversions: retractions that turned the meaning around: said or left standing all the same.
    """

    replies: int = 0
    final: int = 0
    standing: int = 0
    marred: int = 0
    misspoken_ms: float = 0.0
    inversions: int = 0

    def add(
        self,
        shown: Shown,
        *,
        ms_per_character: float = SPEECH_MS_PER_CHARACTER,
    ) -> None:
        """Takes one reply as token push showed it."""
        self.replies += 1
        self.final += shown.figures.final
        self.standing += shown.figures.erased
        self.marred += shown.figures.erased > 0
        self.misspoken_ms += ms_per_character * _characters(
            [each.retraction for each in shown.assessments]
        )
        self.inversions += sum(
            each.judgement.severity is Severity.INVERSION for each in shown.assessments
        )

    def to_object(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "replies": self.replies,
            "wrong_text_left_standing": self.standing,
            "share_of_final": round(self.standing / self.final, 4) if self.final else None,
            "replies_marred": self.marred,
            "misspoken_ms": round(self.misspoken_ms, 1),
            "misspoken_ms_per_reply": round(self.misspoken_ms / max(self.replies, 1), 1),
            "inversions_said": self.inversions,
        }


def _characters(retractions: Sequence[Retraction]) -> int:
    return sum(len(each.text) for each in retractions)
