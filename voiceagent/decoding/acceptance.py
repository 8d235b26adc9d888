"""The two acceptance rules as pure functions over tokens and laws.

``coupled``: both models choose with the same noise at the same absolute position; a drafted
token is kept while it equals the target's own choice, and what is emitted is always the target's
choice. The output is therefore the target's, token for token, whatever was drafted (Daliri, Musco
and Suresh 2024, arXiv 2408.07978).

``rejection``: Leviathan et al. (2023, arXiv 2211.17192) and Chen et al. (2023, arXiv 2302.01318).
A drafted token is kept with probability min(1, target / draft); the first one that is not is
replaced by a draw from the normalised positive difference of the two laws.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from voiceagent.decoding.sampling import Distribution, certain


def accept_coupled(drafted: Sequence[int], *, target_token: Callable[[int], int]) -> int:
    """The length of the valid prefix. ``target_token(row)`` is the target's choice at a row."""
    for row, token in enumerate(drafted):
        if target_token(row) != token:
            return row
    return len(drafted)


def accept_rejection(
    drafted: Sequence[int],
    *,
    target_law: Callable[[int], Distribution],
    draft_laws: Sequence[Distribution | None],
    accepts: Callable[[Any, int], bool],
) -> int:
    """The length of the valid prefix.

    Args:
        drafted: the block, (k,).
        target_law: the target's law at a row.
        draft_laws: the law each token was drawn from, (k,); None where it had no choice.
        accepts: true with the given probability, at the given row.
    """
    for row, token in enumerate(drafted):
        law = draft_laws[row] or certain(token)
        probability = acceptance_probability(target=target_law(row).of(token), draft=law.of(token))
        if not accepts(probability, row):
            return row
    return len(drafted)


def acceptance_probability(*, target: Any, draft: Any) -> Any:
    """min(1, target / draft); a token that the draft could not have drawn counts as rejected."""
    if draft <= 0:
        return 0
    return 1 if target >= draft else target / draft


def residual(*, target: Distribution, draft: Distribution) -> Distribution:
    """The normalised positive difference: what the target says beyond what the draft covered.

    Where nothing is left over (equal laws, up to rounding) a rejection had probability zero in
    exact arithmetic, and the target's own law is the answer.
    """
    left = np.maximum(target.probabilities - draft.aligned_to(target.ids), 0)
    total = left.sum()
    if total <= 0:
        return target
    return Distribution(target.ids, left / total)
