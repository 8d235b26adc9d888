"""The unpacked weights of a Llama-family decoder on one device: from a file, or at random."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from voiceagent.decoding.blocks import dequantize
from voiceagent.decoding.gguf import GgufFile
from voiceagent.decoding.model import tensors
from voiceagent.decoding.model.packed_matrix import Matrix, PackedMatrix
from voiceagent.decoding.model.shape import Shape, read_shape


@dataclass(frozen=True, kw_only=True)
class Layer:
    """One block: attention, then feed-forward."""

    attention_norm: Tensor
    feed_forward_norm: Tensor
    query_norm: Tensor | None
    key_norm: Tensor | None
    weights: dict[str, Matrix]
    """qkv, out, gate_up, down: (outputs, inputs)"""
    biases: dict[str, Tensor | None]
    """The same names: (outputs,)"""


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """All weights, of one type and on one device."""

    shape: Shape
    embedding: Tensor
    """(vocabulary_size, hidden_size)"""
    head: Tensor
    """The same, and the same tensor where it is tied."""
    norm: Tensor
    layers: tuple[Layer, ...]
    frequencies: Tensor
    """(head_size / 2,) float32, radians per position"""

    @property
    def device(self) -> torch.device:
        """Where they lie."""
        return self.embedding.device

    @property
    def dtype(self) -> torch.dtype:
        """What they are made of."""
        return self.embedding.dtype

    @property
    def bytes_per_pass(self) -> int:
        """Bytes that one forward pass reads (of a separate embedding, only a few rows)."""
        matrices = [matrix for layer in self.layers for matrix in layer.weights.values()]
        return sum(matrix.nbytes for matrix in [*matrices, self.head])


def read_parameters(
    file: GgufFile, *, device: str, dtype: torch.dtype, keep_four_bits: bool = False
) -> Parameters:
    """The weights of a GGUF file, unpacked.

    Args:
        file: the file.
        device: where they shall lie.
        dtype: what they shall be made of.
        keep_four_bits: leave projections of 4-bit codes packed; on the CPU in float32 only.

    Raises:
        GgufError: the model is not of the Llama family, or of a form that is not supported.
    """
    reader = _Reader(file, read_shape(file), torch.device(device), dtype, keep_four_bits)
    return reader.read()


def random_parameters(
    shape: Shape, *, device: str, dtype: torch.dtype, seed: int = 0
) -> Parameters:
    """Weights that mean nothing, drawn on the device: for measuring a shape without its file.

    Matrices are drawn with deviation 1 / sqrt(inputs), so that values keep their size through
    the layers; query, key and value have biases, the head is tied to the embedding (Qwen2.5).
    """
    place = torch.device(device)
    generator = torch.Generator(place).manual_seed(seed)

    def draw(*size: int) -> Tensor:
        values = torch.randn(size, generator=generator, device=place, dtype=dtype)
        return values.mul_(size[-1] ** -0.5)

    def ones() -> Tensor:
        return torch.ones(shape.hidden_size, device=place, dtype=dtype)

    def layer() -> Layer:
        joint = shape.query_size + 2 * shape.kv_size
        return Layer(
            attention_norm=ones(),
            feed_forward_norm=ones(),
            query_norm=None,
            key_norm=None,
            weights={
                "qkv": draw(joint, shape.hidden_size),
                "out": draw(shape.hidden_size, shape.query_size),
                "gate_up": draw(2 * shape.feed_forward, shape.hidden_size),
                "down": draw(shape.hidden_size, shape.feed_forward),
            },
            biases={"qkv": draw(joint), "out": None, "gate_up": None, "down": None},
        )

    embedding = draw(shape.vocabulary_size, shape.hidden_size)
    frequencies = torch.from_numpy(tensors.plain_frequencies(shape).astype(np.float32))
    return Parameters(
        shape=shape,
        embedding=embedding,
        head=embedding,
        norm=ones(),
        layers=tuple(layer() for _ in range(shape.layers)),
        frequencies=frequencies.to(place),
    )


@dataclass(frozen=True)
class _Reader:
    file: GgufFile
    shape: Shape
    device: torch.device
    dtype: torch.dtype
    keep_four_bits: bool

    def read(self) -> Parameters:
        file = self.file
        embedding = self._place(dequantize(file.tensor("token_embd.weight")))
        own_head = "output.weight" in file.tensors
        frequencies = tensors.rotary_frequencies(file, self.shape)
        return Parameters(
            shape=self.shape,
            embedding=embedding,
            head=self._place(dequantize(tensors.head(file))) if own_head else embedding,
            norm=self._place(tensors.vector(file, "output_norm.weight")),
            layers=tuple(self._layer(index) for index in range(self.shape.layers)),
            frequencies=torch.from_numpy(frequencies).to(self.device),
        )

    def _layer(self, index: int) -> Layer:
        at = f"blk.{index}"
        weights: dict[str, Matrix] = {}
        biases: dict[str, Tensor | None] = {}
        for name, parts in tensors.projections(self.file, self.shape, index):
            weights[name] = self._matrix(parts)
            biases[name] = self._stacked_bias(parts)
        return Layer(
            attention_norm=self._place(tensors.vector(self.file, f"{at}.attn_norm.weight")),
            feed_forward_norm=self._place(tensors.vector(self.file, f"{at}.ffn_norm.weight")),
            query_norm=self._optional(f"{at}.attn_q_norm.weight"),
            key_norm=self._optional(f"{at}.attn_k_norm.weight"),
            weights=weights,
            biases=biases,
        )

    def _matrix(self, parts: Sequence[tensors.Part]) -> Matrix:
        if self.keep_four_bits:
            return PackedMatrix.of(parts)
        return torch.cat([self._place(part.values()) for part in parts])

    def _stacked_bias(self, parts: Sequence[tensors.Part]) -> Tensor | None:
        stacked = tensors.stacked_bias(parts)
        return None if stacked is None else self._place(stacked)

    def _optional(self, name: str) -> Tensor | None:
        values = tensors.optional_vector(self.file, name)
        return None if values is None else self._place(values)

    def _place(self, values: NDArray[np.float32]) -> Tensor:
        return torch.tensor(values, dtype=self.dtype, device=self.device)
