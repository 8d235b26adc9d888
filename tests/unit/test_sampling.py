"""Every sampler parameter on one row, and the noise behind the draw."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch

from voiceagent.decoding import sampling
from voiceagent.decoding.noise import Purpose, uniform, uniforms
from voiceagent.decoding.sampling import (
    Context,
    CounterNoise,
    Distribution,
    Sampler,
    Sampling,
    SamplingError,
    top_k_ids,
)

LOGITS = torch.tensor([1.0, 3.0, 2.0, 3.0, -1.0, 99.0])
"""Five real ids and one of padding."""
CONTEXT = Context((0, 1, 1), 1)
"""Prompt 0, reply 1 1."""


def sampler(bad_words: Any = (), **asked: Any) -> Sampler:
    """Over the five real ids; 4 ends the reply."""
    return Sampler(
        Sampling(**asked), vocabulary_size=5, eos_ids=frozenset([4]), bad_words=bad_words
    )


def probabilities(context: Context = CONTEXT, **asked: Any) -> dict[int, float]:
    """The law of one row as a mapping."""
    law = sampler(**{"temperature": 1.0, **asked}).distribution(LOGITS, context)
    return dict(zip(law.ids.tolist(), law.probabilities.tolist(), strict=True))


def softmax(logits: dict[int, float], temperature: float = 1.0) -> dict[int, Any]:
    """What is expected, computed the plain way."""
    weights = {token: math.exp(logit / temperature) for token, logit in logits.items()}
    total = sum(weights.values())
    return {token: pytest.approx(weight / total, rel=1e-6) for token, weight in weights.items()}


REAL = dict(enumerate(LOGITS[:5].tolist()))


def test_greedy_takes_the_lowest_of_equals_and_never_padding() -> None:
    """Ids 1 and 3 tie; the padding id with the highest logit is not there."""
    assert sampler().greedy_token(LOGITS, CONTEXT) == 1
    assert 5 not in probabilities()


def test_temperature_is_a_softmax() -> None:
    """The law of temperature T is the softmax of logits / T over the real ids."""
    assert probabilities() == softmax(REAL)
    assert probabilities(temperature=0.5) == softmax(REAL, 0.5)


def test_top_k_keeps_exactly_k_lowest_ids_first() -> None:
    """Of equals at the edge the lowest ids stay."""
    assert set(probabilities(top_k=1)) == {1}
    assert set(probabilities(top_k=3)) == {1, 2, 3}
    assert probabilities(top_k=2) == softmax({1: 3.0, 3: 3.0})
    assert probabilities(top_k=50) == softmax(REAL)
    assert top_k_ids(np.array([5, 7, 7, 7, 1], dtype=np.float32), 2).tolist() == [1, 2]


def test_top_p_is_the_smallest_set_with_that_mass() -> None:
    """1 and 3 have 0.40 each, 2 has 0.15: 0.8 needs two, 0.81 needs three."""
    assert set(probabilities(top_p=0.3)) == {1}
    assert set(probabilities(top_p=0.79)) == {1, 3}
    assert set(probabilities(top_p=0.82)) == {1, 2, 3}
    assert set(probabilities(top_p=0.9999)) == {0, 1, 2, 3, 4}


def test_min_p_is_relative_to_the_top() -> None:
    """exp(-1) = 0.37 of the top for id 2, exp(-2) = 0.14 for id 0."""
    assert set(probabilities(min_p=0.4)) == {1, 3}
    assert set(probabilities(min_p=0.3)) == {1, 2, 3}
    assert set(probabilities(min_p=0.1)) == {0, 1, 2, 3}


def test_repetition_penalty_sees_prompt_reply_and_block() -> None:
    """Positive logits are divided, negative ones multiplied, each seen token once."""
    seen = CONTEXT.then(4)
    expected = {0: 0.5, 1: 1.5, 2: 2.0, 3: 3.0, 4: -2.0}
    assert probabilities(seen, repetition_penalty=2.0) == softmax(expected)


def test_presence_and_frequency_penalties_see_the_reply_alone() -> None:
    """Token 1 stands twice in the reply and token 0 only in the prompt."""
    assert probabilities(presence_penalty=0.5) == softmax(REAL | {1: 2.5})
    assert probabilities(frequency_penalty=0.5) == softmax(REAL | {1: 2.0})
    drafted = CONTEXT.then(1, 2)
    assert probabilities(drafted, frequency_penalty=0.5) == softmax(REAL | {1: 1.5, 2: 1.5})


def test_logit_bias_is_added() -> None:
    """Before anything else."""
    assert probabilities(logit_bias={0: 4.0}) == softmax(REAL | {0: 5.0})
    assert sampler(logit_bias={0: 4.0}).greedy_token(LOGITS, CONTEXT) == 0


def test_bad_words_never_complete() -> None:
    """A single token never comes; a pair only where its first half stands before."""
    forbidden = sampler(bad_words=[(1, 3), (2,), (0, 0)], temperature=1.0)
    assert set(forbidden.distribution(LOGITS, CONTEXT).ids) == set(range(5))
    law = forbidden.distribution(LOGITS, CONTEXT)
    assert [law.of(token) > 0 for token in range(5)] == [True, True, False, False, True]
    after = forbidden.distribution(LOGITS, CONTEXT.then(0))
    assert [after.of(token) > 0 for token in range(5)] == [False, True, False, True, True]


def test_minimum_length_holds_the_end_back_row_by_row() -> None:
    """Two reply tokens so far: with three asked for, this row may not end and the next may."""
    strict = sampler(min_tokens=3, temperature=1.0)
    assert strict.distribution(LOGITS, CONTEXT).of(4) == 0
    assert strict.distribution(LOGITS, CONTEXT.then(2)).of(4) > 0


def test_the_row_is_not_changed() -> None:
    """Penalties work on a copy: the same logits are read again for the trace."""
    before = LOGITS.clone()
    probabilities(repetition_penalty=2.0, logit_bias={1: 1.0}, min_tokens=9)
    assert torch.equal(LOGITS, before)


@pytest.mark.parametrize(
    "asked",
    [
        {"temperature": -0.1},
        {"temperature": math.inf},
        {"top_k": -1},
        {"top_p": 0.0},
        {"top_p": 1.1},
        {"min_p": -0.1},
        {"repetition_penalty": 0.0},
        {"presence_penalty": math.nan},
        {"frequency_penalty": math.inf},
        {"min_tokens": -1},
        {"logit_bias": {5: 1.0}},
        {"logit_bias": {-1: 1.0}},
    ],
)
def test_parameters_out_of_range_are_named(asked: dict[str, Any]) -> None:
    """The message begins with the parameter; padding cannot be biased into being."""
    with pytest.raises(SamplingError, match=f"^{next(iter(asked))}"):
        sampler(**asked)


def test_noise_is_a_function_of_its_counter() -> None:
    """The same place gives the same number, another place, purpose or seed another."""
    ids = np.arange(1000, dtype=np.int64)
    here = uniforms(ids, seed=7, position=3, purpose=Purpose.TARGET)
    assert np.array_equal(here, uniforms(ids, seed=7, position=3, purpose=Purpose.TARGET))
    part = uniforms(ids[[5, 900]], seed=7, position=3, purpose=Purpose.TARGET)
    assert np.array_equal(part, here[[5, 900]])
    for seed, position, purpose in (
        (8, 3, Purpose.TARGET),
        (7, 4, Purpose.TARGET),
        (7, 3, Purpose.DRAFT),
    ):
        other = uniforms(ids, seed=seed, position=position, purpose=purpose)
        assert not np.any(here == other)
        assert abs(float(np.corrcoef(here, other)[0, 1])) < 0.15
    assert len(set(here.tolist())) == 1000


def test_noise_is_uniform() -> None:
    """Over ids, over positions and over seeds: mean, spread and tails of a uniform law."""
    ids = np.arange(20_000, dtype=np.int64)
    over_ids = uniforms(ids, seed=-1, position=0, purpose=Purpose.TARGET)
    over_positions = np.array(
        [uniform(seed=0, position=at, purpose=Purpose.ACCEPT) for at in range(20_000)]
    )
    over_seeds = np.array(
        [uniform(seed=seed, position=5, purpose=Purpose.ACCEPT) for seed in range(20_000)]
    )
    for numbers in (over_ids, over_positions, over_seeds):
        assert 0 <= numbers.min() < 0.001
        assert 0.999 < numbers.max() < 1
        counts, _ = np.histogram(numbers, bins=20, range=(0, 1))
        assert float(((counts - 1000) ** 2 / 1000).sum()) < 55  # 19 degrees, alpha 2e-5


def law(*weights: float) -> Distribution:
    """A law over 0, 1, ..."""
    exact = np.array(weights) / sum(weights)
    return Distribution(np.arange(len(weights), dtype=np.int64), exact)


def test_the_race_draws_from_the_law() -> None:
    """Counts over positions follow the probabilities; probability zero never wins."""
    drawn = Counter(
        CounterNoise(11).choose(law(1, 0, 2, 5), position=at, purpose=Purpose.TARGET)
        for at in range(8000)
    )
    assert drawn[1] == 0
    expected = {0: 1000, 2: 2000, 3: 5000}
    assert sum((drawn[token] - n) ** 2 / n for token, n in expected.items()) < 23  # 2, 1e-5


def test_a_large_vocabulary_draws_the_same_without_a_logarithm_for_each() -> None:
    """The shortcut over many candidates finds the winner of the whole race."""
    wide = np.random.default_rng(1).gumbel(size=20_000) * 2
    weights = np.exp(wide - wide.max())
    weights[::3] = 0
    big = law(*weights)
    for position in range(60):
        noise = uniforms(big.ids, seed=3, position=position, purpose=Purpose.DRAFT)
        with np.errstate(divide="ignore"):
            winner = int(np.argmin(-np.log1p(-noise) / big.probabilities))
        got = CounterNoise(3).choose(big, position=position, purpose=Purpose.DRAFT)
        assert got == winner


def test_shared_noise_couples_two_laws() -> None:
    """Close laws agree as often as coupling promises: at least (1 - d) / (1 + d), d their
    distance; independent draws of these would agree in 38 % of cases."""
    one, other = law(5, 3, 2), law(4, 3, 3)
    agreed = sum(
        CounterNoise(seed).choose(one, position=9, purpose=Purpose.TARGET)
        == CounterNoise(seed).choose(other, position=9, purpose=Purpose.TARGET)
        for seed in range(3000)
    )
    assert agreed / 3000 > (1 - 0.1) / (1 + 0.1)


def test_acceptance_is_strict(monkeypatch: pytest.MonkeyPatch) -> None:
    """Probability zero is never accepted and one always, even by the extreme numbers."""
    for number in (0.0, 0.5, 1 - 2**-53):
        monkeypatch.setattr(sampling, "uniform", lambda number=number, **place: number)
        assert not CounterNoise(1).accepts(0, position=1)
        assert CounterNoise(1).accepts(1, position=1)
        assert CounterNoise(1).accepts(0.5, position=1) is (number < 0.5)
