"""Spans of a reply by state, as a screen shows them."""

from conversations import Talk

from voiceagent.core.display import LINGER_S, Display, Span, SpanState
from voiceagent.core.ledger import (
    Author,
    Draft,
    EndReason,
    LedgerEvent,
    Rollback,
    Turn,
    Verify,
    VoidCause,
)


def shown(talk: Talk) -> Display:
    display = Display()
    for event in talk.events:
        display.feed(event)
    return display


def at(event: LedgerEvent, *, later_s: float = 0.0) -> float:
    return event.at_s + later_s


def test_every_state_has_its_span() -> None:
    """Heard, committed, verified and provisional text follow one another."""
    talk = Talk()
    reply = talk.open("r")
    talk.say(reply, Draft(text="abcd"), Verify(to=3))
    talk.commit(reply, 2)
    talk.do(reply, "synthesize", 2)
    talk.do(reply, "release", 2)
    talk.do(reply, "hear", 1)
    assert shown(talk).spans(now_s=99.0) == [
        Span("a", SpanState.HEARD),
        Span("b", SpanState.COMMITTED),
        Span("c", SpanState.VERIFIED),
        Span("d", SpanState.PROVISIONAL),
    ]


def test_retracted_text_stands_before_what_replaced_it_for_a_moment() -> None:
    """Struck through in its place, then gone."""
    talk = Talk()
    reply = talk.open("r")
    talk.say(reply, Draft(text="Yes, may"), Verify(to=5), Rollback(to=5), Draft(text="no."))
    display, rolled_back = shown(talk), talk.events[-2]
    spans = display.spans(now_s=at(rolled_back))
    assert spans == [
        Span("Yes, ", SpanState.VERIFIED),
        Span("may", SpanState.RETRACTED),
        Span("no.", SpanState.PROVISIONAL),
    ]
    assert len(display.spans(now_s=at(rolled_back, later_s=LINGER_S))) == 2


def test_retracted_text_at_the_end_is_shown_too() -> None:
    """Nothing has replaced it yet."""
    talk = Talk()
    reply = talk.open("r")
    talk.say(reply, Draft(text="Yes"), Rollback(to=2))
    spans = shown(talk).spans(now_s=at(talk.events[-1]))
    assert spans[-1] == Span("s", SpanState.RETRACTED)


def test_a_deeper_retraction_takes_the_shallower_with_it() -> None:
    """What stood behind the cut is not shown twice."""
    talk = Talk()
    reply = talk.open("r")
    talk.say(
        reply,
        Draft(text="abcd"),
        Rollback(to=1),
        Draft(text="xyz"),
        Rollback(to=3),
        Draft(text="w"),
        Rollback(to=2),
    )
    spans = shown(talk).spans(now_s=at(talk.events[-1]))
    assert [span.text for span in spans] == ["a", "bcd", "x", "yw"]


def test_a_withdrawn_epoch_shows_what_it_was_for_a_moment() -> None:
    """All of it struck through, then nothing."""
    talk = Talk()
    reply = talk.open("r", turn=Turn.EAGER)
    talk.say(reply, Draft(text="No."), Verify(to=3))
    talk.do(reply, "void", VoidCause.SUPERSEDED)
    display = shown(talk)
    assert display.over
    assert display.spans(now_s=at(talk.events[-1])) == [Span("No.", SpanState.RETRACTED)]
    assert display.spans(now_s=99.0) == []


def test_a_retraction_of_nothing_shows_nothing() -> None:
    """A withdrawal before any text leaves no span."""
    talk = Talk()
    reply = talk.open("r", turn=Turn.EAGER)
    talk.do(reply, "void", VoidCause.SUPERSEDED)
    assert shown(talk).spans(now_s=0.0) == []


def test_turn_author_and_end_are_known() -> None:
    """What a screen may want to say beside the text."""
    talk = Talk()
    reply = talk.open("r", turn=Turn.EAGER, author=Author.SCRIPT)
    display = shown(talk)
    assert (display.turn, display.author, display.over) == (Turn.EAGER, Author.SCRIPT, False)
    talk.do(reply, "confirm")
    talk.do(reply, "pause")
    talk.do(reply, "end", EndReason.CANCELLED)
    display = shown(talk)
    assert (display.turn, display.over) == (Turn.CONFIRMED, True)
