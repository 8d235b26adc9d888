"""What the engine asks of a model."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from torch import Tensor

from voiceagent.decoding.kv_cache import KVCache


class CausalModel(Protocol):
    """A decoder that scores the next token after each of a few rows."""

    @property
    def vocabulary_size(self) -> int:
        """Columns of the logits. May count padding ids: the tokenizer knows the real ones."""

    @property
    def hidden_size(self) -> int:
        """Columns of the hidden states."""

    @property
    def context_length(self) -> int:
        """Positions the model was trained for."""

    def new_cache(self, capacity: int) -> KVCache:
        """An empty cache of this model for up to ``capacity`` positions.

        Raises:
            ValueError: ``capacity`` is beyond the model's context.
        """

    def forward(self, tokens: Tensor, cache: KVCache, *, last_only: bool = False) -> Tensor:
        """Appends ``tokens`` to ``cache`` and scores what follows each of them.

        Args:
            tokens: (rows,) int64, at least one.
            cache: made by this model's `new_cache`.
            last_only: score only the last row.

        Returns:
            (rows, vocabulary_size) float32, or (1, vocabulary_size) with ``last_only``.

        Raises:
            CacheFull: the rows do not fit; the cache is as before.
        """

    @property
    def last_hidden(self) -> Tensor:
        """(rows, hidden_size) float32: the last layer's output in the latest forward pass, before
        the final norm (behind it in a model of transformers, which tells no other). Overwritten
        by the next pass."""


@runtime_checkable
class JointModel(Protocol):
    """A model that reads blocks of several conversations in one pass over its weights."""

    def forward_many(
        self, blocks: Sequence[tuple[Tensor, KVCache]], *, scored: Sequence[int] | None = None
    ) -> Tensor:
        """Appends each block to its cache, as `CausalModel.forward` would.

        Args:
            blocks: tokens and cache of each; no cache twice.
            scored: how many rows at the end of each block to score; None scores all.

        Returns:
            Logits of the scored rows, block after block; `last_hidden` ends with theirs.

        Raises:
            CacheFull: a block does not fit; no cache was changed.
        """
