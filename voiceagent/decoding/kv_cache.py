"""Keys and values of the positions a model has seen, in memory that is taken once.

Rollback is a length counter: rows past the length are stale, no reader looks at them, and the next
forward pass writes over them. Nothing is ever moved or cleared.
"""

import torch
from torch import Tensor

from voiceagent.core.errors import VoiceAgentError


class CacheFull(VoiceAgentError):
    """More positions were asked for than the cache has room for."""


class KVCache:
    """The length counter; subclasses add the storage of one kind of model."""

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"capacity must be at least 1, got {capacity}")
        self.capacity = capacity
        self._length = 0
        self._touched = 0

    @property
    def touched(self) -> int:
        """Positions whose memory was taken: as many as were ever written."""
        return self._touched

    @property
    def length(self) -> int:
        """Positions that count."""
        return self._length

    def truncate(self, length: int) -> None:
        """Forgets every position from ``length`` on.

        Raises:
            ValueError: ``length`` is negative or beyond the present length.
        """
        if not 0 <= length <= self._length:
            raise ValueError(f"cannot truncate {self._length} positions to {length}")
        self._length = length

    def room_for(self, rows: int) -> int:
        """The position at which ``rows`` more begin.

        Raises:
            CacheFull: they do not fit; nothing was changed.
        """
        if self._length + rows > self.capacity:
            raise CacheFull(
                f"the conversation needs {self._length + rows} positions and the cache holds "
                f"{self.capacity}: shorten it, or raise decoding.context_tokens"
            )
        return self._length

    def advance(self, rows: int) -> None:
        """Counts ``rows`` positions that were just written."""
        self._length = self.room_for(rows) + rows
        self._touched = max(self._touched, self._length)

    def take_over(self, other: "KVCache", length: int) -> bool:
        """Copies the positions up to ``length`` that are missing here from a cache of the same
        model, in which the tokens before them are the same; false where this kind cannot."""
        return False


class TensorCache(KVCache):
    """Storage for the lean decoders."""

    def __init__(
        self,
        capacity: int,
        *,
        layers: int,
        kv_heads: int,
        head_size: int,
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        super().__init__(capacity)
        shape = (layers, kv_heads, capacity, head_size)
        # Not zeroed: the system gives out pages as they are first written.
        self.keys: Tensor = torch.empty(shape, dtype=dtype, device=device)
        self.values: Tensor = torch.empty(shape, dtype=dtype, device=device)

    @property
    def touched(self) -> int:
        """All of them, where the device knows no pages."""
        return self._touched if self.keys.device.type == "cpu" else self.capacity

    def take_over(self, other: KVCache, length: int) -> bool:
        assert isinstance(other, TensorCache)
        missing = slice(self._length, length)
        self.keys[:, :, missing] = other.keys[:, :, missing]
        self.values[:, :, missing] = other.values[:, :, missing]
        self.advance(length - self._length)
        return True
