"""The lean decoders against transformers, against each other, and against themselves."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from tiny_gguf import K_TYPES, QUANTIZED, describe, write_model
from tiny_models import (
    ARCHITECTURES,
    CONTEXT,
    VOCABULARY,
    as_gguf,
    metadata,
    quantized_model,
    reference,
)
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel, MistralConfig, MistralForCausalLM

from voiceagent.config import cache_directory
from voiceagent.decoding.gguf import BlockType, GgufError, read_gguf
from voiceagent.decoding.kernels.build import built
from voiceagent.decoding.kernels.native import Kernels
from voiceagent.decoding.kv_cache import CacheFull
from voiceagent.decoding.model import CausalModel, TransformersModel, load_model
from voiceagent.decoding.model.dense import DenseModel
from voiceagent.decoding.model.lean import LeanModel
from voiceagent.decoding.model.load import load_dense
from voiceagent.decoding.model.packed_matrix import FourBits, PackedMatrix
from voiceagent.decoding.model.packing import PackedFile, pack
from voiceagent.decoding.model.parameters import read_parameters
from voiceagent.decoding.model.shape import read_shape
from voiceagent.weights.errors import DamagedWeights
from voiceagent.weights.manifest import File, Manifest
from voiceagent.weights.store import Store

TOKENS = torch.randint(0, VOCABULARY, (40,), generator=torch.Generator().manual_seed(3))
PROMPT = (
    "Streaming text that may still change is a promise that a voice cannot keep, "
    "because what was heard was heard. So the agent speaks only what was verified."
)


@pytest.fixture(scope="module")
def store() -> Store:
    """The machine's own cache."""
    return Store(cache_directory())


@pytest.fixture(scope="module")
def kernels(store: Store) -> Kernels:
    """The kernels of this machine."""
    return Kernels(built(store))


def dense(path: Path, *, dtype: torch.dtype = torch.float32) -> DenseModel:
    """The unpacked model."""
    return DenseModel(read_parameters(read_gguf(path), device="cpu", dtype=dtype))


def lean(path: Path, kernels: Kernels, *, threads: int = 2) -> LeanModel:
    """The packed model."""
    folder = path.with_suffix(f".packed{threads}")
    if not folder.exists():
        pack(path, folder, kernels=kernels, threads=threads)
    return LeanModel(PackedFile.open(folder), kernels, threads=threads)


def in_blocks(model: CausalModel, tokens: Tensor, sizes: Sequence[int]) -> Tensor:
    """Logits of all rows, fed in blocks of the given sizes, which repeat."""
    cache, parts, at, turn = model.new_cache(len(tokens)), [], 0, 0
    while at < len(tokens):
        parts.append(model.forward(tokens[at : at + sizes[turn % len(sizes)]], cache))
        at, turn = at + sizes[turn % len(sizes)], turn + 1
    assert cache.length == len(tokens)
    return torch.cat(parts)


def divergence(expected: Tensor, found: Tensor) -> float:
    """Mean Kullback-Leibler divergence in nats."""
    target, other = expected.double().log_softmax(-1), found.double().log_softmax(-1)
    return float((target.exp() * (target - other)).sum(-1).mean())


@pytest.fixture(scope="module")
def quantized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Qwen2 file in which every block type occurs."""
    path = tmp_path_factory.mktemp("models") / "mixed.gguf"
    quantized_model(path, QUANTIZED, architecture="qwen2")
    return path


@pytest.mark.parametrize("tied", [False, True], ids=["own head", "tied"])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_unpacked_model_equals_transformers(tmp_path: Path, architecture: str, tied: bool) -> None:
    """In float32 the logits are those of transformers' own model: rotation, biases, norms, ties."""
    model = reference(architecture, tied=tied)
    as_gguf(model, architecture, tmp_path / "m.gguf")
    with torch.inference_mode():
        expected = model(TOKENS[None]).logits[0]
    found = in_blocks(dense(tmp_path / "m.gguf"), TOKENS, [7])
    torch.testing.assert_close(found, expected, rtol=2e-4, atol=2e-4 * float(expected.abs().max()))


