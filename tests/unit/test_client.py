"""The reference client: what legal frames do, and the name of every illegal one."""

from typing import Any

import pytest

from voiceagent.core import frames as wire
from voiceagent.core.client import Client, IllegalStream
from voiceagent.core.events import Author, EndReason, RollbackCause, Turn, VoidCause
from voiceagent.core.frames import Frame, StreamProtocol, TextState
from voiceagent.core.kinds import Kind

PUSH = StreamProtocol.TOKEN_PUSH
FLUSH = StreamProtocol.ACCEPT_THEN_FLUSH


class Feeder:
    """Feeds a client frames that count themselves."""

    def __init__(self, protocol: StreamProtocol = PUSH, *, turn: Turn = Turn.CONFIRMED) -> None:
        self.client = Client()
        self.protocol = protocol
        self.seq = 0
        self.start(turn=turn)

    def start(self, *, turn: Turn = Turn.CONFIRMED, **changes: Any) -> None:
        fields: dict[str, Any] = {"protocol": self.protocol, "turn": turn, "author": Author.MODEL}
        self.feed(wire.StartFrame, **fields | changes)

    def feed(self, form: type[Frame], **fields: Any) -> None:
        head = {"reply": "r", "epoch": 0, "seq": self.seq}
        self.client.apply(form(**head | fields))
        self.seq += 1

    def append(self, text: str, *, state: TextState = TextState.PROVISIONAL) -> None:
        self.feed(wire.AppendFrame, at=len(self.client.text), text=text, state=state)

    def refuses(self, saying: str, form: type[Frame], **fields: Any) -> None:
        before = repr(self.client.views)
        with pytest.raises(IllegalStream, match=saying):
            self.feed(form, **fields)
        assert repr(self.client.views) == before


def test_a_client_without_a_reply_shows_nothing() -> None:
    """Before the first start there is nothing to see."""
    client = Client()
    assert (client.text, client.verified, client.committed, client.heard) == ("", 0, 0, 0)


def test_a_token_push_stream_from_start_to_end() -> None:
    """Text appears, is taken back, is verified, committed, heard, and ends."""
    feeder = Feeder(turn=Turn.EAGER)
    feeder.append("Yes, may")
    feeder.feed(wire.VerifyFrame, to=4)
    feeder.feed(wire.RollbackFrame, to=5, cause=RollbackCause.DRAFT_REJECTED)
    feeder.append("no.")
    feeder.feed(wire.ConfirmFrame)
    feeder.feed(wire.VerifyFrame, to=8)
    feeder.feed(wire.CommitFrame, start=0, to=8, kind=Kind.END, segment=0)
    feeder.feed(wire.HeardFrame, to=4)
    feeder.feed(wire.ToolFrame, call_id="c", name="n", arguments={})
    feeder.feed(wire.ErrorFrame, code="c", message="m")
    client = feeder.client
    assert (client.text, client.verified, client.committed, client.heard) == ("Yes, no.", 8, 8, 4)
    feeder.feed(wire.EndFrame, at=4, reason=EndReason.INTERRUPTED)
    view = client.views["r"]
    assert (view.end, view.reason, view.over) == (4, EndReason.INTERRUPTED, True)


def test_a_withdrawn_epoch_leaves_nothing() -> None:
    """A void takes all text away, and a later epoch may start."""
    feeder = Feeder(turn=Turn.EAGER)
    feeder.append("Yes")
    feeder.feed(wire.VoidFrame, cause=VoidCause.TURN_REVISED)
    assert (feeder.client.text, feeder.client.views["r"].over) == ("", True)
    feeder.start(epoch=1)
    assert feeder.client.views["r"].epoch == 1


def test_a_verified_append_needs_no_verify() -> None:
    """Gated streams say in one frame what token push says in two."""
    feeder = Feeder(FLUSH)
    feeder.append("Yes.", state=TextState.VERIFIED)
    assert feeder.client.verified == 4


def test_frames_out_of_sequence_are_named() -> None:
    """A frame that was lost or doubled is noticed."""
    feeder = Feeder()
    feeder.refuses("seq is 5 where 1 follows", wire.ConfirmFrame, seq=5)


@pytest.mark.parametrize(
    ("changes", "saying"),
    [
        ({"unit": "byte"}, "unit is byte"),
        ({"protocol": FLUSH}, "the stream's protocol was token_push"),
        ({"epoch": 0}, "epoch 0 of the reply was not withdrawn"),
        ({"epoch": 1}, "epoch 0 of the reply was not withdrawn"),
    ],
)
def test_illegal_starts_are_named(changes: dict[str, Any], saying: str) -> None:
    """A reply starts once, in the stream's protocol, in code points."""
    with pytest.raises(IllegalStream, match=saying):
        Feeder().start(**changes)


def test_an_epoch_does_not_come_back() -> None:
    """After a void the next epoch has a higher number."""
    feeder = Feeder(turn=Turn.EAGER)
    feeder.feed(wire.VoidFrame, cause=VoidCause.SUPERSEDED)
    with pytest.raises(IllegalStream, match="was not withdrawn before"):
        feeder.start(epoch=0)


