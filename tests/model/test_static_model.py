"""The decoder of fixed shapes: transformers' logits, padding that changes nothing, drafts in a row.

On the CPU the functions that CUDA captures are called instead; buffers and shapes are the same.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_models import ARCHITECTURES, CONTEXT, VOCABULARY, as_gguf, reference
from torch import Tensor

from voiceagent.config import Decoding
from voiceagent.core.history import Message, Role
from voiceagent.decoding.choice import Chooser, Draw
from voiceagent.decoding.completion import complete
from voiceagent.decoding.drafters import DraftModel
from voiceagent.decoding.engine import Engine
from voiceagent.decoding.gguf import read_gguf
from voiceagent.decoding.kv_cache import CacheFull, KVCache
from voiceagent.decoding.model.captured import Captured
from voiceagent.decoding.model.dense import DenseModel
from voiceagent.decoding.model.layers import score
from voiceagent.decoding.model.parameters import Parameters, random_parameters, read_parameters
from voiceagent.decoding.model.shape import Shape
from voiceagent.decoding.model.static import BLOCKS, StaticModel
from voiceagent.decoding.noise import Purpose, stream_key, uniform_rows, uniforms
from voiceagent.decoding.sampling import CounterNoise, Sampler, Sampling
from voiceagent.decoding.warm_up import time_draft

TOKENS = torch.randint(0, VOCABULARY, (40,), generator=torch.Generator().manual_seed(3))
SHAPE = Shape(
    layers=2,
    hidden_size=64,
    heads=4,
    kv_heads=2,
    head_size=16,
    feed_forward=96,
    vocabulary_size=VOCABULARY,
    context_length=128,
    rotary_base=10_000.0,
    rotary_scale=1.0,
    epsilon=1e-6,
    paired_rotary=False,
)
REAL = VOCABULARY - 7  # the rest is padding


def weights(seed: int = 0) -> Parameters:
    """Random ones, loud enough that what is sampled depends on them."""
    made = random_parameters(SHAPE, device="cpu", dtype=torch.float32, seed=seed)
    return replace(made, head=made.head * 3)


def static(
    parameters: Parameters | None = None, *, places: int = 5, chunk: int = 16
) -> StaticModel:
    """With a chunk so small that prompts are cut."""
    return StaticModel(parameters or weights(), capacity=64, places=places, chunk=chunk)


def filled(model: StaticModel | DenseModel, tokens: Tensor) -> KVCache:
    """A cache that has read ``tokens``."""
    cache = model.new_cache(64)
    model.forward(tokens, cache)
    return cache


def close(found: Tensor, expected: Tensor) -> None:
    """Equal but for float32 rounding."""
    torch.testing.assert_close(found, expected, rtol=2e-4, atol=2e-4 * float(expected.abs().max()))


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_logits_are_those_of_transformers(tmp_path: Path, architecture: str) -> None:
    """From a file, in blocks of every size, one chunk and several: rotation, biases, norms."""
    inner = reference(architecture)
    as_gguf(inner, architecture, tmp_path / "m.gguf")
    parameters = read_parameters(read_gguf(tmp_path / "m.gguf"), device="cpu", dtype=torch.float32)
    with torch.inference_mode():
        expected = inner(TOKENS[None]).logits[0]
    model = static(parameters)
    for sizes in ([1, 2, 3, 4, 5, 9, 16], [40], [7] * 5 + [5]):
        cache = model.new_cache(40)
        blocks = torch.split(TOKENS, sizes)
        close(torch.cat([model.forward(block, cache) for block in blocks]), expected)
        assert cache.length == 40
    assert parameters.shape.context_length == CONTEXT


def test_it_is_the_dense_model_in_other_shapes() -> None:
    """Logits, hidden states and the last row alone, on random weights."""
    dense, model = DenseModel(weights()), static()
    expected = dense.forward(TOKENS, dense.new_cache(64))
    close(model.forward(TOKENS, model.new_cache(64)), expected)
    close(model.last_hidden, dense.last_hidden)
    last = model.forward(TOKENS, model.new_cache(64), last_only=True)
    close(last, expected[-1:])
    assert model.last_hidden.shape == (40, SHAPE.hidden_size)


def test_what_another_place_has_read_need_not_be_read() -> None:
    """Copied positions say what positions that were read say."""
    model = static()
    lender, cache, fresh = filled(model, TOKENS[:20]), filled(model, TOKENS[:4]), TOKENS[:11]
    assert cache.take_over(lender, 11)
    expected = model.forward(TOKENS[30:35], filled(model, fresh))
    close(model.forward(TOKENS[30:35], cache), expected)
    assert (cache.length, lender.length) == (16, 20)


def test_padding_changes_no_bit_and_leaves_no_trace() -> None:
    """4 rows in a block of 5 are the same bits whatever the padding row holds and wherever it
    writes; nothing but the scrap row and their own positions is written."""
    model = static()
    cache = filled(model, TOKENS[:11])
    bank = model._bank
    before = bank.keys.clone(), bank.values.clone()
    first = model.forward(TOKENS[20:24], cache)
    written = (bank.keys != before[0]) | (bank.values != before[1])
    rows = written.any(-1).any(2).nonzero()[:, 1:].unique(dim=0).tolist()
    place = getattr(cache, "place")  # noqa: B009  # of the static cache alone
    assert rows == [[place, at] for at in (11, 12, 13, 14, bank.scrap)]
    cache.truncate(11)
    bank.keys[:, :, :, bank.scrap] = 1e3
    bank.values[:, :, :, bank.scrap] = -1e3
    assert torch.equal(model.forward(TOKENS[20:24], cache), first)


@pytest.mark.parametrize("keep", [1, 11, 19])
def test_stale_rows_weigh_nothing(keep: int) -> None:
    """After a rollback other tokens give the bits of a cache that never held more."""
    model = static()
    cache = filled(model, TOKENS[:keep])
    model.forward(TOKENS[:20], cache)
    cache.truncate(keep)
    model.forward(TOKENS[30:33], cache)
    fresh = filled(model, TOKENS[:keep])
    model.forward(TOKENS[30:33], fresh)
    assert torch.equal(model.forward(TOKENS[:5], cache), model.forward(TOKENS[:5], fresh))


def test_a_place_is_used_again_as_if_it_were_new() -> None:
    """A cache that is dropped leaves its place, and nothing that the next one could see."""
    model = static(places=1)
    expected = model.forward(TOKENS[:9], model.new_cache(64))
    used = filled(model, TOKENS)
    with pytest.raises(CacheFull, match="all 1 places"):
        model.new_cache(64)
    del used
    assert torch.equal(model.forward(TOKENS[:9], model.new_cache(64)), expected)


@pytest.mark.parametrize("count", [2, 4, 5])
def test_conversations_of_different_lengths_share_a_pass(count: int) -> None:
    """Batches that are gathered, full, or all places: each gets the logits it gets alone."""
    model, starts, sizes = static(), [3, 17, 30, 1, 9], [2, 9, 1, 20, 4]
    caches = [filled(model, TOKENS[:start]) for start in starts[:count]]
    blocks = [TOKENS[at : at + size] for at, size in enumerate(sizes[:count])]
    joint = model.forward_many(list(zip(blocks, caches, strict=True)))
    for cache, block in zip(caches, blocks, strict=True):
        cache.truncate(cache.length - len(block))
    alone = [model.forward(block, cache) for block, cache in zip(blocks, caches, strict=True)]
    close(joint, torch.cat(alone))
    for cache, block in zip(caches, blocks, strict=True):
        cache.truncate(cache.length - len(block))
    scored = [1, 3, 1, 20, 2][:count]
    ends = model.forward_many(list(zip(blocks, caches, strict=True)), scored=scored)
    close(ends, torch.cat([rows[-end:] for rows, end in zip(alone, scored, strict=True)]))
    hidden = model.last_hidden[-sum(scored) :]
    close(score(weights(), hidden), ends)
    assert [cache.length for cache in caches] == [
        start + size for start, size in zip(starts, sizes[:count], strict=False)
    ]


def test_a_refused_block_changes_no_cache() -> None:
    """Of two blocks the second does not fit: neither was read."""
    model = static()
    caches = [filled(model, TOKENS[:4]), filled(model, TOKENS[:4].repeat(15))]
    with pytest.raises(CacheFull, match="65 positions"):
        model.forward_many([(TOKENS[:2], caches[0]), (TOKENS[:5], caches[1])])
    assert [cache.length for cache in caches] == [4, 60]
    for wrong in (torch.tensor([-1]), torch.tensor([VOCABULARY])):
        with pytest.raises(ValueError, match="tokens must be in"):
            model.forward(wrong, caches[0])
    with pytest.raises(TypeError, match="another model"):
        model.forward(TOKENS[:1], static().new_cache(4))
    with pytest.raises(ValueError, match="context"):
        StaticModel(weights(), capacity=SHAPE.context_length + 1)


def test_the_last_position_can_be_filled() -> None:
    """A block that ends at the capacity is padded beyond it, and nothing is lost."""
    model, tokens = static(), TOKENS.repeat(2)[:64]
    cache = filled(model, tokens[:60])
    dense = DenseModel(weights())
    close(model.forward(tokens[60:], cache), dense.forward(tokens, dense.new_cache(64))[60:])


# Drafting ahead ------------------------------------------------------------------------------


def chooser(temperature: float, seed: int = 5) -> Chooser:
    """As the coupled rule has it."""
    sampler = Sampler(Sampling(temperature=temperature, seed=seed), vocabulary_size=REAL)
    return Chooser(sampler, CounterNoise(seed), Purpose.TARGET)


class OneByOne:
    """Hides that the model can draft ahead."""

    def __init__(self, model: StaticModel) -> None:
        self.forward, self.new_cache = model.forward, model.new_cache
        self.last_hidden = torch.zeros(256, model.hidden_size)


def drafter(model: StaticModel, prompt: Sequence[int], chooser: Chooser) -> DraftModel:
    """At the beginning of a reply."""
    made = DraftModel(model, model.new_cache(64))
    made.begin(prompt, chooser=chooser)
    return made


@pytest.mark.parametrize("temperature", [0.0, 0.8])
@pytest.mark.parametrize("count", range(1, 9))
def test_k_steps_in_a_row_are_k_single_steps(count: int, temperature: float) -> None:
    """The drafter proposes the same tokens with the same probabilities, round after round, through
    full acceptance, rejection and rounds without a draft."""
    model, prompt = static(), TOKENS[:7].tolist()
    together = drafter(model, prompt, chooser(temperature))
    single = drafter(OneByOne(model), prompt, chooser(temperature))  # type: ignore[arg-type]
    seen = set()
    for turn in range(5):
        found, expected = together.propose(count), single.propose(count)
        assert found.tokens == expected.tokens
        assert len(found.tokens) == count
        assert found.probabilities == pytest.approx(expected.probabilities, rel=1e-3)
        kept = (*found.tokens[: [count, 0, count, count // 2, 1][turn]], turn + 50)
        together.accept(kept)
        single.accept(kept)
        seen |= {*found.tokens}
    assert max(seen) < REAL
    assert len(seen) > 1


def test_drafts_end_where_the_cache_or_the_reply_does() -> None:
    """Nothing is proposed past the capacity or behind an end; long pending text is read first."""
    model = static()
    full = drafter(model, [1] * 63, chooser(0.0))
    assert len(full.propose(8).tokens) == 2
    full.accept([1, 2])
    assert full.propose(8).tokens == ()
    free = drafter(model, TOKENS[:30].tolist(), chooser(1.0)).propose(8).tokens
    end = next(at for at, token in enumerate(free) if token != free[0])
    ends = Sampler(
        Sampling(temperature=1.0), vocabulary_size=REAL, eos_ids=frozenset(free[end : end + 1])
    )
    stops = Chooser(ends, CounterNoise(5), Purpose.TARGET)
    assert drafter(model, TOKENS[:30].tolist(), stops).propose(8).tokens == free[: end + 1]
    assert end < 7
    cache = filled(model, TOKENS[:30].repeat(2))
    with pytest.raises(CacheFull):
        model.draft_ahead(TOKENS[:1], cache, count=6, draw=Draw(vocabulary_size=REAL))
    assert cache.length == 60


def test_conversations_draft_ahead_together() -> None:
    """Greedy and drawn in one batch, at different lengths, with an idle row: as each alone."""
    model = static()
    draws = [Draw(vocabulary_size=REAL), chooser(0.9).draw(), chooser(0.5, seed=-3).draw()]
    starts, pending = [4, 20, 33], [TOKENS[:1], TOKENS[1:3], TOKENS[3:6]]
    alone = [
        model.draft_ahead(block, filled(model, TOKENS[:start]), count=4, draw=draw)
        for start, block, draw in zip(starts, pending, draws, strict=True)
    ]
    caches = [filled(model, TOKENS[:start]) for start in starts]
    joint = model.draft_ahead_many(list(zip(pending, caches, strict=True)), count=4, draws=draws)
    assert [tokens for tokens, _ in joint] == [tokens for tokens, _ in alone]
    assert [cache.length for cache in caches] == [8, 25, 39]


@pytest.mark.parametrize(
    "asked",
    [{"top_k": 5}, {"top_p": 0.9}, {"min_p": 0.1}, {"presence_penalty": 1.0}, {"min_tokens": 2}],
)
def test_what_needs_more_than_temperature_is_drawn_by_the_sampler(asked: dict[str, float]) -> None:
    """Every other parameter, and the draft's own noise, go token by token."""
    sampling = Sampling(temperature=1.0, **asked)  # type: ignore[arg-type]
    sampler = Sampler(sampling, vocabulary_size=REAL)
    assert Chooser(sampler, CounterNoise(0), Purpose.TARGET).draw() is None
    assert replace(chooser(1.0), purpose=Purpose.DRAFT).draw() is None
    assert chooser(1.0).draw() is not None


