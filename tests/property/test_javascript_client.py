"""The JavaScript client is the reference client: the same vectors, and any stream beside it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from javascript import JavaScriptClient, javascript_client
from ledger_runs import Run, runs

from voiceagent.core.client import Client, IllegalStream
from voiceagent.core.frames import FrameError, StreamProtocol, from_json
from voiceagent.core.streams import Stream

FOLDER = Path(__file__).parents[1] / "vectors" / "streams"
VECTORS = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*")}
ILLEGAL, MALFORMED = VECTORS.pop("illegal"), VECTORS.pop("malformed")
STEADY = settings(
    deadline=None,  # a busy machine is no failure
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture],  # a new client for each stream
)


@pytest.fixture(scope="module")
def javascript() -> Iterator[JavaScriptClient]:
    with javascript_client() as client:
        yield client


def lines(frames: list[dict[str, Any]]) -> list[str]:
    return [json.dumps(fields, ensure_ascii=False) for fields in frames]


def read(messages: list[str]) -> dict[str, Any]:
    """What the reference client makes of the messages, in the words of the JavaScript one."""
    client, refused = Client(), None
    for at, message in enumerate(messages):
        try:
            client.apply(from_json(message))
        except FrameError:
            refused = {"at": at, "code": "malformed"}
            break
        except IllegalStream as error:
            refused = {"at": at, "code": error.code}
            break
    names = ("epoch", "text", "verified", "committed", "heard", "end")
    shown = {
        reply: {name: getattr(view, name) for name in names} for reply, view in client.views.items()
    }
    return {"refused": refused, "shown": shown}


def agrees(answer: dict[str, Any], expected: dict[str, Any]) -> bool:
    return {name: answer[name] for name in expected} == expected


@pytest.mark.parametrize("protocol", StreamProtocol)
@pytest.mark.parametrize("name", sorted(VECTORS))
def test_legal_streams_are_shown_as_the_vectors_say(
    name: str, protocol: StreamProtocol, javascript: JavaScriptClient
) -> None:
    """Frame by frame, none refused."""
    stream = VECTORS[name]["streams"][protocol]
    answer = javascript.read(lines(stream["frames"]))
    assert (answer["refused"], answer["shown"]) == (None, stream["shown"])


@pytest.mark.parametrize("vector", ILLEGAL, ids=lambda vector: vector["name"])
def test_illegal_streams_are_refused_at_their_last_frame(
    vector: dict[str, Any], javascript: JavaScriptClient
) -> None:
    """By the same rule, and nothing changes."""
    *legal, _ = messages = lines(vector["frames"])
    answer = javascript.read(messages)
    assert answer == javascript.read(legal) | {"refused": answer["refused"]}
    assert answer["refused"] == {"at": len(legal), "code": vector["code"]}


@pytest.mark.parametrize("vector", MALFORMED, ids=lambda vector: vector["name"])
def test_malformed_messages_are_refused(
    vector: dict[str, Any], javascript: JavaScriptClient
) -> None:
    """What is no frame here is none there."""
    assert javascript.read([vector["message"]])["refused"] == {"at": 0, "code": "malformed"}


def test_a_message_may_be_as_large_as_the_limit_and_no_larger(javascript: JavaScriptClient) -> None:
    """Counted in bytes of UTF-8."""
    start = VECTORS["example"]["streams"]["token_push"]["frames"][0]
    spare = (1 << 20) - len(json.dumps(start | {"x": ""}))
    fits = json.dumps(start | {"x": "é" * (spare // 2)}, ensure_ascii=False)
    over = json.dumps(start | {"x": "é" * (spare // 2 + 1)}, ensure_ascii=False)
    assert [javascript.read([each])["refused"] for each in (fits, over)] == [
        None,
        {"at": 0, "code": "malformed"},
    ]


def test_states_commits_and_tools_can_be_read_in_the_middle(javascript: JavaScriptClient) -> None:
    """Text in pieces of one state each, positions in code points."""
    head = {"reply": "r", "epoch": 0}
    start = VECTORS["example"]["streams"]["token_push"]["frames"][0]
    frames = [
        start | head | {"turn": "confirmed"},
        {"type": "append", "at": 0, "text": "👍🏽 yes. Go", "state": "provisional"},
        {"type": "verify", "to": 9},
        {"type": "commit", "from": 0, "to": 7, "kind": "sentence", "segment": 0},
        {"type": "heard", "to": 2},
        {"type": "tool", "call_id": "c", "name": "n", "arguments": {"a": 1}},
    ]
    frames = [frame | head | {"seq": seq} for seq, frame in enumerate(frames)]
    answer = javascript.read(lines(frames))
    assert answer["states"] == [
        {"state": "heard", "from": 0, "to": 2, "text": "👍🏽"},
        {"state": "committed", "from": 2, "to": 7, "text": " yes."},
        {"state": "verified", "from": 7, "to": 9, "text": " G"},
        {"state": "provisional", "from": 9, "to": 10, "text": "o"},
    ]
    assert answer["watermarks"] == {"heard": 2, "committed": 7, "verified": 9, "provisional": 10}
    assert (answer["commits"], answer["tools"]) == ([frames[3]], [frames[5]])
    assert (answer["text"], answer["ended"]) == ("👍🏽 yes. Go", False)


@STEADY
@given(run=runs(), protocol=st.sampled_from(StreamProtocol), data=st.data())
def test_any_stream_is_read_alike(
    javascript: JavaScriptClient, run: Run, protocol: StreamProtocol, data: st.DataObject
) -> None:
    """Legal ones, and ones in which a number was changed: the same text, the same refusal."""
    stream = Stream(protocol)
    for event in run.events:
        stream.feed(event)
    frames = [json.loads(frame.to_json()) for frame in stream.frames()]
    assert agrees(javascript.read(lines(frames)), read(lines(frames)))
    if frames:
        frame = data.draw(st.sampled_from(frames))
        field = data.draw(st.sampled_from([key for key in frame if isinstance(frame[key], int)]))
        frame[field] += data.draw(st.sampled_from([-2, -1, 1, 2]))
        assert agrees(javascript.read(lines(frames)), read(lines(frames)))
