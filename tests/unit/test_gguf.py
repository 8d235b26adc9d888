"""The GGUF reader against the format's own package, and against damaged files."""

import contextlib
import struct
from pathlib import Path

import gguf
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_gguf import FLOATS, QUANTIZED, random_tensor, write_model

from voiceagent.decoding.blocks import dequantize, take_apart
from voiceagent.decoding.gguf import BlockType, GgufError, read_gguf

METADATA = {
    "general.architecture": "llama",
    "a.number": 7,
    "a.float": 0.5,
    "a.flag": True,
    "a.text": "naïve ✓",
    "a.list": [3, 1, 2],
    "a.words": ["one", "", "drei"],
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with one tensor of every supported type."""
    path = tmp_path_factory.mktemp("gguf") / "all.gguf"
    tensors = {
        kind.name: random_tensor(kind, 3, 512, seed=int(kind), name=kind.name) for kind in BlockType
    }
    write_model(path, METADATA, tensors)
    return path


def test_metadata_of_every_kind_is_read_back(whole: Path) -> None:
    """Numbers, flags, text and lists come back as they were written."""
    metadata = read_gguf(whole).metadata
    assert {key: metadata[key] for key in METADATA} == METADATA


@pytest.mark.parametrize("kind", BlockType, ids=lambda kind: kind.name)
def test_every_type_unpacks_as_the_reference_does(whole: Path, kind: BlockType) -> None:
    """Values equal those of the gguf package exactly, shape included."""
    tensor = read_gguf(whole).tensor(kind.name)
    expected = gguf.quants.dequantize(tensor.data, gguf.GGMLQuantizationType[kind.name])
    assert tensor.shape == (3, 512)
    np.testing.assert_array_equal(dequantize(tensor), expected.reshape(3, 512))


@pytest.mark.parametrize("kind", QUANTIZED, ids=lambda kind: kind.name)
def test_codes_stay_within_their_bits(kind: BlockType) -> None:
    """Codes taken apart fit the stated number of bits, with one scale for each group or block."""
    parts = take_apart(random_tensor(kind, 5, 512, seed=1))
    assert parts.codes.shape == (5, 512)
    assert int(parts.codes.max()) < 2**parts.bits
    groups = parts.scale if parts.sub_scale is None else parts.sub_scale
    assert groups.shape == (5, 512 // parts.group)


def test_shapes_list_the_slowest_dimension_first(tmp_path: Path) -> None:
    """A matrix of 2 outputs and 64 inputs is (2, 64), a vector is (64,)."""
    matrix = np.arange(128, dtype=np.float32).reshape(2, 64)
    write_model(tmp_path / "m.gguf", METADATA, {"m": matrix, "v": matrix[1]})
    file = read_gguf(tmp_path / "m.gguf")
    np.testing.assert_array_equal(dequantize(file.tensor("m")), matrix)
    np.testing.assert_array_equal(dequantize(file.tensor("v")), matrix[1])


def test_what_is_missing_is_named(whole: Path) -> None:
    """A missing key or tensor raises an error that names it."""
    file = read_gguf(whole)
    with pytest.raises(GgufError, match=r"no\.such\.key"):
        file.require("no.such.key")
    with pytest.raises(GgufError, match=r"blk\.99"):
        file.tensor("blk.99")


def test_every_cut_is_noticed(tmp_path: Path) -> None:
    """A file cut short anywhere raises GgufError, never anything else."""
    path = tmp_path / "small.gguf"
    write_model(path, METADATA, {"m": random_tensor(BlockType.Q4_0, 1, 32, seed=0)})
    content = path.read_bytes()
    read_gguf(path)
    cut = tmp_path / "cut.gguf"
    needed = len(content) - _padding_after(content)
    for length in range(0, needed, 3):
        cut.write_bytes(content[:length])
        with pytest.raises(GgufError):
            read_gguf(cut)


def _padding_after(content: bytes) -> int:
    """Bytes that the writer adds behind the last tensor: 18 of 32 are the block."""
    return 32 - 18


@given(at=st.integers(0, 400), value=st.integers(0, 255))
def test_a_flipped_byte_never_does_worse_than_an_error(
    tmp_path_factory: pytest.TempPathFactory, at: int, value: int
) -> None:
    """Any single wrong byte is read as something or refused, and nothing else happens."""
    path = tmp_path_factory.mktemp("flip") / "f.gguf"
    write_model(path, METADATA, {"m": random_tensor(BlockType.Q4_0, 1, 32, seed=0)})
    content = bytearray(path.read_bytes())
    content[at % len(content)] = value
    path.write_bytes(content)
    with contextlib.suppress(GgufError):
        read_gguf(path)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"RIFF" + bytes(60), "not a GGUF file"),
        (b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "version 1"),
        (b"GGUF" + struct.pack("<IQQ", 3, 2**60, 0), "damaged"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 2**50), "damaged"),
        (
            b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1) + b"k" + struct.pack("<IIQ", 9, 9, 9) * 999,
            "metadata value type 9",
        ),
    ],
    ids=["empty", "other kind", "old version", "huge count", "huge string", "nested lists"],
)
def test_what_is_no_gguf_is_refused_by_name(tmp_path: Path, content: bytes, reason: str) -> None:
    """The error names the file and what is wrong with it."""
    path = tmp_path / "bad.gguf"
    path.write_bytes(content)
    with pytest.raises(GgufError, match=rf"bad\.gguf.*{reason}"):
        read_gguf(path)


def test_an_unknown_block_type_is_named(tmp_path: Path) -> None:
    """A type that is not supported is refused with its number and those that are."""
    path = tmp_path / "odd.gguf"
    write_model(path, METADATA, {"m": random_tensor(BlockType.Q4_0, 1, 32, seed=0)})
    content = path.read_bytes()
    entry = content.index(struct.pack("<Q", 1) + b"m")
    type_at = entry + 8 + 1 + 4 + 16
    assert struct.unpack_from("<I", content, type_at) == (BlockType.Q4_0,)
    path.write_bytes(content[:type_at] + struct.pack("<I", 10) + content[type_at + 4 :])
    with pytest.raises(GgufError, match=r"block type 10.*Q4_K"):
        read_gguf(path)


def test_floats_are_the_other_types() -> None:
    """Every type is either a float type or taken apart into codes."""
    assert set(FLOATS) | set(QUANTIZED) == set(BlockType)
