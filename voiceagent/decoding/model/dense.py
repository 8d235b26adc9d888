"""The lean decoder in plain torch operations over unpacked weights.

Used on CUDA, and on CPUs where the kernels cannot be built. It is also what the kernels are
compared with. Nothing here is told to be equal bit for bit whatever the number of rows: the
libraries underneath choose their kernels by shape.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from voiceagent.decoding.blocks import dequantize
from voiceagent.decoding.gguf import GgufFile
from voiceagent.decoding.kv_cache import KVCache, TensorCache
from voiceagent.decoding.model import tensors
from voiceagent.decoding.model.shape import Shape


@dataclass(frozen=True, kw_only=True)
class _Layer:
    attention_norm: Tensor
    feed_forward_norm: Tensor
    query_norm: Tensor | None
    key_norm: Tensor | None
    weights: dict[str, Tensor]
    """qkv, out, gate_up, down: (outputs, inputs)"""
    biases: dict[str, Tensor | None]


class DenseModel:
    """A Llama-family decoder; see `CausalModel`."""

    def __init__(self, file: GgufFile, shape: Shape, *, device: str, dtype: torch.dtype) -> None:
        self.shape = shape
        self._device, self._dtype = torch.device(device), dtype
        self._embedding = self._place(dequantize(file.tensor("token_embd.weight")))
        own_head = "output.weight" in file.tensors
        self._head = self._place(dequantize(tensors.head(file))) if own_head else self._embedding
        self._norm = self._place(tensors.vector(file, "output_norm.weight"))
        self._layers = [self._layer(file, layer) for layer in range(shape.layers)]
        frequencies = tensors.rotary_frequencies(file, shape)
        self._frequencies = torch.from_numpy(frequencies).to(self._device)
        self._hidden = torch.empty(0, shape.hidden_size)

    @property
    def vocabulary_size(self) -> int:
        return self.shape.vocabulary_size

    @property
    def hidden_size(self) -> int:
        return self.shape.hidden_size

    @property
    def context_length(self) -> int:
        return self.shape.context_length

    @property
    def last_hidden(self) -> Tensor:
        return self._hidden

    def new_cache(self, capacity: int) -> KVCache:
        check_capacity(capacity, self.context_length)
        return TensorCache(
            capacity,
            layers=self.shape.layers,
            kv_heads=self.shape.kv_heads,
            head_size=self.shape.head_size,
            dtype=self._dtype,
            device=self._device,
        )

    @torch.inference_mode()
    def forward(self, tokens: Tensor, cache: KVCache, *, last_only: bool = False) -> Tensor:
        if not isinstance(cache, TensorCache):
            raise TypeError("the cache was made by another kind of model")
        check_tokens(tokens)
        start = cache.room_for(len(tokens))
        hidden = functional.embedding(tokens.to(self._device), self._embedding)
        positions = torch.arange(start, start + len(tokens), device=self._device)
        rotate = self._rotary(positions)
        mask = self._mask(positions) if len(tokens) > 1 else None
        for index, layer in enumerate(self._layers):
            hidden = hidden + self._attend(hidden, layer, cache, index, start, rotate, mask)
            hidden = hidden + self._feed_forward(hidden, layer)
        cache.advance(len(tokens))
        self._hidden = hidden.float()
        scored = hidden[-1:] if last_only else hidden
        return functional.linear(self._normalise(scored, self._norm), self._head).float()

    def _attend(
        self,
        hidden: Tensor,
        layer: _Layer,
        cache: TensorCache,
        index: int,
        start: int,
        rotate: Callable[[Tensor], Tensor],
        mask: Tensor | None,
    ) -> Tensor:
        shape, end = self.shape, start + len(hidden)
        joint = _project(self._normalise(hidden, layer.attention_norm), layer, "qkv")
        # (rows, heads, head_size) each
        query, key, value = (
            part.reshape(len(part), -1, shape.head_size)
            for part in torch.split(joint, [shape.query_size, shape.kv_size, shape.kv_size], dim=-1)
        )
        if layer.query_norm is not None and layer.key_norm is not None:
            query = self._normalise(query, layer.query_norm)
            key = self._normalise(key, layer.key_norm)
        cache.keys[index, :, start:end] = rotate(key).transpose(0, 1)
        cache.values[index, :, start:end] = value.transpose(0, 1)
        mixed = functional.scaled_dot_product_attention(
            rotate(query).transpose(0, 1)[None],
            cache.keys[None, index, :, :end],
            cache.values[None, index, :, :end],
            attn_mask=mask,
            enable_gqa=True,
        )
        return _project(mixed[0].transpose(0, 1).flatten(1), layer, "out")

    def _feed_forward(self, hidden: Tensor, layer: _Layer) -> Tensor:
        joint = _project(self._normalise(hidden, layer.feed_forward_norm), layer, "gate_up")
        gate, up = joint.chunk(2, dim=-1)
        return _project(functional.silu(gate) * up, layer, "down")

    def _normalise(self, hidden: Tensor, weight: Tensor) -> Tensor:
        return functional.rms_norm(hidden, (hidden.shape[-1],), weight, self.shape.epsilon)

    def _mask(self, positions: Tensor) -> Tensor:
        """(rows, positions so far): what each row may look at."""
        seen = torch.arange(int(positions[-1]) + 1, device=self._device)
        return seen[None, :] <= positions[:, None]

    def _rotary(self, positions: Tensor) -> Callable[[Tensor], Tensor]:
        angles = positions[:, None].float() * self._frequencies  # (rows, head_size / 2)
        cosine = angles.cos()[:, None].to(self._dtype)
        sine = angles.sin()[:, None].to(self._dtype)

        def rotate(heads: Tensor) -> Tensor:  # (rows, heads, head_size)
            first, second = heads.chunk(2, dim=-1)
            turned = (first * cosine - second * sine, second * cosine + first * sine)
            return torch.cat(turned, dim=-1)

        return rotate

    def _layer(self, file: GgufFile, layer: int) -> _Layer:
        at = f"blk.{layer}"
        weights: dict[str, Tensor] = {}
        biases: dict[str, Tensor | None] = {}
        for name, parts in tensors.projections(file, self.shape, layer):
            weights[name] = torch.cat([self._place(_ordered(part)) for part in parts])
            biases[name] = self._stack_biases(parts)
        query_norm = tensors.optional_vector(file, f"{at}.attn_q_norm.weight")
        key_norm = tensors.optional_vector(file, f"{at}.attn_k_norm.weight")
        return _Layer(
            attention_norm=self._place(tensors.vector(file, f"{at}.attn_norm.weight")),
            feed_forward_norm=self._place(tensors.vector(file, f"{at}.ffn_norm.weight")),
            query_norm=None if query_norm is None else self._place(query_norm),
            key_norm=None if key_norm is None else self._place(key_norm),
            weights=weights,
            biases=biases,
        )

    def _stack_biases(self, parts: Sequence[tensors.Part]) -> Tensor | None:
        stacked = tensors.stacked_bias(parts)
        return None if stacked is None else self._place(stacked)

    def _place(self, values: NDArray[np.float32]) -> Tensor:
        return torch.tensor(values, dtype=self._dtype, device=self._device)


def check_capacity(capacity: int, context_length: int) -> None:
    """Raises ValueError where a cache would go beyond what the model was trained for."""
    if capacity > context_length:
        raise ValueError(f"capacity {capacity} is beyond the model's context of {context_length}")


def check_tokens(tokens: Tensor) -> None:
    """Raises ValueError unless ``tokens`` is (rows,) int64 with at least one row."""
    if tokens.ndim != 1 or not len(tokens) or tokens.dtype != torch.int64:
        raise ValueError(f"tokens must be (rows,) int64, got {tuple(tokens.shape)} {tokens.dtype}")


def _project(rows: Tensor, layer: _Layer, name: str) -> Tensor:
    return functional.linear(rows, layer.weights[name], layer.biases[name])


def _ordered(part: tensors.Part) -> NDArray[np.float32]:
    values = dequantize(part.tensor)
    return values if part.order is None else values[part.order]
