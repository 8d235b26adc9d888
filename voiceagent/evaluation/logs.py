"""Recorded conversations: our own traces, and a stream log that any engine can write.

A stream log is JSON objects, one a line, in the order of what happened (docs/evaluation.md):

    {"type": "stream_log", "version": 1}
    {"reply": "r1", "at_s": 0.10, "event": "draft", "text": "It can"}
    {"reply": "r1", "at_s": 0.14, "event": "rollback", "to": 3}
    {"reply": "r1", "at_s": 0.14, "event": "draft", "text": "cannot"}
    {"reply": "r1", "at_s": 0.15, "event": "verify", "to": 9}
    {"reply": "r1", "at_s": 0.15, "event": "round", "drafted": 4, "accepted": 1}
    {"reply": "r1", "at_s": 0.20, "event": "finish"}

Positions count Unicode code points from the beginning of the reply; ``round`` lines are optional.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from voiceagent.core.codec import CodecError, parse_object
from voiceagent.core.events import (
    Author,
    Draft,
    EndReason,
    Finish,
    Recorded,
    Rollback,
    SourceEvent,
    Started,
    Verify,
    Voided,
)
from voiceagent.core.ledger import LedgerError
from voiceagent.core.trace import (
    MAX_LINE_BYTES,
    Record,
    RoundRecord,
    SpeechRecord,
    TraceError,
    read,
)
from voiceagent.evaluation.shown import Timed, ledger_events, source_events

LOG_TYPE = "stream_log"
VERSION = 1


def records_of(path: Path) -> list[Record]:
    """The records of a trace, or those that a stream log amounts to.

    Raises:
        TraceError: it is neither; the message names the line.
    """
    with path.open("rb") as lines:
        first = lines.readline()
        rest = lines.readlines()
    if _is_log(first):
        return list(_from_log(rest))
    return [record for _, record in read([first, *rest] if first else [])]


def _is_log(line: bytes) -> bool:
    try:
        fields = parse_object(line, max_bytes=MAX_LINE_BYTES)
    except CodecError:
        return False  # whatever it is, the reader of traces says what is wrong with it
    if fields.get("type") != LOG_TYPE:
        return False
    if fields.get("version") != VERSION:
        raise TraceError(f"line 1: a stream log of version {VERSION} is expected")
    return True


def _from_log(lines: Iterable[bytes]) -> Iterator[Record]:
    said: dict[str, list[Timed]] = {}
    rounds: list[RoundRecord] = []
    for number, line in enumerate(lines, start=2):
        try:
            fields = parse_object(line, max_bytes=MAX_LINE_BYTES)
            reply, at_s = str(fields["reply"]), float(fields["at_s"])
            if fields["event"] == "round":
                rounds.append(_round(reply, at_s, fields))
            else:
                said.setdefault(reply, []).append((at_s, _event(fields)))
        except (CodecError, KeyError, TypeError, ValueError) as error:
            raise TraceError(f"line {number}: no step of a stream log: {error}") from error
    for reply, events in said.items():
        try:
            yield from ledger_events(events, surface="voice", name=reply)
        except LedgerError as error:
            raise TraceError(f"reply {reply}: {error}") from error
    yield from rounds


def _event(fields: dict[str, Any]) -> SourceEvent:
    match fields["event"]:
        case "draft":
            return Draft(text=str(fields["text"]))
        case "verify":
            return Verify(to=int(fields["to"]))
        case "rollback":
            return Rollback(to=int(fields["to"]))
        case "finish":
            return Finish(reason=EndReason(fields.get("reason", "stop")))
    raise ValueError(f"event {fields['event']!r} is none of draft, verify, rollback, finish, round")


def _round(reply: str, at_s: float, fields: dict[str, Any]) -> RoundRecord:
    counts = {"drafted": [0] * int(fields["drafted"]), "accepted": int(fields["accepted"])}
    return RoundRecord(reply=reply, epoch=0, at_s=at_s, fields=counts)


def replies_of(records: Iterable[Record]) -> list[list[Timed]]:
    """What the engine said in each epoch that was not withdrawn; times since its start.

    Scripted replies are no work of the model and are left out.
    """
    epochs: dict[tuple[str, int], list[Recorded]] = {}
    left_out: set[tuple[str, int]] = set()
    for record in records:
        if not isinstance(record, Recorded):
            continue
        key = record.reply, record.epoch
        epochs.setdefault(key, []).append(record)
        scripted = isinstance(record, Started) and record.author is Author.SCRIPT
        if scripted or isinstance(record, Voided):
            left_out.add(key)
    return [_since_start(events) for key, events in epochs.items() if key not in left_out]


def _since_start(events: Sequence[Any]) -> list[Timed]:
    began_s = events[0].at_s
    return [(at_s - began_s, event) for at_s, event in source_events(events)]


def ms_per_character(records: Iterable[Record]) -> float | None:
    """How long a character sounded in the trace itself; None where nothing was spoken."""
    speeches = [each for each in records if isinstance(each, SpeechRecord)]
    characters = sum(len(each.text) for each in speeches)
    sound_ms = sum(1000 * each.samples / each.rate_hz for each in speeches)
    return sound_ms / characters if characters else None
