"""The vectors in tests/vectors/streams, by which another implementation can be checked too.

Each file has ledger events and, by protocol, the frames that follow from them and what a client
shows at the end. ``illegal.json`` has streams whose last frame, and no earlier one, is illegal,
with the code of the rule it breaks; ``malformed.json`` has messages that are no frames at all.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from voiceagent.core.client import Client, IllegalStream, Violation
from voiceagent.core.events import Recorded
from voiceagent.core.frames import FrameError, StreamProtocol, from_json
from voiceagent.core.streams import Stream
from voiceagent.core.trace import decode

FOLDER = Path(__file__).parents[1] / "vectors" / "streams"
LEGAL = sorted(path.stem for path in FOLDER.glob("*.json"))
LEGAL = [name for name in LEGAL if name not in ("illegal", "malformed")]


def load(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("protocol", StreamProtocol)
@pytest.mark.parametrize("name", LEGAL)
def test_events_become_the_frames_of_the_vector(name: str, protocol: StreamProtocol) -> None:
    """Every protocol makes exactly these frames of these events."""
    vector = load(name)
    stream = Stream(protocol)
    for fields in vector["events"]:
        event = decode(json.dumps(fields))
        assert isinstance(event, Recorded)
        stream.feed(event)
    frames = [json.loads(frame.to_json()) for frame in stream.frames()]
    assert frames == vector["streams"][protocol]["frames"]


@pytest.mark.parametrize("protocol", StreamProtocol)
@pytest.mark.parametrize("name", LEGAL)
def test_frames_leave_on_the_screen_what_the_vector_says(
    name: str, protocol: StreamProtocol
) -> None:
    """The reference client takes every frame and shows this in the end."""
    stream = load(name)["streams"][protocol]
    client = Client()
    for fields in stream["frames"]:
        client.apply(from_json(json.dumps(fields)))
    shown = {
        view.reply: {
            "epoch": view.epoch,
            "text": view.text,
            "verified": view.verified,
            "committed": view.committed,
            "heard": view.heard,
            "end": view.end,
        }
        for view in client.views.values()
    }
    assert shown == stream["shown"]


@pytest.mark.parametrize("vector", load("illegal"), ids=lambda vector: vector["name"])
def test_illegal_streams_are_refused_at_their_last_frame(vector: dict[str, Any]) -> None:
    """And at no earlier one, by the rule that it breaks."""
    *legal, last = [from_json(json.dumps(fields)) for fields in vector["frames"]]
    client = Client()
    for frame in legal:
        client.apply(frame)
    with pytest.raises(IllegalStream) as refused:
        client.apply(last)
    assert refused.value.code == vector["code"]


def test_every_rule_has_an_illegal_stream() -> None:
    """So that another implementation is asked about each."""
    assert {vector["code"] for vector in load("illegal")} == set(Violation)


@pytest.mark.parametrize("vector", load("malformed"), ids=lambda vector: vector["name"])
def test_malformed_messages_are_refused(vector: dict[str, Any]) -> None:
    """Before any client sees them."""
    with pytest.raises(FrameError):
        from_json(vector["message"])
