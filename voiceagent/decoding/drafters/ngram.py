"""Drafts by looking up where the last few tokens stood before, in prompt and reply.

Prompt lookup decoding (Saxena 2023): names, lists and quotations come back word for word. It
costs nothing but the verification of wrong guesses.
"""

from collections.abc import Sequence

from voiceagent.decoding.choice import Chooser
from voiceagent.decoding.drafters.base import Proposal

_LONGEST = 4
"""Longer matches are rarely followed by anything else than a match of four."""
_SHORTEST = 2
"""One shared token says next to nothing: function words would draft everything."""


class NgramDrafter:
    """The continuation of the most recent, longest match; grows by one token at a time."""

    name = "ngram"

    def __init__(self, *, longest: int = _LONGEST, shortest: int = _SHORTEST) -> None:
        self._lengths = range(longest, shortest - 1, -1)
        self._ids: list[int] = []
        self._continues_at: dict[tuple[int, ...], int] = {}

    def begin(self, prompt: Sequence[int], *, chooser: Chooser) -> None:
        """Indexes the prompt; what an earlier prompt shares with it is not indexed again."""
        known = len(self._ids)
        if list(prompt[:known]) != self._ids:
            self._ids, self._continues_at, known = [], {}, 0
        self.accept(prompt[known:])

    def propose(self, count: int) -> Proposal:
        """Follows the match; past the end of what is known it follows its own guesses."""
        start = self._lookup()
        if start is None:
            return Proposal()
        known = list(self._ids)
        for offset in range(count):
            known.append(known[start + offset])
        return Proposal.certain(known[len(self._ids) :])

    def accept(self, emitted: Sequence[int]) -> None:
        """Indexes each token under the n-grams that stand before it."""
        for token in emitted:
            here = len(self._ids)
            for length in self._lengths:
                if length <= here:
                    self._continues_at[tuple(self._ids[here - length :])] = here
            self._ids.append(token)

    def _lookup(self) -> int | None:
        for length in self._lengths:
            if length <= len(self._ids):
                found = self._continues_at.get(tuple(self._ids[-length:]))
                if found is not None:
                    return found
        return None
