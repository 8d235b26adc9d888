"""Takes GGUF blocks apart into whole numbers and scales, and puts them together as float32.

A quantized value is ``scale * (code - offset) + minimum``, where scale and minimum belong to a
group of 16 or 32 neighbours in a row. In the K types they are themselves products of a small
integer of the group and a float16 of the block of 256. The bit layouts are those of ggml's
``block_*`` structs (ggml-org/ggml, src/ggml-common.h).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voiceagent.decoding.gguf import BLOCK_SHAPE, BlockType, GgufTensor

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float32]
Halves = NDArray[np.float16]
Smalls = NDArray[np.int16]

GROUP_OF_FOUR_BITS = 32
"""Neighbours that share a scale in every type of four bits."""
_FOUR, _SIGN = np.uint8(4), np.uint8(128)


@dataclass(frozen=True, kw_only=True)
class Quantized:
    """A quantized matrix in parts; ``rows`` are outputs, ``columns`` inputs."""

    bits: int
    """4, 5, 6 or 8: codes lie in [0, 2**bits)."""
    offset: int
    """Taken from every code."""
    group: int
    """16 or 32: neighbours that share a scale."""
    codes: Bytes
    """(rows, columns)"""
    scale: Halves
    """(rows, blocks): of a block of 256 where ``sub_scale`` is given, else of a group."""
    minimum: Halves | None
    """(rows, blocks), added; None where the type has none."""
    sub_scale: Smalls | None
    """(rows, groups): multiplies the block's scale."""
    sub_minimum: Smalls | None
    """(rows, groups): multiplies the block's minimum."""

    def values(self) -> Floats:
        """(rows, columns) float32, rounded exactly as ggml's own conversion rounds."""
        rows, columns = self.codes.shape
        scale, minimum = self.group_scales()
        grouped = self.codes.reshape(rows, columns // self.group, self.group)
        result = (grouped.astype(np.float32) - np.float32(self.offset)) * scale[..., None]
        if self.minimum is not None:
            result += minimum[..., None]
        return result.reshape(rows, columns)

    def group_scales(self) -> tuple[Floats, Floats]:
        """Scale and minimum of each group, (rows, groups); zeros where there is no minimum."""
        scale = self._per_group(self.scale, self.sub_scale)
        if self.minimum is None:
            return scale, np.zeros_like(scale)
        return scale, self._per_group(self.minimum, self.sub_minimum)

    def _per_group(self, block: Halves, small: Smalls | None) -> Floats:
        wide: Floats = block.astype(np.float32)
        if small is None:
            return wide
        repeated = np.repeat(wide, small.shape[1] // wide.shape[1], axis=1)
        return repeated * small.astype(np.float32)


def dequantize(tensor: GgufTensor) -> Floats:
    """The values of ``tensor`` in its shape, as float32."""
    if tensor.type is BlockType.F32:
        return tensor.data.view(np.float32).reshape(tensor.shape)
    if tensor.type is BlockType.F16:
        return tensor.data.view(np.float16).astype(np.float32).reshape(tensor.shape)
    if tensor.type is BlockType.BF16:
        wide = tensor.data.view(np.uint16).astype(np.uint32) << 16
        return wide.view(np.float32).reshape(tensor.shape)
    return take_apart(tensor).values().reshape(tensor.shape)


def take_apart(tensor: GgufTensor) -> Quantized:
    """The codes and scales of a quantized ``tensor`` (any but the float types)."""
    values, size = BLOCK_SHAPE[tensor.type]
    rows = len(tensor.data)
    # (rows, blocks, bytes of a block)
    blocks = tensor.data.reshape(rows, tensor.columns // values, size)
    return _PARTS[tensor.type](blocks)


def _half(blocks: Bytes, at: int) -> Halves:
    """(rows, blocks): the float16 that begins at byte ``at`` of each block."""
    return np.ascontiguousarray(blocks[..., at : at + 2]).view(np.float16)[..., 0]


def _flat(codes: Bytes) -> Bytes:
    return np.ascontiguousarray(codes).reshape(codes.shape[0], -1)


def _nibbles(packed: Bytes) -> Bytes:
    """The low halves of all bytes, then their high halves: (..., 2 * bytes)."""
    return np.concatenate([packed & 15, packed >> 4], axis=-1)


def _simple(blocks: Bytes, *, codes: Bytes, bits: int, offset: int, minimum: bool) -> Quantized:
    return Quantized(
        bits=bits,
        offset=offset,
        group=32,
        codes=_flat(codes),
        scale=_half(blocks, 0),
        minimum=_half(blocks, 2) if minimum else None,
        sub_scale=None,
        sub_minimum=None,
    )


def _q4_0(blocks: Bytes) -> Quantized:
    return _simple(blocks, codes=_nibbles(blocks[..., 2:]), bits=4, offset=8, minimum=False)


def _q4_1(blocks: Bytes) -> Quantized:
    return _simple(blocks, codes=_nibbles(blocks[..., 4:]), bits=4, offset=0, minimum=True)


def _fifth_bits(packed: Bytes) -> Bytes:
    """(..., 32) of 0 or 16 from 4 bytes that hold one bit for each value of a block."""
    return np.left_shift(np.unpackbits(packed, axis=-1, bitorder="little"), _FOUR)


def _q5_0(blocks: Bytes) -> Quantized:
    codes = _nibbles(blocks[..., 6:]) | _fifth_bits(blocks[..., 2:6])
    return _simple(blocks, codes=codes, bits=5, offset=16, minimum=False)


def _q5_1(blocks: Bytes) -> Quantized:
    codes = _nibbles(blocks[..., 8:]) | _fifth_bits(blocks[..., 4:8])
    return _simple(blocks, codes=codes, bits=5, offset=0, minimum=True)


def _q8_0(blocks: Bytes) -> Quantized:
    codes = np.bitwise_xor(blocks[..., 2:], _SIGN)  # signed to unsigned with an offset of 128
    return _simple(blocks, codes=codes, bits=8, offset=128, minimum=False)


def _k_scales(packed: Bytes) -> tuple[Smalls, Smalls]:
    """Scales and minimums (rows, 8 per block), 6 bits each in the 12 bytes of a K block."""
    low, high, mixed = packed[..., 0:4], packed[..., 4:8], packed[..., 8:12]
    scales = np.concatenate([low & 63, (mixed & 15) | ((low >> 6) << 4)], axis=-1)
    minimums = np.concatenate([high & 63, (mixed >> 4) | ((high >> 6) << 4)], axis=-1)
    return _flat(scales).astype(np.int16), _flat(minimums).astype(np.int16)


def _k_type(blocks: Bytes, *, codes: Bytes, bits: int) -> Quantized:
    scales, minimums = _k_scales(blocks[..., 4:16])
    return Quantized(
        bits=bits,
        offset=0,
        group=32,
        codes=_flat(codes),
        scale=_half(blocks, 0),
        minimum=-_half(blocks, 2),  # the file's minimum is taken away
        sub_scale=scales,
        sub_minimum=minimums,
    )


def _k_nibbles(packed: Bytes) -> Bytes:
    """(rows, blocks, 4, 64): 32 low halves, then the 32 high halves, of each 32 bytes."""
    return _nibbles(packed.reshape(*packed.shape[:2], 4, 32))


def _q4_k(blocks: Bytes) -> Quantized:
    return _k_type(blocks, codes=_k_nibbles(blocks[..., 16:144]), bits=4)


def _q5_k(blocks: Bytes) -> Quantized:
    planes = np.unpackbits(blocks[..., 16:48, None], axis=-1, bitorder="little")
    fifth = np.swapaxes(planes, -1, -2).reshape(*blocks.shape[:2], 4, 64)  # bit by group of 32
    return _k_type(
        blocks, codes=_k_nibbles(blocks[..., 48:176]) | np.left_shift(fifth, _FOUR), bits=5
    )


def _q6_k(blocks: Bytes) -> Quantized:
    shape = blocks.shape[:2]
    low = blocks[..., 0:128].reshape(*shape, 2, 2, 32)
    low = np.concatenate([low & 15, low >> 4], axis=-2)  # (rows, blocks, 2, 4, 32)
    packed = blocks[..., 128:192].reshape(*shape, 2, 1, 32)
    high = (packed >> np.array([0, 2, 4, 6], dtype=np.uint8)[:, None]) & 3
    return Quantized(
        bits=6,
        offset=32,
        group=16,
        codes=_flat(low | np.left_shift(high, _FOUR)),
        scale=_half(blocks, 208),
        minimum=None,
        sub_scale=_flat(blocks[..., 192:208]).view(np.int8).astype(np.int16),
        sub_minimum=None,
    )


_PARTS = {
    BlockType.Q4_0: _q4_0,
    BlockType.Q4_1: _q4_1,
    BlockType.Q5_0: _q5_0,
    BlockType.Q5_1: _q5_1,
    BlockType.Q8_0: _q8_0,
    BlockType.Q4_K: _q4_k,
    BlockType.Q5_K: _q5_k,
    BlockType.Q6_K: _q6_k,
}
