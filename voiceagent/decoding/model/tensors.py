"""Which tensors of a GGUF file make up each part of a Llama-family decoder, in the order in which
the fused projections stack them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voiceagent.decoding.blocks import dequantize
from voiceagent.decoding.gguf import GgufFile, GgufTensor
from voiceagent.decoding.model.shape import Shape

Rows = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Part:
    """Some rows of one fused projection."""

    tensor: GgufTensor
    order: Rows | None
    """The order to take the tensor's rows in; None for their own."""
    bias: NDArray[np.float32] | None
    """(rows,), already in that order."""

    def values(self) -> NDArray[np.float32]:
        """(rows, columns) in that order."""
        values = dequantize(self.tensor)
        return values if self.order is None else values[self.order]


def projections(file: GgufFile, shape: Shape, layer: int) -> Iterator[tuple[str, list[Part]]]:
    """The four fused projections of ``layer``: ``qkv``, ``out``, ``gate_up`` and ``down``."""
    at = f"blk.{layer}"
    query = rotary_order(shape.heads, shape.head_size) if shape.paired_rotary else None
    key = rotary_order(shape.kv_heads, shape.head_size) if shape.paired_rotary else None
    yield (
        "qkv",
        [
            _part(file, f"{at}.attn_q", query),
            _part(file, f"{at}.attn_k", key),
            _part(file, f"{at}.attn_v"),
        ],
    )
    yield "out", [_part(file, f"{at}.attn_output")]
    yield "gate_up", [_part(file, f"{at}.ffn_gate"), _part(file, f"{at}.ffn_up")]
    yield "down", [_part(file, f"{at}.ffn_down")]


def head(file: GgufFile) -> GgufTensor:
    """The output layer: its own where the file has one, else the embedding (tied)."""
    own = file.tensors.get("output.weight")
    return file.tensor("token_embd.weight") if own is None else own


def rotary_order(heads: int, head_size: int) -> Rows:
    """Row order that takes neighbouring rotary pairs apart into two halves."""
    pairs = np.arange(heads * head_size).reshape(heads, head_size // 2, 2)
    return pairs.swapaxes(1, 2).reshape(-1)


def vector(file: GgufFile, name: str) -> NDArray[np.float32]:
    """A tensor of one dimension as float32."""
    return dequantize(file.tensor(name))


def optional_vector(file: GgufFile, name: str) -> NDArray[np.float32] | None:
    """The same where the file has it."""
    return vector(file, name) if name in file.tensors else None


def plain_frequencies(shape: Shape) -> NDArray[np.float64]:
    """(head_size / 2,) radians per position, by the shape alone."""
    exponents = np.arange(0, shape.head_size, 2, dtype=np.float64) / shape.head_size
    frequencies: NDArray[np.float64] = shape.rotary_base**-exponents / shape.rotary_scale
    return frequencies


def rotary_frequencies(file: GgufFile, shape: Shape) -> NDArray[np.float32]:
    """The same for a file; ``rope_freqs`` are Llama 3's factors."""
    frequencies = plain_frequencies(shape)
    factors = optional_vector(file, "rope_freqs.weight")
    return (frequencies if factors is None else frequencies / factors).astype(np.float32)


def _part(file: GgufFile, name: str, order: Rows | None = None) -> Part:
    bias = optional_vector(file, f"{name}.bias")
    if bias is not None and order is not None:
        bias = bias[order]
    return Part(tensor=file.tensor(f"{name}.weight"), order=order, bias=bias)


def stacked_bias(parts: Sequence[Part]) -> NDArray[np.float32] | None:
    """The bias of a fused projection (zeros where only some parts have one); None without any."""
    if all(part.bias is None for part in parts):
        return None
    rows = [np.zeros(len(part.tensor.data), dtype=np.float32) for part in parts]
    return np.concatenate(
        [zeros if part.bias is None else part.bias for part, zeros in zip(parts, rows, strict=True)]
    )
