"""Frames on the wire: names, limits, and JSON there and back."""

import json

import pytest

from voiceagent.core import frames as wire
from voiceagent.core.errors import VoiceAgentError
from voiceagent.core.events import Author, EndReason, RollbackCause, Turn, VoidCause
from voiceagent.core.frames import Frame, FrameError, StreamProtocol, TextState, from_json
from voiceagent.core.kinds import Kind
from voiceagent.core.ledger import MAX_REPLY_CHARS

HEAD = {"reply": "r", "epoch": 0, "seq": 7}
FRAMES: list[Frame] = [
    wire.StartFrame(
        **HEAD, protocol=StreamProtocol.TOKEN_PUSH, turn=Turn.EAGER, author=Author.MODEL
    ),
    wire.ConfirmFrame(**HEAD),
    wire.VoidFrame(**HEAD, cause=VoidCause.SUPERSEDED),
    wire.AppendFrame(**HEAD, at=3, text="é\n", state=TextState.PROVISIONAL),
    wire.VerifyFrame(**HEAD, to=5),
    wire.RollbackFrame(**HEAD, to=4, cause=RollbackCause.STOP),
    wire.CommitFrame(**HEAD, start=0, to=5, kind=Kind.SENTENCE, segment=0),
    wire.HeardFrame(**HEAD, to=2),
    wire.ToolFrame(**HEAD, call_id="c1", name="weather", arguments={"city": "Köln"}),
    wire.EndFrame(**HEAD, at=5, reason=EndReason.STOP, usage={"n": 1}, statistics={"churn": 1.0}),
    wire.ErrorFrame(**HEAD, code="engine", message="The engine is gone."),
]


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: frame.type)
def test_frames_come_back_as_they_went(frame: Frame) -> None:
    """Every frame survives JSON, as text and as bytes."""
    assert from_json(frame.to_json()) == frame
    assert from_json(frame.to_json().encode()) == frame
    assert json.loads(frame.to_json())["type"] == frame.type


def test_every_frame_of_the_protocol_is_known() -> None:
    """The table of frames has each of them once, by its name on the wire."""
    assert [frame.type for frame in FRAMES] == list(wire.FRAMES)


def test_commit_spans_are_called_from_and_to() -> None:
    """The wire's ``from`` is a word that Python keeps for itself."""
    commit = json.loads(FRAMES[6].to_json())
    assert (commit["from"], commit["to"]) == (0, 5)
    assert "start" not in commit


@pytest.mark.parametrize(
    ("line", "saying"),
    [
        ("{}", "type is none of start"),
        ('{"type":"dance"}', "type is none of start"),
        ('{"type":["start"]}', "type is none of start"),
        ('{"type":"confirm","reply":"r","epoch":0}', "seq is missing"),
        ("nonsense", "not JSON"),
        ('{"type":"confirm","reply":"%s","epoch":0,"seq":0}' % ("r" * 257), "longer than 256"),
        (" " * (wire.MAX_FRAME_BYTES + 1), "larger than"),
    ],
)
def test_what_is_no_frame_is_refused_by_name(line: str, saying: str) -> None:
    """One kind of error, whatever is wrong, that says what it is."""
    with pytest.raises(FrameError, match=saying):
        from_json(line)
    assert issubclass(FrameError, VoiceAgentError)


def test_the_longest_reply_fits_into_one_frame() -> None:
    """Even if JSON escapes every code point of it."""
    text = "\x01" * MAX_REPLY_CHARS
    frame = wire.AppendFrame(**HEAD, at=0, text=text, state=TextState.VERIFIED)
    assert from_json(frame.to_json()) == frame


def test_only_token_push_retracts() -> None:
    """The two gated protocols never take anything back."""
    assert [protocol.retracts for protocol in StreamProtocol] == [True, False, False]
