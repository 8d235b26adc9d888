"""The earliest sign that speculation is about to cost more than it gives.

Speed-up collapses when draft and target disagree more often than they used to. Every decided guess
is evidence for or against that: how much likelier is what happened if the drafter has drifted (one
guess in ten accepted) than if it is as good as it has been at guesses that it was as sure of? The
logarithms are summed and never fall below 0: the
cumulative sum test of Page (1954, *Continuous inspection schemes*), the quickest to see a change
at a given rate of false alarms (Moustakides 1986). A confident guess that is refused says a lot, a
hesitant one nothing.
"""

import logging
from math import log

from voiceagent.decoding.record import Round

CAUTION = 3.0
"""About 20 to 1: two confident guesses refused in a row, or three usual ones. Shorter blocks cost
little where it is chance."""
COLLAPSE = 6.0
"""About 400 to 1: three confident guesses in a row. Decoding goes on plainly for a while."""
ALARM = 8.0
"""About 3000 to 1: somebody should look."""
_MOST = 10.0
"""Evidence beyond this is not kept, so that a drafter that is good again is used again soon."""
_DRIFTED = 0.1
"""The acceptance that counts as collapse."""
_LEAST, _SUREST = 0.15, 0.9
"""How good a drafter may be taken to be: a refusal is never impossible."""
_BELIEVED = 0.5
"""The refusal of a guess at lower odds is what was to be expected: no evidence."""
_LEVELS = 5
"""Of sureness: guesses of one level are counted together."""
_USUAL = 0.7
_MEMORY = 0.98

_log = logging.getLogger(__name__)


class EarlyWarning:
    """Watches the rounds of one drafter, of all replies that it serves.

    Args:
        drafter: its name, for the log.
    """

    def __init__(self, drafter: str = "") -> None:
        self._drafter = drafter
        self._evidence = 0.0
        self._usual: dict[int | None, float] = {
            level: (level + 0.5) / _LEVELS for level in range(_LEVELS)
        }
        self._usual[None] = _USUAL  # guesses without a probability
        self._alarmed = False
        self.alarms = 0
        """How often the alarm has gone off."""

    @property
    def evidence(self) -> float:
        """Of a drift; in natural logarithms of the likelihood ratio, from 0."""
        return self._evidence

    @property
    def cautious(self) -> bool:
        """Enough to draft less."""
        return self._evidence >= CAUTION

    @property
    def collapsed(self) -> bool:
        """Enough to stop drafting for a while."""
        return self._evidence >= COLLAPSE

    @property
    def alarmed(self) -> bool:
        """Enough to tell somebody; holds until the evidence is below caution again."""
        return self._alarmed

    def learn(self, record: Round) -> None:
        """Weighs the guesses of a round that were decided."""
        accepted = record.accepted + record.dropped
        for at, claimed in enumerate(record.draft_probabilities[: accepted + 1]):
            self._weigh(claimed, stood=at < accepted)
        self._tell()

    def _weigh(self, claimed: float | None, *, stood: bool) -> None:
        level = None if claimed is None else min(int(claimed * _LEVELS), _LEVELS - 1)
        share = min(max(self._usual[level], _LEAST), _SUREST)
        if stood or share >= _BELIEVED:
            ratio = _DRIFTED / share if stood else (1 - _DRIFTED) / (1 - share)
            self._evidence = min(max(self._evidence + log(ratio), 0.0), _MOST)
        self._usual[level] = _MEMORY * self._usual[level] + (1 - _MEMORY) * stood

    def _tell(self) -> None:
        if self._evidence >= ALARM and not self._alarmed:
            self._alarmed = True
            self.alarms += 1
            _log.warning(
                "speculation alarm: the target refuses what drafter %s used to be right about "
                "(evidence %.1f); decoding falls back (docs/operations.md)",
                self._drafter or "?",
                self._evidence,
            )
        elif self._evidence < CAUTION and self._alarmed:
            self._alarmed = False
            _log.info("speculation alarm over: drafter %s is as it was", self._drafter or "?")
