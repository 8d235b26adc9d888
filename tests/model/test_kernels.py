"""The kernels: nothing lost in packing, right sums, rows that ignore their company."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from tiny_gguf import QUANTIZED, constant_tensor, random_tensor
from torch import Tensor

from voiceagent.config import cache_directory
from voiceagent.decoding.blocks import dequantize
from voiceagent.decoding.gguf import BlockType, GgufError, GgufTensor
from voiceagent.decoding.kernels import build, native
from voiceagent.decoding.kernels.native import Kernels
from voiceagent.weights.store import Store

OUTPUTS, COLUMNS = 40, 512  # 40: the last panel of 16 is half empty
PATHS = {
    "256 bits": ("-mno-avx512f",),
    "AVX2": ("-mno-avx512f", "-mno-avxvnni"),
    "emulated VNNI": ("-mno-avx512f", "-mno-avxvnni", "-DLEAN_EMULATE_VNNI"),
    "plain": ("-mno-avx2",),
}
"""What a build may be held to; on a machine without the better instructions some are the same."""


@pytest.fixture(scope="module")
def store() -> Store:
    """The machine's own cache: the kernels are built once, not once for each run."""
    return Store(cache_directory())


@pytest.fixture(scope="module")
def kernels(store: Store) -> Kernels:
    """The kernels as this machine runs them."""
    return Kernels(build.built(store))


class Packed:
    """A packed tensor and what keeps its bytes alive."""

    def __init__(self, kernels: Kernels, *tensors: GgufTensor, bias: Tensor | None = None) -> None:
        self._kernels, self._bias = kernels, bias
        self.data = [kernels.pack(tensor, threads=2) for tensor in tensors]
        self.matrices = [
            kernels.matrix(
                BlockType.F32 if tensor.type is BlockType.BF16 else tensor.type,
                outputs=len(tensor.data),
                columns=tensor.columns,
                address=data.ctypes.data,
            )
            for tensor, data in zip(tensors, self.data, strict=True)
        ]
        address = None if bias is None else bias.data_ptr()
        self.projection = native.projection(self.matrices, address)

    def __call__(self, rows: Tensor, *, threads: int = 1) -> Tensor:
        return self._kernels.project(self.projection, rows, threads=threads)


def activations(rows: int, *, seed: int = 0) -> Tensor:
    """Rows with the outliers that real activations have."""
    generator = torch.Generator().manual_seed(seed)
    values = torch.randn(rows, COLUMNS, generator=generator)
    values[:, 7] *= 50
    values[0, 32:64] = 0
    return values


def rounded(rows: Tensor) -> NDArray[np.float64]:
    """The activations after rounding to 8 bits by groups of 32, exactly, in numpy."""
    groups = rows.numpy().reshape(len(rows), -1, 32)
    peak = np.abs(groups).max(axis=-1, keepdims=True)
    inverse = np.divide(np.float32(127), peak, out=np.zeros_like(peak), where=peak > 0)
    codes = np.rint(groups * inverse).astype(np.float64)
    scales = (peak / np.float32(127)).astype(np.float64)
    return (codes * scales).reshape(len(rows), -1)


@pytest.mark.parametrize("kind", BlockType, ids=lambda kind: kind.name)
def test_packing_loses_nothing(kernels: Kernels, kind: BlockType) -> None:
    """Every row unpacks to exactly the values of the file, odd numbers of outputs included."""
    tensor = random_tensor(kind, OUTPUTS, COLUMNS, seed=3)
    packed = Packed(kernels, tensor)
    rows = [kernels.unpack_row(packed.matrices[0], row) for row in range(OUTPUTS)]
    np.testing.assert_array_equal(np.stack(rows), dequantize(tensor))


def test_rows_can_be_taken_in_another_order(kernels: Kernels) -> None:
    """Packing with an order gives the same matrix with its rows in that order."""
    tensor = random_tensor(BlockType.Q4_K, OUTPUTS, COLUMNS, seed=4)
    order = np.random.default_rng(0).permutation(OUTPUTS)
    data = kernels.pack(tensor, order=order)
    matrix = kernels.matrix(tensor.type, outputs=OUTPUTS, columns=COLUMNS, address=data.ctypes.data)
    row = kernels.unpack_row(matrix, 5)
    np.testing.assert_array_equal(row, dequantize(tensor)[order[5]])


@pytest.mark.parametrize("kind", BlockType, ids=lambda kind: kind.name)
def test_products_are_those_of_float64(kernels: Kernels, kind: BlockType) -> None:
    """Sums agree with float64 over the rounded activations to float32 accuracy."""
    tensor, rows = random_tensor(kind, OUTPUTS, COLUMNS, seed=5), activations(6)
    exact = rounded(rows) if kind in QUANTIZED else rows.double().numpy()
    expected = exact @ dequantize(tensor).astype(np.float64).T
    result = Packed(kernels, tensor)(rows).numpy()
    np.testing.assert_allclose(result, expected, atol=2e-6 * np.abs(expected).max(), rtol=1e-5)


