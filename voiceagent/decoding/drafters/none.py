"""No drafter: plain decoding is the same loop with empty blocks."""

from collections.abc import Sequence

from voiceagent.decoding.choice import Chooser
from voiceagent.decoding.drafters.base import Proposal


class NoDrafter:
    """Proposes nothing."""

    name = "none"

    def begin(self, prompt: Sequence[int], *, chooser: Chooser) -> None:
        """Nothing to prepare."""

    def propose(self, count: int) -> Proposal:
        """Never a guess."""
        return Proposal()

    def accept(self, emitted: Sequence[int]) -> None:
        """Nothing to remember."""
