"""The border to the compiled kernels: structures that mirror lean.cpp, and typed calls."""

import ctypes
from collections.abc import Sequence
from ctypes import POINTER, Structure, c_float, c_int32, c_int64, c_void_p
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from voiceagent.decoding.gguf import BlockType, GgufError, GgufTensor
from voiceagent.decoding.kernels.build import load

MAX_PARTS = 3
PATHS = ("plain C++", "AVX2", "VNNI", "VNNI, emulated", "AVX-512 VNNI")


class Matrix(Structure):
    """A packed matrix."""

    _fields_ = (
        ("panels", c_void_p),
        ("outputs", c_int64),
        ("columns", c_int64),
        ("panel_bytes", c_int64),
        ("type", c_int32),
        ("unused", c_int32),
    )


class Projection(Structure):
    """Matrices that read the same activations, and the bias of them all."""

    _fields_ = (("part", Matrix * MAX_PARTS), ("parts", c_int64), ("bias", c_void_p))


class Layer(Structure):
    """One decoder layer."""

    _fields_ = (
        ("qkv", Projection),
        ("out", Projection),
        ("gate_up", Projection),
        ("down", Projection),
        ("attention_norm", c_void_p),
        ("feed_forward_norm", c_void_p),
        ("query_norm", c_void_p),
        ("key_norm", c_void_p),
    )


class Model(Structure):
    """A whole decoder; what the pointers lead to must outlive it."""

    _fields_ = (
        ("layers", c_int64),
        ("hidden", c_int64),
        ("heads", c_int64),
        ("kv_heads", c_int64),
        ("head_size", c_int64),
        ("feed_forward", c_int64),
        ("vocabulary", c_int64),
        ("epsilon", c_float),
        ("unused", c_float),
        ("frequencies", c_void_p),
        ("norm", c_void_p),
        ("layer", POINTER(Layer)),
        ("embedding", Matrix),
        ("head", Projection),
    )


class Place(Structure):
    """Where a row goes: its cache and its position."""

    _fields_ = (
        ("keys", c_void_p),
        ("values", c_void_p),
        ("capacity", c_int64),
        ("position", c_int64),
    )


