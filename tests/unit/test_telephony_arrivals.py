"""The caller's sound in order, and keys as entries."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from voiceagent.telephony.arrivals import LOST_AFTER, MOST_WAITING, Arrivals
from voiceagent.telephony.events import Sound
from voiceagent.telephony.keys import MOST_KEYS, PAUSE_S, Keys, words_of


def numbered(number: int | None) -> Sound:
    """A piece that holds its own number."""
    return Sound(np.array([(number or 0) % 30_000], dtype=np.int16), number=number)


def taken(numbers: list[int | None], arrivals: Arrivals | None = None) -> list[int]:
    """What is heard of pieces that come so."""
    arrivals = arrivals or Arrivals()
    return [int(pcm[0]) for each in numbers for pcm in arrivals.take(numbered(each))]


def test_pieces_are_put_in_order_and_repetitions_dropped():
    """Telnyx promises no order; a peer may stutter."""
    arrivals = Arrivals()
    assert taken([1, 3, 2, 2, 4, 1, 5], arrivals) == [1, 2, 3, 4, 5]
    assert arrivals.dropped == 2


def test_a_lost_piece_is_not_waited_for_for_ever():
    """What comes after it waits a little, then is heard."""
    assert taken([1, *range(3, 3 + MOST_WAITING)]) == [1]
    assert taken([1, *range(3, 4 + MOST_WAITING)]) == [1, *range(3, 4 + MOST_WAITING)]


def test_a_peer_that_counts_anew_is_heard_again():
    """After a second of pieces that seem too late."""
    heard = taken([1000, *range(LOST_AFTER + 10)])
    assert heard == [1000, *range(LOST_AFTER, LOST_AFTER + 10)]


def test_what_is_not_counted_passes():
    """Most lines come in order by themselves."""
    assert taken([None, None]) == [0, 0]


@given(st.lists(st.integers(0, 30) | st.integers(0, 1 << 53), max_size=200))
def test_whatever_comes_is_heard_once_and_little_is_kept(numbers):
    """No order of numbers makes a piece heard twice in a row of its own, or fills the memory."""
    arrivals = Arrivals()
    for number in numbers:
        arrivals.take(numbered(number))
        assert len(arrivals._waiting) <= MOST_WAITING


def test_presses_are_one_entry_until_hash_or_a_pause():
    """An entry is told once."""
    keys = Keys()
    keys.press("1", now_s=0.0)
    keys.press("2", now_s=PAUSE_S - 0.1)
    assert keys.entry(now_s=PAUSE_S + 0.1) is None
    assert keys.entry(now_s=2 * PAUSE_S) == "12"
    assert keys.entry(now_s=9 * PAUSE_S) is None
    keys.press("7", now_s=100.0)
    keys.press("#", now_s=100.1)
    assert keys.entry(now_s=100.1) == "7#"
    assert words_of("7#") == "[pressed on the telephone: 7 #]"


def test_keys_without_end_are_cut():
    """A peer that presses for ever says nothing more."""
    keys = Keys()
    for _ in range(1000):
        keys.press("1", now_s=0.0)
    assert keys.entry(now_s=PAUSE_S) == "1" * MOST_KEYS
