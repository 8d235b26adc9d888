"""Reads GGUF files: metadata, and tensors as raw blocks over a memory map.

The layout follows the GGUF specification (ggml-org/ggml, docs/gguf.md), version 2 and 3, little
endian. A file is checked as it is read: a damaged one raises :class:`GgufError`, never more.
"""

import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voiceagent.core.errors import VoiceAgentError

MAGIC = b"GGUF"
DEFAULT_ALIGNMENT = 32
# No published model comes near these; a damaged count must not become a huge allocation.
MAX_TENSORS = 100_000
MAX_METADATA = 100_000
MAX_DIMENSIONS = 4


class GgufError(VoiceAgentError):
    """A file that is not a GGUF file, is damaged, or holds something that is not supported."""


class BlockType(IntEnum):
    """How a tensor's values are stored; the numbers are those of the file format."""

    F32 = 0
    F16 = 1
    Q4_0 = 2
    Q4_1 = 3
    Q5_0 = 6
    Q5_1 = 7
    Q8_0 = 8
    Q4_K = 12
    Q5_K = 13
    Q6_K = 14
    BF16 = 30


# values and bytes of one block
BLOCK_SHAPE: Mapping[int, tuple[int, int]] = {
    BlockType.F32: (1, 4),
    BlockType.F16: (1, 2),
    BlockType.BF16: (1, 2),
    BlockType.Q4_0: (32, 18),
    BlockType.Q4_1: (32, 20),
    BlockType.Q5_0: (32, 22),
    BlockType.Q5_1: (32, 24),
    BlockType.Q8_0: (32, 34),
    BlockType.Q4_K: (256, 144),
    BlockType.Q5_K: (256, 176),
    BlockType.Q6_K: (256, 210),
}


@dataclass(frozen=True, kw_only=True)
class GgufTensor:
    """One tensor, still packed."""

    name: str
    type: BlockType
    shape: tuple[int, ...]
    """Slowest dimension first (the file lists them the other way round)."""
    data: NDArray[np.uint8]
    """(values / columns, bytes of a row): one row of blocks for each row of values."""

    @property
    def columns(self) -> int:
        """Length of the fastest dimension: the inputs of a linear layer."""
        return self.shape[-1]


@dataclass(frozen=True, kw_only=True)
class GgufFile:
    """A file's metadata and tensors; the tensors are views of a memory map."""

    metadata: Mapping[str, Any]
    tensors: Mapping[str, GgufTensor]

    def require(self, key: str) -> Any:
        """The metadata value of ``key``. Raises GgufError where it is missing."""
        if key not in self.metadata:
            raise GgufError(f"the GGUF file has no metadata key {key}: use another file")
        return self.metadata[key]

    def tensor(self, name: str) -> GgufTensor:
        """The tensor called ``name``. Raises GgufError where it is missing."""
        if name not in self.tensors:
            raise GgufError(f"the GGUF file has no tensor {name}: use another file")
        return self.tensors[name]


def read_gguf(path: Path) -> GgufFile:
    """Reads the header of ``path`` and maps its tensors (nothing is unpacked).

    Raises:
        GgufError: not a GGUF file, damaged, cut short, or of an unsupported version or type.
        OSError: the file cannot be opened.
    """
    with path.open("rb") as file:
        if file.seek(0, 2) == 0:
            raise GgufError(f"{path.name} is empty: fetch it again")
        view = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        return _read(_Cursor(view), view)
    except (_CutShort, struct.error, UnicodeDecodeError) as error:
        raise GgufError(f"{path.name} is damaged or cut short: fetch it again") from error
    except GgufError as error:
        raise GgufError(f"{path.name}: {error}") from error


class _CutShort(Exception):
    """The file ends before the value that was promised."""