class Kernels:
    """The compiled library."""

    def __init__(self, library: Path) -> None:
        self._library = load(library)
        for name, result, arguments in _SIGNATURES:
            function = getattr(self._library, name)
            function.restype, function.argtypes = result, arguments
        sizes = (self._library.lean_size_of_model(), self._library.lean_size_of_layer())
        if sizes != (ctypes.sizeof(Model), ctypes.sizeof(Layer)):
            raise RuntimeError(f"lean.cpp and native.py disagree about their structures: {sizes}")

    @property
    def path(self) -> str:
        """Which instructions the inner loop was built for."""
        return PATHS[self._library.lean_path()]

    def panel_bytes(self, kind: BlockType, columns: int) -> int:
        """Bytes of 16 outputs."""
        return int(self._library.lean_panel_bytes(kind, columns))

    def pack(
        self, tensor: GgufTensor, *, order: NDArray[np.int64] | None = None, threads: int = 1
    ) -> NDArray[np.uint8]:
        """(bytes,): ``tensor`` in panels, nothing lost; rows in ``order`` where it is given."""
        outputs = len(tensor.data)
        source, kind = _packable(tensor)
        packed = np.empty(-(-outputs // 16) * self.panel_bytes(kind, tensor.columns), np.uint8)
        self._library.lean_pack(
            kind,
            outputs,
            tensor.columns,
            source.ctypes.data,
            source.strides[0],
            None if order is None else np.ascontiguousarray(order).ctypes.data,
            packed.ctypes.data,
            threads,
        )
        return packed

    def matrix(self, kind: BlockType, *, outputs: int, columns: int, address: int) -> Matrix:
        """A view of packed bytes at ``address``."""
        size = self.panel_bytes(kind, columns)
        return Matrix(address, outputs, columns, size, int(kind), 0)

    def unpack_row(self, matrix: Matrix, output: int) -> NDArray[np.float32]:
        """(columns,) float32: one row of what was packed."""
        values = np.empty(matrix.columns, np.float32)
        self._library.lean_unpack_row(ctypes.byref(matrix), output, values.ctypes.data)
        return values

    def project(self, projection: Projection, rows: Tensor, *, threads: int = 1) -> Tensor:
        """(rows, outputs) float32 from (rows, columns) float32; at most 128 rows."""
        outputs = sum(part.outputs for part in projection.part[: projection.parts])
        rows = rows.float().contiguous()
        out = torch.empty(len(rows), outputs)
        self._library.lean_project(
            ctypes.byref(projection), rows.data_ptr(), len(rows), out.data_ptr(), threads
        )
        return out

    def read(self, data: NDArray[np.uint8], *, threads: int) -> None:
        """Reads ``data`` once: what the memory gives, for the benchmarks."""
        self._library.lean_read(data.ctypes.data, data.nbytes, threads)

    def new_scratch(self) -> int:
        """Working memory of one model; `delete_scratch` gives it back."""
        return int(self._library.lean_new_scratch())

    def delete_scratch(self, scratch: int) -> None:
        """Gives working memory back."""
        self._library.lean_delete_scratch(scratch)

    def forward(
        self,
        model: Model,
        scratch: int,
        tokens: Tensor,
        places: Sequence[tuple[Tensor, Tensor, int, int]],
        *,
        scored_from: int,
        threads: int,
    ) -> tuple[Tensor, Tensor]:
        """Logits (rows - scored_from, vocabulary) and hidden states (rows, hidden), float32.

        ``places``: keys, values, capacity and position of each row.
        """
        rows = len(tokens)
        array = (Place * rows)(
            *(Place(k.data_ptr(), v.data_ptr(), room, at) for k, v, room, at in places)
        )
        logits = torch.empty(rows - scored_from, model.vocabulary)
        hidden = torch.empty(rows, model.hidden)
        self._library.lean_forward(
            ctypes.byref(model),
            scratch,
            tokens.data_ptr(),
            array,
            rows,
            scored_from,
            logits.data_ptr(),
            hidden.data_ptr(),
            threads,
        )
        return logits, hidden


def projection(parts: Sequence[Matrix], bias: int | None) -> Projection:
    """Matrices side by side; ``bias`` is the address of their joint bias."""
    if not 1 <= len(parts) <= MAX_PARTS:
        raise ValueError(f"a projection has 1 to {MAX_PARTS} parts, not {len(parts)}")
    return Projection((Matrix * MAX_PARTS)(*parts), len(parts), bias)


def _packable(tensor: GgufTensor) -> tuple[NDArray[np.uint8], BlockType]:
    if tensor.type is BlockType.BF16:
        wide = (tensor.data.view(np.uint16).astype(np.uint32) << 16).view(np.uint8)
        return np.ascontiguousarray(wide), BlockType.F32
    if tensor.columns % 32:
        raise GgufError(f"tensor {tensor.name}: rows of {tensor.columns} values cannot be packed")
    return np.ascontiguousarray(tensor.data), tensor.type


_SIGNATURES: tuple[tuple[str, Any, list[Any]], ...] = (
    ("lean_size_of_model", c_int64, []),
    ("lean_size_of_layer", c_int64, []),
    ("lean_path", c_int32, []),
    ("lean_panel_bytes", c_int64, [c_int32, c_int64]),
    ("lean_read", c_int64, [c_void_p, c_int64, c_int32]),
    ("lean_new_scratch", c_void_p, []),
    ("lean_delete_scratch", None, [c_void_p]),
    (
        "lean_pack",
        None,
        [c_int32, c_int64, c_int64, c_void_p, c_int64, c_void_p, c_void_p, c_int32],
    ),
    ("lean_unpack_row", None, [POINTER(Matrix), c_int64, c_void_p]),
    ("lean_project", None, [POINTER(Projection), c_void_p, c_int64, c_void_p, c_int32]),
    (
        "lean_forward",
        None,
        [
            POINTER(Model),
            c_void_p,
            c_void_p,
            POINTER(Place),
            c_int64,
            c_int64,
            c_void_p,
            c_void_p,
            c_int32,
        ],
    ),
)
