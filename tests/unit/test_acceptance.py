"""The acceptance rules as pure functions, in fractions."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from voiceagent.decoding.acceptance import (
    accept_coupled,
    accept_rejection,
    acceptance_probability,
    residual,
)
from voiceagent.decoding.sampling import Distribution, certain


def law(*weights: int) -> Distribution:
    """A law over ids 0, 1, ... with the given weights."""
    total = sum(weights)
    exact = np.array([Fraction(weight, total) for weight in weights], dtype=object)
    return Distribution(np.arange(len(weights)), exact)


WEIGHTS = st.lists(st.integers(0, 20), min_size=4, max_size=4).filter(any)


@given(target=WEIGHTS, draft=WEIGHTS)
def test_kept_and_recovered_mass_is_the_targets(
    target: Sequence[int], draft: Sequence[int]
) -> None:
    """draft * acceptance + rejected mass * residual = target, exactly, for every token."""
    t, d = law(*target), law(*draft)
    kept = [
        d.of(token) * acceptance_probability(target=t.of(token), draft=d.of(token))
        for token in range(4)
    ]
    rejected = 1 - sum(kept)
    left = residual(target=t, draft=d)
    for token in range(4):
        assert kept[token] + rejected * left.of(token) == t.of(token)


def test_probability_zero_is_never_accepted() -> None:
    """A token the target excludes is rejected even by the smallest random number there is."""
    target, draft = law(1, 0), law(0, 1)
    count = accept_rejection(
        [1],
        target_law=lambda row: target,
        draft_laws=[draft],
        accepts=lambda probability, row: bool(probability > 0.0),
    )
    assert count == 0


def test_equal_laws_never_reject_and_leave_no_residual() -> None:
    """The largest random number below one still accepts; the residual is then the target."""
    same = law(3, 1, 2)
    count = accept_rejection(
        [0, 1, 2],
        target_law=lambda row: same,
        draft_laws=[same, same, same],
        accepts=lambda probability, row: bool(probability > 1 - 2**-53),
    )
    assert count == 3
    assert residual(target=same, draft=same) is same


def test_rows_behind_the_first_mismatch_are_not_looked_at() -> None:
    """Both rules stop at the first rejection: later rows stand on a wrong context."""
    looked: list[int] = []

    def target_token(row: int) -> int:
        looked.append(row)
        return 7

    assert accept_coupled([7, 8, 7], target_token=target_token) == 1
    assert looked == [0, 1]
    accepts: list[int] = []

    def refuse(probability: object, row: int) -> bool:
        accepts.append(row)
        return False

    count = accept_rejection(
        [0, 0], target_law=lambda row: law(1, 1), draft_laws=[None, None], accepts=refuse
    )
    assert count == 0
    assert accepts == [0]


def test_a_guess_without_alternative_counts_as_certain() -> None:
    """Its acceptance is the target's probability and its residual is the target without it."""
    target = law(1, 2, 1)
    asked: list[Fraction] = []

    def note(probability: Fraction, row: int) -> bool:
        asked.append(probability)
        return True

    accept_rejection([1], target_law=lambda row: target, draft_laws=[None], accepts=note)
    assert asked == [Fraction(1, 2)]
    left = residual(target=target, draft=certain(1))
    assert [left.of(token) for token in range(3)] == [Fraction(1, 2), 0, Fraction(1, 2)]


def test_laws_over_different_candidates_are_aligned_by_id() -> None:
    """Top-k keeps different ids in both models: they meet by id, not by place."""
    target = Distribution(np.array([2, 5]), np.array([0.5, 0.5]))
    draft = Distribution(np.array([1, 5, 9]), np.array([0.2, 0.6, 0.2]))
    left = residual(target=target, draft=draft)
    assert left.of(2) == 1.0
    assert left.of(5) == 0.0
    assert left.of(1) == 0
    assert draft.aligned_to(target.ids).tolist() == [0.0, 0.6]
