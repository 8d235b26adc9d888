"""How one model chooses at one row: the request's sampler and the loop's luck, together."""

from dataclasses import dataclass

import torch

from voiceagent.decoding.noise import Purpose
from voiceagent.decoding.sampling import Chance, Context, Distribution, Sampler, probability_of


@dataclass(frozen=True, slots=True)
class Choice:
    """One token and the law it was drawn from (None: greedy)."""

    token: int
    law: Distribution | None


@dataclass(frozen=True)
class Chooser:
    """Chooses at a row of logits (vocabulary,) with noise of one purpose."""

    sampler: Sampler
    chance: Chance
    purpose: Purpose

    def choose(self, logits: torch.Tensor, context: Context) -> Choice:
        """The choice at the row that ``context`` ends before."""
        if self.sampler.greedy:
            return Choice(self.sampler.greedy_token(logits, context), None)
        law = self.sampler.distribution(logits, context)
        token = self.chance.choose(law, position=context.position, purpose=self.purpose)
        return Choice(token, law)

    def probability(self, token: int, choice: Choice, logits: torch.Tensor) -> float:
        """For the trace: a token's probability at the row of ``choice``.

        Under the law that was drawn from; where the choice was greedy, the model's own.
        """
        if choice.law is None:
            return probability_of(token, logits[: self.sampler.vocabulary_size])
        return float(choice.law.of(token))
