"""Any causal model of the transformers library behind the same protocol.

The library takes seconds to import, so only those wait for it who have such a model.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from voiceagent.decoding.kv_cache import KVCache
from voiceagent.decoding.model.base import check_capacity, check_tokens

if TYPE_CHECKING:
    from transformers import PreTrainedModel


class TransformersCache(KVCache):
    """transformers' own growing cache; stale rows are cropped before the next pass."""

    def __init__(self, capacity: int, model: PreTrainedModel) -> None:
        from transformers import DynamicCache

        super().__init__(capacity)
        self.inner = DynamicCache(config=model.config)

    def drop_stale(self) -> None:
        """Makes the library's cache as long as the counter says (a negative crop takes away)."""
        surplus = self.inner.get_seq_length() - self.length
        if surplus:
            self.inner.crop(-surplus)


class TransformersModel:
    """A causal language model of transformers; see `CausalModel`.

    Models whose state cannot be cropped (recurrent ones, sliding windows) are refused.
    """

    def __init__(self, model: PreTrainedModel, *, device: str = "cpu") -> None:
        self._model = model.eval().to(device)  # type: ignore[no-untyped-call]  # transformers leaves it so
        self._device = torch.device(device)
        config = model.config.get_text_config()
        self.vocabulary_size = int(config.vocab_size)
        self.hidden_size = int(config.hidden_size)
        self.context_length = int(config.max_position_embeddings)
        self._hidden = torch.empty(0, self.hidden_size)
        self._cache_argument = _cache_argument(model)
        _refuse_uncroppable(config)

    @property
    def last_hidden(self) -> Tensor:
        return self._hidden

    def new_cache(self, capacity: int) -> KVCache:
        check_capacity(capacity, self.context_length)
        return TransformersCache(capacity, self._model)

    @torch.inference_mode()
    def forward(self, tokens: Tensor, cache: KVCache, *, last_only: bool = False) -> Tensor:
        if not isinstance(cache, TransformersCache):
            raise TypeError("the cache was made by another kind of model")
        check_tokens(tokens)
        start = cache.room_for(len(tokens))
        cache.drop_stale()
        output = self._model(
            input_ids=tokens.to(self._device)[None],
            position_ids=torch.arange(start, start + len(tokens), device=self._device)[None],
            use_cache=True,
            output_hidden_states=True,
            logits_to_keep=1 if last_only else 0,
            **{self._cache_argument: cache.inner},
        )
        cache.advance(len(tokens))
        self._hidden = output.hidden_states[-1][0].float()
        logits: Tensor = output.logits[0].float()
        return logits


def _cache_argument(model: PreTrainedModel) -> str:
    """5.24 renamed ``past_key_values``, and warns about the old name."""
    return "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"


def _refuse_uncroppable(config: object) -> None:
    window = getattr(config, "sliding_window", None)
    default = ["full_attention" if window is None else "sliding_attention"]
    kinds = set(getattr(config, "layer_types", None) or default)
    if kinds != {"full_attention"}:
        raise ValueError(f"rollback needs full attention in every layer, this model has {kinds}")
