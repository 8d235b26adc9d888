"""A place for one reply at a time: a cache, the drafters beside it, and what lies in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from voiceagent.decoding.prefix import common_prefix

if TYPE_CHECKING:
    from voiceagent.decoding.drafters import Drafter
    from voiceagent.decoding.model import CausalModel, KVCache

DrafterFactory: TypeAlias = "Callable[[], Drafter]"


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
        self.reset()

    def reset(self) -> None:
        """Forgets everything: after an error nobody knows what lies in the caches."""
        self._cache: KVCache | None = None
        self._drafters: dict[str, Drafter] = {}
        self._ids: list[int] = []

    def shared(self, prompt: Sequence[int]) -> int:
        """How many tokens of ``prompt`` need not be read again."""
        if self._cache is None:
            return 0
        # The last token is always read: its row of logits is what the reply starts from.
        return min(common_prefix(self._ids, prompt), self._cache.length, len(prompt) - 1)

    def begin(self, prompt: Sequence[int]) -> KVCache:
        """The cache, shortened to what it shares with ``prompt``."""
        if self._cache is None:
            self._cache = self._target.new_cache(self._capacity)
        self._cache.truncate(self.shared(prompt))
        return self._cache

    def drafter(self, name: str) -> Drafter:
        """The drafter of that name."""
        if name not in self._drafters:
            self._drafters[name] = self._factories[name]()
        return self._drafters[name]

    def leave(self, ids: Sequence[int]) -> None:
        """A reply is over; ``ids`` are its tokens, the prompt included."""
        self._ids = list(ids)
