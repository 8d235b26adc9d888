"""The frames of a stream on the wire, version 1 (described in docs/stream-protocol.md).

One JSON object each, as one event of server-sent events or one WebSocket message. The key ``type``
names the frame; fields not understood are ignored. Positions count Unicode code points and are
absolute in the reply's text.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, TypeAlias

from voiceagent.core.codec import CodecError, from_fields, parse_object, to_fields, to_line
from voiceagent.core.errors import VoiceAgentError
from voiceagent.core.events import Author, EndReason, RollbackCause, Turn, VoidCause
from voiceagent.core.kinds import Kind

VERSION = 1
MAX_FRAME_BYTES = 1 << 20
"""One frame, in UTF-8: the default message limit of common WebSocket servers (1 MiB)."""
MAX_NAME_CHARS = 256
"""Characters of a reply's identifier: any UUID, with a prefix."""


class FrameError(VoiceAgentError, ValueError):
    """Not a frame of this protocol; the message says what is wrong with it."""


class StreamProtocol(StrEnum):
    """How a reply is streamed."""

    TOKEN_PUSH = "token_push"
    """Everything at once, provisional text too; rejected text is rolled back."""
    ACCEPT_THEN_FLUSH = "accept_then_flush"
    """Verified text of a confirmed turn only."""
    BOUNDARY_COMMIT = "boundary_commit"
    """Whole commits of a confirmed turn only."""

    @property
    def retracts(self) -> bool:
        """Whether the client has to be able to take text back."""
        return self is StreamProtocol.TOKEN_PUSH


class TextState(StrEnum):
    """Whether appended text may still be taken back."""

    PROVISIONAL = "provisional"
    VERIFIED = "verified"


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseFrame:
    """What every frame carries."""

    type: ClassVar[str]
    reply: str
    epoch: int
    seq: int
    """Counts up by one per stream, from 0."""

    def to_json(self) -> str:
        """The frame as one line of JSON."""
        return to_line({"type": self.type, **to_fields(self)})


@dataclass(frozen=True, slots=True, kw_only=True)
class StartFrame(BaseFrame):
    """A reply begins; what a stream without retraction starts is confirmed."""

    type: ClassVar[str] = "start"
    protocol: StreamProtocol
    unit: str = "code_point"
    turn: Turn
    author: Author


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmFrame(BaseFrame):
    """The user's turn is certain to have ended."""

    type: ClassVar[str] = "confirm"


@dataclass(frozen=True, slots=True, kw_only=True)
class VoidFrame(BaseFrame):
    """The whole epoch is withdrawn; only before it is confirmed."""

    type: ClassVar[str] = "void"
    cause: VoidCause


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendFrame(BaseFrame):
    """Text at the client's current length."""

    type: ClassVar[str] = "append"
    at: int
    text: str
    state: TextState


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyFrame(BaseFrame):
    """Text up to ``to`` will not be taken back within the epoch."""

    type: ClassVar[str] = "verify"
    to: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackFrame(BaseFrame):
    """Cut the text at ``to``, never below what is verified."""

    type: ClassVar[str] = "rollback"
    to: int
    cause: RollbackCause


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitFrame(BaseFrame):
    """``start`` (``from`` on the wire) to ``to`` was handed to a consumer that cannot retract."""

    type: ClassVar[str] = "commit"
    start: int = field(metadata={"wire": "from"})
    to: int
    kind: Kind
    segment: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardFrame(BaseFrame):
    """The user has heard the text up to ``to``."""

    type: ClassVar[str] = "heard"
    to: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFrame(BaseFrame):
    """A tool call: complete, verified, its turn confirmed."""

    type: ClassVar[str] = "tool"
    call_id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class EndFrame(BaseFrame):
    """The reply is over; what counts of its text ends ``at``."""

    type: ClassVar[str] = "end"
    at: int
    reason: EndReason
    usage: Mapping[str, Any] = field(default_factory=dict)
    """Token counts, as the engine gives them."""
    statistics: Mapping[str, Any] = field(default_factory=dict)
    """Churn of this stream (``ChurnFigures.to_object``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorFrame(BaseFrame):
    """Something went wrong; ``code`` is for programs, ``message`` for people."""

    type: ClassVar[str] = "error"
    code: str
    message: str


Frame: TypeAlias = (
    StartFrame
    | ConfirmFrame
    | VoidFrame
    | AppendFrame
    | VerifyFrame
    | RollbackFrame
    | CommitFrame
    | HeardFrame
    | ToolFrame
    | EndFrame
    | ErrorFrame
)

FRAMES: Mapping[str, type[Frame]] = {
    each.type: each
    for each in (
        StartFrame,
        ConfirmFrame,
        VoidFrame,
        AppendFrame,
        VerifyFrame,
        RollbackFrame,
        CommitFrame,
        HeardFrame,
        ToolFrame,
        EndFrame,
        ErrorFrame,
    )
}


def from_json(line: str | bytes) -> Frame:
    """The frame in one JSON object.

    Raises:
        FrameError: too large, not JSON, an unknown type, or a field that is not what it should be.
    """
    try:
        fields = parse_object(line, max_bytes=MAX_FRAME_BYTES)
        kind = FRAMES.get(str(fields.get("type")))
        if kind is None:
            raise CodecError(f"type is none of {', '.join(FRAMES)}")
        frame = from_fields(kind, fields)
    except CodecError as error:
        raise FrameError(f"not a frame: {error}") from error
    if len(frame.reply) > MAX_NAME_CHARS:
        raise FrameError(f"not a frame: reply is longer than {MAX_NAME_CHARS} characters")
    return frame
