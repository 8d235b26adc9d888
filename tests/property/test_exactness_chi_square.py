"""Rejection with real noise: joint counts against the exact law, by chi-square.

Joint n-grams as long as a block and its neighbours, not single tokens: a loop can get every
marginal right and every pair wrong. Tokens of probability zero must not occur at all.
"""

import math
from collections import Counter
from collections.abc import Hashable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from decoding_doubles import TableModel, empty, exact_law, headed, modelled, reply

from voiceagent.decoding.sampling import Chance, Sampling

VOCABULARY = 4
TARGET = TableModel(VOCABULARY, seed=21, scale=0.9)
DRAFT = TableModel(VOCABULARY, seed=22, like=TARGET, distance=0.9)
REPLIES = 3000
LENGTH = 5
"""One plain token, a block of two, its bonus, and one more."""
ALPHA_Z = 4.265
"""The normal quantile of 1 - 1e-5: a few tests, fixed seeds, no flakes."""


def law(
    sampling: Sampling, *, target: TableModel = TARGET, length: int = LENGTH
) -> dict[Hashable, Fraction]:
    """Plain decoding's law of whole replies."""

    def run(chance: Chance) -> Hashable:
        return reply(target, empty(), sampling=sampling, max_tokens=length, chance=chance).tokens

    return exact_law(run)


def critical(degrees: int) -> float:
    """The chi-square quantile, by Wilson and Hilferty's cube root (good to 1 % from 3 on)."""
    spread = 2 / (9 * degrees)
    return degrees * (1 - spread + ALPHA_Z * math.sqrt(spread)) ** 3


def chi_square(counts: Counter[Hashable], expected: dict[Hashable, Fraction]) -> tuple[float, int]:
    """The statistic and its degrees of freedom; cells that expect fewer than 5 are pooled."""
    total = sum(counts.values())
    statistic, cells, pooled, pooled_seen = 0.0, 0, 0.0, 0
    for outcome, probability in expected.items():
        wanted = float(probability) * total
        if wanted < 5:
            pooled += wanted
            pooled_seen += counts[outcome]
            continue
        statistic += (counts[outcome] - wanted) ** 2 / wanted
        cells += 1
    if pooled:
        statistic += (pooled_seen - pooled) ** 2 / pooled
        cells += 1
    return statistic, cells - 1


@pytest.mark.parametrize(
    ("acceptance", "drafter"),
    [("rejection", modelled(DRAFT)), ("coupled", modelled(DRAFT)), ("rejection", headed(TARGET))],
    ids=["rejection", "coupled", "rejection-head"],
)
def test_joint_counts_follow_the_law(acceptance: str, drafter: Any) -> None:
    """Thousands of seeds, one law; what top-k cut off never comes, and seeds matter."""
    asked = {"temperature": 1.2, "top_k": 3}
    expected = law(Sampling(**asked))
    counts: Counter[Hashable] = Counter()
    drafted = accepted = rejected = 0
    for seed in range(REPLIES):
        told = reply(
            TARGET,
            drafter,
            sampling=Sampling(seed=seed, **asked),
            windows=2,
            max_tokens=LENGTH,
            acceptance=acceptance,
        )
        counts[told.tokens] += 1
        drafted += told.drafted
        accepted += told.accepted
        rejected += told.rejected
    assert min(accepted, rejected) > REPLIES / 4, "both branches are exercised"
    assert set(counts) <= set(expected), "a token of probability zero was emitted"
    statistic, degrees = chi_square(counts, expected)
    assert degrees >= 50
    assert statistic < critical(degrees)


def constant(*probabilities: float) -> TableModel:
    """A model that always says the same."""
    model = TableModel(len(probabilities), seed=0)
    model.table[:, : len(probabilities)] = np.log(probabilities)
    return model


def test_acceptance_and_recovery_are_independent_of_the_draw() -> None:
    """Half of the guesses fail, and the two tokens that can replace them were not equally likely
    to be guessed: noise shared between drawing, accepting and recovering would show here."""
    target = constant(0.5, 0.3, 0.1, 0.1)
    draft = constant(0.3, 0.02, 0.34, 0.34)
    asked, length = {"temperature": 1.0}, 3
    counts: Counter[Hashable] = Counter()
    rejected = 0
    drafter = modelled(draft)
    for seed in range(REPLIES):
        told = reply(
            target,
            drafter,
            sampling=Sampling(seed=seed, **asked),
            windows=1,
            max_tokens=length,
            acceptance="rejection",
        )
        counts[told.tokens] += 1
        rejected += told.rejected
    assert 0.4 < rejected / REPLIES < 0.8
    statistic, degrees = chi_square(counts, law(Sampling(**asked), target=target, length=length))
    assert degrees >= 50
    assert statistic < critical(degrees)


def test_the_test_has_teeth() -> None:
    """The statistic rejects the draft's own law: it can tell such laws apart."""
    asked = {"temperature": 1.2, "top_k": 3}
    expected = law(Sampling(**asked))
    counts: Counter[Hashable] = Counter()
    for seed in range(REPLIES // 6):
        sampling = Sampling(seed=seed, **asked)
        counts[reply(DRAFT, empty(), sampling=sampling, max_tokens=LENGTH).tokens] += 1
    statistic, degrees = chi_square(counts, expected)
    assert statistic > 2 * critical(degrees)
