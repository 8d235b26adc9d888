"""Slots and their memory: who is seated where, and which caches are forgotten."""

from collections.abc import Sequence

import pytest
import torch
from decoding_doubles import TableModel

from voiceagent.decoding.drafters import NoDrafter
from voiceagent.decoding.errors import EngineBusy
from voiceagent.decoding.slot import Slot, Slots

MODEL = TableModel(9, seed=1)


def make(count: int, *, positions: int) -> tuple[Slots, list[Slot]]:
    """Slots of sixty positions each."""
    slots = [Slot(MODEL, capacity=60, drafters={"none": NoDrafter}) for _ in range(count)]
    return Slots(slots, positions=positions), slots


def converse(slots: Slots, prompt: Sequence[int], *, positions: int | None = None) -> Slot:
    """A whole reply of no tokens: the prompt is read and stays in the slot."""
    slot = slots.take(prompt, positions=positions or len(prompt))
    unread = list(prompt)[slot.shared(prompt) :]
    MODEL.forward(torch.tensor(unread), slot.begin(prompt))
    slot.leave(prompt)
    slots.give_back(slot)
    return slot


def test_a_conversation_goes_on_where_it_was() -> None:
    """And another one, though it begins alike, takes an empty slot and leaves it alone."""
    slots, _ = make(3, positions=200)
    first = converse(slots, [1, 2, 3, 4, 5, 6, 7, 8])
    other = converse(slots, [1, 2, 8, 8, 8, 8, 8, 8])
    assert other is not first
    assert converse(slots, [1, 2, 3, 4, 5, 6, 7, 8, 1, 1]) is first
    assert first.shared([1, 2, 3, 4, 5, 6, 7, 8, 1, 1]) == 9
    assert other.shared([1, 2, 8, 8, 8, 8, 8, 8]) == 7


def test_the_conversation_left_longest_ago_makes_room() -> None:
    """Only where no slot is empty, and only as many as must."""
    slots, _ = make(2, positions=200)
    first, second = converse(slots, [1] * 9), converse(slots, [2] * 9)
    assert converse(slots, [3] * 9) is first
    assert second.shared([2] * 9) == 8


def test_idle_caches_make_room_for_what_is_promised() -> None:
    """Oldest first; memory in use is never taken, and never more than there is."""
    slots, _ = make(4, positions=50)
    first, second = converse(slots, [1] * 20), converse(slots, [2] * 20)
    assert slots.charged == 40
    third = slots.take([3] * 5, positions=25)
    assert (first.touched, second.touched, third.charge) == (0, 20, 25)
    assert slots.charged == 45
    fourth = slots.take([4] * 5, positions=25)
    assert (second.touched, slots.charged) == (0, 50)
    with pytest.raises(EngineBusy, match="full"):
        slots.take([5], positions=1)
    assert slots.charged == 50
    slots.give_back(fourth)
    assert slots.take([5], positions=1).charge == 1
    assert third.charge == 25


def test_a_slot_that_holds_too_much_is_emptied() -> None:
    """What an old conversation took counts, even for a short reply that goes on from it."""
    slots, _ = make(2, positions=40)
    long = converse(slots, [1] * 30)
    other = slots.take([2] * 5, positions=10)
    assert (long.touched, slots.charged) == (30, 40)
    slots.give_back(other)
    beside = slots.take([2] * 5, positions=15)
    assert long.touched == 0, "there was no room for both"
    assert beside.charge == 15
