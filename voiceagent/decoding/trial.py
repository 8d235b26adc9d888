"""A new drafter on trial: in shadow (asked, never used), or as a canary for a share of replies.

In shadow both drafters guess at the same places and only those of the one in use count; the other
costs its time and nothing else. A canary is used, and stops by itself: when its first guesses are
accepted more rarely than those of the drafter in use, beyond chance, or when its alarm goes off.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt

from voiceagent.decoding.choice import Chooser
from voiceagent.decoding.controller import Controller, Plan
from voiceagent.decoding.drafters.base import Drafter, Observer, Proposal, Stepwise
from voiceagent.decoding.early_warning import EarlyWarning
from voiceagent.decoding.passes import Steps
from voiceagent.decoding.prefix import common_prefix
from voiceagent.decoding.record import Round

_log = logging.getLogger(__name__)

LEAST_ROUNDS = 30
"""Before so many rounds of each, a difference is chance."""
_SIGMAS = 3.0
"""How far apart two shares have to be: one false stop in about 700 looks at the same rate."""


@dataclass
class Tally:
    """First guesses that were decided, and how many of them the target let stand."""

    decided: int = 0
    stood: int = 0

    @property
    def share(self) -> float | None:
        """Accepted of decided; None where nothing was decided."""
        return self.stood / self.decided if self.decided else None

    def count(self, guess: Sequence[int], emitted: Sequence[int]) -> None:
        """A guess at what was then emitted."""
        if guess and emitted:
            self.decided += 1
            self.stood += guess[0] == emitted[0]


def clearly_worse(one: Tally, other: Tally) -> bool:
    """Whether ``one`` is accepted more rarely than ``other``, beyond chance (two proportions)."""
    if min(one.decided, other.decided) < LEAST_ROUNDS:
        return False
    both = one.decided + other.decided
    pooled = (one.stood + other.stood) / both
    spread = sqrt(max(pooled * (1 - pooled), 1e-9) * (1 / one.decided + 1 / other.decided))
    return other.stood / other.decided - one.stood / one.decided > _SIGMAS * spread


@dataclass
class Comparison:
    """Two drafters at the same places."""

    used: Tally = field(default_factory=Tally)
    candidate: Tally = field(default_factory=Tally)
    same: int = 0
    """Rounds in which both guessed alike, as far as the target's answer was seen."""

    def count(self, used: Sequence[int], candidate: Sequence[int], emitted: Sequence[int]) -> None:
        """The guesses of a round and what was emitted."""
        self.used.count(used, emitted)
        self.candidate.count(candidate, emitted)
        self.same += common_prefix(used, emitted) == common_prefix(candidate, emitted)


class ShadowDrafter:
    """Guesses as one drafter does; asks another beside it and only keeps count.

    Args:
        used: whose guesses count.
        candidate: who is asked; what it says goes nowhere.
        comparison: is kept.

    Raises:
        TypeError: a drafter looks at the target's hidden states, which only one of them could.
    """

    def __init__(self, used: Drafter, candidate: Drafter, comparison: Comparison) -> None:
        if isinstance(used, Observer) or isinstance(candidate, Observer):
            raise TypeError("a drafter that observes hidden states cannot be shadowed")
        self._used, self._candidate, self._comparison = used, candidate, comparison
        self._guesses: tuple[Sequence[int], Sequence[int]] = ((), ())

    @property
    def name(self) -> str:
        """That of the drafter in use."""
        return self._used.name

    def begin(self, prompt: Sequence[int], *, chooser: Chooser) -> None:
        """Both begin."""
        self._guesses = ((), ())
        self._used.begin(prompt, chooser=chooser)
        self._candidate.begin(prompt, chooser=chooser)

    def propose(self, count: int) -> Proposal:
        """The guess of the drafter in use."""
        return self._keep(self._used.propose(count), self._candidate.propose(count))

    def steps(self, count: int) -> Steps[Proposal]:
        """The same, one pass at a time."""
        used = yield from _ask(self._used, count)
        return self._keep(used, (yield from _ask(self._candidate, count)))

    def accept(self, emitted: Sequence[int]) -> None:
        """Both go on; the guesses of the round are compared."""
        if any(self._guesses):
            self._comparison.count(*self._guesses, emitted)
        self._guesses = ((), ())
        self._used.accept(emitted)
        self._candidate.accept(emitted)

    def _keep(self, used: Proposal, candidate: Proposal) -> Proposal:
        self._guesses = (used.tokens, candidate.tokens)
        return used


def _ask(drafter: Drafter, count: int) -> Steps[Proposal]:
    if isinstance(drafter, Stepwise):
        return (yield from drafter.steps(count))
    return drafter.propose(count)


class Canary:
    """Gives a share of the replies to a candidate until it turns out worse.

    Args:
        used, candidate: names of drafters.
        share: of the replies, from 0 to 1.
    """

    def __init__(self, used: str, candidate: str, *, share: float) -> None:
        self._used, self._candidate, self._share = used, candidate, share
        self._replies = self._given = 0
        self.tallies = {used: Tally(), candidate: Tally()}
        self.stopped: str | None = None
        """Why no reply goes to the candidate any more."""

    def choose(self) -> str:
        """The drafter of the next reply; the candidate's come evenly, not in bursts."""
        self._replies += 1
        due = int(self._replies * self._share)
        if self.stopped is not None or self._given >= due:
            return self._used
        self._given += 1
        return self._candidate

    def learn(self, name: str, record: Round) -> None:
        """What came of a round of the drafter that was chosen."""
        if self.stopped is not None:
            return
        self.tallies[name].count(record.drafted, record.emitted)
        if clearly_worse(self.tallies[self._candidate], self.tallies[self._used]):
            self._stop("its guesses are accepted more rarely")

    def see_alarm(self, name: str) -> None:
        """The alarm of a drafter went off."""
        if name == self._candidate and self.stopped is None:
            self._stop("its alarm went off")

    def _stop(self, why: str) -> None:
        self.stopped = why
        _log.warning("canary stopped: drafter %s: %s", self._candidate, why)


class WatchedController:
    """A controller whose rounds a canary hears about."""

    def __init__(self, controller: Controller, canary: Canary, *, drafter: str) -> None:
        self._controller, self._canary, self._drafter = controller, canary, drafter

    @property
    def warning(self) -> EarlyWarning:
        """The controller's own."""
        return self._controller.warning

    def plan(self) -> Plan:
        """The controller's own."""
        return self._controller.plan()

    def learn(self, record: Round) -> None:
        """Tells both."""
        self._controller.learn(record)
        self._canary.learn(self._drafter, record)
        if self.warning.alarmed:
            self._canary.see_alarm(self._drafter)
