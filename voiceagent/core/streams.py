"""The three stream protocols, from ledger events to frames, and the client that reads them.

A :class:`Stream` serves one subscriber; one reply may have several, each with its own protocol.
``token_push`` passes everything on as it happens. The other two wait: nothing of an unconfirmed
turn leaves, and then ``accept_then_flush`` sends verified text and ``boundary_commit`` whole
commits, so that neither ever has anything to take back.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from voiceagent.core import frames as wire
from voiceagent.core.churn import ChurnFigures, ChurnMeter
from voiceagent.core.client import Client, IllegalStream, View
from voiceagent.core.errors import VoiceAgentError
from voiceagent.core.events import (
    Author,
    Committed,
    Confirmed,
    Drafted,
    Ended,
    Heard,
    LedgerEvent,
    RolledBack,
    Started,
    Turn,
    Verified,
    Voided,
)
from voiceagent.core.frames import Frame, StreamProtocol, TextState

__all__ = ["Client", "IllegalStream", "Stream", "StreamError", "StreamProtocol", "View"]


class StreamError(VoiceAgentError, ValueError):
    """Something was said to a stream about a reply that it does not carry."""


@dataclass(slots=True)
class _Subject:
    """One epoch of one reply, as far as a stream has been told of it."""

    reply: str
    epoch: int
    author: Author
    opened: bool = False
    """Whether ``start`` was sent."""
    confirmed: bool = False
    text: str = ""
    sent: int = 0
    """The client's current length."""
    held: list[LedgerEvent] = field(default_factory=list)
    """What a gated client may not see before the turn is confirmed."""
    usage: Mapping[str, Any] = field(default_factory=dict)