@pytest.mark.parametrize("blocks", [BLOCKS, (9,)], ids=["padded up", "one size"])
def test_a_whole_reply_is_the_target_s_own(blocks: tuple[int, ...]) -> None:
    """Through the engine, with drafts that agree often and not always: every token is the target's
    choice when it reads the reply row by row, up to the near-tie rule; with one size of block the
    replies are equal."""
    target = weights()
    half = replace(target, layers=target.layers[:1], shape=replace(SHAPE, layers=1))
    models = [
        StaticModel(each, capacity=96, places=3, blocks=blocks, chunk=16) for each in (target, half)
    ]
    config = Decoding(max_tokens=40, context_tokens=96)
    asked = [Message(Role.USER, "Which letters follow these ones here?")]
    replies = []
    with Engine(models[0], Letters(), config=config, draft=models[1], slots=1) as engine:
        for drafter, window in (("none", 0), ("model", 1), ("model", 4), ("model", 8)):
            request = engine.request(asked, drafter=drafter, window=window)
            replies.append(complete(engine, request))
        prompt = Letters().render(asked)
    dense = DenseModel(target)
    for each in replies:
        tokens = torch.tensor([*prompt, *each.tokens])
        rows = dense.forward(tokens[:-1], dense.new_cache(96))[len(prompt) - 1 :, :REAL]
        said = rows.gather(1, tokens[len(prompt) :, None])[:, 0]
        assert float((rows.amax(1) - said).max()) < 1e-3
    drafted = sum(len(each.drafted) for reply in replies[1:] for each in reply.rounds)
    accepted = sum(each.accepted for reply in replies[1:] for each in reply.rounds)
    assert 0 < accepted < drafted
    if blocks == (9,):
        assert len({each.tokens for each in replies}) == 1


