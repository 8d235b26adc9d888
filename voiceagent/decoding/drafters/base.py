"""What a drafter is: three verbs.

``begin`` a reply, ``propose`` up to k tokens that may follow, ``accept`` what was really emitted.
A drafter can be as wrong as it likes: it costs time, never exactness.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from voiceagent.decoding.choice import Chooser
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
