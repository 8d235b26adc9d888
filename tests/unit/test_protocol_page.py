"""The pages about streams and traces show what the program does."""

import json
import re
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

from voiceagent.core import trace
from voiceagent.core.audit import Lie
from voiceagent.core.client import Client, Violation
from voiceagent.core.events import LedgerEvent
from voiceagent.core.frames import FRAMES, StreamProtocol, from_json

ROOT = Path(__file__).parents[2]
STREAMS = (ROOT / "docs" / "stream-protocol.md").read_text(encoding="utf-8")
TRACES = (ROOT / "docs" / "trace.md").read_text(encoding="utf-8")
JAVASCRIPT = ROOT / "voiceagent" / "gateway" / "page" / "voiceagent-stream.js"
EXAMPLE = ROOT / "tests" / "vectors" / "streams" / "example.json"


def example(protocol: StreamProtocol) -> list[str]:
    """The lines of the example under the protocol's heading."""
    section = STREAMS.split(f"### {protocol}\n")[1]
    match = re.search(r"```json\n(.*?)\n```", section, re.DOTALL)
    assert match is not None
    return match[1].splitlines()


@pytest.mark.parametrize("protocol", StreamProtocol)
def test_the_examples_are_streams_of_ours(protocol: StreamProtocol) -> None:
    """Line by line what the program makes of the example's events."""
    vector = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    lines = example(protocol)
    assert [json.loads(line) for line in lines] == vector["streams"][protocol]["frames"]


@pytest.mark.parametrize("protocol", StreamProtocol)
def test_the_reference_client_takes_the_examples(protocol: StreamProtocol) -> None:
    """All three end with the same text."""
    client = Client()
    for line in example(protocol):
        client.apply(from_json(line))
    assert client.text == "Yes, about two miles."


def row(page: str, name: str) -> str:
    match = re.search(rf"^\| `{name}` \|.*$", page, re.MULTILINE)
    assert match is not None, name
    return match[0]


@pytest.mark.parametrize("name", list(FRAMES))
def test_every_frame_has_its_row_with_all_its_fields(name: str) -> None:
    """No frame and no field is left out."""
    described = row(STREAMS, name)
    for each in fields(FRAMES[name]):
        if each.name not in ("reply", "epoch", "seq"):
            assert f"`{each.metadata.get('wire', each.name)}`" in described


@pytest.mark.parametrize("code", ["malformed", *Violation])
def test_every_code_of_a_refusal_has_its_row(code: str) -> None:
    """In the page, and in the JavaScript client."""
    assert re.search(rf"^\| .*`{code}`.* \|", STREAMS, re.MULTILINE)
    assert re.search(rf"^  {code}: ", JAVASCRIPT.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("event", get_args(LedgerEvent), ids=lambda event: event.__name__)
def test_every_ledger_event_has_its_row_with_all_its_fields(event: type[LedgerEvent]) -> None:
    """The same for the events in a trace."""
    described = row(TRACES, event.event_name())
    for each in fields(event):
        if each.name not in ("reply", "epoch", "at_s"):
            assert f"`{each.name}`" in described


@pytest.mark.parametrize(
    "record",
    [
        trace.Header,
        trace.TurnRecord,
        trace.RoundRecord,
        trace.SpeechRecord,
        trace.ToolRecord,
        trace.TroubleRecord,
        trace.FiguresRecord,
    ],
    ids=lambda record: record.type,
)
def test_every_record_has_its_row_with_all_its_fields(record: type[trace.Header]) -> None:
    """The same for the other records."""
    described = row(TRACES, record.type)
    for each in fields(record):
        if (record.type, each.name) != ("round", "fields"):
            assert f"`{each.name}`" in described


@pytest.mark.parametrize("lie", Lie)
def test_every_lie_has_its_row(lie: Lie) -> None:
    """Whoever is told of one can look it up."""
    assert row(TRACES, lie)


def test_the_example_of_a_trace_is_one() -> None:
    """Every line of it is a record."""
    match = re.search(r"```json\n(.*?)\n```", TRACES, re.DOTALL)
    assert match is not None
    assert len(list(trace.read(match[1].splitlines()))) > 5
