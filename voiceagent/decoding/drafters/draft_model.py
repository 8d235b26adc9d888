"""Drafts with a small model of the same vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from voiceagent.decoding.choice import Choice, Chooser
from voiceagent.decoding.drafters.base import Proposal
from voiceagent.decoding.passes import Pass, Steps, alone
from voiceagent.decoding.prefix import common_prefix
from voiceagent.decoding.sampling import Context

if TYPE_CHECKING:
    from torch import Tensor

    from voiceagent.decoding.model import CausalModel, KVCache

CATCH_UP = 256
"""Tokens that are fed in one round to a draft model that is behind: others wait for their rounds
meanwhile, and the reply itself goes on without a draft."""


class DraftModel:
    """A small model and its cache.

    The cache is described by the tokens that lie in it, and every proposal feeds whatever is
    missing. So a block accepted in full (whose last token was never fed), rounds without a draft
    and a rejected tail need no cases of their own.
    """

    name = "model"

    def __init__(self, model: CausalModel, cache: KVCache) -> None:
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
