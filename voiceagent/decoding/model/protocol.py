"""What the engine asks of a model."""

from typing import Protocol

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
        the final norm. Overwritten by the next pass."""