@pytest.mark.parametrize("sizes", [[1], [3, 5], [24]])
def test_four_bits_stay_packed_without_the_kernels(quantized: Path, sizes: list[int]) -> None:
    """The same logits in less memory: a group of 32 codes is just what ATen multiplies."""
    file = read_gguf(quantized)
    kept = read_parameters(file, device="cpu", dtype=torch.float32, keep_four_bits=True)
    unpacked = read_parameters(file, device="cpu", dtype=torch.float32)
    tokens = TOKENS[:24]
    expected, found = (in_blocks(DenseModel(each), tokens, sizes) for each in (unpacked, kept))
    torch.testing.assert_close(found, expected, rtol=2e-4, atol=2e-4 * float(expected.abs().max()))
    matrices = [m for layer in kept.layers for m in layer.weights.values()]
    parts = [part for m in matrices if isinstance(m, PackedMatrix) for part in m.parts]
    assert {isinstance(part, FourBits) for part in parts} == {True, False}
    assert kept.bytes_per_pass < unpacked.bytes_per_pass


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_packed_model_equals_the_unpacked_one(
    tmp_path: Path, kernels: Kernels, architecture: str
) -> None:
    """With float weights only the cache's float16 is between the kernels and torch."""
    as_gguf(reference(architecture), architecture, tmp_path / "m.gguf")
    expected = in_blocks(dense(tmp_path / "m.gguf"), TOKENS, [40])
    found = in_blocks(lean(tmp_path / "m.gguf", kernels), TOKENS, [40])
    torch.testing.assert_close(found, expected, rtol=1e-2, atol=5e-3 * float(expected.abs().max()))


@pytest.mark.parametrize("kinds", [(kind,) for kind in QUANTIZED], ids=lambda k: k[0].name)
def test_quantized_weights_give_the_same_model(
    tmp_path: Path, kernels: Kernels, kinds: tuple[BlockType, ...]
) -> None:
    """Every block type: only the rounding of activations lies between packed and unpacked."""
    path = tmp_path / "m.gguf"
    quantized_model(path, kinds, architecture="llama")
    expected = in_blocks(dense(path), TOKENS, [40])
    found = in_blocks(lean(path, kernels), TOKENS, [40])
    error = (found - expected).norm() / expected.norm()
    assert float(error) < 0.05


@pytest.mark.parametrize("sizes", [[2], [3], [4], [5], [6], [7], [8], [1, 4, 2, 40]])
def test_block_sizes_change_no_bit(quantized: Path, kernels: Kernels, sizes: list[int]) -> None:
    """Logits are the same bits whether rows come one by one or in blocks of any size."""
    model = lean(quantized, kernels, threads=1)
    assert torch.equal(in_blocks(model, TOKENS, sizes), in_blocks(model, TOKENS, [1]))


def test_threads_change_no_bit(quantized: Path, kernels: Kernels) -> None:
    """One thread and two give the same bits."""
    one = in_blocks(lean(quantized, kernels, threads=1), TOKENS, [5])
    two = in_blocks(lean(quantized, kernels, threads=2), TOKENS, [5])
    assert torch.equal(one, two)


def test_a_long_prompt_is_cut_without_a_trace(quantized: Path, kernels: Kernels) -> None:
    """300 tokens at once (cut in the kernel) equal 300 tokens in pieces."""
    model = lean(quantized, kernels, threads=2)
    tokens = TOKENS.repeat(8)[:300]
    assert torch.equal(in_blocks(model, tokens, [300]), in_blocks(model, tokens, [37]))


def test_several_conversations_share_a_pass_and_nothing_else(
    quantized: Path, kernels: Kernels
) -> None:
    """Blocks of three caches in one pass give each the bits it gets alone."""
    model = lean(quantized, kernels)
    caches = [model.new_cache(64) for _ in range(3)]
    for cache, tokens in zip(caches, (TOKENS[:9], TOKENS[5:7], TOKENS[20:31]), strict=True):
        model.forward(tokens, cache)
    blocks = [TOKENS[1:3], TOKENS[4:5], TOKENS[30:34]]
    joint = model.forward_many(list(zip(blocks, caches, strict=True)))
    for cache, block in zip(caches, blocks, strict=True):
        cache.truncate(cache.length - len(block))
    alone = [model.forward(block, cache) for block, cache in zip(blocks, caches, strict=True)]
    assert torch.equal(joint, torch.cat(alone))


def every_model(folder: Path, kernels: Kernels) -> dict[str, CausalModel]:
    """One of each kind, over the same weights."""
    inner = reference("llama")
    as_gguf(inner, "llama", folder / "m.gguf")
    return {
        "lean": lean(folder / "m.gguf", kernels),
        "dense": dense(folder / "m.gguf"),
        "transformers": TransformersModel(inner),
        "gpt2": TransformersModel(
            GPT2LMHeadModel(
                GPT2Config(
                    vocab_size=VOCABULARY, n_embd=32, n_layer=2, n_head=4, n_positions=CONTEXT
                )
            )
        ),
    }


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory, kernels: Kernels) -> dict[str, CausalModel]:
    """One of each kind."""
    return every_model(tmp_path_factory.mktemp("every"), kernels)


KINDS = ("lean", "dense", "transformers", "gpt2")


