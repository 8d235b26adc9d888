"""Any legal reply, in every protocol: the client ends with its text, and gates never retract."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_runs import Run, runs

from voiceagent.core import frames as wire
from voiceagent.core.churn import churn
from voiceagent.core.events import Committed, Ended, Started
from voiceagent.core.frames import Frame, StreamProtocol, TextState, from_json
from voiceagent.core.ledger import Author, Draft, EndReason, Ledger, Rollback, Turn, Verify
from voiceagent.core.streams import Client, IllegalStream, Stream

GATED = [StreamProtocol.ACCEPT_THEN_FLUSH, StreamProtocol.BOUNDARY_COMMIT]
STEADY = settings(deadline=None)  # a busy machine is no failure
PROTOCOLS = st.sampled_from(StreamProtocol)


def streamed(run: Run, protocol: StreamProtocol) -> list[Frame]:
    stream = Stream(protocol)
    for event in run.events:
        stream.feed(event)
    return stream.frames()


def apply_all(frames: list[Frame]) -> Client:
    client = Client()
    for frame in frames:
        client.apply(frame)
    return client


def committed_text(run: Run) -> str:
    return "".join(
        event.text
        for event in run.events
        if isinstance(event, Committed) and event.epoch == run.epoch
    )


@STEADY
@given(run=runs(), protocol=PROTOCOLS)
def test_a_client_ends_with_the_text_of_the_reply(run: Run, protocol: StreamProtocol) -> None:
    """Every frame is legal, and the text is what the ledger verified (or committed)."""
    frames = streamed(run, protocol)
    client = apply_all(frames)
    ledger = run.ledger
    if not frames:
        # Nothing of a turn that was never confirmed reaches a client that cannot retract.
        assert protocol in GATED
        assert ledger.turn is Turn.EAGER
        return
    whole = protocol is not StreamProtocol.BOUNDARY_COMMIT
    assert client.text == (ledger.text if whole else committed_text(run))
    assert client.committed == ledger.committed
    assert client.heard == ledger.heard
    ended = run.events[-1]
    assert isinstance(ended, Ended)
    assert client.views["r"].end == min(ended.at, len(client.text))


@STEADY
@given(run=runs(), protocol=st.sampled_from(GATED))
def test_gated_protocols_have_churn_of_exactly_one(run: Run, protocol: StreamProtocol) -> None:
    """No rollback, no void, no provisional text, no wrong text for any time."""
    frames = streamed(run, protocol)
    for frame in frames:
        assert not isinstance(frame, wire.RollbackFrame | wire.VoidFrame)
        if isinstance(frame, wire.AppendFrame):
            assert frame.state is TextState.VERIFIED
        if isinstance(frame, wire.StartFrame):
            assert frame.turn is Turn.CONFIRMED
    figures = churn(frames)
    assert (figures.churn, figures.erasure, figures.erasure_bytes) == (1.0, 0.0, 0.0)


@STEADY
@given(run=runs())
def test_what_was_streamed_was_kept_or_erased(run: Run) -> None:
    """In code points and in bytes, nothing appears and nothing vanishes."""
    figures = churn(streamed(run, StreamProtocol.TOKEN_PUSH))
    assert figures.streamed == figures.final + figures.erased
    assert figures.streamed_bytes == figures.final_bytes + figures.erased_bytes
    assert figures.final == len(run.ledger.text)


@STEADY
@given(run=runs(), protocol=PROTOCOLS)
def test_frames_survive_the_wire(run: Run, protocol: StreamProtocol) -> None:
    """Encoded and decoded, a stream is the same stream, counted up by one."""
    frames = streamed(run, protocol)
    assert [from_json(frame.to_json()) for frame in frames] == frames
    assert [frame.seq for frame in frames] == list(range(len(frames)))


@STEADY
@given(run=runs(), protocol=PROTOCOLS)
def test_the_end_reports_the_churn_that_its_frames_had(run: Run, protocol: StreamProtocol) -> None:
    """A client can check the statistics that it is sent, but for the times."""
    frames = streamed(run, protocol)
    for end in frames:
        if isinstance(end, wire.EndFrame):
            derived = churn(frames).to_object()
            for name in derived.keys() - {"wrong_visible_s", "wrong_visible_max_s"}:
                assert end.statistics[name] == derived[name]


@STEADY
@given(run=runs(), protocol=PROTOCOLS, data=st.data())
def test_a_lost_doubled_or_swapped_frame_is_illegal(
    run: Run, protocol: StreamProtocol, data: st.DataObject
) -> None:
    """The sequence number tells."""
    frames = streamed(run, protocol)
    if len(frames) < 3:
        return
    at = data.draw(st.integers(0, len(frames) - 2))
    broken = data.draw(
        st.sampled_from(
            [
                frames[:at] + frames[at + 1 :],
                [*frames[: at + 1], *frames[at:]],
                [*frames[:at], frames[at + 1], frames[at], *frames[at + 2 :]],
            ]
        )
    )
    with pytest.raises(IllegalStream):
        apply_all(broken)


@STEADY
@given(run=runs(), protocols=st.lists(PROTOCOLS, min_size=2, max_size=4))
def test_subscribers_do_not_disturb_one_another(run: Run, protocols: list[StreamProtocol]) -> None:
    """One reply, several streams, each as if it were alone."""
    streams = [Stream(protocol) for protocol in protocols]
    for event in run.events:
        for stream in streams:
            stream.feed(event)
    for stream in streams:
        assert stream.frames() == streamed(run, stream.protocol)


@STEADY
@given(run=runs())
def test_starts_say_who_writes(run: Run) -> None:
    """The ledger's first event is the stream's first frame."""
    frames = streamed(run, StreamProtocol.TOKEN_PUSH)
    assert isinstance(run.events[0], Started)
    assert isinstance(frames[0], wire.StartFrame)
    assert frames[0].author is run.events[0].author


@pytest.mark.parametrize("acceptance", [0.6, 0.8, 0.9])
@pytest.mark.parametrize("window", [1, 2, 4, 8])
def test_churn_is_what_the_acceptance_rate_predicts(acceptance: float, window: int) -> None:
    """With each drafted token accepted alike, a round erases K - A and keeps A + 1 tokens.

    A is the sum of the first K powers of the rate (Leviathan et al. 2023, equation 1), so erasure
    is (K - A) / (A + 1) and churn one more. A token is one code point here.
    """
    chance = random.Random(7)
    ledger = Ledger(reply="r", epoch=0, turn=Turn.CONFIRMED, author=Author.MODEL, now_s=0.0)
    stream = Stream(StreamProtocol.TOKEN_PUSH)
    for _ in range(4000):
        taken = 0
        while taken < window and chance.random() < acceptance:
            taken += 1
        kept = ledger.verified + taken
        ledger.apply(Draft(text="d" * window), now_s=0.0)
        ledger.apply(Rollback(to=kept), now_s=0.0)
        ledger.apply(Draft(text="t"), now_s=0.0)
        ledger.apply(Verify(to=kept + 1), now_s=0.0)
    ledger.end(EndReason.CANCELLED, now_s=0.0)
    for event in ledger.events():
        stream.feed(event)
    mean = sum(acceptance**i for i in range(1, window + 1))
    predicted = (window - mean) / (mean + 1)
    figures = stream.figures()
    assert figures.erasure == pytest.approx(predicted, rel=0.06)
    assert figures.churn == pytest.approx(1 + predicted, rel=0.06)
