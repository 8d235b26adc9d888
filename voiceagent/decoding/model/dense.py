"""The lean decoder in plain torch operations over unpacked weights, blocks of any length.

Used on CPUs where the kernels cannot be built. It is also what the kernels and the decoder of
fixed shapes are compared with. Nothing here is told to be equal bit for bit whatever the number
of rows: the libraries underneath choose their kernels by shape.
"""

import torch
from torch import Tensor
from torch.nn import functional

from voiceagent.decoding.kv_cache import KVCache, TensorCache
from voiceagent.decoding.model.base import ShapedModel, check_tokens
from voiceagent.decoding.model.layers import run_layers, score
from voiceagent.decoding.model.parameters import Parameters


class DenseModel(ShapedModel):
    """A Llama-family decoder; see `CausalModel`."""

    def __init__(self, parameters: Parameters) -> None:
        super().__init__(parameters.shape)
        self._parameters = parameters

    def new_cache(self, capacity: int) -> KVCache:
        parameters = self._parameters
        return self._tensor_cache(capacity, dtype=parameters.dtype, device=parameters.device)

    @torch.inference_mode()
    def forward(self, tokens: Tensor, cache: KVCache, *, last_only: bool = False) -> Tensor:
        if not isinstance(cache, TensorCache):
            raise TypeError("the cache was made by another kind of model")
        check_tokens(tokens)
        attention = _CutAttention(cache, start=cache.room_for(len(tokens)), rows=len(tokens))
        placed = tokens.to(self._parameters.device)
        hidden = run_layers(self._parameters, placed, attention.positions, attention=attention)
        cache.advance(len(tokens))
        self._hidden = hidden.float()
        return score(self._parameters, hidden[-1:] if last_only else hidden)


class _CutAttention:
    """Over exactly the positions so far: the shapes grow with the conversation."""

    def __init__(self, cache: TensorCache, *, start: int, rows: int) -> None:
        self._cache, self._start, self._end = cache, start, start + rows
        self.positions = torch.arange(self._start, self._end, device=cache.keys.device)
        self._mask = self._seen() if rows > 1 else None

    def __call__(self, layer: int, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        keys, values = self._cache.keys[layer], self._cache.values[layer]
        keys[:, self._start : self._end] = key.transpose(0, 1)
        values[:, self._start : self._end] = value.transpose(0, 1)
        mixed = functional.scaled_dot_product_attention(
            query.transpose(0, 1)[None],
            keys[None, :, : self._end],
            values[None, :, : self._end],
            attn_mask=self._mask,
            enable_gqa=True,
        )
        return mixed[0].transpose(0, 1)

    def _seen(self) -> Tensor:
        """(rows, positions so far): what each row may look at."""
        columns = torch.arange(self._end, device=self.positions.device)
        return columns[None, :] <= self.positions[:, None]
