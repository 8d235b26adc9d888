"""The three stream protocols: which frames each of them makes of the same ledger events."""

import pytest
from conversations import Talk, answer, barge_in, good_trace

from voiceagent.core import frames as wire
from voiceagent.core.events import Recorded
from voiceagent.core.frames import Frame
from voiceagent.core.ledger import (
    Draft,
    EndReason,
    Finish,
    LedgerEvent,
    Rollback,
    Turn,
    Verify,
    VoidCause,
)
from voiceagent.core.streams import Client, Stream, StreamError, StreamProtocol

GATED = [StreamProtocol.ACCEPT_THEN_FLUSH, StreamProtocol.BOUNDARY_COMMIT]


def frames_of(events: list[LedgerEvent], protocol: StreamProtocol) -> list[Frame]:
    stream = Stream(protocol)
    for event in events:
        stream.feed(event)
    return stream.frames()


def names(frames: list[Frame]) -> list[str]:
    return [frame.type for frame in frames]


def eager_talk() -> Talk:
    """Drafted, partly rejected, verified, committed, and only then confirmed; heard to its end."""
    talk = Talk()
    reply = talk.open("r", turn=Turn.EAGER)
    talk.say(reply, Draft(text="Yes. Mayb"), Verify(to=5), Rollback(to=5), Draft(text="No."))
    talk.commit(reply, 5)
    talk.do(reply, "confirm")
    talk.say(reply, Verify(to=8), Finish())
    talk.commit(reply, 8)
    talk.do(reply, "synthesize", 8)
    talk.do(reply, "release", 8)
    talk.do(reply, "hear", 8)
    talk.do(reply, "end", EndReason.STOP)
    return talk


def test_token_push_shows_everything_as_it_happens() -> None:
    """Provisional text of an eager turn too, with its rollback and its confirmation."""
    frames = frames_of(eager_talk().events, StreamProtocol.TOKEN_PUSH)
    assert names(frames) == [
        "start",
        "append",
        "verify",
        "rollback",
        "append",
        "commit",
        "confirm",
        "verify",
        "commit",
        "heard",
        "end",
    ]
    assert isinstance(frames[0], wire.StartFrame)
    assert frames[0].turn is Turn.EAGER


def test_accept_then_flush_waits_for_the_turn_and_then_for_verification() -> None:
    """Its start comes at confirmation, with all that was verified before."""
    frames = frames_of(eager_talk().events, StreamProtocol.ACCEPT_THEN_FLUSH)
    assert names(frames) == ["start", "append", "commit", "append", "commit", "heard", "end"]
    texts = [frame.text for frame in frames if isinstance(frame, wire.AppendFrame)]
    assert texts == ["Yes. ", "No."]
    assert isinstance(frames[0], wire.StartFrame)
    assert frames[0].turn is Turn.CONFIRMED


def test_boundary_commit_sends_whole_commits() -> None:
    """Each commit's text comes with its commit, and nothing else does."""
    talk = Talk()
    reply = talk.open("r")
    talk.say(reply, Draft(text="Yes. No."), Verify(to=7))
    assert names(frames_of(talk.events, StreamProtocol.BOUNDARY_COMMIT)) == ["start"]
    talk.commit(reply, 5)
    assert names(frames_of(talk.events, StreamProtocol.BOUNDARY_COMMIT)) == [
        "start",
        "append",
        "commit",
    ]


@pytest.mark.parametrize("protocol", GATED)
def test_gated_streams_see_nothing_of_a_withdrawn_epoch(protocol: StreamProtocol) -> None:
    """Not even its start."""
    talk = Talk()
    reply = talk.open("r", turn=Turn.EAGER)
    talk.say(reply, Draft(text="No."), Verify(to=3))
    talk.do(reply, "void", VoidCause.SUPERSEDED)
    assert frames_of(talk.events, protocol) == []


@pytest.mark.parametrize("protocol", GATED)
def test_gated_streams_see_nothing_of_a_reply_cancelled_before_its_turn(
    protocol: StreamProtocol,
) -> None:
    """It ended, and nobody knew that it had begun."""
    talk = Talk()
    reply = talk.open("r", turn=Turn.EAGER)
    talk.do(reply, "end", EndReason.CANCELLED)
    assert frames_of(talk.events, protocol) == []


