"""Bytes become text one whole code point at a time, and every step can be taken back."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from voiceagent.decoding.detokenizer import Detokenizer

PIECES = [b"a", b" the", "é".encode()[:1], "é".encode()[1:], "😀".encode()[:2], b"\xff", b"\x80"]
PIECES += ["😀".encode()[2:3], "😀".encode()[3:], "中文".encode(), b"", "中".encode()[:2]]
TOKENS = st.lists(st.integers(0, len(PIECES) - 1), max_size=12)


def detokenizer() -> Detokenizer:
    """Over the pieces above."""
    return Detokenizer(PIECES.__getitem__)


def test_a_code_point_appears_with_its_last_byte() -> None:
    """Half an emoji is no text; the half that completes it is a whole one."""
    told = detokenizer()
    assert [told.push([token]) for token in (0, 4, 7, 8, 1)] == ["a", "", "", "😀", " the"]
    assert told.text == "a😀 the"


def test_bytes_that_can_never_be_text_are_replaced() -> None:
    """A stray byte becomes U+FFFD at once and a broken beginning as soon as it is known."""
    told = detokenizer()
    assert told.push([5]) == "\ufffd"
    assert told.push([2]) == ""
    assert told.push([0]) == "\ufffda"


@given(tokens=TOKENS, split=st.integers(0, 12))
def test_text_does_not_depend_on_how_tokens_arrive(tokens: Sequence[int], split: int) -> None:
    """One push or several: the same text, a prefix of the decoder's own."""
    whole, parts = detokenizer(), detokenizer()
    whole.push(tokens)
    shown = parts.push(tokens[:split]) + parts.push(tokens[split:])
    assert shown == parts.text == whole.text
    all_bytes = b"".join(PIECES[token] for token in tokens)
    assert all_bytes.decode("utf-8", "replace").startswith(whole.text)


@given(kept=TOKENS, tried=TOKENS, rest=TOKENS)
def test_rolling_back_leaves_no_trace(
    kept: Sequence[int], tried: Sequence[int], rest: Sequence[int]
) -> None:
    """Pushing, taking back and pushing something else is as if the first had never been."""
    direct, detour = detokenizer(), detokenizer()
    direct.push([*kept, *rest])
    detour.push(kept)
    detour.push(tried)
    detour.rollback(len(kept))
    assert detour.count == len(kept)
    detour.push(rest)
    assert detour.text == direct.text


@given(tokens=TOKENS, more=TOKENS)
def test_text_only_grows(tokens: Sequence[int], more: Sequence[int]) -> None:
    """What was shown is a prefix of what is shown later: nothing has to be taken back."""
    told = detokenizer()
    told.push(tokens)
    before = told.text
    told.push(more)
    assert told.text.startswith(before)
