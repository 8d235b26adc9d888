"""The longest common beginning of two texts or token lists."""

from collections.abc import Sequence


def common_prefix(left: Sequence[object], right: Sequence[object]) -> int:
    """How many leading items agree."""
    shorter = min(len(left), len(right))
    for at in range(shorter):
        if left[at] != right[at]:
            return at
    return shorter
