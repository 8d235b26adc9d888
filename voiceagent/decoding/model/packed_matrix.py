"""Matrices of 4-bit codes as torch itself multiplies them: for CPUs without our kernels.

A group of 32 codes with a scale and a minimum is exactly what ATen's 4-bit product takes, in
float32. Other types have finer scales or more bits than it knows: they stay unpacked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from voiceagent.decoding.blocks import GROUP_OF_FOUR_BITS, take_apart
from voiceagent.decoding.gguf import BlockType
from voiceagent.decoding.model.tensors import Part

_FOUR_BITS = (BlockType.Q4_0, BlockType.Q4_1, BlockType.Q4_K)
_OUTPUTS = 16
"""ATen takes whole sixteens of outputs."""
_MIDDLE = 8
"""ATen's value of a code is ``(code - 8) * scale + zero``."""


@dataclass(frozen=True, slots=True, eq=False)
class FourBits:
    """Some outputs of a matrix."""

    codes: Tensor
    """(outputs, inputs / 2) uint8, in ATen's order."""
    scales: Tensor
    """(groups, outputs, 2) float32: scale and zero."""

    @classmethod
    def of(cls, part: Part) -> FourBits:
        """The rows of a part."""
        taken = take_apart(part.tensor)
        order = slice(None) if part.order is None else part.order
        scale, minimum = taken.group_scales()
        zero = minimum + (_MIDDLE - taken.offset) * scale
        scales = np.stack([scale[order].T, zero[order].T], axis=-1)
        codes = torch.from_numpy(taken.codes[order].astype(np.int32))
        packed = torch.ops.aten._convert_weight_to_int4pack_for_cpu(codes, 2)
        return cls(packed, torch.from_numpy(np.ascontiguousarray(scales, dtype=np.float32)))

    @property
    def nbytes(self) -> int:
        """Bytes that a product reads."""
        return self.codes.nbytes + self.scales.nbytes

    def product(self, rows: Tensor) -> Tensor:
        """Of ``rows`` (rows, inputs) float32: (rows, outputs)."""
        result: Tensor = torch.ops.aten._weight_int4pack_mm_for_cpu(
            rows, self.codes, GROUP_OF_FOUR_BITS, self.scales
        )
        return result


@dataclass(frozen=True, slots=True, eq=False)
class PackedMatrix:
    """A fused projection whose parts are each as small as torch can multiply it."""

    parts: tuple[FourBits | Tensor, ...]

    @classmethod
    def of(cls, parts: Sequence[Part]) -> PackedMatrix:
        """The parts below each other."""
        return cls(tuple(_packed(part) for part in parts))

    @property
    def nbytes(self) -> int:
        """Bytes that a product reads."""
        return sum(part.nbytes for part in self.parts)

    def product(self, rows: Tensor) -> Tensor:
        """Of ``rows`` (..., inputs) float32: (..., outputs)."""
        flat = rows.reshape(-1, rows.shape[-1])
        products = [
            part.product(flat) if isinstance(part, FourBits) else functional.linear(flat, part)
            for part in self.parts
        ]
        return torch.cat(products, dim=-1).reshape(*rows.shape[:-1], -1)


Matrix: TypeAlias = Tensor | PackedMatrix


def multiply(rows: Tensor, matrix: Matrix, bias: Tensor | None) -> Tensor:
    """``rows`` (..., inputs) times a matrix, and the bias (outputs,) added."""
    if isinstance(matrix, Tensor):
        return functional.linear(rows, matrix, bias)
    product = matrix.product(rows)
    return product if bias is None else product + bias


def _packed(part: Part) -> FourBits | Tensor:
    if part.tensor.type in _FOUR_BITS and len(part.tensor.data) % _OUTPUTS == 0:
        return FourBits.of(part)
    return torch.tensor(part.values())
