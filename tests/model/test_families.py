"""Other families of models, through transformers: the same exactness, whoever drafts.

Random weights in float64, so that no two tokens lie as close as rounding.
"""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from decoding_doubles import Told
from engines import EOS, VOCABULARY, WAIT_S, LetterTokenizer, says, start
from transformers import (
    GemmaConfig,
    GemmaForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedModel,
)

from voiceagent.config import Decoding
from voiceagent.decoding.drafters import FeatureHead, HeadDrafter
from voiceagent.decoding.engine import Engine
from voiceagent.decoding.model import TransformersModel
from voiceagent.decoding.sampling import Sampling

COLUMNS = VOCABULARY + 4
"""A few of them pad the vocabulary."""
DRAFTERS = ("none", "ngram", "model", "best", "head")
PROMPTS = ("abcabcab", "dcbadcba", "efgefgefgh", "aabbccaabb")


def gpt2(*, layers: int, seed: int) -> PreTrainedModel:
    """Learned positions, fused projections, a tied output layer."""
    torch.manual_seed(seed)
    config = GPT2Config(
        vocab_size=COLUMNS,
        n_embd=32,
        n_layer=layers,
        n_head=4,
        n_positions=200,
        initializer_range=0.3,
        bos_token_id=0,
        eos_token_id=EOS,
    )
    return GPT2LMHeadModel(config)


def gemma(*, layers: int, seed: int) -> PreTrainedModel:
    """Scaled embeddings, one key-value head, heads wider than the model is."""
    torch.manual_seed(seed)
    config = GemmaConfig(
        vocab_size=COLUMNS,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=1,
        head_dim=16,
        max_position_embeddings=200,
        initializer_range=0.3,
        bos_token_id=0,
        eos_token_id=EOS,
        pad_token_id=0,
    )
    return GemmaForCausalLM(config)


def head_over(inner: PreTrainedModel, target: TransformersModel) -> FeatureHead:
    """Trained on a few random texts."""
    luck = torch.Generator().manual_seed(4)
    texts: Sequence[Sequence[int]] = torch.randint(VOCABULARY, (12, 40), generator=luck).tolist()
    table = inner.get_input_embeddings().weight.detach().float()
    output = inner.get_output_embeddings().weight.detach().float()
    with torch.inference_mode():
        return FeatureHead.fit(
            target, texts, embed=table.__getitem__, score=lambda feature: output @ feature
        )


@dataclass(frozen=True)
class Family:
    """A target of one family and an engine over it."""

    inner: PreTrainedModel
    target: TransformersModel
    engine: Engine


@pytest.fixture(scope="module", params=[gpt2, gemma], ids=["gpt2", "gemma"])
def family(request: pytest.FixtureRequest) -> Iterator[Family]:
    """With a draft model of its own family and every drafter."""
    inner = request.param(layers=2, seed=1).double()
    target = TransformersModel(inner)
    head = head_over(inner, target)
    with Engine(
        target,
        LetterTokenizer(),
        config=Decoding(context_tokens=120, max_tokens=24, threads=1),
        draft=TransformersModel(request.param(layers=1, seed=2).double()),
        drafters={"head": lambda: HeadDrafter(head)},
    ) as engine:
        yield Family(inner, target, engine)


def asked(at: int) -> dict[str, Any]:
    """Greedy and sampled, with and without further parameters."""
    return {
        "window": 1 + at % 4,
        "sampling": (
            Sampling(),
            Sampling(temperature=1.0, seed=at),
            Sampling(temperature=0.7, top_k=5, seed=at, frequency_penalty=0.3, min_tokens=6),
        )[at % 3],
    }


def test_tokens_are_the_librarys_own(family: Family) -> None:
    """Greedy replies against the library's own greedy decoding, which knows nothing of ours."""
    for prompt in PROMPTS:
        told = start(family.engine, prompt, drafter="model", window=3).wait()
        ids = torch.tensor([LetterTokenizer().encode(prompt)])
        banned = [[padding] for padding in range(VOCABULARY, COLUMNS)]
        theirs = family.inner.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=24,
            do_sample=False,
            eos_token_id=EOS,
            bad_words_ids=banned,
        )
        assert list(told.tokens) == theirs[0, ids.shape[1] :].tolist()


@pytest.mark.parametrize("drafter", DRAFTERS)
def test_the_reply_is_the_same_whoever_drafts(family: Family, drafter: str) -> None:
    """Greedy and sampled; and the speculative ones really speculate."""
    drafted = accepted = rejected = 0
    for at in range(9):
        prompt = PROMPTS[at % len(PROMPTS)]
        plain = start(family.engine, prompt, **asked(at) | {"drafter": "none"}).wait()
        told = start(family.engine, prompt, **asked(at), drafter=drafter).wait()
        assert (told.tokens, told.text) == (plain.tokens, plain.text)
        assert max(told.tokens) < VOCABULARY
        drafted += told.drafted
        accepted += told.accepted
        rejected += told.rejected
    assert (drafted > 0, accepted > 0, rejected > 0) == ((drafter != "none",) * 3)


def test_eight_sessions_say_what_they_say_alone(family: Family) -> None:
    """At once, with every drafter; joint passes fall back to one for each."""
    plans = [(PROMPTS[at % 4] + "abcdefgh"[at], asked(at), DRAFTERS[at % 5]) for at in range(8)]
    alone = [
        start(family.engine, prompt, **how, drafter="none").wait().tokens
        for prompt, how, _ in plans
    ]
    begun = threading.Event()

    def follow(told: Told) -> Any:
        return lambda event: (begun.wait(WAIT_S), told(event))

    tolds = [Told() for _ in plans]
    replies = [
        family.engine.submit(
            family.engine.request(says(prompt), **how, drafter=drafter), on_event=follow(told)
        )
        for (prompt, how, drafter), told in zip(plans, tolds, strict=True)
    ]
    begun.set()
    assert all(each.wait(WAIT_S) for each in replies)
    assert [told.tokens for told in tolds] == alone