class Letters:
    """An id for each character; none of them ends a reply."""

    vocabulary_size = REAL
    eos_ids: frozenset[int] = frozenset()

    def encode(self, text: str) -> list[int]:
        return [ord(character) % REAL for character in text]

    def decode_bytes(self, token: int) -> bytes:
        return bytes([33 + token])

    def render(self, messages: Sequence[Message]) -> list[int]:
        return [token for message in messages for token in self.encode(message.content)]


def test_noise_of_rows_is_the_counter_noise() -> None:
    """Bit for bit, for any seed and position."""
    ids = np.arange(300)
    seeds, positions = [0, 1, -1, 2**63, 2**64 - 1, 12345], [0, 1, 77, 4095, 2**31, 10**15]
    keys = torch.tensor([stream_key(seed=seed, purpose=Purpose.TARGET) for seed in seeds])
    found = uniform_rows(torch.from_numpy(ids), keys=keys, positions=torch.tensor(positions))
    for row, seed, position in zip(found.numpy(), seeds, positions, strict=True):
        expected = uniforms(ids, seed=seed, position=position, purpose=Purpose.TARGET)
        assert np.array_equal(row, expected)


def test_every_shape_is_captured_before_a_conversation() -> None:
    """After preparing and measuring, passes, batches and drafts of every size capture no more; no
    place was taken, and nothing that a conversation could see was written."""
    model = static(places=4)
    model.prepare()
    assert float(model._bank.keys[:, :, :, : model._bank.scrap].abs().max()) == 0
    known = set(model._captured)
    assert time_draft(model) > 0
    caches = [filled(model, TOKENS[:20]) for _ in range(4)]
    for size in range(1, 10):
        for count in (1, 2, 4):
            model.forward_many([(TOKENS[:size], cache) for cache in caches[:count]])
            for cache in caches:
                cache.truncate(min(cache.length, 20))
    for temperature in (0.0, 0.7):
        for count in range(1, 9):
            drafter = DraftModel(model, caches[0])
            caches[0].truncate(0)
            drafter.begin(TOKENS[:3].tolist(), chooser=chooser(temperature))
            assert len(drafter.propose(count).tokens) == count
    assert set(model._captured) == known | {("score", 1, 19, False)}


def test_outputs_outlive_the_next_pass() -> None:
    """A captured graph writes over its output; what was returned is a copy."""
    model = static()
    cache = filled(model, TOKENS[:5])
    first = model.forward(TOKENS[5:6], cache)
    kept = first.clone()
    model.forward(TOKENS[9:10], cache)
    assert torch.equal(first, kept)


def test_a_captured_function_reads_its_buffer() -> None:
    """Without CUDA it is called, with what was copied into the one buffer."""
    buffer, seen = torch.zeros(3), []

    def double(values: Tensor) -> tuple[Tensor]:
        seen.append(values.data_ptr())
        return (values * 2,)

    captured = Captured(double, buffer)
    for values in (torch.tensor([1.0, 2.0, 3.0]), torch.tensor([4.0, 5.0, 6.0])):
        assert torch.equal(captured(values)[0], values * 2)
    assert seen == [buffer.data_ptr()] * 2
