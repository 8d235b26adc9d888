"""Asks the n-gram table first and the draft model where it knows nothing.

A match of three tokens is a quotation more often than not, and costs nothing; the draft model is
then not run at all. Its cache falls behind meanwhile and catches up when it is asked again.
"""

from collections.abc import Sequence

from voiceagent.decoding.choice import Chooser
from voiceagent.decoding.drafters.base import Drafter, Proposal
from voiceagent.decoding.drafters.draft_model import DraftModel
from voiceagent.decoding.drafters.ngram import NgramDrafter
from voiceagent.decoding.passes import Steps, alone

SHORTEST_MATCH = 3


class BestDrafter:
    """Chooses from round to round; its name is that of the one asked last, for the records."""

    def __init__(self, model: DraftModel) -> None:
        self._table = NgramDrafter(shortest=SHORTEST_MATCH)
        self._model = model
        self.name = "best"

    def begin(self, prompt: Sequence[int], *, chooser: Chooser) -> None:
        """Both begin."""
        self._table.begin(prompt, chooser=chooser)
        self._model.begin(prompt, chooser=chooser)

    def borrow(self, other: Drafter) -> None:
        """The table reads in no time; the model borrows."""
        assert isinstance(other, BestDrafter)
        self._model.borrow(other._model)

    def propose(self, count: int) -> Proposal:
        """The table's guess if it has one, else the model's."""
        return alone(self.steps(count))

    def steps(self, count: int) -> Steps[Proposal]:
        """The same, one pass at a time."""
        guess = self._table.propose(count)
        self.name = self._table.name if guess.tokens else self._model.name
        return guess if guess.tokens else (yield from self._model.steps(count))

    def accept(self, emitted: Sequence[int]) -> None:
        """Both go on."""
        self._table.accept(emitted)
        self._model.accept(emitted)
