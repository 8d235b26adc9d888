"""A conversation told in RTVI's words, for clients that this project did not write.

They see verified text of confirmed turns, as RTVI has nothing that takes text back; our own frames
travel beside it as server messages, in the protocol that the client asked for. Pure: happenings go
in, messages come out.
"""

import json
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

import pipecat.processors.frameworks.rtvi.models as rtvi
from pydantic import BaseModel, ValidationError

from voiceagent import __version__
from voiceagent.core.events import EndReason, LedgerEvent, Recorded, Released
from voiceagent.core.frames import (
    AppendFrame,
    CommitFrame,
    EndFrame,
    Frame,
    HeardFrame,
    StartFrame,
)
from voiceagent.core.kinds import Kind
from voiceagent.core.streams import Stream, StreamProtocol
from voiceagent.gateway.fields import BadRequest
from voiceagent.gateway.http_replies import event_json
from voiceagent.gateway.requests import View
from voiceagent.session.happenings import Happening, Trouble, TurnHappened

USER = "user"
_Form = TypeVar("_Form", bound=BaseModel)
Message = dict[str, Any]
"""An RTVI message as it goes over the wire."""


def parse_message(fields: Mapping[str, Any]) -> rtvi.Message:
    """A client's message.

    Raises:
        BadRequest: it is none of RTVI's.
    """
    return parse_data(rtvi.Message, fields)


def parse_data(form: type[_Form], fields: Mapping[str, Any] | None) -> _Form:
    """Fields of a client's message in the form that its type has.

    Raises:
        BadRequest: they do not fit.
    """
    try:
        return form.model_validate(fields)
    except (ValidationError, RecursionError):
        # What is wrong is not repeated: it may be long, and words of the user's.
        raise BadRequest("message", f"not a message of RTVI's ({form.__name__})") from None


def bot_ready(*, request: str, client_version: str) -> Message:
    """The answer to ``client-ready``: clients of RTVI 1 are answered in their own version."""
    legacy = is_legacy(client_version)
    data = rtvi.BotReadyData(
        version=client_version if legacy else rtvi.PROTOCOL_VERSION,
        about={"library": "voiceagent", "library_version": __version__},
    )
    return dump(rtvi.BotReady(id=request, data=data))


def is_legacy(client_version: str) -> bool:
    """Whether a client speaks RTVI 1."""
    return client_version.split(".")[0] == str(rtvi.LEGACY_SUPPORTED_MAJOR)


def server_message(data: Any) -> Message:
    """Something of our own."""
    return dump(rtvi.ServerMessage(data=data))


def error_response(request: str, line: str) -> Message:
    """A client's message was refused."""
    return dump(rtvi.ErrorResponse(id=request, data=rtvi.ErrorResponseData(error=line)))


def error(line: str, *, fatal: bool) -> Message:
    """Something went wrong; ``fatal``: the conversation is over."""
    return dump(rtvi.Error(data=rtvi.ErrorData(error=line, fatal=fatal)))


def dump(model: BaseModel) -> Message:
    """A message as it goes over the wire."""
    return model.model_dump(exclude_none=True)


@dataclass
class _Segment:
    """A commit: where it lies in its reply, and RTVI's number for it."""

    number: int
    start: int
    to: int


@dataclass
class _Shown:
    """A reply as the client knows it."""

    text: str = ""
    segments: deque[_Segment] = field(default_factory=deque)
    """Those that have not been heard to their end."""
    heard: int = 0
    sounds: bool = False