class Stream:
    """Turns the ledger events of replies into the frames of one subscriber."""

    def __init__(self, protocol: StreamProtocol) -> None:
        self.protocol = protocol
        self._subjects: dict[str, _Subject] = {}
        self._meters: dict[str, ChurnMeter] = {}
        self._done = ChurnFigures()
        self._seq = 0
        self._frames: list[Frame] = []

    def frames(self) -> list[Frame]:
        """The frames since the last call, in order."""
        frames, self._frames = self._frames, []
        return frames

    def figures(self) -> ChurnFigures:
        """The churn of all that this stream has sent."""
        return sum((meter.figures() for meter in self._meters.values()), start=self._done)

    def feed(self, event: LedgerEvent) -> None:
        """Takes one ledger event; events of several replies may interleave.

        Raises:
            StreamError: the reply has not started here, is over, or has another epoch.
        """
        if isinstance(event, Started):
            self._start(event)
            return
        subject = self._subject(event.reply, epoch=event.epoch)
        if isinstance(event, Drafted):
            subject.text += event.text
        elif isinstance(event, RolledBack):
            subject.text = subject.text[: event.to]
        if subject.opened:
            self._tell(event, subject)
        elif isinstance(event, Confirmed):
            self._open(subject, event.at_s, turn=Turn.CONFIRMED)
        elif isinstance(event, Verified | Committed):
            subject.held.append(event)
        if isinstance(event, Ended | Voided):
            self._close(event)

    def report_usage(self, usage: Mapping[str, Any], *, reply: str) -> None:
        """Token counts of a reply, for its ``end`` frame; said before the reply ends."""
        self._subject(reply).usage = dict(usage)

    def call_tool(
        self, name: str, arguments: Mapping[str, Any], *, call_id: str, reply: str, at_s: float
    ) -> None:
        """Announces a tool call that has passed the tool gate.

        Raises:
            StreamError: the reply's turn is not confirmed.
        """
        subject = self._subject(reply)
        if not subject.confirmed:
            raise StreamError(f"reply {reply}: no tool call before its turn is confirmed")
        self._send(
            wire.ToolFrame,
            subject,
            at_s,
            call_id=call_id,
            name=name,
            arguments=dict(arguments),
        )

    def fail(self, code: str, message: str, *, reply: str, at_s: float) -> None:
        """Says that something went wrong with a reply, which then still has to end."""
        self._send(wire.ErrorFrame, self._subject(reply), at_s, code=code, message=message)

    # The life of one reply ----------------------------------------------------------------------

    def _start(self, event: Started) -> None:
        if event.reply in self._subjects:
            raise StreamError(f"reply {event.reply}: its last epoch is not over")
        self._forget_withdrawn(but=event.reply)
        subject = _Subject(reply=event.reply, epoch=event.epoch, author=event.author)
        self._subjects[event.reply] = subject
        self._meters.setdefault(event.reply, ChurnMeter())
        if self.protocol.retracts or event.turn is Turn.CONFIRMED:
            self._open(subject, event.at_s, turn=event.turn)

    def _open(self, subject: _Subject, at_s: float, *, turn: Turn) -> None:
        subject.opened = True
        subject.confirmed = turn is Turn.CONFIRMED
        self._send(
            wire.StartFrame,
            subject,
            at_s,
            protocol=self.protocol,
            turn=turn,
            author=subject.author,
        )
        held, subject.held = subject.held, []
        for event in held:
            self._tell(event, subject, at_s=at_s)

    def _close(self, event: Ended | Voided) -> None:
        del self._subjects[event.reply]
        if isinstance(event, Ended):
            self._done += self._meters.pop(event.reply).figures()

    def _forget_withdrawn(self, *, but: str) -> None:
        """Adds up replies that were withdrawn for good, so that nothing of them is kept."""
        for reply in self._meters.keys() - self._subjects.keys() - {but}:
            self._done += self._meters.pop(reply).figures()

    def _subject(self, reply: str, *, epoch: int | None = None) -> _Subject:
        subject = self._subjects.get(reply)
        if subject is None or epoch not in (None, subject.epoch):
            raise StreamError(f"reply {reply}: epoch {epoch} is not under way here")
        return subject

    # What each protocol tells -------------------------------------------------------------------

    def _tell(self, event: LedgerEvent, subject: _Subject, *, at_s: float | None = None) -> None:
        at_s = event.at_s if at_s is None else at_s
        if self.protocol is StreamProtocol.TOKEN_PUSH:
            self._tell_provisional(event, subject, at_s)
        elif self.protocol is StreamProtocol.ACCEPT_THEN_FLUSH and isinstance(event, Verified):
            self._append(subject, at_s, to=event.to, state=TextState.VERIFIED)
        elif self.protocol is StreamProtocol.BOUNDARY_COMMIT and isinstance(event, Committed):
            self._append(subject, at_s, to=event.end, state=TextState.VERIFIED)
        self._tell_facts(event, subject, at_s)

    def _tell_provisional(self, event: LedgerEvent, subject: _Subject, at_s: float) -> None:
        match event:
            case Drafted():
                self._append(
                    subject, at_s, to=event.at + len(event.text), state=TextState.PROVISIONAL
                )
            case Verified():
                self._send(wire.VerifyFrame, subject, at_s, to=event.to)
            case RolledBack():
                subject.sent = event.to
                self._send(wire.RollbackFrame, subject, at_s, to=event.to, cause=event.cause)
            case Confirmed():
                subject.confirmed = True
                self._send(wire.ConfirmFrame, subject, at_s)
            case Voided():
                self._send(wire.VoidFrame, subject, at_s, cause=event.cause)
            case _:
                pass  # a fact that every protocol tells, or a matter of the sound alone

    def _tell_facts(self, event: LedgerEvent, subject: _Subject, at_s: float) -> None:
        match event:
            case Committed():
                self._send(
                    wire.CommitFrame,
                    subject,
                    at_s,
                    start=event.start,
                    to=event.end,
                    kind=event.kind,
                    segment=event.segment,
                )
            case Heard():
                self._send(wire.HeardFrame, subject, at_s, to=event.to)
            case Ended():
                self._end(event, subject, at_s)
            case _:
                pass  # told above, or a matter of the sound alone

    def _append(self, subject: _Subject, at_s: float, *, to: int, state: TextState) -> None:
        at, subject.sent = subject.sent, to
        text = subject.text[at:to]
        self._send(wire.AppendFrame, subject, at_s, at=at, text=text, state=state)

    def _end(self, event: Ended, subject: _Subject, at_s: float) -> None:
        self._send(
            wire.EndFrame,
            subject,
            at_s,
            at=min(event.at, subject.sent),
            reason=event.reason,
            usage=subject.usage,
            statistics=self._meters[subject.reply].figures().to_object(),
        )

    def _send(self, form: type[Frame], subject: _Subject, at_s: float, **fields: Any) -> None:
        frame = form(reply=subject.reply, epoch=subject.epoch, seq=self._seq, **fields)
        self._seq += 1
        self._meters[subject.reply].feed(frame, at_s=at_s)
        self._frames.append(frame)