@pytest.mark.parametrize("kind", KINDS)
def test_rollback_is_as_if_it_had_not_been(models: dict[str, CausalModel], kind: str) -> None:
    """After truncation other tokens give what they give in a fresh cache."""
    model = models[kind]
    cache = model.new_cache(64)
    model.forward(TOKENS[:20], cache)
    cache.truncate(11)
    again = model.forward(TOKENS[30:35], cache)
    fresh = model.new_cache(64)
    model.forward(TOKENS[:11], fresh)
    expected = model.forward(TOKENS[30:35], fresh)
    torch.testing.assert_close(again, expected, rtol=1e-4, atol=1e-4)
    assert cache.length == 16


@pytest.mark.parametrize("kind", KINDS)
def test_what_another_cache_has_read_need_not_be_read(
    models: dict[str, CausalModel], kind: str
) -> None:
    """Copied positions say what positions that were read say, behind those already here."""
    model = models[kind]
    lender, cache, fresh = model.new_cache(64), model.new_cache(32), model.new_cache(32)
    model.forward(TOKENS[:20], lender)
    model.forward(TOKENS[:4], cache)
    if kind in ("transformers", "gpt2"):  # the library's cache is its own
        assert (cache.take_over(lender, 11), cache.length) == (False, 4)
        return
    assert cache.take_over(lender, 11)
    assert cache.length == 11
    model.forward(TOKENS[:11], fresh)
    expected = model.forward(TOKENS[30:35], fresh)
    again = model.forward(TOKENS[30:35], cache)
    torch.testing.assert_close(again, expected, rtol=1e-4, atol=1e-4)
    assert lender.length == 20


@pytest.mark.parametrize("kind", KINDS)
def test_last_only_is_the_last_row(models: dict[str, CausalModel], kind: str) -> None:
    """``last_only`` scores the last row alone, the same as among all."""
    model = models[kind]
    every = model.forward(TOKENS[:9], model.new_cache(16))
    last = model.forward(TOKENS[:9], model.new_cache(16), last_only=True)
    assert every.shape == (9, VOCABULARY)
    assert every.dtype == torch.float32
    torch.testing.assert_close(last, every[-1:], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_a_full_cache_refuses_and_stays_as_it_was(
    models: dict[str, CausalModel], kind: str
) -> None:
    """Rows beyond the capacity raise CacheFull, and the cache can go on."""
    model = models[kind]
    cache = model.new_cache(10)
    model.forward(TOKENS[:8], cache)
    with pytest.raises(CacheFull, match="11 positions"):
        model.forward(TOKENS[:3], cache)
    assert cache.length == 8
    assert model.forward(TOKENS[:2], cache).shape == (2, VOCABULARY)


@pytest.mark.parametrize("kind", KINDS)
def test_hidden_states_of_the_last_pass_are_kept(models: dict[str, CausalModel], kind: str) -> None:
    """A trained head may read (rows, hidden_size) float32 after each pass."""
    model = models[kind]
    model.forward(TOKENS[:5], model.new_cache(16), last_only=True)
    assert model.last_hidden.shape == (5, model.hidden_size)
    assert model.last_hidden.dtype == torch.float32


@pytest.mark.parametrize("kind", KINDS)
def test_misuse_is_refused(models: dict[str, CausalModel], kind: str) -> None:
    """Caches of another model, wrong shapes and impossible lengths raise, one by one."""
    model = models[kind]
    other = models["transformers" if kind in ("lean", "dense") else "lean"]
    with pytest.raises(TypeError):
        model.forward(TOKENS[:2], other.new_cache(4))
    for wrong in (TOKENS[:0], TOKENS[None], TOKENS.int()):
        with pytest.raises(ValueError, match="tokens must be"):
            model.forward(wrong, model.new_cache(4))
    with pytest.raises(ValueError, match="context"):
        model.new_cache(CONTEXT + 1)
    with pytest.raises(ValueError, match="at least 1"):
        model.new_cache(0)
    with pytest.raises(ValueError, match="truncate"):
        model.new_cache(4).truncate(1)


def test_tokens_outside_the_vocabulary_are_refused(models: dict[str, CausalModel]) -> None:
    """The kernels would read past the embedding: the border checks, and the cache is unchanged."""
    model = models["lean"]
    cache = model.new_cache(4)
    for token in (-1, VOCABULARY):
        with pytest.raises(ValueError, match="tokens must be in"):
            model.forward(torch.tensor([token]), cache)
    assert cache.length == 0


def test_a_model_that_cannot_roll_back_is_refused() -> None:
    """A sliding window keeps no old keys, so the adapter says no at once."""
    config = MistralConfig(
        vocab_size=50,
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        sliding_window=8,
    )
    with pytest.raises(ValueError, match="full attention"):
        TransformersModel(MistralForCausalLM(config))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"general.architecture": "mamba"}, "architecture mamba"),
        ({"llama.rope.scaling.type": "yarn"}, "rotary scaling yarn"),
        ({"llama.rope.dimension_count": 32}, "attention heads"),
    ],
)
def test_models_of_other_kinds_are_refused(
    tmp_path: Path, change: dict[str, object], reason: str
) -> None:
    """What the decoder does not do is refused by name instead of being computed wrongly."""
    tensors = {"token_embd.weight": reference("llama").state_dict()["lm_head.weight"].numpy()}
    write_model(tmp_path / "m.gguf", dict(metadata("llama")) | change, tensors)
    with pytest.raises(GgufError, match=reason):
        read_shape(read_gguf(tmp_path / "m.gguf"))


