"""Small GGUF files with random weights: every block type, every supported architecture."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from numpy.typing import NDArray

from voiceagent.decoding.gguf import BLOCK_SHAPE, BlockType, GgufTensor
from voiceagent.weights.digest import sha256_of
from voiceagent.weights.manifest import File

FLOATS = (BlockType.F32, BlockType.F16, BlockType.BF16)
QUANTIZED = tuple(kind for kind in BlockType if kind not in FLOATS)
K_TYPES = (BlockType.Q4_K, BlockType.Q5_K, BlockType.Q6_K)


def random_tensor(
    kind: BlockType, rows: int, columns: int, *, seed: int, name: str = "x", size: float = 1.0
) -> GgufTensor:
    """Random values of about ``size``, as the file format holds them."""
    generator = np.random.default_rng(seed)
    values = (size * generator.normal(size=(rows, columns))).astype(np.float32)
    if kind in K_TYPES:
        data = _random_k_blocks(kind, rows, columns, generator, size)
    else:
        data = gguf.quants.quantize(values, gguf.GGMLQuantizationType[kind.name])
    flat = np.ascontiguousarray(data).view(np.uint8).reshape(rows, -1)
    return GgufTensor(name=name, type=kind, shape=(rows, columns), data=flat)


def _random_k_blocks(
    kind: BlockType, rows: int, columns: int, generator: np.random.Generator, size: float
) -> NDArray[np.uint8]:
    """Any bits are valid codes; only the blocks' float16 scales must be sensible."""
    values, stride = BLOCK_SHAPE[kind]
    blocks = generator.integers(0, 256, size=(rows, columns // values, stride), dtype=np.uint8)
    halves = (208,) if kind is BlockType.Q6_K else (0, 2)
    largest = {BlockType.Q4_K: 5e-3, BlockType.Q5_K: 2e-3, BlockType.Q6_K: 4e-4}[kind]
    for at in halves:
        scale = generator.uniform(0, size * largest, size=(*blocks.shape[:2], 1))
        blocks[..., at : at + 2] = scale.astype(np.float16).view(np.uint8)
    return blocks


def constant_tensor(kind: BlockType, rows: int, columns: int, *, byte: int) -> GgufTensor:
    """Every byte the same but the block scales, which are one: the extreme codes and sub-scales."""
    values, size = BLOCK_SHAPE[kind]
    blocks = np.full((rows, columns // values, size), byte, dtype=np.uint8)
    minimum = kind in (BlockType.Q4_1, BlockType.Q5_1, BlockType.Q4_K, BlockType.Q5_K)
    for at in (208,) if kind is BlockType.Q6_K else (0, 2) if minimum else (0,):
        blocks[..., at : at + 2] = np.array([1], dtype=np.float16).view(np.uint8)
    return GgufTensor(name="x", type=kind, shape=(rows, columns), data=blocks.reshape(rows, -1))


def write_model(
    path: Path,
    metadata: Mapping[str, Any],
    tensors: Mapping[str, NDArray[np.float32] | GgufTensor],
) -> File:
    """Writes a GGUF file (``general.architecture`` among the metadata) and describes it."""
    writer = gguf.GGUFWriter(path, metadata["general.architecture"])
    for key, value in metadata.items():
        if key != "general.architecture":
            _add(writer, key, value)
    for name, tensor in tensors.items():
        if isinstance(tensor, GgufTensor):
            kind = gguf.GGMLQuantizationType[tensor.type.name]
            writer.add_tensor(name, tensor.data, raw_dtype=kind)
        else:
            writer.add_tensor(name, np.ascontiguousarray(tensor, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return describe(path)


def describe(path: Path) -> File:
    """A manifest entry for a file of a test."""
    return File(
        role="target",
        name=path.name,
        bytes=path.stat().st_size,
        sha256=sha256_of(path),
        licence="none",
        sources=(),
    )


def _add(writer: gguf.GGUFWriter, key: str, value: Any) -> None:
    if isinstance(value, bool):
        writer.add_bool(key, value)
    elif isinstance(value, int):
        writer.add_uint32(key, value)
    elif isinstance(value, float):
        writer.add_float32(key, value)
    elif isinstance(value, str):
        writer.add_string(key, value)
    else:
        writer.add_array(key, value)