@pytest.mark.parametrize("protocol", StreamProtocol)
def test_the_client_ends_with_the_text_of_the_ledger(protocol: StreamProtocol) -> None:
    """Applied to the frames of each protocol, the reference client arrives at the same replies."""
    events = [record for record in good_trace() if isinstance(record, Recorded)]
    client = Client()
    frames = frames_of(events, protocol)
    for frame in frames:
        client.apply(frame)
    assert [frame.seq for frame in frames] == list(range(len(frames)))
    assert client.views["r1"].text == "<think>é</think>Yes, it is. Two miles."
    assert client.views["r1"].heard == 38
    assert client.views["r2"].end == 8
    assert client.views["greeting"].reason is EndReason.STOP


def test_an_interrupted_reply_ends_within_what_the_client_was_sent() -> None:
    """A boundary client that got less text than was verified is told an end that it has."""
    talk = Talk()
    reply = talk.open("r")
    talk.say(reply, Draft(text="Yes. No"), Verify(to=7))
    talk.commit(reply, 5)
    talk.do(reply, "end", EndReason.CANCELLED)
    end = frames_of(talk.events, StreamProtocol.BOUNDARY_COMMIT)[-1]
    assert isinstance(end, wire.EndFrame)
    assert (end.at, end.reason) == (5, EndReason.CANCELLED)


def test_the_end_carries_usage_and_churn() -> None:
    """What the engine counted and what this stream did to its client."""
    stream = Stream(StreamProtocol.TOKEN_PUSH)
    *events, ended = eager_talk().events
    for event in events:
        stream.feed(event)
    stream.report_usage({"completion_tokens": 3}, reply="r")
    stream.feed(ended)
    end = stream.frames()[-1]
    assert isinstance(end, wire.EndFrame)
    assert end.usage == {"completion_tokens": 3}
    assert end.statistics["churn"] == 1.5
    assert stream.figures().churn == 1.5
    assert stream.frames() == []


def test_the_epochs_of_a_reply_are_measured_together() -> None:
    """What was withdrawn counts against the reply that replaced it."""
    talk = Talk()
    answer(talk)
    end = frames_of(talk.events, StreamProtocol.TOKEN_PUSH)[-1]
    assert isinstance(end, wire.EndFrame)
    assert (end.statistics["voids"], end.statistics["rollbacks"]) == (1, 1)
    assert end.statistics["erased"] == 4


def test_a_reply_withdrawn_for_good_counts_in_the_total() -> None:
    """Nothing of it is kept but its figures."""
    talk = Talk()
    wrong = talk.open("r", turn=Turn.EAGER)
    talk.say(wrong, Draft(text="No."))
    talk.do(wrong, "void", VoidCause.SUPERSEDED)
    barge_in(talk)
    stream = Stream(StreamProtocol.TOKEN_PUSH)
    for event in talk.events:
        stream.feed(event)
    assert stream.figures().voids == 1
    assert stream.figures().erased == 4


@pytest.mark.parametrize("protocol", StreamProtocol)
def test_tool_calls_wait_for_the_turn(protocol: StreamProtocol) -> None:
    """Display and action are two things: no tool before the turn is confirmed."""
    stream = Stream(protocol)
    talk = Talk()
    reply = talk.open("r", turn=Turn.EAGER)
    stream.feed(talk.events[0])
    with pytest.raises(StreamError, match="before its turn is confirmed"):
        stream.call_tool("weather", {}, call_id="c", reply="r", at_s=1.0)
    talk.do(reply, "confirm")
    stream.feed(talk.events[-1])
    stream.call_tool("weather", {"city": "Bonn"}, call_id="c", reply="r", at_s=1.0)
    tool = stream.frames()[-1]
    assert isinstance(tool, wire.ToolFrame)
    assert tool.arguments == {"city": "Bonn"}


def test_a_failure_is_told_and_the_reply_still_ends() -> None:
    """An error frame is no end."""
    stream = Stream(StreamProtocol.TOKEN_PUSH)
    talk = Talk()
    talk.open("r")
    stream.feed(talk.events[0])
    stream.fail("engine", "The engine is gone.", reply="r", at_s=1.0)
    assert names(stream.frames()) == ["start", "error"]


def test_events_of_another_epoch_are_refused() -> None:
    """A stream knows what it carries: no reply twice at once, none that has not started."""
    stream = Stream(StreamProtocol.TOKEN_PUSH)
    talk, other = Talk(), Talk()
    talk.open("r")
    other.do(other.open("r", epoch=1), "pause")
    with pytest.raises(StreamError, match="not under way"):
        stream.report_usage({}, reply="r")
    stream.feed(talk.events[0])
    with pytest.raises(StreamError, match="is not over"):
        stream.feed(talk.events[0])
    with pytest.raises(StreamError, match="epoch 1 is not under way"):
        stream.feed(other.events[-1])
