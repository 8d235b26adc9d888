"""How one model chooses at one row: the request's sampler and the loop's luck, together."""

from dataclasses import dataclass

import torch

from voiceagent.decoding.noise import Purpose, stream_key
from voiceagent.decoding.sampling import (
    Chance,
    Context,
    CounterNoise,
    Distribution,
    Sampler,
    probability_of,
)


@dataclass(frozen=True, slots=True)
class Choice:
    """One token and the law it was drawn from (None: greedy)."""

    token: int
    law: Distribution | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """A choice that a model can make beside its logits, several in a row.

    Attributes:
        vocabulary_size: ids from here on are padding.
        temperature: 0 is greedy.
        key: of the noise; see ``noise.stream_key``.
    """

    vocabulary_size: int
    temperature: float = 0.0
    key: int = 0


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

    def draw(self) -> Draw | None:
        """The same choice for a model to make by itself; None where it takes more than that.

        Only of noise that both models share: a draft that is rounded otherwise there costs a
        guess, while the rejection rule needs the very law that was drawn from.
        """
        size = self.sampler.vocabulary_size
        if not self.sampler.only_temperature:
            return None
        if self.sampler.greedy:
            return Draw(vocabulary_size=size)
        if self.purpose is not Purpose.TARGET or not isinstance(self.chance, CounterNoise):
            return None
        key = stream_key(seed=self.chance.seed, purpose=self.purpose)
        temperature = self.sampler.sampling.temperature
        return Draw(vocabulary_size=size, temperature=temperature, key=key)