@pytest.mark.parametrize("sign", ["plus", "minus", "alternating"])
@pytest.mark.parametrize("byte", [0x00, 0x7F, 0x80, 0xFF])
@pytest.mark.parametrize("kind", QUANTIZED, ids=lambda kind: kind.name)
def test_extreme_codes_do_not_overflow(
    kernels: Kernels, kind: BlockType, byte: int, sign: str
) -> None:
    """The largest codes and sub-scales against the largest activations give the right sum."""
    tensor = constant_tensor(kind, 16, COLUMNS, byte=byte)
    rows = torch.ones(3, COLUMNS)
    rows *= -1 if sign == "minus" else 1
    if sign == "alternating":
        rows[:, 1::2] = -1
    expected = rounded(rows) @ dequantize(tensor).astype(np.float64).T
    np.testing.assert_allclose(
        Packed(kernels, tensor)(rows).numpy(), expected, rtol=1e-5, atol=1e-3
    )


@pytest.mark.parametrize("kind", BlockType, ids=lambda kind: kind.name)
def test_a_row_does_not_depend_on_its_company(kernels: Kernels, kind: BlockType) -> None:
    """Blocks of 1 to 9 rows, on one thread or two, give the very same bits for each row."""
    packed = Packed(kernels, random_tensor(kind, OUTPUTS, COLUMNS, seed=6))
    rows = activations(17)
    alone = torch.cat([packed(row[None]) for row in rows])
    for size in range(1, 10):
        for threads in (1, 2):
            blocks = [packed(rows[i : i + size], threads=threads) for i in range(0, 17, size)]
            assert torch.equal(torch.cat(blocks), alone)


def test_parts_stand_side_by_side_with_one_bias(kernels: Kernels) -> None:
    """A fused projection of three types is its parts one after the other, plus the bias."""
    kinds = (BlockType.Q4_K, BlockType.Q6_K, BlockType.Q8_0)
    tensors = [random_tensor(kind, 24, COLUMNS, seed=7 + kind) for kind in kinds]
    bias = torch.randn(72, generator=torch.Generator().manual_seed(1))
    rows = activations(5)
    separate = torch.cat([Packed(kernels, tensor)(rows) for tensor in tensors], dim=1)
    assert torch.equal(Packed(kernels, *tensors, bias=bias)(rows, threads=2), separate + bias)


@pytest.mark.parametrize("path", PATHS)
def test_all_paths_agree_bit_for_bit(store: Store, kernels: Kernels, path: str) -> None:
    """Every path, down to plain C++, equals the one that this machine runs."""
    other = Kernels(build.built(store, extra_flags=PATHS[path]))
    rows = activations(7)
    for kind in QUANTIZED:
        tensor = random_tensor(kind, OUTPUTS, COLUMNS, seed=8)
        assert torch.equal(Packed(other, tensor)(rows), Packed(kernels, tensor)(rows)), kind.name


def test_rows_that_do_not_fit_groups_are_refused(kernels: Kernels) -> None:
    """A matrix whose rows are no multiple of 32 values cannot be packed, and the error names it."""
    tensor = random_tensor(BlockType.F16, 4, 40, seed=9, name="odd.weight")
    with pytest.raises(GgufError, match=r"odd\.weight"):
        kernels.pack(tensor)


def test_the_library_is_built_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second request finds the library in the cache and starts no compiler."""
    first = build.built(store)
    monkeypatch.setattr(build, "_compile", _never)
    assert build.built(store) == first


def _never(*_: object) -> None:
    raise AssertionError("a compiler was started")


@pytest.fixture
def with_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes a shell script the compiler."""

    def use(script: str) -> None:
        compiler = tmp_path / "cxx"
        compiler.write_text(f"#!/bin/sh\n{script}\n")
        compiler.chmod(0o755)
        build._version.cache_clear()
        monkeypatch.setenv("CXX", str(compiler))

    return use


def test_a_failing_compiler_is_reported_in_one_line(
    tmp_path: Path, with_compiler: Callable[[str], None]
) -> None:
    """The compiler's first complaint is passed on, and nothing is left in the cache."""
    with_compiler('[ "$1" = --version ] && echo odd && exit; echo "cannot do this" >&2; exit 1')
    with pytest.raises(build.NoCompiler, match="cannot do this") as caught:
        build.built(Store(tmp_path / "cache"))
    assert "\n" not in str(caught.value)
    assert not list((tmp_path / "cache").rglob("*.so"))


def test_a_missing_compiler_says_how_to_get_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a compiler the error names the command that installs one."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(build.NoCompiler, match=r"apt-get install g\+\+"):
        build.built(Store(tmp_path / "cache"))


def test_only_the_runtime_of_torch_is_loaded(store: Store) -> None:
    """The OpenMP runtime inside torch's package: one pool of threads."""
    show = (
        "import sys; from pathlib import Path; from voiceagent.decoding.kernels import build; "
        "build.load(Path(sys.argv[1])); sys.stdout.write(Path('/proc/self/maps').read_text())"
    )
    maps = subprocess.run(
        [sys.executable, "-c", show, str(build.built(store))],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    runtimes = {line.split()[-1] for line in maps.splitlines() if "omp.so" in line}
    assert len(runtimes) == 1
    assert runtimes.pop().startswith(str(Path(torch.__file__).parent))


def test_the_library_names_no_folder(store: Store) -> None:
    """Every environment of a machine uses the library that one of them built."""
    library = build.built(store).read_bytes()
    assert str(Path(torch.__file__).parent).encode() not in library
