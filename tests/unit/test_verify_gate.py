"""What becomes verified text, what stays provisional, and what is taken back."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voiceagent.core.events import (
    Draft,
    EndReason,
    Finish,
    Rollback,
    RollbackCause,
    SourceEvent,
    Verify,
)
from voiceagent.decoding.verify_gate import VerifyGate

EOS = 0
PIECES = [b"", b"a", b"b", b"ab", b" there", b" the", b"END", b"E", b"N", b"D!", b"\xf0\x9f"]
PIECES += [b"\x98\x80"]
A, B, AB, THERE, THE, END, E, N, D, HALF, OTHER_HALF = range(1, 12)


def gate(*stop: str, max_tokens: int = 99) -> VerifyGate:
    """Over the pieces above; token 0 ends the reply."""
    return VerifyGate(
        PIECES.__getitem__, eos_ids=frozenset([EOS]), stop=stop, max_tokens=max_tokens
    )


def back(to: int, cause: RollbackCause = RollbackCause.DRAFT_REJECTED) -> Rollback:
    """Shorthand."""
    return Rollback(to=to, cause=cause)


def test_an_accepted_block_is_only_verified() -> None:
    """Shown once, verified later; the bonus token is drafted and verified at once."""
    it = gate()
    assert it.draft([A, B]) == (Draft(text="ab"),)
    assert it.emit([A, B, AB]).events == (Draft(text="ab"), Verify(to=4))
    assert it.text == "abab"


def test_a_rejected_block_is_taken_back_to_what_both_have_in_common() -> None:
    """A recovered word that begins like the rejected one keeps the beginning on the screen."""
    it = gate()
    it.draft([A, THERE, B])
    events = it.emit([A, THE]).events
    assert events == (back(5), Verify(to=5))
    it.draft([B])
    assert it.emit([A]).events == (back(5), Draft(text="a"), Verify(to=6))


def test_text_that_may_begin_a_stop_string_is_held_back() -> None:
    """It is shown but not verified until the next token decides."""
    it = gate("END")
    assert it.emit([A, E]).events == (Draft(text="aE"), Verify(to=1))
    assert it.emit([N]).events == (Draft(text="N"),)
    assert it.emit([B]).events == (Draft(text="b"), Verify(to=4))
    assert it.finished is None


def test_a_stop_string_takes_its_own_beginning_back() -> None:
    """What was held back goes with cause stop; nothing behind it is kept or counted."""
    it = gate("END")
    it.emit([A, E, N])
    passed = it.emit([D, B, B])
    assert passed.kept == 1
    assert passed.events == (back(1, RollbackCause.STOP), Finish(reason=EndReason.STOP))
    assert it.text == "a"


def test_drafted_text_is_not_shown_past_a_stop_string() -> None:
    """What would be taken back for certain is not shown at all."""
    it = gate("END")
    assert it.draft([A, END, B]) == (Draft(text="a"),)
    assert it.emit([A, END, B]).events == (Verify(to=1), Finish(reason=EndReason.STOP))


def test_a_recovered_token_may_complete_a_stop_string() -> None:
    """First what the draft got wrong goes, then what the stop string takes."""
    it = gate("END")
    it.emit([E])
    assert it.draft([N, B]) == (Draft(text="Nb"),)
    events = it.emit([N, D]).events
    assert events == (back(2), back(0, RollbackCause.STOP), Finish(reason=EndReason.STOP))


def test_the_first_of_several_stop_strings_counts() -> None:
    """In one token that completes two, the one that begins first."""
    it = gate("ND!", "END")
    it.emit([A])
    it.emit([E, N, D])
    assert it.text == "a"


def test_the_end_of_sequence_has_no_text_and_nothing_behind_it() -> None:
    """Tokens behind it are not kept; what was held back counts now."""
    it = gate("END")
    it.emit([A, E])
    passed = it.emit([EOS, B])
    assert passed.kept == 1
    assert passed.events == (Verify(to=2), Finish(reason=EndReason.STOP))


def test_the_last_token_ends_the_reply_inside_a_block() -> None:
    """Length counts tokens; what was drafted beyond is taken back."""
    it = gate("END", max_tokens=2)
    it.draft([A, E, B])
    passed = it.emit([A, E, B])
    assert passed.kept == 2
    assert passed.events == (back(2), Verify(to=2), Finish(reason=EndReason.LENGTH))


def test_an_unfinished_code_point_is_never_shown_or_counted() -> None:
    """Half an emoji is nothing, drafted or emitted, even at the end."""
    it = gate()
    assert it.draft([A, HALF]) == (Draft(text="a"),)
    assert it.emit([A, HALF]).events == (Verify(to=1),)
    assert it.draft([OTHER_HALF]) == (Draft(text="😀"),)
    assert it.emit([OTHER_HALF]).events == (Verify(to=2),)
    assert it.emit([HALF, EOS]).events == (Finish(reason=EndReason.STOP),)


def test_a_reply_that_is_broken_off_keeps_what_was_verified() -> None:
    """Provisional text and text that may begin a stop string are taken back."""
    it = gate("END")
    it.emit([A, E])
    it.draft([B])
    assert it.abandon(EndReason.CANCELLED) == (
        back(1, RollbackCause.INTERRUPTED),
        Finish(reason=EndReason.CANCELLED),
    )


class Reader:
    """Applies events and holds them to the ledger's rules."""

    def __init__(self) -> None:
        self.text, self.verified, self.reason = "", 0, None

    def read(self, events: Sequence[SourceEvent]) -> None:
        for event in events:
            assert self.reason is None, "an event behind the Finish"
            match event:
                case Draft():
                    assert event.text
                    self.text += event.text
                case Rollback():
                    assert self.verified <= event.to < len(self.text)
                    self.text = self.text[: event.to]
                case Verify():
                    assert self.verified < event.to <= len(self.text)
                    self.verified = event.to
                case Finish():
                    self.reason = event.reason


TOKENS = st.lists(st.integers(0, len(PIECES) - 1), max_size=14)


@given(
    emitted=TOKENS,
    guesses=st.lists(st.tuples(TOKENS, st.integers(1, 4)), max_size=8),
    stop=st.lists(st.sampled_from(["END", "ND", "b", "ab!", "E"]), max_size=2),
)
@pytest.mark.parametrize("max_tokens", [4, 99])
def test_drafts_and_block_sizes_leave_no_trace_in_the_text(
    emitted: Sequence[int],
    guesses: Sequence[tuple[Sequence[int], int]],
    stop: Sequence[str],
    max_tokens: int,
) -> None:
    """Any guesses, any blocks: the same text, end and tokens as one token at a time."""
    plain, plain_reader, plain_kept = gate(*stop, max_tokens=max_tokens), Reader(), 0
    for token in emitted:
        if not plain.finished:
            plain_reader.read(plain.emit([token]).events)
            plain_kept += 1
    block, reader, kept, rest = gate(*stop, max_tokens=max_tokens), Reader(), 0, list(emitted)
    for guess, size in [*guesses, *[((), 3)] * len(emitted)]:
        if rest and not block.finished:
            reader.read(block.draft(guess))
            passed = block.emit(rest[:size])
            reader.read(passed.events)
            kept += passed.kept
            rest = rest[size:]
    assert (reader.text, reader.verified, reader.reason, kept) == (
        plain_reader.text,
        plain_reader.verified,
        plain_reader.reason,
        plain_kept,
    )
    if reader.reason:
        assert reader.verified == len(reader.text)
        assert not any(each in reader.text for each in stop)
