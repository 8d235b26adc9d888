"""The reference client: what a legal stream makes of a screen, and which streams are not legal."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NoReturn

from voiceagent.core import frames as wire
from voiceagent.core.errors import VoiceAgentError
from voiceagent.core.events import Author, EndReason, Turn, VoidCause
from voiceagent.core.frames import Frame, StreamProtocol, TextState


class Violation(StrEnum):
    """Which rule of the protocol a frame breaks. The values are the same in every client."""

    SEQUENCE = "sequence"
    """A frame was lost, doubled or moved."""
    UNIT = "unit"
    PROTOCOL = "protocol"
    """The stream began with another protocol."""
    GATED = "gated"
    """A stream without retraction shows, or takes back, what is not certain."""
    NOT_WITHDRAWN = "not_withdrawn"
    """The reply starts again, though its last epoch was not withdrawn."""
    NOT_STARTED = "not_started"
    OVER = "over"
    """The epoch has ended or was withdrawn."""
    CONFIRMED = "confirmed"
    """Possible only before the turn is confirmed."""
    UNCONFIRMED = "unconfirmed"
    """Possible only after that."""
    POSITION = "position"
    """The frame does not fit where the text and its watermarks are."""
    EMPTY = "empty"
    PROVISIONAL = "provisional"
    """Text that may still be taken back is in the way."""


class IllegalStream(VoiceAgentError, ValueError):
    """A frame that the protocol does not allow here; the message says which rule it breaks.

    Attributes:
        code: the rule, for programs.
    """

    def __init__(self, code: Violation, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(slots=True)
class View:
    """What the client shows of one epoch of one reply. Positions are code points."""

    reply: str
    epoch: int
    turn: Turn
    author: Author
    text: str = ""
    verified: int = 0
    committed: int = 0
    heard: int = 0
    end: int | None = None
    """Where the text that counts ends; None while the reply goes on."""
    reason: EndReason | None = None
    voided: VoidCause | None = None
    commits: list[wire.CommitFrame] = field(default_factory=list)
    tools: list[wire.ToolFrame] = field(default_factory=list)

    @property
    def over(self) -> bool:
        """Whether the epoch has ended or was withdrawn."""
        return self.reason is not None or self.voided is not None


class Client:
    """Applies the frames of one stream, in order, and refuses what is not legal.

    A refused frame changes nothing. The properties speak of the reply that started last; all are
    in :attr:`views`.
    """

    def __init__(self) -> None:
        self.views: dict[str, View] = {}
        self.protocol: StreamProtocol | None = None
        self._latest: View | None = None
        self._seq = 0

    @property
    def text(self) -> str:
        """The text on the screen, the provisional tail included."""
        return self._latest.text if self._latest else ""

    @property
    def verified(self) -> int:
        """Where text that stays ends."""
        return self._latest.verified if self._latest else 0

    @property
    def committed(self) -> int:
        """Where committed text ends."""
        return self._latest.committed if self._latest else 0

    @property
    def heard(self) -> int:
        """Where heard text ends."""
        return self._latest.heard if self._latest else 0

    def apply(self, frame: Frame) -> None:
        """Takes the next frame.

        Raises:
            IllegalStream: the frame is not legal here.
        """
        if frame.seq != self._seq:
            _refuse(frame, Violation.SEQUENCE, f"seq is {frame.seq} where {self._seq} follows")
        if isinstance(frame, wire.StartFrame):
            self._start(frame)
        elif not isinstance(frame, wire.ErrorFrame):
            self._check_protocol(frame)
            view = self._view(frame)
            if self.protocol is StreamProtocol.BOUNDARY_COMMIT:
                _check_whole(view, frame)
            _APPLY[type(frame)](view, frame)
        self._seq += 1

    def _start(self, frame: wire.StartFrame) -> None:
        last = self.views.get(frame.reply)
        if frame.unit != "code_point":
            _refuse(frame, Violation.UNIT, f"unit is {frame.unit}")
        if self.protocol not in (None, frame.protocol):
            _refuse(frame, Violation.PROTOCOL, f"the stream's protocol was {self.protocol}")
        if not frame.protocol.retracts and frame.turn is not Turn.CONFIRMED:
            _refuse(frame, Violation.GATED, f"{frame.protocol} starts no unconfirmed turn")
        if last is not None and (last.voided is None or last.epoch >= frame.epoch):
            _refuse(
                frame,
                Violation.NOT_WITHDRAWN,
                f"epoch {last.epoch} of the reply was not withdrawn before",
            )
        self.protocol = frame.protocol
        self._latest = self.views[frame.reply] = View(
            reply=frame.reply, epoch=frame.epoch, turn=frame.turn, author=frame.author
        )

    def _view(self, frame: Frame) -> View:
        view = self.views.get(frame.reply)
        if view is None or view.epoch != frame.epoch:
            _refuse(frame, Violation.NOT_STARTED, "the epoch has not started")
        if view.over:
            _refuse(frame, Violation.OVER, "the epoch is over")
        return view

    def _check_protocol(self, frame: Frame) -> None:
        if self.protocol is None or self.protocol.retracts:
            return
        takes_back = isinstance(frame, wire.RollbackFrame | wire.VoidFrame)
        provisional = isinstance(frame, wire.AppendFrame) and frame.state is TextState.PROVISIONAL
        if takes_back or provisional:
            _refuse(frame, Violation.GATED, f"{self.protocol} has none")


def _check_whole(view: View, frame: Frame) -> None:
    """A stream of whole commits shows nothing that was not committed, but for the next commit."""
    if isinstance(frame, wire.AppendFrame | wire.EndFrame) and view.committed != len(view.text):
        _refuse(
            frame,
            Violation.POSITION,
            f"the text from {view.committed} on was not committed",
        )


def _confirm(view: View, frame: wire.ConfirmFrame) -> None:
    if view.turn is Turn.CONFIRMED:
        _refuse(frame, Violation.CONFIRMED, "the turn is confirmed already")
    view.turn = Turn.CONFIRMED


def _void(view: View, frame: wire.VoidFrame) -> None:
    if view.turn is Turn.CONFIRMED:
        _refuse(frame, Violation.CONFIRMED, "the turn is confirmed")
    view.voided = frame.cause
    view.text = ""
    view.verified = view.committed = 0
    view.commits.clear()


def _append(view: View, frame: wire.AppendFrame) -> None:
    if frame.at != len(view.text):
        _refuse(
            frame,
            Violation.POSITION,
            f"at is {frame.at} where the text has {len(view.text)} code points",
        )
    if not frame.text:
        _refuse(frame, Violation.EMPTY, "there is no text")
    if frame.state is TextState.VERIFIED:
        if view.verified != frame.at:
            _refuse(frame, Violation.PROVISIONAL, "provisional text stands before it")
        view.verified = frame.at + len(frame.text)
    view.text += frame.text


def _verify(view: View, frame: wire.VerifyFrame) -> None:
    if not view.verified < frame.to <= len(view.text):
        _refuse(
            frame,
            Violation.POSITION,
            f"to is {frame.to}, not past {view.verified} and within {len(view.text)}",
        )
    view.verified = frame.to


def _roll_back(view: View, frame: wire.RollbackFrame) -> None:
    if not view.verified <= frame.to < len(view.text):
        _refuse(
            frame,
            Violation.POSITION,
            f"to is {frame.to}, not from {view.verified} and below {len(view.text)}",
        )
    view.text = view.text[: frame.to]


def _commit(view: View, frame: wire.CommitFrame) -> None:
    if frame.start != view.committed:
        _refuse(frame, Violation.POSITION, f"from is {frame.start} where {view.committed} follows")
    if not frame.start < frame.to <= view.verified:
        _refuse(
            frame,
            Violation.POSITION,
            f"to is {frame.to}, not past {frame.start} and within {view.verified}",
        )
    view.committed = frame.to
    view.commits.append(frame)


def _hear(view: View, frame: wire.HeardFrame) -> None:
    if view.turn is not Turn.CONFIRMED:
        _refuse(frame, Violation.UNCONFIRMED, "the turn is not confirmed")
    if not view.heard < frame.to <= view.committed:
        _refuse(
            frame,
            Violation.POSITION,
            f"to is {frame.to}, not past {view.heard} and within {view.committed}",
        )
    view.heard = frame.to


def _call_tool(view: View, frame: wire.ToolFrame) -> None:
    if view.turn is not Turn.CONFIRMED:
        _refuse(frame, Violation.UNCONFIRMED, "the turn is not confirmed")
    view.tools.append(frame)


def _end(view: View, frame: wire.EndFrame) -> None:
    if view.verified != len(view.text):
        _refuse(frame, Violation.PROVISIONAL, "provisional text is left")
    was_said = frame.reason.is_complete or frame.reason is EndReason.INTERRUPTED
    if was_said and view.turn is not Turn.CONFIRMED:
        _refuse(frame, Violation.UNCONFIRMED, "the turn is not confirmed")
    # What is complete counts whole, and what was interrupted as far as it was heard.
    least = len(view.text) if frame.reason.is_complete else view.heard
    most = view.heard if frame.reason is EndReason.INTERRUPTED else len(view.text)
    if not least <= frame.at <= most:
        _refuse(
            frame,
            Violation.POSITION,
            f"at is {frame.at}, not from {least} and within {most}",
        )
    view.end = frame.at
    view.reason = frame.reason


_APPLY: Mapping[type[Frame], Callable[[View, Any], None]] = {
    wire.ConfirmFrame: _confirm,
    wire.VoidFrame: _void,
    wire.AppendFrame: _append,
    wire.VerifyFrame: _verify,
    wire.RollbackFrame: _roll_back,
    wire.CommitFrame: _commit,
    wire.HeardFrame: _hear,
    wire.ToolFrame: _call_tool,
    wire.EndFrame: _end,
}


def _refuse(frame: Frame, code: Violation, why: str) -> NoReturn:
    raise IllegalStream(code, f"frame {frame.seq} ({frame.type}) of reply {frame.reply}: {why}")
