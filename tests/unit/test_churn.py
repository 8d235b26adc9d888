"""Churn, erasure and the time that wrong text was visible, on streams counted by hand."""

import pytest

from voiceagent.core import frames as wire
from voiceagent.core.churn import ChurnFigures, ChurnMeter, churn
from voiceagent.core.events import Author, EndReason, RollbackCause, Turn, VoidCause
from voiceagent.core.frames import Frame, StreamProtocol, TextState

HEAD = {"reply": "r", "epoch": 0, "seq": 0}


def start(reply: str = "r") -> Frame:
    return wire.StartFrame(
        reply=reply,
        epoch=0,
        seq=0,
        protocol=StreamProtocol.TOKEN_PUSH,
        turn=Turn.EAGER,
        author=Author.MODEL,
    )


def append(at: int, text: str) -> Frame:
    return wire.AppendFrame(**HEAD, at=at, text=text, state=TextState.PROVISIONAL)


def rollback(to: int) -> Frame:
    return wire.RollbackFrame(**HEAD, to=to, cause=RollbackCause.DRAFT_REJECTED)


END = wire.EndFrame(**HEAD, at=0, reason=EndReason.STOP)
VOID = wire.VoidFrame(**HEAD, cause=VoidCause.SUPERSEDED)
VERIFY = wire.VerifyFrame(**HEAD, to=1)


def test_nothing_streamed_is_no_churn() -> None:
    """An empty reply was streamed perfectly."""
    figures = churn([start(), END])
    assert (figures.churn, figures.erasure, figures.edit_overhead) == (1.0, 0.0, 0.0)


def test_text_that_stays_has_churn_one() -> None:
    """Streamed is final."""
    figures = churn([start(), append(0, "Yes"), VERIFY, append(3, "."), END])
    assert (figures.streamed, figures.final, figures.churn) == (4, 4, 1.0)


def test_churn_erasure_and_overhead_of_a_rollback() -> None:
    """Six code points streamed, two of them taken back, four left."""
    figures = churn([start(), append(0, "Yesno"), rollback(3), append(3, "."), END])
    assert (figures.streamed, figures.erased, figures.final) == (6, 2, 4)
    assert figures.churn == 1.5
    assert figures.erasure == 0.5
    assert figures.edit_overhead == 0.5
    assert (figures.rollbacks, figures.voids) == (1, 0)


def test_bytes_are_those_of_utf_8() -> None:
    """A retracted é weighs two bytes, a thumb four."""
    figures = churn([start(), append(0, "aé👍"), rollback(1), END])
    assert (figures.streamed_bytes, figures.erased_bytes, figures.final_bytes) == (7, 6, 1)
    assert figures.erasure_bytes == 6.0


def test_all_text_withdrawn_has_no_ratio() -> None:
    """Nothing is left to compare with."""
    figures = churn([start(), append(0, "Yes"), VOID])
    assert (figures.churn, figures.erasure, figures.voids) == (None, None, 1)
    assert figures.to_object()["churn"] is None


def test_an_interrupted_reply_keeps_what_the_client_has() -> None:
    """The end's position says what counts, not what is shown."""
    assert churn([start(), append(0, "Yes"), END]).churn == 1.0


def test_wrong_text_is_visible_from_its_first_append_to_its_rollback() -> None:
    """The oldest of the retracted text decides, even where a rollback cuts an append in two."""
    frames = [start(), append(0, "Yes, it"), append(7, " is"), rollback(5), append(5, "no"), END]
    figures = churn(frames, times_s=[0.0, 1.0, 2.0, 2.5, 2.5, 3.0])
    assert figures.wrong_visible_s == 1.5
    frames = [start(), append(0, "Yes"), append(3, "x"), rollback(3), append(3, "y"), rollback(3)]
    figures = churn(frames, times_s=[0.0, 1.0, 2.0, 2.25, 3.0, 3.5])
    assert figures.wrong_visible_s == 0.75
    assert figures.wrong_visible_max_s == 0.5


def test_a_withdrawal_of_nothing_shows_nothing_wrong() -> None:
    """A void before any text was visible for no time."""
    assert churn([start(), VOID], times_s=[0.0, 5.0]).wrong_visible_s == 0.0


def test_every_frame_has_its_time() -> None:
    """Times and frames come in pairs."""
    with pytest.raises(ValueError, match="shorter"):
        churn([start(), END], times_s=[0.0])


def test_retractions_say_what_when_and_why() -> None:
    """Each one can be looked at by itself."""
    meter = ChurnMeter()
    for at_s, frame in enumerate([start(), append(0, "Yes, no"), rollback(5)]):
        meter.feed(frame, at_s=float(at_s))
    (retraction,) = meter.retractions()
    assert (retraction.at, retraction.text, retraction.visible_s) == (5, "no", 1.0)
    assert retraction.cause is RollbackCause.DRAFT_REJECTED
    assert (retraction.reply, retraction.epoch, retraction.at_s) == ("r", 0, 2.0)


def test_unfinished_replies_count_with_what_they_show() -> None:
    """Figures may be asked for at any time."""
    assert churn([start(), append(0, "Yes"), start("other")]).final == 3


def test_figures_of_two_streams_add_up() -> None:
    """Counts are summed; the longest time stays the longest."""
    one = ChurnFigures(streamed=3, final=2, wrong_visible_s=1.0, wrong_visible_max_s=1.0)
    two = ChurnFigures(streamed=1, final=2, wrong_visible_s=3.0, wrong_visible_max_s=2.0)
    both = one + two
    assert both.churn == 1.0
    assert (both.wrong_visible_s, both.wrong_visible_max_s) == (4.0, 2.0)


def test_the_object_has_counts_and_ratios() -> None:
    """What an end frame and a trace carry."""
    figures = ChurnFigures(streamed=4, final=3, erased=1, wrong_visible_s=1 / 3)
    assert figures.to_object() == {
        "streamed": 4,
        "final": 3,
        "erased": 1,
        "streamed_bytes": 0,
        "final_bytes": 0,
        "erased_bytes": 0,
        "rollbacks": 0,
        "voids": 0,
        "wrong_visible_s": 0.333333,
        "wrong_visible_max_s": 0.0,
        "churn": 1.333333,
        "erasure": 0.333333,
        "erasure_bytes": 0.0,
        "edit_overhead": 0.4,
    }
