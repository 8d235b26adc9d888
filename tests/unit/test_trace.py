"""Traces: every record there and back, headers, versions, broken lines by number."""

import json
from typing import Any

import pytest
from conversations import good_trace

from voiceagent.core.events import Heard
from voiceagent.core.trace import (
    VERSION,
    Header,
    Record,
    RoundRecord,
    ToolRecord,
    TraceError,
    decode,
    encode,
    read,
)

HEADER = encode(Header(preset="tiny"))


@pytest.mark.parametrize(
    "record", [*good_trace(), ToolRecord(reply="r", at_s=1.0, name="n", outcome="ran")]
)
def test_records_come_back_as_they_went(record: Record) -> None:
    """Every kind of record survives its line."""
    assert decode(encode(record)) == record
    assert "\n" not in encode(record)


def test_ledger_events_name_themselves() -> None:
    """The event's name stands beside the type."""
    line = json.loads(encode(Heard(reply="r", epoch=1, at_s=0.5, to=3)))
    assert line == {
        "type": "ledger",
        "event": "heard",
        "reply": "r",
        "epoch": 1,
        "at_s": 0.5,
        "to": 3,
    }


def test_rounds_keep_the_fields_of_the_engine() -> None:
    """They stand beside ours, which they cannot overwrite."""
    record = RoundRecord(reply="r", epoch=0, at_s=1.0, fields={"drafted": [1, 2], "reply": "x"})
    line = json.loads(encode(record))
    assert (line["type"], line["reply"], line["drafted"]) == ("round", "r", [1, 2])
    decoded = decode(encode(record))
    assert isinstance(decoded, RoundRecord)
    assert decoded.fields == {"drafted": [1, 2]}


@pytest.mark.parametrize(
    ("line", "saying"),
    [
        ("{}", "type is none of ledger, round, header"),
        ('{"type":"dance"}', "type is none of"),
        ('{"type":"ledger","event":"dance"}', "event is none of started"),
        ('{"type":"ledger","event":"heard","reply":"r","epoch":0,"at_s":0}', "to is missing"),
        ('{"type":"round","reply":"r","epoch":0}', "at_s is missing"),
        ("", "not JSON"),
    ],
)
def test_what_is_no_record_is_refused(line: str, saying: str) -> None:
    """The message says what is wrong with the line."""
    with pytest.raises(TraceError, match=saying):
        decode(line)


def test_records_are_read_with_their_line_numbers() -> None:
    """Counted from 1, the header's."""
    lines = [encode(record) + "\n" for record in good_trace()]
    assert [number for number, _ in read(lines)] == list(range(1, len(lines) + 1))


@pytest.mark.parametrize(
    ("lines", "saying"),
    [
        ([], "line 1: the trace is empty"),
        (['{"type":"trouble","at_s":0,"line":"x"}'], "line 1: a header is expected here"),
        ([HEADER, HEADER], "line 2: a header, but not at first"),
        ([HEADER, HEADER[:20]], "line 2: not JSON"),
        ([HEADER, ""], "line 2: not JSON"),
        ([HEADER, b"\xff"], "line 2: not Unicode"),
    ],
)
def test_broken_traces_are_refused_by_line(lines: list[Any], saying: str) -> None:
    """A line that was cut off, is no JSON, or is no header where one belongs."""
    with pytest.raises(TraceError, match=saying):
        list(read(lines))


def test_a_trace_of_a_later_version_is_refused() -> None:
    """This program cannot say whether it lies."""
    later = encode(Header(preset="tiny", version=VERSION + 1))
    with pytest.raises(TraceError, match=f"version {VERSION + 1}; this program reads {VERSION}"):
        list(read([later]))
