"""The record of a conversation: one JSON object a line (described in docs/trace.md).

The first line is a header. Ledger events are written as they happened, and beside them turns,
rounds of the engine, sound, tool calls, troubles and figures. Everything that
``voiceagent replay --audit`` needs to prove is in here; nothing else is asked.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias, get_args

from voiceagent.core.codec import CodecError, from_fields, parse_object, to_fields, to_line
from voiceagent.core.errors import VoiceAgentError
from voiceagent.core.events import LedgerEvent, Recorded

VERSION = 1
MAX_LINE_BYTES = 1 << 22
"""One line: the word times of a reply of the greatest length (docs/trace.md) take about 2 MiB."""


class TraceError(VoiceAgentError, ValueError):
    """Not a trace; the message names the line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The first line: what the conversation was held with."""

    type: ClassVar[str] = "header"
    version: int = VERSION
    preset: str
    models: Mapping[str, Any] = field(default_factory=dict)
    """SHA-256 of each model file by role."""
    config: Mapping[str, Any] = field(default_factory=dict)
    created: str = ""
    """When, as ISO 8601."""
    redacted: bool = False
    """Whether words were replaced; see :func:`voiceagent.core.redact.redact`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRecord:
    """Something became known about a turn of the user."""

    type: ClassVar[str] = "turn"
    turn: int
    """Counts the user's turns."""
    at_s: float
    text: str
    state: str
    """``began``, ``silent``, ``eager``, ``confirmed``, ``revised``, or ``dropped`` (and why)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRecord:
    """One round of the engine; its own fields stand beside the three of ours."""

    type: ClassVar[str] = "round"
    reply: str
    epoch: int
    at_s: float
    fields: Mapping[str, Any] = field(default_factory=dict)
    """As the engine gives them: tokens, probabilities, counts, times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WordRecord:
    """A word of the reply and when it sounds."""

    text: str
    """The reply's own text from ``start`` to ``end``."""
    start: int
    end: int
    begin_sample: int
    """From the beginning of the record's sound."""
    end_sample: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechRecord:
    """Sound was made of a commit, or of a part of one."""

    type: ClassVar[str] = "speech"
    reply: str
    epoch: int
    at_s: float
    start: int
    end: int
    text: str
    """The reply's text from ``start`` to ``end``."""
    samples: int
    rate_hz: int
    words: tuple[WordRecord, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRecord:
    """A tool call passed the tool gate, or did not."""

    type: ClassVar[str] = "tool"
    reply: str
    at_s: float
    name: str
    outcome: str
    """``ran``, ``refused`` or ``failed``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TroubleRecord:
    """Something failed and was dealt with."""

    type: ClassVar[str] = "trouble"
    at_s: float
    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FiguresRecord:
    """Figures reported for an epoch that is over."""

    type: ClassVar[str] = "figures"
    reply: str
    epoch: int
    at_s: float
    churn: Mapping[str, Any] = field(default_factory=dict)
    """``ChurnFigures.to_object`` by stream protocol; the audit derives them again."""
    latencies: Mapping[str, Any] = field(default_factory=dict)
    """Milliseconds by name."""
    tokens: Mapping[str, Any] = field(default_factory=dict)
    """Counts by name, such as drafted, accepted, rejected."""


Record: TypeAlias = (
    Header
    | LedgerEvent
    | TurnRecord
    | RoundRecord
    | SpeechRecord
    | ToolRecord
    | TroubleRecord
    | FiguresRecord
)

_LEDGER_EVENTS: Mapping[str, type[LedgerEvent]] = {
    each.event_name(): each for each in get_args(LedgerEvent)
}
_RECORDS: Mapping[str, type[Record]] = {
    each.type: each
    for each in (Header, TurnRecord, SpeechRecord, ToolRecord, TroubleRecord, FiguresRecord)
}
_ROUND_OWN = ("type", "reply", "epoch", "at_s")


def encode(record: Record) -> str:
    """The record as one line, without its end."""
    if isinstance(record, Recorded):
        return to_line({"type": "ledger", "event": record.event_name(), **to_fields(record)})
    if isinstance(record, RoundRecord):
        own = {"type": "round", **to_fields(record)}
        del own["fields"]
        return to_line({**record.fields, **own})
    return to_line({"type": record.type, **to_fields(record)})


def decode(line: str | bytes) -> Record:
    """The record in one line; fields not understood are ignored.

    Raises:
        TraceError: the line is no record; the message does not know the line's number.
    """
    try:
        fields = parse_object(line, max_bytes=MAX_LINE_BYTES)
        return _record(fields)
    except CodecError as error:
        raise TraceError(str(error)) from error


def _record(fields: dict[str, Any]) -> Record:
    kind = fields.get("type")
    if kind == "ledger":
        event = _LEDGER_EVENTS.get(str(fields.get("event")))
        if event is None:
            raise CodecError(f"event is none of {', '.join(_LEDGER_EVENTS)}")
        return from_fields(event, fields)
    if kind == "round":
        rest = {name: value for name, value in fields.items() if name not in _ROUND_OWN}
        return from_fields(RoundRecord, {**fields, "fields": rest})
    if str(kind) not in _RECORDS:
        raise CodecError(f"type is none of ledger, round, {', '.join(_RECORDS)}")
    return from_fields(_RECORDS[str(kind)], fields)


def read(lines: Iterable[str | bytes]) -> Iterator[tuple[int, Record]]:
    """The records of a trace with their line numbers, from 1; the header comes first.

    Raises:
        TraceError: a line is no record, the first is no header of a version known here, or a later
            one is a header.
    """
    number = 0
    for number, line in enumerate(lines, start=1):
        try:
            record = decode(line)
        except TraceError as error:
            raise TraceError(f"line {number}: {error}") from error
        if isinstance(record, Header) is not (number == 1):
            expected = "a header is expected here" if number == 1 else "a header, but not at first"
            raise TraceError(f"line {number}: {expected}")
        if isinstance(record, Header) and record.version > VERSION:
            raise TraceError(f"line 1: version {record.version}; this program reads {VERSION}")
        yield number, record
    if number == 0:
        raise TraceError("line 1: the trace is empty; a header is expected here")
