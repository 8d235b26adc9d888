"""The static cache: places of fixed size for conversations, and attention over whole places.

A conversation's rows past its length weigh exactly nothing, be they stale or never written; the
cache starts as zeros because nothing times NaN is not nothing.
"""

import weakref

import torch
from torch import Tensor

from voiceagent.decoding.kv_cache import CacheFull, KVCache
from voiceagent.decoding.model.parameters import Parameters


class StaticCache(KVCache):
    """A place in the model's cache; given back when nobody holds it any more."""

    def __init__(self, capacity: int, *, bank: "Bank") -> None:
        super().__init__(capacity)
        self.place = bank.take()
        self.bank = bank
        weakref.finalize(self, bank.give_back, self.place)

    def take_over(self, other: KVCache, length: int) -> bool:
        assert isinstance(other, StaticCache)
        missing = slice(self._length, length)
        for rows in (self.bank.keys, self.bank.values):
            rows[:, self.place, :, missing] = rows[:, other.place, :, missing]
        self.advance(length - self._length)
        return True


class Bank:
    """Keys and values (layers, places, kv_heads, rows, head_size), and which places are free."""

    def __init__(self, parameters: Parameters, *, capacity: int, places: int) -> None:
        shape, device = parameters.shape, parameters.device
        self.capacity, self.places = capacity, places
        self.scrap = capacity
        """The row that padding writes to, behind the last position."""
        rows = -(-(capacity + 1) // 8) * 8  # matrix products like whole eights
        size = (shape.layers, places, shape.kv_heads, rows, shape.head_size)
        self.keys = torch.zeros(size, dtype=parameters.dtype, device=device)
        self.values = torch.zeros(size, dtype=parameters.dtype, device=device)
        self.columns = torch.arange(rows, device=device)
        self.heads = torch.arange(shape.kv_heads, device=device)
        self._free = list(reversed(range(places)))

    def take(self) -> int:
        """A place that nobody has.

        Raises:
            CacheFull: there is none.
        """
        if not self._free:
            raise CacheFull(f"all {self.places} places for conversations are taken")
        return self._free.pop()

    def give_back(self, place: int) -> None:
        """What lies there is stale from now on."""
        self._free.append(place)


class WholeAttention:
    """Over all rows of a place, those that a row may not see masked; see `Attention`."""

    def __init__(self, bank: Bank, places: Tensor, positions: Tensor) -> None:
        self._bank, self._places = bank, places
        self._is_whole = len(places) == bank.places
        self._where = (places[:, None, None], bank.heads[None, :, None], positions[:, None, :])
        # (batch, 1, 1, rows, columns)
        self._unseen = (bank.columns > positions[..., None])[:, None, None]

    def __call__(self, layer: int, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        keys = self._kept(self._bank.keys[layer], key)
        values = self._kept(self._bank.values[layer], value)
        batch, rows, heads, head_size = query.shape
        # The query heads of one key head stand below each other, as rows of one product.
        together = (batch, len(self._bank.heads), -1, head_size)
        scaled = (query * head_size**-0.5).transpose(1, 2).reshape(together)
        scores = (scaled @ keys.mT).float().reshape(*together[:2], -1, rows, keys.shape[2])
        shares = scores.masked_fill(self._unseen, float("-inf")).softmax(-1)
        mixed: Tensor = shares.to(values.dtype).flatten(2, 3) @ values
        return mixed.reshape(batch, heads, rows, head_size).transpose(1, 2)

    def _kept(self, bank: Tensor, rows: Tensor) -> Tensor:
        """Writes ``rows`` (batch, rows, kv_heads, head_size); all that the conversations have."""
        bank.index_put_(self._where, rows.transpose(1, 2))
        return bank if self._is_whole else bank.index_select(0, self._places)
