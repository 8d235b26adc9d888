"""What a client may ask for, checked once at the door.

Both routes read the same extra fields beside OpenAI's: ``stream_protocol``, ``boundary``,
``surface``, ``retraction``, ``k``. A value that cannot be used is a BadRequest that names the
field.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from voiceagent.config import MAX_WINDOW
from voiceagent.core.committer import Policy
from voiceagent.core.events import Turn
from voiceagent.core.history import Message
from voiceagent.core.streams import StreamProtocol
from voiceagent.gateway.fields import BadRequest, boolean, integer, mapping, number
from voiceagent.gateway.limits import DEFAULT_LIMITS, Limits
from voiceagent.gateway.messages import parse_messages
from voiceagent.gateway.tool_fields import ToolUse, parse_tool_use
from voiceagent.session.tool_registry import Registry

MAX_STOP_STRINGS = 4  # as OpenAI's interface
MAX_TOP_LOGPROBS = 20  # as OpenAI's interface
_SMALLEST_TOP_P = 1e-9
"""OpenAI's clients may ask for 0, which keeps the most probable token alone."""

BOUNDARIES = {
    "clause": Policy.voice,
    "sentence": Policy.sentences,
    "block": Policy.markdown,
    "value": Policy.form,
    "statement": Policy.code,
}
"""Where commits are cut, by the names of what ends them."""

SURFACES = {
    "chat": "sentence",
    "markdown": "block",
    "voice": "clause",
    "form": "value",
    "code": "statement",
    "tool": "sentence",
}
"""Each surface and its own boundary."""


def default_protocol(surface: str, *, retraction: bool) -> StreamProtocol:
    """The protocol of a surface that names none: only a chat is pushed, and only if it retracts."""
    if surface != "chat":
        return StreamProtocol.BOUNDARY_COMMIT
    return StreamProtocol.TOKEN_PUSH if retraction else StreamProtocol.ACCEPT_THEN_FLUSH


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """How one subscriber is streamed to: what it asked for, or what it gets for saying nothing."""

    protocol: StreamProtocol
    surface: str
    boundary: str
    retraction: bool
    window: int | None

    def as_fields(self) -> dict[str, Any]:
        """What was used, as fields of the ``start`` frame beside the protocol."""
        return {
            "surface": self.surface,
            "boundary": self.boundary,
            "retraction": self.retraction,
            "k": self.window,
        }

    def as_headers(self) -> dict[str, str]:
        """What was used, as headers of the answer."""
        return {
            "X-Stream-Protocol": self.protocol.value,
            "X-Stream-Surface": self.surface,
            "X-Stream-Boundary": self.boundary,
            "X-Stream-Retraction": str(self.retraction).lower(),
            "X-Draft-Window": "auto" if self.window is None else str(self.window),
        }


@dataclass(frozen=True, kw_only=True)
class ReplyRequest:
    """One reply as a client asked for it."""

    messages: tuple[Message, ...]
    view: View
    declared: bool
    """The client said how it wants to be streamed."""
    stream: bool
    turn: Turn
    hears: bool
    """The client reports what was heard, and the reply is over when all of it was."""
    resumable: bool
    """The reply goes on for a while when nobody reads it."""
    sampling: Mapping[str, Any]
    """Fields of ``decoding.sampling.Sampling`` that the client set."""
    max_tokens: int | None
    stop: tuple[str, ...]
    top_logprobs: int | None
    """Alternatives to report for each token; None reports no probabilities."""
    include_usage: bool
    tools: ToolUse
    schema: Mapping[str, Any] | None = field(default=None)
    """JSON schema that the whole text has to fit."""


def parse_request(
    body: object,
    *,
    append_only: bool,
    limits: Limits = DEFAULT_LIMITS,
    registry: Registry | None = None,
) -> ReplyRequest:
    """Reads a decoded JSON body.

    Args:
        append_only: True for OpenAI's route, whose unmodified clients cannot retract: without a
            declaration it is accept-then-flush, always.
        limits: bounds of one request.
        registry: the server's own tools.

    Raises:
        BadRequest: a field is missing, of the wrong type or out of range.
    """
    if not isinstance(body, Mapping):
        raise BadRequest("body", "the body must be a JSON object")
    tools = parse_tool_use(body, limits=limits, registry=registry or Registry())
    if (choices := integer(body, "n", low=1, high=128, default=1)) != 1:
        raise BadRequest("n", f"one reply is written for each request, not {choices}: use n=1")
    view = parse_view(body, append_only=append_only)
    return ReplyRequest(
        messages=parse_messages(body.get("messages"), tools=tools, limits=limits),
        view=view,
        declared=body.get("stream_protocol") is not None or body.get("retraction") is not None,
        stream=boolean(body, "stream", default=not append_only),
        turn=_turn(body),
        hears=boolean(body, "hears", default=False),
        resumable=boolean(body, "resumable", default=False),
        sampling=_sampling(body),
        max_tokens=_max_tokens(body),
        stop=_stop(body.get("stop")),
        top_logprobs=_top_logprobs(body),
        include_usage=_include_usage(body),
        tools=tools,
        schema=_schema(body, surface=view.surface),
    )


