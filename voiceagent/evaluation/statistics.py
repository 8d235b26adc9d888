"""A few robust figures, None where there is nothing to say."""

from collections.abc import Iterable, Sequence
from math import ceil, isfinite
from statistics import median


def middle(values: Iterable[float]) -> float | None:
    """The median."""
    known = [each for each in values if isfinite(each)]
    return median(known) if known else None


def percentile(values: Iterable[float], share: float) -> float | None:
    """The smallest value that at least ``share`` of the values do not exceed (nearest rank)."""
    known = sorted(each for each in values if isfinite(each))
    return known[max(ceil(share * len(known)), 1) - 1] if known else None


def ratio(part: float | None, whole: float | None) -> float | None:
    """``part / whole``."""
    return part / whole if part is not None and whole else None


def mean(values: Sequence[float]) -> float | None:
    """The arithmetic mean."""
    return sum(values) / len(values) if values else None


def rounded(value: float | None, digits: int = 4) -> float | None:
    """For JSON."""
    return None if value is None else round(value, digits)
