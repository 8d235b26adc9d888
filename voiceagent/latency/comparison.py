"""Whether one run is better than another: paired by fixture, with a confidence interval.

The n-th turn with a fixture in one run is the pair of the n-th with it in the other, so that what
a question costs by itself cancels out. The figure is the median of the differences; its interval
is the bootstrap's (percentiles of the medians of resampled pairs; Efron and Tibshirani 1993,
chapter 13).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

CONFIDENCE = 0.95
RESAMPLES = 4000
LEAST_PAIRS = 8
"""With fewer, the interval of a median is that of its extremes."""
LEAST_CHANGE_MS = 10.0
"""A block of sound: every start of an agent places its blocks anew, and no user hears as little."""


class Verdict(StrEnum):
    """What the pairs say of the second run."""

    BETTER = "better"
    WORSE = "worse"
    NO_EVIDENCE = "no evidence"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The second run minus the first, in one figure where less is better.

    Attributes:
        pairs: how many turns both have.
        median_ms: of the differences; None without pairs.
        low_ms: where the interval begins.
        high_ms: where it ends.
    """

    pairs: int
    median_ms: float | None = None
    low_ms: float | None = None
    high_ms: float | None = None

    @property
    def verdict(self) -> Verdict:
        """``worse`` or ``better`` only if the whole interval is, by enough to matter."""
        if self.median_ms is None or self.low_ms is None or self.high_ms is None:
            return Verdict.NO_EVIDENCE
        if self.pairs < LEAST_PAIRS or abs(self.median_ms) < LEAST_CHANGE_MS:
            return Verdict.NO_EVIDENCE
        if self.low_ms > 0:
            return Verdict.WORSE
        return Verdict.BETTER if self.high_ms < 0 else Verdict.NO_EVIDENCE


Values = Iterable[tuple[str, float]]
"""Fixture and figure (ms) of every turn, in order."""


def compare(first: Values, second: Values, *, seed: int = 0) -> Difference:
    """The difference between two runs in one figure."""
    pairs = paired(first, second)
    if not len(pairs):
        return Difference(pairs=0)
    differences = pairs[:, 1] - pairs[:, 0]
    rng = np.random.default_rng(seed)
    picks = rng.integers(0, len(differences), size=(RESAMPLES, len(differences)))
    medians = np.median(differences[picks], axis=1)
    tail = 50 * (1 - CONFIDENCE)
    low, high = np.percentile(medians, [tail, 100 - tail])
    return Difference(
        pairs=len(differences),
        median_ms=round(float(np.median(differences)), 2),
        low_ms=round(float(low), 2),
        high_ms=round(float(high), 2),
    )


def paired(first: Values, second: Values) -> NDArray[np.float64]:
    """The pairs (pairs, 2), first and second."""
    left, right = _by_fixture(first), _by_fixture(second)
    rows = [
        row for fixture in left for row in zip(left[fixture], right.get(fixture, []), strict=False)
    ]
    return np.array(rows, dtype=np.float64).reshape(-1, 2)


def culprit(stages: Mapping[str, Difference], *, verdict: Verdict) -> str | None:
    """The stage that changed most in the direction of ``verdict``; None if none did for certain."""
    guilty = {
        name: abs(difference.median_ms)
        for name, difference in stages.items()
        if difference.median_ms is not None and difference.verdict is verdict
    }
    if verdict is Verdict.NO_EVIDENCE or not guilty:
        return None
    return max(guilty, key=lambda name: guilty[name])


def _by_fixture(values: Values) -> dict[str, list[float]]:
    found: dict[str, list[float]] = defaultdict(list)
    for fixture, value in values:
        found[fixture].append(value)
    return dict(found)
