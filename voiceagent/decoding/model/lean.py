"""The lean decoder on the CPU: packed weights, one native call per forward pass.

What a row comes out as does not depend on how many rows came with it, nor on how a prompt was cut:
verification and plain decoding agree bit for bit.
"""

import ctypes
from collections.abc import Sequence

import torch
from torch import Tensor

from voiceagent.decoding.gguf import BlockType
from voiceagent.decoding.kernels import native
from voiceagent.decoding.kernels.native import Kernels
from voiceagent.decoding.kv_cache import KVCache, TensorCache
from voiceagent.decoding.model.base import ShapedModel, check_tokens
from voiceagent.decoding.model.packing import PackedFile


class LeanModel(ShapedModel):
    """A Llama-family decoder over packed weights; see `CausalModel`.

    Not for two threads at once: it has one set of buffers.
    """

    def __init__(self, packed: PackedFile, kernels: Kernels, *, threads: int) -> None:
        super().__init__(packed.shape)
        self.threads = threads
        self._packed, self._kernels = packed, kernels
        self._layers = (native.Layer * self.shape.layers)(
            *(self._layer(index) for index in range(self.shape.layers))
        )
        self._model = self._describe()
        self._scratch = kernels.new_scratch()

    def __del__(self) -> None:
        if hasattr(self, "_scratch"):
            self._kernels.delete_scratch(self._scratch)

    @property
    def bytes_per_pass(self) -> int:
        """Packed bytes that one forward pass reads (of a separate embedding, only a few rows)."""
        parts = [
            part
            for layer in self._layers
            for joint in (layer.qkv, layer.out, layer.gate_up, layer.down)
            for part in joint.part[: joint.parts]
        ]
        parts.append(self._model.head.part[0])
        return sum(-(-part.outputs // 16) * part.panel_bytes for part in parts)

    def new_cache(self, capacity: int) -> KVCache:
        return self._tensor_cache(capacity, dtype=torch.float16, device=torch.device("cpu"))

    def forward(self, tokens: Tensor, cache: KVCache, *, last_only: bool = False) -> Tensor:
        return self.forward_many([(tokens, cache)], scored=[1] if last_only else None)

    def forward_many(
        self, blocks: Sequence[tuple[Tensor, KVCache]], *, scored: Sequence[int] | None = None
    ) -> Tensor:
        """Blocks of several conversations in one pass over the weights; see `JointModel`."""
        places = [self._places(tokens, cache) for tokens, cache in blocks]
        # Rows that are not scored go first: a row finds its place by its position, not its order.
        ends = scored or [len(tokens) for tokens, _ in blocks]
        starts = [len(tokens) - end for (tokens, _), end in zip(blocks, ends, strict=True)]
        unscored = [tokens[:at] for (tokens, _), at in zip(blocks, starts, strict=True)]
        last = [tokens[at:] for (tokens, _), at in zip(blocks, starts, strict=True)]
        joint = torch.cat(unscored + last)
        if int(joint.min()) < 0 or int(joint.max()) >= self.vocabulary_size:
            raise ValueError(f"tokens must be in [0, {self.vocabulary_size})")
        logits, self._hidden = self._kernels.forward(
            self._model,
            self._scratch,
            joint,
            [place for rows, at in zip(places, starts, strict=True) for place in rows[:at]]
            + [place for rows, at in zip(places, starts, strict=True) for place in rows[at:]],
            scored_from=sum(starts),
            threads=self.threads,
        )
        for tokens, cache in blocks:
            cache.advance(len(tokens))
        return logits

    def _places(self, tokens: Tensor, cache: KVCache) -> list[tuple[Tensor, Tensor, int, int]]:
        if not isinstance(cache, TensorCache):
            raise TypeError("the cache was made by another kind of model")
        check_tokens(tokens)
        start = cache.room_for(len(tokens))
        return [
            (cache.keys, cache.values, cache.capacity, start + row) for row in range(len(tokens))
        ]

    def _describe(self) -> native.Model:
        shape, packed = self.shape, self._packed
        head = "head" if "head.0" in packed.entries else "embedding"
        return native.Model(
            shape.layers,
            shape.hidden_size,
            shape.heads,
            shape.kv_heads,
            shape.head_size,
            shape.feed_forward,
            shape.vocabulary_size,
            shape.epsilon,
            0.0,
            packed.address("frequencies"),
            packed.address("norm"),
            ctypes.cast(self._layers, ctypes.POINTER(native.Layer)),
            self._matrix("embedding"),
            native.projection([self._matrix("head.0" if head == "head" else head)], None),
        )

    def _layer(self, index: int) -> native.Layer:
        packed = self._packed
        return native.Layer(
            *(self._projection(f"{index}.{name}") for name in ("qkv", "out", "gate_up", "down")),
            packed.address(f"{index}.attention_norm"),
            packed.address(f"{index}.feed_forward_norm"),
            packed.optional_address(f"{index}.query_norm"),
            packed.optional_address(f"{index}.key_norm"),
        )

    def _projection(self, name: str) -> native.Projection:
        names = (f"{name}.{part}" for part in range(native.MAX_PARTS))
        parts = [self._matrix(each) for each in names if each in self._packed.entries]
        return native.projection(parts, self._packed.optional_address(f"{name}.bias"))

    def _matrix(self, name: str) -> native.Matrix:
        entry = self._packed.entries[name]
        return self._kernels.matrix(
            BlockType(entry.type),
            outputs=entry.outputs,
            columns=entry.columns,
            address=self._packed.address(name),
        )