def test_gated_streams_start_confirmed_turns_only() -> None:
    """A client that cannot retract sees nothing of an unconfirmed turn."""
    with pytest.raises(IllegalStream, match="starts no unconfirmed turn"):
        Feeder(FLUSH, turn=Turn.EAGER)


@pytest.mark.parametrize(
    ("form", "fields"),
    [
        (wire.RollbackFrame, {"to": 0, "cause": RollbackCause.STOP}),
        (wire.VoidFrame, {"cause": VoidCause.SUPERSEDED}),
        (wire.AppendFrame, {"at": 0, "text": "x", "state": TextState.PROVISIONAL}),
    ],
)
def test_gated_streams_take_nothing_back(form: type[Frame], fields: dict[str, Any]) -> None:
    """No rollback, no void, no provisional text."""
    Feeder(FLUSH).refuses("accept_then_flush has none", form, **fields)


COMMIT = {"kind": Kind.END, "segment": 0}
REFUSED: list[tuple[type[Frame], dict[str, Any], str]] = [
    (wire.ConfirmFrame, {"reply": "other"}, "has not started"),
    (wire.ConfirmFrame, {"epoch": 1}, "has not started"),
    (wire.ConfirmFrame, {}, "confirmed already"),
    (wire.VoidFrame, {"cause": VoidCause.SUPERSEDED}, "turn is confirmed"),
    (wire.AppendFrame, {"at": 5, "text": "x", "state": TextState.PROVISIONAL}, "at is 5"),
    (wire.AppendFrame, {"at": 6, "text": "", "state": TextState.PROVISIONAL}, "no text"),
    (wire.AppendFrame, {"at": 6, "text": "x", "state": TextState.VERIFIED}, "provisional text"),
    (wire.VerifyFrame, {"to": 4}, "not past 4"),
    (wire.VerifyFrame, {"to": 7}, "within 6"),
    (wire.RollbackFrame, {"to": 3, "cause": RollbackCause.STOP}, "not from 4"),
    (wire.RollbackFrame, {"to": 6, "cause": RollbackCause.STOP}, "below 6"),
    (wire.CommitFrame, {"start": 1, "to": 4, **COMMIT}, "where 2 follows"),
    (wire.CommitFrame, {"start": 2, "to": 2, **COMMIT}, "not past 2"),
    (wire.CommitFrame, {"start": 2, "to": 5, **COMMIT}, "within 4"),
    (wire.HeardFrame, {"to": 1}, "not past 1"),
    (wire.HeardFrame, {"to": 3}, "within 2"),
    (wire.EndFrame, {"at": 6, "reason": EndReason.STOP}, "provisional text is left"),
]


@pytest.mark.parametrize(("form", "fields", "saying"), REFUSED)
def test_illegal_frames_are_named_and_change_nothing(
    form: type[Frame], fields: dict[str, Any], saying: str
) -> None:
    """Text of six code points, four verified, two committed, one heard: nothing else fits."""
    feeder = Feeder()
    feeder.append("abcdef")
    feeder.feed(wire.VerifyFrame, to=4)
    feeder.feed(wire.CommitFrame, start=0, to=2, **COMMIT)
    feeder.feed(wire.HeardFrame, to=1)
    feeder.refuses(saying, form, **fields)


@pytest.mark.parametrize("at", [0, 3])
def test_a_reply_ends_within_its_text_and_not_before_what_was_heard(at: int) -> None:
    """The end lies between the heard position and the end of the text."""
    feeder = Feeder(FLUSH)
    feeder.append("ab", state=TextState.VERIFIED)
    feeder.feed(wire.CommitFrame, start=0, to=2, **COMMIT)
    feeder.feed(wire.HeardFrame, to=1)
    feeder.refuses("at is", wire.EndFrame, at=at, reason=EndReason.STOP)


@pytest.mark.parametrize(
    ("form", "fields"),
    [(wire.HeardFrame, {"to": 1}), (wire.ToolFrame, {"call_id": "", "name": "", "arguments": {}})],
)
def test_nothing_irrevocable_happens_on_an_unconfirmed_turn(
    form: type[Frame], fields: dict[str, Any]
) -> None:
    """No sound and no tool before the turn is confirmed."""
    feeder = Feeder(turn=Turn.EAGER)
    feeder.append("ab", state=TextState.VERIFIED)
    feeder.feed(wire.CommitFrame, start=0, to=2, **COMMIT)
    feeder.refuses("turn is not confirmed", form, **fields)


def test_nothing_follows_the_end() -> None:
    """A reply that is over stays as it is."""
    feeder = Feeder()
    feeder.feed(wire.EndFrame, at=0, reason=EndReason.STOP)
    feeder.refuses("the epoch is over", wire.EndFrame, at=0, reason=EndReason.STOP)
