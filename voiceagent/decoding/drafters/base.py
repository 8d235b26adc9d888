"""What a drafter is: three verbs.

``begin`` a reply, ``propose`` up to k tokens that may follow, ``accept`` what was really emitted.
A drafter can be as wrong as it likes: it costs time, never exactness. It may do three things more:
draft in steps, so that its model's passes are shared with other replies' (`Stepwise`), copy what
another of its kind has read (`Borrower`), and see the target's hidden states (`Observer`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from torch import Tensor

from voiceagent.decoding.choice import Chooser
from voiceagent.decoding.passes import Steps
from voiceagent.decoding.sampling import Distribution


@dataclass(frozen=True, slots=True)
class Proposal:
    """A drafted block.

    Attributes:
        tokens: the guesses, at most as many as were asked for.
        laws: the law each was drawn from; None for a token that had no alternative. The rejection
            rule needs the true ones.
        probabilities: the draft's probability of each token, for the trace; None where unknown.
    """

    tokens: tuple[int, ...] = ()
    laws: tuple[Distribution | None, ...] = ()
    probabilities: tuple[float | None, ...] = ()

    @staticmethod
    def certain(tokens: Sequence[int]) -> "Proposal":
        """Guesses without alternatives."""
        nothing = (None,) * len(tokens)
        return Proposal(tuple(tokens), nothing, nothing)

    def cut(self, length: int) -> "Proposal":
        """The first ``length`` guesses."""
        if length >= len(self.tokens):
            return self
        return Proposal(self.tokens[:length], self.laws[:length], self.probabilities[:length])


class Drafter(Protocol):
    """Guesses what the target will say. Used by one reply at a time."""

    @property
    def name(self) -> str:
        """For traces and figures."""

    def begin(self, prompt: Sequence[int], *, chooser: Chooser) -> None:
        """A reply to ``prompt`` starts. ``chooser`` draws with the request's own parameters."""

    def propose(self, count: int) -> Proposal:
        """At most ``count`` (>= 1) guesses at what follows the tokens so far."""

    def accept(self, emitted: Sequence[int]) -> None:
        """The reply went on with ``emitted``, whatever was proposed (called every round)."""


@runtime_checkable
class Stepwise(Protocol):
    """A drafter with a model of its own: asks for one pass at a time."""

    def steps(self, count: int) -> Steps[Proposal]:
        """The same as ``propose``, in steps."""


@runtime_checkable
class Borrower(Protocol):
    """A drafter that reads prompts, and need not read what another of its kind has read."""

    def borrow(self, other: Drafter) -> None:
        """Copies what ``other``, of the same kind, holds of the beginning of this one's reply."""


@runtime_checkable
class Observer(Protocol):
    """A drafter that looks at what the target thought."""

    def observe(self, hidden: Tensor) -> None:
        """The target's hidden states (rows, hidden size), float32, just before ``accept``.

        Of the tokens it read in this round that stay: the last one before the block, then the
        accepted ones; so the last row is the one that the last emitted token was chosen from.
        Overwritten by the target's next pass.
        """
