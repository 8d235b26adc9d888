"""A reply joins ledger and committer: verified text becomes commits in the same step."""

import pytest

from voiceagent.core.committer import Policy
from voiceagent.core.ledger import (
    Author,
    Committed,
    Draft,
    EndReason,
    Finish,
    LedgerError,
    Rollback,
    Turn,
    Verify,
)
from voiceagent.core.reply import Reply

TEXT = "It is near. You can walk."


def make_reply(*, policy: Policy | None = None) -> Reply:
    policy = Policy.sentences() if policy is None else policy
    return Reply(reply="r", epoch=0, turn=Turn.CONFIRMED, now_s=0.0, policy=policy)


def texts(reply: Reply) -> list[str]:
    return [commit.text for commit in reply.commits()]


def test_verified_text_is_committed_at_boundaries() -> None:
    """Provisional text never is, and what proves a boundary is verified too."""
    reply = make_reply()
    reply.apply(Draft(text=TEXT), now_s=0.1)
    assert texts(reply) == []
    reply.apply(Verify(to=11), now_s=0.2)
    assert texts(reply) == []
    reply.apply(Verify(to=len(TEXT)), now_s=0.3)
    assert texts(reply) == ["It is near."]
    assert reply.ledger.committed == 11
    reply.apply(Finish(), now_s=0.4)
    assert texts(reply) == [" You can walk."]
    spans = [(e.start, e.end) for e in reply.events() if isinstance(e, Committed)]
    assert spans == [(0, 11), (11, 25)]


def test_a_rolled_back_boundary_was_never_one() -> None:
    """A draft that is rejected leaves no commit."""
    reply = make_reply()
    reply.apply(Draft(text="It is 3. The"), now_s=0.1)
    reply.apply(Verify(to=8), now_s=0.2)
    reply.apply(Rollback(to=8), now_s=0.3)
    reply.apply(Draft(text="14 miles."), now_s=0.4)
    reply.apply(Verify(to=17), now_s=0.5)
    reply.apply(Finish(), now_s=0.6)
    assert texts(reply) == ["It is 3.14 miles."]


@pytest.mark.parametrize("reason", [EndReason.CANCELLED, EndReason.ERROR])
def test_the_tail_of_a_reply_cut_short_is_no_segment(reason: EndReason) -> None:
    """Half a sentence is not spoken because its source died."""
    reply = make_reply()
    reply.apply(Draft(text=TEXT), now_s=0.1)
    reply.apply(Verify(to=len(TEXT)), now_s=0.1)
    reply.apply(Finish(reason=reason), now_s=0.2)
    assert texts(reply) == ["It is near."]


def test_a_voice_cuts_at_a_clause_when_sound_runs_low() -> None:
    """The buffered sound is an argument, and it may change without new text."""
    reply = make_reply(policy=Policy.voice())
    text = "It is near. You can walk there in ten minutes, or take the bus that"
    reply.apply(Draft(text=text), now_s=0.1)
    reply.apply(Verify(to=len(text)), now_s=0.1, buffered_ms=9000.0)
    assert texts(reply) == ["It is near."]
    reply.poll(now_s=0.2, buffered_ms=100.0)
    assert texts(reply) == [" You can walk there in ten minutes,"]


def test_a_reply_that_is_over_hands_nothing_over() -> None:
    """After the end there are no commits, whatever the buffer does; more text is an error."""
    reply = make_reply(policy=Policy.voice())
    text = "It is near. You can walk there in ten minutes, or take the bus that"
    reply.apply(Draft(text=text), now_s=0.1)
    reply.apply(Verify(to=len(text)), now_s=0.1, buffered_ms=9000.0)
    reply.commits()
    reply.ledger.end(EndReason.INTERRUPTED, now_s=0.2)
    reply.poll(now_s=0.3, buffered_ms=0.0)
    assert texts(reply) == []
    with pytest.raises(LedgerError):
        reply.apply(Draft(text="x"), now_s=0.4)


def test_a_scripted_reply_is_verified_on_entry() -> None:
    """It has a ledger like any other, and is complete at once."""
    reply = Reply.scripted("Hello! How are you?", reply="greeting", now_s=1.0)
    assert "".join(texts(reply)) == "Hello! How are you?"
    ledger = reply.ledger
    assert (ledger.author, ledger.turn) == (Author.SCRIPT, Turn.CONFIRMED)
    assert (ledger.verified, ledger.committed) == (19, 19)
    assert ledger.finished is EndReason.STOP


def test_a_reply_is_cut_as_for_a_voice_by_default() -> None:
    """Whoever names no policy gets the one of the product."""
    reply = Reply(reply="r", epoch=0, turn=Turn.CONFIRMED, now_s=0.0)
    text = "It is quite near from here, you can walk"
    reply.apply(Draft(text=text), now_s=0.1)
    reply.apply(Verify(to=len(text)), now_s=0.1)
    assert texts(reply) == ["It is quite near from here,"]