class _Cursor:
    """A reading position in the file; every step is checked against the file's end."""

    def __init__(self, view: mmap.mmap) -> None:
        self._view = view
        self.at = 0

    def take(self, size: int) -> bytes:
        end = self.at + size
        if end > len(self._view):
            raise _CutShort
        start, self.at = self.at, end
        return self._view[start:end]

    def number(self, layout: str) -> Any:
        codec = _CODECS[layout]
        return codec.unpack(self.take(codec.size))[0]

    def string(self) -> str:
        return self.take(self.number("Q")).decode("utf-8")


_CODECS = {letter: struct.Struct(f"<{letter}") for letter in "BbHhIifQqd?"}
# metadata value types 0..12 of the format; 8 is a string, 9 an array
_SCALARS = dict(zip((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12), "BbHhIif?Qqd", strict=True))
_STRING, _ARRAY = 8, 9


def _read(cursor: _Cursor, view: mmap.mmap) -> GgufFile:
    if cursor.take(4) != MAGIC:
        raise GgufError("not a GGUF file")
    version = cursor.number("I")
    if version not in (2, 3):
        raise GgufError(f"GGUF version {version} is not supported (2 and 3 are)")
    tensor_count, metadata_count = cursor.number("Q"), cursor.number("Q")
    if tensor_count > MAX_TENSORS or metadata_count > MAX_METADATA:
        raise _CutShort
    metadata = {}
    for _ in range(metadata_count):
        key = cursor.string()
        metadata[key] = _value(cursor, cursor.number("I"))
    entries = [_tensor_entry(cursor) for _ in range(tensor_count)]
    alignment = int(metadata.get("general.alignment", DEFAULT_ALIGNMENT))
    if alignment < 1:
        raise _CutShort
    start = -(-cursor.at // alignment) * alignment
    content = np.frombuffer(view, dtype=np.uint8)
    tensors = [_map_tensor(entry, content, start=start) for entry in entries]
    return GgufFile(metadata=metadata, tensors={tensor.name: tensor for tensor in tensors})


def _value(cursor: _Cursor, kind: int) -> Any:
    if kind in _SCALARS:
        return cursor.number(_SCALARS[kind])
    if kind == _STRING:
        return cursor.string()
    if kind == _ARRAY:
        return _array(cursor)
    raise GgufError(f"metadata value type {kind} is not supported")


def _array(cursor: _Cursor) -> list[Any]:
    kind, count = cursor.number("I"), cursor.number("Q")
    if kind in _SCALARS:
        layout = _SCALARS[kind]
        return list(struct.unpack(f"<{count}{layout}", cursor.take(_size(layout, count))))
    if kind != _STRING:
        raise GgufError(f"metadata value type {kind} is not supported in a list")
    return [cursor.string() for _ in range(count)]


def _size(layout: str, count: int) -> int:
    return _CODECS[layout].size * int(count)


@dataclass(frozen=True)
class _Entry:
    name: str
    type: int
    shape: tuple[int, ...]
    offset: int


def _tensor_entry(cursor: _Cursor) -> _Entry:
    name = cursor.string()
    dimensions = cursor.number("I")
    if not 1 <= dimensions <= MAX_DIMENSIONS:
        raise _CutShort
    shape = tuple(cursor.number("Q") for _ in range(dimensions))
    return _Entry(name, cursor.number("I"), shape[::-1], cursor.number("Q"))


def _map_tensor(entry: _Entry, content: NDArray[np.uint8], *, start: int) -> GgufTensor:
    if entry.type not in BLOCK_SHAPE:
        supported = ", ".join(kind.name for kind in BlockType)
        raise GgufError(
            f"tensor {entry.name} has block type {entry.type}, which is not supported ({supported})"
        )
    values, size = BLOCK_SHAPE[entry.type]
    columns = entry.shape[-1]
    if columns % values or not columns:
        raise _CutShort
    rows = prod(entry.shape[:-1])
    row_bytes = columns // values * size
    begin = start + entry.offset
    if begin + rows * row_bytes > len(content):
        raise _CutShort
    return GgufTensor(
        name=entry.name,
        type=BlockType(entry.type),
        shape=entry.shape,
        data=content[begin : begin + rows * row_bytes].reshape(rows, row_bytes),
    )
