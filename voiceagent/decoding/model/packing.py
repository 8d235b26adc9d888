"""A decoder's packed weights as one file that is mapped at the next start.

``weights.bin`` holds panels and vectors, each beginning on a page; ``index.json`` says what lies
where. Everything is exactly what the GGUF file says: nothing is rounded again.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO, Self

import numpy as np
from numpy.typing import NDArray

from voiceagent.decoding.gguf import BlockType, GgufFile, GgufTensor, read_gguf
from voiceagent.decoding.kernels.native import Kernels
from voiceagent.decoding.model import tensors
from voiceagent.decoding.model.shape import Shape, read_shape

FORMAT_VERSION = 1
_ALIGNMENT = 4096


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One matrix (``outputs`` rows of ``columns``) or vector (``outputs`` 1) of the file."""

    type: int
    outputs: int
    columns: int
    offset: int


class PackedFile:
    """The mapped file."""

    def __init__(self, data: NDArray[np.uint8], shape: Shape, entries: Mapping[str, Entry]) -> None:
        self.data = data
        self.shape = shape
        self.entries = entries

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Maps what `pack` wrote."""
        index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
        return cls(
            np.memmap(folder / "weights.bin", dtype=np.uint8, mode="r"),
            Shape(**index["shape"]),
            {name: Entry(**entry) for name, entry in index["entries"].items()},
        )

    def address(self, name: str) -> int:
        """Where an entry begins in memory."""
        return int(self.data.ctypes.data) + self.entries[name].offset

    def optional_address(self, name: str) -> int | None:
        """The same, or None where there is no such entry."""
        return self.address(name) if name in self.entries else None


def pack(source: Path, folder: Path, *, kernels: Kernels, threads: int) -> None:
    """Writes the packed form of the GGUF file ``source`` to ``folder``, which it makes.

    Raises:
        GgufError: the file is damaged or its model is not supported.
    """
    file = read_gguf(source)
    shape = read_shape(file)
    folder.mkdir()
    with (folder / "weights.bin").open("wb") as out:
        writer = _Writer(out, kernels, threads)
        _write_model(file, shape, writer)
    index = {
        "shape": asdict(shape),
        "entries": {name: asdict(entry) for name, entry in writer.entries.items()},
    }
    (folder / "index.json").write_text(json.dumps(index), encoding="utf-8")


class _Writer:
    def __init__(self, out: BinaryIO, kernels: Kernels, threads: int) -> None:
        self._out, self._kernels, self._threads = out, kernels, threads
        self.entries: dict[str, Entry] = {}

    def matrix(self, name: str, tensor: GgufTensor, order: NDArray[np.int64] | None = None) -> None:
        packed = self._kernels.pack(tensor, order=order, threads=self._threads)
        kind = BlockType.F32 if tensor.type is BlockType.BF16 else tensor.type
        self._put(name, packed, kind, len(tensor.data), tensor.columns)

    def vector(self, name: str, values: NDArray[np.float32] | None) -> None:
        if values is not None:
            self._put(name, np.ascontiguousarray(values), BlockType.F32, 1, len(values))

    def _put(
        self,
        name: str,
        data: NDArray[np.uint8] | NDArray[np.float32],
        kind: BlockType,
        outputs: int,
        columns: int,
    ) -> None:
        self._out.write(bytes(-self._out.tell() % _ALIGNMENT))
        self.entries[name] = Entry(
            type=int(kind), outputs=outputs, columns=columns, offset=self._out.tell()
        )
        self._out.write(data.data)


def _write_model(file: GgufFile, shape: Shape, writer: _Writer) -> None:
    writer.vector("frequencies", tensors.rotary_frequencies(file, shape))
    writer.vector("norm", tensors.vector(file, "output_norm.weight"))
    for layer in range(shape.layers):
        _write_layer(file, shape, layer, writer)
    if "output.weight" in file.tensors:
        writer.matrix("head.0", file.tensor("output.weight"))
    writer.matrix("embedding", file.tensor("token_embd.weight"))


def _write_layer(file: GgufFile, shape: Shape, layer: int, writer: _Writer) -> None:
    at = f"blk.{layer}"
    writer.vector(f"{layer}.attention_norm", tensors.vector(file, f"{at}.attn_norm.weight"))
    writer.vector(f"{layer}.feed_forward_norm", tensors.vector(file, f"{at}.ffn_norm.weight"))
    for ours, theirs in (("query_norm", "attn_q_norm"), ("key_norm", "attn_k_norm")):
        writer.vector(f"{layer}.{ours}", tensors.optional_vector(file, f"{at}.{theirs}.weight"))
    for name, parts in tensors.projections(file, shape, layer):
        _write_projection(f"{layer}.{name}", parts, writer)


def _write_projection(name: str, parts: Sequence[tensors.Part], writer: _Writer) -> None:
    for index, part in enumerate(parts):
        writer.matrix(f"{name}.{index}", part.tensor, part.order)
    writer.vector(f"{name}.bias", tensors.stacked_bias(parts))
