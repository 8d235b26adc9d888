"""What a client may ask for, checked once at the door.

Both routes read the same extra fields beside OpenAI's: ``stream_protocol``, ``surface``,
``retraction``, ``k``. A value that cannot be used is a BadRequest that names the field.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from voiceagent.core.history import Message
from voiceagent.core.streams import StreamProtocol

# OpenAI's own request has no limit on messages; these bound the memory one request can take.
MAX_BODY_BYTES = 1 << 20
MAX_MESSAGES = 256
MAX_STOP_STRINGS = 4  # as OpenAI's interface
MAX_WINDOW = 16

DEFAULT_PROTOCOL = {
    "chat": StreamProtocol.ACCEPT_THEN_FLUSH,
    "markdown": StreamProtocol.BOUNDARY_COMMIT,
    "voice": StreamProtocol.BOUNDARY_COMMIT,
    "form": StreamProtocol.BOUNDARY_COMMIT,
    "code": StreamProtocol.BOUNDARY_COMMIT,
}
"""The protocol of a surface that does not name one; a chat that declares retraction is pushed."""


class BadRequest(ValueError):
    """The request cannot be used; ``field`` names the culprit."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, kw_only=True)
class ReplyRequest:
    """One reply as a client asked for it."""

    messages: tuple[Message, ...]
    protocol: StreamProtocol
    surface: str
    stream: bool
    model: str
    temperature: float
    top_p: float
    seed: int
    max_tokens: int | None
    stop: tuple[str, ...]
    window: int | None


def parse_request(body: object, *, append_only: bool) -> ReplyRequest:
    """Reads a decoded JSON body.

    Args:
        append_only: True for OpenAI's route, whose unmodified clients cannot retract: without a
            declaration it is accept-then-flush, always.

    Raises:
        BadRequest: a field is missing, of the wrong type or out of range.
    """
    if not isinstance(body, Mapping):
        raise BadRequest("body", "the body must be a JSON object")
    surface = _surface(body)
    return ReplyRequest(
        messages=_messages(body.get("messages")),
        protocol=_protocol(body, surface=surface, append_only=append_only),
        surface=surface,
        stream=_boolean(body, "stream", default=not append_only),
        model=str(body.get("model") or "default"),
        temperature=_number(body, "temperature", low=0.0, high=2.0, default=0.0),
        top_p=_number(body, "top_p", low=0.0, high=1.0, default=1.0),
        seed=_integer(body, "seed", low=-(2**63), high=2**63 - 1, default=0) or 0,
        max_tokens=_max_tokens(body),
        stop=_stop(body.get("stop")),
        window=_integer(body, "k", low=0, high=MAX_WINDOW, default=None),
    )


def _messages(value: object) -> tuple[Message, ...]:
    if not isinstance(value, list) or not value:
        raise BadRequest("messages", "messages must be a list with at least one message")
    if len(value) > MAX_MESSAGES:
        raise BadRequest("messages", f"at most {MAX_MESSAGES} messages are taken")
    return tuple(_message(each, at=i) for i, each in enumerate(value))


def _message(value: object, *, at: int) -> Message:
    field = f"messages[{at}]"
    if not isinstance(value, Mapping):
        raise BadRequest(field, f"{field} must be an object with role and content")
    role, content = value.get("role"), value.get("content")
    if role not in ("system", "user", "assistant"):
        raise BadRequest(f"{field}.role", f"{field}.role must be system, user or assistant")
    if not isinstance(content, str):
        raise BadRequest(f"{field}.content", f"{field}.content must be a string")
    return Message(role=role, content=content)


def _surface(body: Mapping[str, Any]) -> str:
    surface = body.get("surface", "chat")
    if not isinstance(surface, str) or surface not in DEFAULT_PROTOCOL:
        known = ", ".join(DEFAULT_PROTOCOL)
        raise BadRequest("surface", f"surface must be one of {known}")
    return surface


def _protocol(body: Mapping[str, Any], *, surface: str, append_only: bool) -> StreamProtocol:
    retraction = _boolean(body, "retraction", default=False)
    named = body.get("stream_protocol")
    if named is None:
        pushes = retraction and surface == "chat" and not append_only
        return StreamProtocol.TOKEN_PUSH if pushes else DEFAULT_PROTOCOL[surface]
    try:
        protocol = StreamProtocol(named)
    except ValueError:
        known = ", ".join(each.value for each in StreamProtocol)
        raise BadRequest("stream_protocol", f"stream_protocol must be one of {known}") from None
    if append_only and protocol is StreamProtocol.TOKEN_PUSH:
        raise BadRequest(
            "stream_protocol",
            "token_push takes text back, which this interface cannot express; use /v1/replies",
        )
    if protocol is StreamProtocol.TOKEN_PUSH and not retraction:
        raise BadRequest(
            "retraction",
            "token_push sends text that a later rollback frame removes; a client that applies "
            "rollback frames says so with retraction: true, others use accept_then_flush",
        )
    return protocol


def _stop(value: object) -> tuple[str, ...]:
    strings = [value] if isinstance(value, str) else ([] if value is None else value)
    if not isinstance(strings, list) or not all(isinstance(s, str) and s for s in strings):
        raise BadRequest("stop", "stop must be a non-empty string or a list of them")
    if len(strings) > MAX_STOP_STRINGS:
        raise BadRequest("stop", f"at most {MAX_STOP_STRINGS} stop strings are taken")
    return tuple(strings)


def _max_tokens(body: Mapping[str, Any]) -> int | None:
    """OpenAI renamed the field; both names are in use."""
    name = "max_completion_tokens" if "max_completion_tokens" in body else "max_tokens"
    return _integer(body, name, low=1, high=1 << 20, default=None)


def _boolean(body: Mapping[str, Any], name: str, *, default: bool) -> bool:
    value = body.get(name)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise BadRequest(name, f"{name} must be true or false")
    return value


def _integer(
    body: Mapping[str, Any], name: str, *, low: int, high: int, default: int | None
) -> int | None:
    value = body.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise BadRequest(name, f"{name} must be a whole number from {low} to {high}")
    return value


def _number(
    body: Mapping[str, Any], name: str, *, low: float, high: float, default: float
) -> float:
    value = body.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise BadRequest(name, f"{name} must be a number from {low:g} to {high:g}")
    return float(value)
