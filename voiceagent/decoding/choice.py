"""How one model chooses at one row: the request's sampler and the loop's luck, together."""

from dataclasses import dataclass

import torch

from voiceagent.decoding.noise import Purpose
from voiceagent.decoding.sampling import Chance, Context, Distribution, Sampler, probability_of


@dataclass(frozen=True, slots=True)
class Choice:
    """One token, the law it was drawn from (None: greedy), and its probability."""

    token: int
    law: Distribution | None
    probability: float


@dataclass(frozen=True)
class Chooser:
    """Chooses at a row of logits (vocabulary,) with noise of one purpose."""

    sampler: Sampler
    chance: Chance
    purpose: Purpose

    def choose(self, logits: torch.Tensor, context: Context) -> Choice:
        """The choice at the row that ``context`` ends before."""
        if self.sampler.greedy:
            token = self.sampler.greedy_token(logits, context)
            return Choice(token, None, self.confidence(token, logits))
        law = self.sampler.distribution(logits, context)
        token = self.chance.choose(law, position=context.position, purpose=self.purpose)
        return Choice(token, law, float(law.of(token)))

    def confidence(self, token: int, logits: torch.Tensor) -> float:
        """The model's own probability of a token, without sampler parameters: for the trace."""
        return probability_of(token, logits[: self.sampler.vocabulary_size])
