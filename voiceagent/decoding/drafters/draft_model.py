"""Drafts with a small model of the same vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import torch

from voiceagent.decoding.choice import Choice, Chooser, Draw
from voiceagent.decoding.drafters.base import Drafter, Proposal
from voiceagent.decoding.passes import Pass, Steps, alone
from voiceagent.decoding.prefix import common_prefix
from voiceagent.decoding.sampling import Context

if TYPE_CHECKING:
    from torch import Tensor

    from voiceagent.decoding.model import CausalModel, KVCache

CATCH_UP = 256
"""Tokens that are fed in one round to a draft model that is behind: others wait for their rounds
meanwhile, and the reply itself goes on without a draft."""


@runtime_checkable
class DraftsAhead(Protocol):
    """A model that can choose several tokens in a row without asking the host in between."""

    def draft_ahead(
        self, tokens: Tensor, cache: KVCache, *, count: int, draw: Draw
    ) -> tuple[list[int], list[float]]:
        """Appends ``tokens`` (rows,) to ``cache`` and chooses ``count`` that follow.

        All but the last of the chosen tokens are appended too.

        Returns:
            The tokens, and the probability of each (under the law drawn from; greedy: the model's
            own).

        Raises:
            CacheFull: they do not fit; the cache is as before.
        """


class DraftModel:
    """A small model and its cache.

    The cache is described by the tokens that lie in it, and every proposal feeds whatever is
    missing. So a block accepted in full (whose last token was never fed), rounds without a draft
    and a rejected tail need no cases of their own.
    """

    def __init__(self, model: CausalModel, cache: KVCache, *, name: str = "model") -> None:
        self.name = name
        self._model = model
        self._cache = cache
        self._cached: list[int] = []
        self._ids: list[int] = []
        self._prompt_length = 0
        self._chooser: Chooser | None = None

    def begin(self, prompt: Sequence[int], *, chooser: Chooser) -> None:
        """Keeps the cached beginning that the prompt shares with the last reply."""
        self._ids = list(prompt)
        self._prompt_length = len(prompt)
        self._chooser = chooser
        self._keep(common_prefix(self._cached, self._ids))

    def borrow(self, other: Drafter) -> None:
        """Copies what the other's model has read of this one's prompt."""
        assert isinstance(other, DraftModel)
        length = min(common_prefix(other._cached, self._ids), len(self._ids) - 1)
        if length > len(self._cached) and self._cache.take_over(other._cache, length):
            self._cached = self._ids[:length]

    def propose(self, count: int) -> Proposal:
        """Draws up to ``count`` tokens one after the other, fewer where the cache is full."""
        return alone(self.steps(count))

    def steps(self, count: int) -> Steps[Proposal]:
        """The same, one pass at a time; nothing is drawn while much of the prompt is unread."""
        missing = self._ids[self._cache.length : self._cache.capacity]
        if len(missing) > CATCH_UP:
            yield from self._feed(missing[:CATCH_UP])
            return Proposal()
        assert self._chooser is not None, "propose before begin"
        draw = self._chooser.draw()
        if draw is not None and isinstance(self._model, DraftsAhead):
            return self._propose_ahead(self._model, count, draw)
        choices: list[Choice] = []
        probabilities: list[float] = []
        context = Context(self._ids, self._prompt_length)
        while len(choices) < count and context.position <= self._cache.capacity:
            logits = yield from self._feed(context.all[self._cache.length :])
            choice = self._chooser.choose(logits, context)
            choices.append(choice)
            probabilities.append(self._chooser.probability(choice.token, choice, logits))
            context = context.then(choice.token)
            if choice.token in self._chooser.sampler.eos_ids:
                break
        return Proposal(
            tuple(choice.token for choice in choices),
            tuple(choice.law for choice in choices),
            tuple(probabilities),
        )

    def _propose_ahead(self, model: DraftsAhead, count: int, draw: Draw) -> Proposal:
        """The same in one call of the model; what it says behind an end is not proposed."""
        assert self._chooser is not None
        count = min(count, self._cache.capacity - len(self._ids) + 1)
        if count < 1:
            return Proposal()
        pending = self._ids[self._cache.length :]
        tokens, probabilities = model.draft_ahead(
            torch.tensor(pending), self._cache, count=count, draw=draw
        )
        self._cached += [*pending, *tokens[:-1]]
        ends = (at + 1 for at, token in enumerate(tokens) if token in self._chooser.sampler.eos_ids)
        proposal = Proposal(tuple(tokens), (None,) * count, tuple(probabilities))
        return proposal.cut(next(ends, count))

    def accept(self, emitted: Sequence[int]) -> None:
        """Rolls the cache back to what it shares with the reply."""
        before = min(len(self._ids), len(self._cached))
        self._ids.extend(emitted)
        self._keep(before + common_prefix(self._cached[before:], self._ids[before:]))

    def _feed(self, tokens: list[int]) -> Steps[Tensor]:
        answer = yield Pass(self._model, self._cache, tokens, scored=1)
        self._cached.extend(tokens)
        return answer.logits[-1]

    def _keep(self, length: int) -> None:
        # The last token is always fed again: its logits are what the next draft starts from.
        length = min(length, len(self._ids) - 1)
        del self._cached[length:]
        self._cache.truncate(length)