class Narrator:
    """Tells one client what happens.

    Args:
        view: how our frames are streamed.
        legacy: whether the client speaks RTVI 1.
        shown: is told our frames as they go out, for the metrics.
    """

    def __init__(
        self, view: View, *, legacy: bool, shown: Callable[[list[Frame]], None] = lambda _: None
    ) -> None:
        self._view, self._legacy, self._shown = view, legacy, shown
        self._ours, self._theirs = Stream(view.protocol), Stream(StreamProtocol.ACCEPT_THEN_FLUSH)
        self._replies: dict[str, _Shown] = {}
        self._segments = 0
        self._typed: deque[tuple[str, str]] = deque()
        """Words that were typed and whose turn has not come, and the messages they came in."""

    def typed(self, text: str, *, request: str) -> None:
        """The client has sent words; their turn follows."""
        self._typed.append((text, request))

    def tell(self, happening: Happening) -> list[Message]:
        """The messages that follow from what happened."""
        if isinstance(happening, TurnHappened):
            return self._tell_turn(happening)
        if isinstance(happening, Trouble):
            return [error(happening.line, fatal=False)]
        if isinstance(happening, Recorded):
            return self._tell_step(happening)
        return []

    # The user's side --------------------------------------------------------------------------

    def _tell_turn(self, turn: TurnHappened) -> list[Message]:
        if turn.state == "began":
            return [] if self._typed else [dump(rtvi.UserStartedSpeakingMessage())]
        if turn.state in ("partial", "eager"):
            return self._words(turn.text, final=False)
        if turn.state == "confirmed":
            if self._typed and turn.text.endswith(self._typed[0][0]):
                return [self._input(*self._typed.popleft())]
            return [*self._words(turn.text, final=True), dump(rtvi.UserStoppedSpeakingMessage())]
        if turn.state.startswith("dropped"):
            return [dump(rtvi.UserStoppedSpeakingMessage())]
        return []  # revised: words that were not final are replaced by the next

    def _words(self, text: str, *, final: bool) -> list[Message]:
        now = _now()
        said = rtvi.UserTranscriptionMessageData(
            text=text, user_id=USER, timestamp=now, final=final
        )
        given = rtvi.UserInputMessageData(
            text=text, input_type="transcription", timestamp=now, final=final
        )
        return [
            dump(rtvi.UserTranscriptionMessage(data=said)),
            dump(rtvi.UserInputMessage(data=given)),
        ]

    def _input(self, text: str, request: str) -> Message:
        data = rtvi.UserInputMessageData(
            text=text, input_type="chat", timestamp=_now(), final=True, msg_id=request
        )
        return dump(rtvi.UserInputMessage(data=data))

    # The agent's side -------------------------------------------------------------------------

    def _tell_step(self, event: LedgerEvent) -> list[Message]:
        messages = []
        if isinstance(event, Released):
            messages += self._tell_sound(event)
        self._theirs.feed(event)
        for frame in self._theirs.frames():
            messages += self._translate(frame)
        self._ours.feed(event)
        frames = self._ours.frames()
        self._shown(frames)
        lines = [json.loads(event_json(frame, self._view)) for frame in frames]
        return messages + [server_message(line) for line in lines]

    def _tell_sound(self, event: Released) -> list[Message]:
        shown = self._replies.get(event.reply)
        if shown is None or shown.sounds:
            return []
        shown.sounds = True
        return [dump(rtvi.BotStartedSpeakingMessage())]

    def _translate(self, frame: Frame) -> list[Message]:
        match frame:
            case StartFrame():
                self._replies[frame.reply] = _Shown()
                return [dump(rtvi.BotLLMStartedMessage())]
            case AppendFrame():
                self._replies[frame.reply].text += frame.text
                data = rtvi.TextMessageData(text=frame.text)
                return [dump(rtvi.BotLLMTextMessage(data=data))]
            case CommitFrame():
                return [self._tell_commit(frame, self._replies[frame.reply])]
            case HeardFrame():
                return self._tell_heard(frame.to, self._replies[frame.reply])
            case EndFrame():
                return self._tell_end(frame, self._replies.pop(frame.reply))
        return []

    def _tell_commit(self, frame: CommitFrame, shown: _Shown) -> Message:
        text, self._segments = shown.text[frame.start : frame.to], self._segments + 1
        if frame.kind is Kind.SILENT:
            return self._output(text, number=self._segments, spoken=False)
        shown.segments.append(_Segment(self._segments, frame.start, frame.to))
        return self._output(text, number=self._segments, remaining=text)

    def _tell_heard(self, to: int, shown: _Shown) -> list[Message]:
        messages, said = [], shown.text[shown.heard : to]
        shown.heard = to
        while shown.segments and shown.segments[0].start < to:
            segment = shown.segments[0]
            until = min(to, segment.to)
            messages.append(
                self._output(
                    shown.text[segment.start : segment.to],
                    number=segment.number,
                    accumulated=shown.text[segment.start : until],
                    remaining=shown.text[until : segment.to],
                )
            )
            if until < segment.to:
                break
            shown.segments.popleft()
        return [dump(rtvi.BotTTSTextMessage(data=rtvi.TextMessageData(text=said))), *messages]

    def _output(
        self,
        text: str,
        *,
        number: int,
        spoken: bool = True,
        accumulated: str = "",
        remaining: str = "",
    ) -> Message:
        """RTVI 1 knows a segment as spoken or not; RTVI 2 how far it was spoken."""
        fields: dict[str, Any] = {"text": text, "output_type": "sentence", "segment_id": number}
        if self._legacy:
            fields["spoken"] = spoken and bool(accumulated)
        else:
            status = "completed" if accumulated and not remaining else "in-progress"
            fields |= {
                "will_be_spoken": spoken,
                "spoken_status": status if accumulated else "new",
            }
        if spoken and not self._legacy:
            fields["spoken_progress"] = {
                "accumulated_text": accumulated,
                "remaining_text": remaining,
            }
        return dump(rtvi.BotOutputMessage(data=rtvi.BotOutputMessageData(**fields)))

    def _tell_end(self, frame: EndFrame, shown: _Shown) -> list[Message]:
        messages = [dump(rtvi.BotLLMStoppedMessage())]
        if frame.reason is EndReason.INTERRUPTED:
            messages.append(dump(rtvi.BotInterruptedMessage()))
        if shown.sounds:
            messages.append(dump(rtvi.BotStoppedSpeakingMessage()))
        return messages


def _now() -> str:
    return datetime.now(UTC).isoformat()
