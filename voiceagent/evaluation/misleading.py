"""Drafters that nobody would use: what an evaluation has to see through.

A drafter can be as wrong as it likes without changing the output; these are wrong in ways that
cost the most, or begin to be wrong in the middle of a conversation.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from voiceagent.decoding.choice import Chooser
from voiceagent.decoding.drafters.base import Drafter, Proposal, Stepwise
from voiceagent.decoding.passes import Steps

FOREIGN_TEXT = (
    "The party of the first part shall indemnify the party of the second part against all claims "
    "arising out of or in connection with the said premises, save as hereinafter provided. "
)
"""Of another domain than any conversation."""


class ForeignDrafter:
    """Recites a text of another domain, a full block in every round, and is sure of it."""

    name = "misleading"

    def __init__(self, text: Sequence[int]) -> None:
        self._text, self._at = tuple(text), 0

    def begin(self, prompt: Sequence[int], *, chooser: Chooser) -> None:
        """Goes on reciting: nothing of the prompt matters."""

    def propose(self, count: int) -> Proposal:
        """The next words of the text."""
        return Proposal.certain(
            [self._text[(self._at + offset) % len(self._text)] for offset in range(count)]
        )

    def accept(self, emitted: Sequence[int]) -> None:
        """Goes on by as many words as the reply did."""
        self._at += len(emitted)


@dataclass
class Drift:
    """When a drafter begins to be wrong, and how wrong.

    Attributes:
        after_tokens: emitted tokens, over all replies, before it begins; None: never.
        acceptance: what is left of the chance that a right guess stays as it is.
    """

    after_tokens: int | None = None
    acceptance: float = 0.1
    emitted: int = 0
    luck: random.Random = field(default_factory=lambda: random.Random(7))

    @property
    def active(self) -> bool:
        """It has begun."""
        return self.after_tokens is not None and self.emitted >= self.after_tokens


class DriftingDrafter:
    """As good as the drafter inside it until the drift begins; as sure of itself ever after."""

    def __init__(self, inside: Drafter, drift: Drift, *, vocabulary_size: int) -> None:
        self._inside, self._drift, self._size = inside, drift, vocabulary_size

    @property
    def name(self) -> str:
        """That of the drafter inside."""
        return self._inside.name

    def begin(self, prompt: Sequence[int], *, chooser: Chooser) -> None:
        """As inside."""
        self._inside.begin(prompt, chooser=chooser)

    def propose(self, count: int) -> Proposal:
        """The guesses inside, most of them replaced by others once the drift is on."""
        return self._spoil(self._inside.propose(count))

    def steps(self, count: int) -> Steps[Proposal]:
        """The same, one pass at a time."""
        if isinstance(self._inside, Stepwise):
            return self._spoil((yield from self._inside.steps(count)))
        return self.propose(count)

    def accept(self, emitted: Sequence[int]) -> None:
        """As inside."""
        self._drift.emitted += len(emitted)
        self._inside.accept(emitted)

    def _spoil(self, proposal: Proposal) -> Proposal:
        if not self._drift.active:
            return proposal
        tokens = tuple(self._spoiled(token) for token in proposal.tokens)
        return replace(proposal, tokens=tokens, laws=(None,) * len(tokens))

    def _spoiled(self, token: int) -> int:
        stays = self._drift.luck.random() < self._drift.acceptance
        return token if stays else (token + 1) % self._size
