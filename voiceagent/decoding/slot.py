"""Places for one reply at a time: a cache, the drafters beside it, and what lies in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from voiceagent.decoding.drafters.base import Borrower
from voiceagent.decoding.errors import EngineBusy
from voiceagent.decoding.prefix import common_prefix

if TYPE_CHECKING:
    from voiceagent.decoding.drafters import Drafter
    from voiceagent.decoding.model import CausalModel, KVCache

DrafterFactory: TypeAlias = "Callable[[], Drafter]"
_LEAST_BORROWED = 16
"""Tokens; fewer are read as quickly as they are looked for."""


class Slot:
    """Caches outlive replies, so that the next prompt starts where it differs from the last.

    Args:
        target: whose cache it is.
        capacity: positions.
        drafters: how to make each drafter; made at first use.
    """

    def __init__(
        self, target: CausalModel, *, capacity: int, drafters: Mapping[str, DrafterFactory]
    ) -> None:
        self._target = target
        self._capacity = capacity
        self._factories = drafters
        self.charge = 0
        """Positions of memory that count as this slot's: what its reply may need, or has taken."""
        self.reset()

    def reset(self) -> None:
        """Forgets everything: after an error nobody knows what lies in the caches."""
        self._cache: KVCache | None = None
        self._drafters: dict[str, Drafter] = {}
        self._ids: list[int] = []
        self._prompt: Sequence[int] = ()
        self._read_from: int | None = None

    @property
    def touched(self) -> int:
        """Positions whose memory was taken."""
        return 0 if self._cache is None else self._cache.touched

    def shared(self, prompt: Sequence[int], *, read_from: int | None = None) -> int:
        """How many tokens of ``prompt`` need not be read again; none from ``read_from`` on."""
        if self._cache is None:
            return 0
        # The last token is always read: its row of logits is what the reply starts from.
        first = len(prompt) - 1 if read_from is None else read_from
        return min(common_prefix(self._ids, prompt), self._cache.length, first)

    def fits(self, prompt: Sequence[int]) -> bool:
        """Whether ``prompt`` shares half of the one that lies here.

        Less is another conversation, whose next turn would miss more than this one saves.
        """
        return 2 * self.shared(prompt) >= len(self._prompt) > 0

    def begin(self, prompt: Sequence[int], *, read_from: int | None = None) -> KVCache:
        """The cache, shortened to what it shares with ``prompt`` before ``read_from``."""
        if self._cache is None:
            self._cache = self._target.new_cache(self._capacity)
        self._cache.truncate(self.shared(prompt, read_from=read_from))
        self._prompt, self._read_from, self._ids = prompt, read_from, list(prompt)
        return self._cache

    def borrow(self, others: Iterable[Slot]) -> int:
        """Copies what one of the others has read of this one's prompt; returns how many tokens.

        Conversations begin with the same system prompt: it is read once.
        """
        if self._cache is None:
            return 0
        lender = max(others, key=self._lent_by, default=self)
        length, before = self._lent_by(lender), self._cache.length
        if lender._cache is None or length < before + _LEAST_BORROWED:
            return 0
        if not self._cache.take_over(lender._cache, length):
            return 0
        for name, drafter in self._drafters.items():
            if isinstance(drafter, Borrower) and name in lender._drafters:
                drafter.borrow(lender._drafters[name])
        return length - before

    def _lent_by(self, other: Slot) -> int:
        return other.shared(self._prompt, read_from=self._read_from)

    def drafter(self, name: str) -> Drafter:
        """The drafter of that name."""
        if name not in self._drafters:
            self._drafters[name] = self._factories[name]()
        return self._drafters[name]

    def leave(self, ids: Sequence[int]) -> None:
        """A reply is over; ``ids`` are its tokens, the prompt included."""
        self._ids = list(ids)


class Slots:
    """The slots, and the memory of all their caches together.

    The memory of a position is taken when it is first written and given back with its cache. What
    running replies may still need is kept free for them: caches that nobody uses go first.

    Args:
        slots: free ones.
        positions: what all caches may hold together; a request that needs more is never taken.
    """

    def __init__(self, slots: Sequence[Slot], *, positions: int) -> None:
        self._free = list(slots)  # the one left longest ago first
        self._taken: list[Slot] = []
        self._positions = positions

    @property
    def charged(self) -> int:
        """Positions of memory taken, or promised to running replies."""
        return sum(slot.charge for slot in self._taken) + sum(slot.touched for slot in self._free)

    def take(self, prompt: Sequence[int], *, positions: int) -> Slot:
        """The best free slot, with room for a reply that needs ``positions``.

        Raises:
            EngineBusy: other replies hold the memory.
        """
        slot = self._best(prompt)
        self._free.remove(slot)
        self._taken.append(slot)
        slot.charge = max(slot.touched, positions)
        for idle in self._free:
            if self.charged <= self._positions:
                break
            idle.reset()
        if self.charged > self._positions:
            slot.reset()
            slot.charge = positions
        if self.charged > self._positions:
            self.give_back(slot)
            raise EngineBusy("the engine is full: try again when another reply has ended")
        return slot

    def lend(self, slot: Slot) -> int:
        """Copies what another slot has read of the prompt of ``slot``; returns how many tokens."""
        return slot.borrow(each for each in (*self._taken, *self._free) if each is not slot)

    def give_back(self, slot: Slot) -> None:
        """Its reply is over."""
        self._taken.remove(slot)
        self._free.append(slot)
        slot.charge = 0

    def _best(self, prompt: Sequence[int]) -> Slot:
        """Where most of the prompt lies; else an empty one; else the one left longest ago."""
        best = max(self._free, key=lambda slot: slot.shared(prompt))
        if best.fits(prompt):
            return best
        return next((slot for slot in self._free if not slot.touched), self._free[0])