def test_without_a_compiler_the_model_still_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A warning names the reason, and the unpacked model answers."""
    file = quantized_model(tmp_path / "m.gguf", K_TYPES, architecture="llama")
    store = Store(tmp_path / "cache")
    store.accept(tmp_path / "m.gguf", digest=str(file.sha256), name=file.name)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    model = load_model(store, file, threads=1)
    assert isinstance(model, DenseModel)
    assert "no C++ compiler" in caplog.text
    assert model.forward(TOKENS[:3], model.new_cache(8)).shape == (3, VOCABULARY)


def test_the_lean_decoder_does_not_wait_for_transformers() -> None:
    """Loading a GGUF model imports no modelling library: it takes longer than the model."""
    code = "import sys, voiceagent.decoding.loading; sys.exit('transformers' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.fixture
def own_store(store: Store, tmp_path: Path) -> Store:
    """An empty cache, but for the kernels."""
    library = built(store)
    shutil.copytree(library.parent, tmp_path / "cache" / "derived" / library.parent.name)
    return Store(tmp_path / "cache")


def test_packed_weights_are_made_once(
    own_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second load maps what the first one packed, even where the packer is gone."""
    quantized_model(tmp_path / "m.gguf", K_TYPES, architecture="llama")
    file = describe(tmp_path / "m.gguf")
    own_store.accept(tmp_path / "m.gguf", digest=str(file.sha256), name=file.name)
    first = load_model(own_store, file, threads=1)
    monkeypatch.setattr("voiceagent.decoding.model.load.pack", None)
    second = load_model(own_store, file, threads=1)
    assert isinstance(second, LeanModel)
    assert torch.equal(in_blocks(first, TOKENS, [9]), in_blocks(second, TOKENS, [9]))


def test_a_damaged_file_is_refused_though_packed(own_store: Store, tmp_path: Path) -> None:
    """The packed copy of a file that is damaged now is not used behind the user's back."""
    quantized_model(tmp_path / "m.gguf", K_TYPES, architecture="llama")
    file = describe(tmp_path / "m.gguf")
    own_store.accept(tmp_path / "m.gguf", digest=str(file.sha256), name=file.name)
    load_model(own_store, file, threads=1)
    own_store.path(file).write_bytes(b"")
    with pytest.raises(DamagedWeights, match="has 0 bytes"):
        load_model(own_store, file, threads=1)


def manifest_file(preset: str, role: str) -> File:
    """A real model; missing, it is a failure with the command that fetches it."""
    return Manifest.load().preset(preset).files[role][0]


def spoken_tokens(count: int) -> Tensor:
    """Ids that both vocabularies have; what they mean does not matter."""
    return torch.tensor([200 + 7 * ord(letter) for letter in PROMPT[:count]])


def test_smollm_agrees_with_its_unpacked_self(store: Store) -> None:
    """The real 135M model: rounding activations to 8 bits moves the distribution by little."""
    file = manifest_file("tiny", "target")
    packed = load_model(store, file)
    unpacked = load_dense(store, file, dtype=torch.float32)
    tokens = spoken_tokens(80)
    expected, found = (in_blocks(model, tokens, [80]) for model in (unpacked, packed))
    assert divergence(expected, found) < 0.02
    assert float((expected.argmax(-1) == found.argmax(-1)).float().mean()) > 0.9


@pytest.mark.parametrize(
    ("preset", "role"), [("tiny", "target"), ("cpu", "draft"), ("cpu", "target")]
)
def test_real_models_ignore_block_sizes(store: Store, preset: str, role: str) -> None:
    """Every real model gives the same bits row by row and in blocks of 2 to 8."""
    model = load_model(store, manifest_file(preset, role))
    tokens = spoken_tokens(16)
    alone = in_blocks(model, tokens, [1])
    assert torch.equal(in_blocks(model, tokens, [2, 3, 4, 7]), alone)
    assert torch.equal(in_blocks(model, tokens, [8]), alone)