def parse_view(body: Mapping[str, Any], *, append_only: bool = False) -> View:
    """How this subscriber wants to be streamed to.

    Raises:
        BadRequest: it cannot be; above all, token push without a declared retraction.
    """
    surface = _one_of(body, "surface", known=SURFACES, default="chat")
    retraction = boolean(body, "retraction", default=False)
    return View(
        protocol=_protocol(body, surface=surface, retraction=retraction, append_only=append_only),
        surface=surface,
        boundary=_one_of(body, "boundary", known=BOUNDARIES, default=SURFACES[surface]),
        retraction=retraction,
        window=integer(body, "k", low=0, high=MAX_WINDOW, default=None),
    )


def _one_of(body: Mapping[str, Any], name: str, *, known: Mapping[str, Any], default: str) -> str:
    value = body.get(name, default)
    if not isinstance(value, str) or value not in known:
        raise BadRequest(name, f"{name} must be one of {', '.join(known)}")
    return value


def _protocol(
    body: Mapping[str, Any], *, surface: str, retraction: bool, append_only: bool
) -> StreamProtocol:
    named = body.get("stream_protocol")
    if named is None:
        return default_protocol(surface, retraction=retraction and not append_only)
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


def _turn(body: Mapping[str, Any]) -> Turn:
    try:
        return Turn(body.get("turn", Turn.CONFIRMED))
    except ValueError:
        raise BadRequest("turn", "turn must be confirmed or eager") from None


_NUMBERS = {
    "temperature": (0.0, 2.0),
    "top_p": (0.0, 1.0),
    "min_p": (0.0, 1.0),
    "presence_penalty": (-2.0, 2.0),
    "frequency_penalty": (-2.0, 2.0),
    "repetition_penalty": (0.01, 10.0),
}
_INTEGERS = {"seed": (-(2**63), 2**63 - 1), "top_k": (0, 1 << 20), "min_tokens": (0, 1 << 20)}


def _sampling(body: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {
        name: number(body, name, low=low, high=high) for name, (low, high) in _NUMBERS.items()
    }
    for name, (low, high) in _INTEGERS.items():
        values[name] = integer(body, name, low=low, high=high, default=None)
    if values["top_p"] is not None:
        values["top_p"] = max(values["top_p"], _SMALLEST_TOP_P)
    values["logit_bias"] = _logit_bias(body)
    return {name: value for name, value in values.items() if value is not None}


def _logit_bias(body: Mapping[str, Any]) -> dict[int, float] | None:
    given = mapping(body, "logit_bias")
    if given is None:
        return None
    try:
        return {int(token): number(given, token, low=-100, high=100) or 0.0 for token in given}
    except ValueError as error:
        raise BadRequest("logit_bias", "logit_bias maps token ids to -100 to 100") from error


def _stop(value: object) -> tuple[str, ...]:
    strings = [value] if isinstance(value, str) else ([] if value is None else value)
    if not isinstance(strings, list) or not all(isinstance(s, str) and s for s in strings):
        raise BadRequest("stop", "stop must be a non-empty string or a list of them")
    if len(strings) > MAX_STOP_STRINGS:
        raise BadRequest("stop", f"at most {MAX_STOP_STRINGS} stop strings are taken")
    return tuple(strings)


def _max_tokens(body: Mapping[str, Any]) -> int | None:
    """OpenAI renamed the field; both names are in use."""
    new = body.get("max_completion_tokens") is not None
    name = "max_completion_tokens" if new else "max_tokens"
    return integer(body, name, low=1, high=1 << 20, default=None)


def _top_logprobs(body: Mapping[str, Any]) -> int | None:
    wanted = boolean(body, "logprobs", default=False)
    top = integer(body, "top_logprobs", low=0, high=MAX_TOP_LOGPROBS, default=None)
    if top is not None and not wanted:
        raise BadRequest("top_logprobs", "top_logprobs needs logprobs: true")
    return (top or 0) if wanted else None


def _include_usage(body: Mapping[str, Any]) -> bool:
    return boolean(mapping(body, "stream_options") or {}, "include_usage", default=False)


def _schema(body: Mapping[str, Any], *, surface: str) -> Mapping[str, Any] | None:
    wanted = mapping(body, "response_format")
    if wanted is None:
        return {"type": "object"} if surface == "form" else None
    if wanted.get("type") == "text":
        return None
    if wanted.get("type") == "json_object":
        return {"type": "object"}
    if wanted.get("type") != "json_schema":
        raise BadRequest(
            "response_format", "response_format.type must be text, json_object or json_schema"
        )
    named = mapping(wanted, "json_schema", within="response_format") or {}
    schema = mapping(named, "schema", within="response_format.json_schema")
    if schema is None:
        raise BadRequest("response_format", "response_format.json_schema.schema is missing")
    return schema
