"""Chooses K, the length of the next block, and says why.

The expected tokens of a round with K drafts are 1 + a1 + a1 a2 + ... + a1...aK, where ai is the
chance that the draft at position i is accepted when all before it were; its time is K draft steps
and one target pass over K + 1 rows. The controller measures both and takes the K with the most
tokens per second, 0 included (Leviathan et al. 2023, section 3, with measured costs instead of a
cost ratio). When 0 wins it stops drafting and looks again later, ever more rarely while the
answer stays the same. When the drafter seems to have drifted (`early_warning`) it pauses for a few
rounds long before the estimates, which remember about 50, would follow.
"""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from voiceagent.decoding.early_warning import EarlyWarning
from voiceagent.decoding.record import Round

LONGEST_WINDOW = 8
"""Beyond this the last position is hardly ever reached, at any acceptance seen in the field."""
_PRIOR_ACCEPTANCE = 0.7
_PRIOR_WEIGHT = 2.0
"""How many rounds the prior counts for: a hopeless drafter is found out after two or three."""
_MEMORY = 0.98
"""What is left of an old observation's weight after a newer one: about 50 count, so that chance
alone seldom moves an estimate across the line between two windows."""
_LEAST_GAIN = 1.05
"""What speculation has to promise: a draft model also reads each new prompt, and estimates err."""
_FIRST_PROBE_AFTER = 8
_LAST_PROBE_AFTER = 512
_PROBE_WINDOW = 1
"""Plain rounds before the first and the later probes (doubling), and how many drafts one costs."""
_NEXT_PROBE_AFTER_SUCCESS = 1
_COST_MEMORY = 0.9
_FIRST_PAUSE = 2
_LAST_PAUSE = 64
"""Plain rounds after a collapse, doubling while the next guess is refused too: a false one costs
two rounds at the speed of plain decoding."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The K of the next round and the reason."""

    window: int
    why: str


class Controller(Protocol):
    """Chooses the window of each round."""

    @property
    def warning(self) -> EarlyWarning:
        """Watches for a drafter that has drifted."""

    def plan(self) -> Plan:
        """The next round's K."""

    def learn(self, record: Round) -> None:
        """What came of a round."""


@dataclass(frozen=True)
class FixedWindow:
    """K as asked for."""

    window: int
    why: str = "fixed"
    warning: EarlyWarning = field(default_factory=EarlyWarning)

    def plan(self) -> Plan:
        """Always the same."""
        return Plan(self.window, self.why)

    def learn(self, record: Round) -> None:
        """Nothing changes its mind; a drift is only told."""
        self.warning.learn(record)


class Costs:
    """Seconds of a target pass by number of rows, and of one drafted token; measured, updated.

    Args:
        target_s: seconds of a pass over so many rows; at least for one number of rows.
        draft_s: seconds of one drafted token.
    """

    def __init__(self, target_s: Mapping[int, float], *, draft_s: float) -> None:
        self._target_s = dict(target_s)
        self.draft_s = draft_s

    def with_draft(self, draft_s: float) -> "Costs":
        """A copy for another drafter: what one learns is not the other's."""
        return Costs(self._target_s, draft_s=draft_s)

    def target_s(self, rows: int) -> float:
        """Measured, or on the line through the nearest two measurements."""
        known = sorted(self._target_s)
        if rows in self._target_s or len(known) == 1:
            return self._target_s.get(rows, self._target_s[known[0]])
        at = min(max(bisect_left(known, rows), 1), len(known) - 1)
        left, right = known[at - 1], known[at]
        # Noise can make the larger block the quicker one; no line may lead down to nothing.
        rise_s = max(self._target_s[right] - self._target_s[left], 0.0)
        return max(self._target_s[left] + rise_s * (rows - left) / (right - left), 0.0)

    def learn(self, record: Round) -> None:
        """Follows the machine: other work comes and goes.

        A share of a pass over other replies' rows as well says nothing about a pass of one's own.
        """
        if record.fed != 1 or record.sharing > 1:
            return
        rows = 1 + len(record.drafted)
        self._target_s[rows] = _blend(self.target_s(rows), record.times.score_s)
        if record.drafted:
            per_token_s = record.times.draft_s / len(record.drafted)
            self.draft_s = _blend(self.draft_s, per_token_s)


def _blend(old: float, new: float) -> float:
    # One slow pass (another process had the core) must not count for more than a few normal ones.
    return _COST_MEMORY * old + (1 - _COST_MEMORY) * min(new, 3 * old)


class AdaptiveWindow:
    """Finds the K that pays, and 0 when none does. Keeps what it knows from reply to reply."""

    def __init__(
        self,
        costs: Costs,
        *,
        longest: int = LONGEST_WINDOW,
        warning: EarlyWarning | None = None,
    ) -> None:
        self._costs = costs
        self._longest = longest
        self.warning = warning or EarlyWarning()
        self._pause = 0
        self._next_pause = _FIRST_PAUSE
        self._seen = [0.0] * longest
        self._kept = [0.0] * longest
        self._plain_rounds = 0
        self._probe_after = _FIRST_PROBE_AFTER
        self._probing = False
        self._sharing = 1

    def acceptance(self) -> list[float]:
        """For position 1, 2, ...: the chance of acceptance when all before it were accepted.

        A position that was hardly ever reached is taken to lie between the one before it and what
        is usual; so a good drafter gets a window that is a little longer, which then shows what it
        is worth. Taken to be like the one before it, a few lucky rounds led to the longest window
        at once, and its first failure cost a voice a fifth of a second.
        """
        shares: list[float] = []
        like = _PRIOR_ACCEPTANCE
        for seen, kept in zip(self._seen, self._kept, strict=True):
            shares.append((kept + _PRIOR_WEIGHT * like) / (seen + _PRIOR_WEIGHT))
            like = (shares[-1] + _PRIOR_ACCEPTANCE) / 2
        return shares

    def tokens_per_s(self) -> list[float]:
        """What each window from 0 on promises, in tokens per second."""
        expected, reached = [1.0], 1.0
        for share in self.acceptance():
            reached *= share
            expected.append(expected[-1] + reached)
        return [tokens / self._round_s(window) for window, tokens in enumerate(expected)]

    def _round_s(self, window: int) -> float:
        """A round of all replies that share its pass: their rows come on top of one another."""
        rows = self._sharing * (window + 1)
        return self._costs.target_s(rows) + window * self._costs.draft_s

    def plan(self) -> Plan:
        """The best window, or a probe when none was tried for long."""
        speeds = self.tokens_per_s()
        best = max(range(len(speeds)), key=speeds.__getitem__)
        gain = speeds[best] / speeds[0]
        self._probing = False
        if gain >= _LEAST_GAIN:
            self._probe_after = _FIRST_PROBE_AFTER
            if self.warning.cautious:
                return self._careful_plan()
            return Plan(best, f"best of 0 to {self._longest}: {gain:.2f} times plain")
        if self._plain_rounds >= self._probe_after:
            self._probe_after = min(2 * self._probe_after, _LAST_PROBE_AFTER)
            self._probing = True
            return Plan(_PROBE_WINDOW, "probe: does speculation pay again?")
        return Plan(0, f"does not pay: first draft accepted {self.acceptance()[0]:.2f}")

    def _careful_plan(self) -> Plan:
        """One guess a round; after a collapse plain rounds, then one guess again."""
        why = f"the drafter seems to have drifted (evidence {self.warning.evidence:.1f})"
        if self._pause:
            return Plan(0, f"{why}: pauses")
        return Plan(_PROBE_WINDOW, f"{why}: one guess")

    def _keep_pause(self, record: Round) -> None:
        """Each refused guess after a collapse begins a pause, twice as long as the last one."""
        if not record.drafted:
            self._pause = max(self._pause - 1, 0)
        elif not self.warning.cautious:
            self._next_pause = _FIRST_PAUSE
        elif self.warning.collapsed and record.accepted + record.dropped < len(record.drafted):
            self._pause = self._next_pause
            self._next_pause = min(2 * self._next_pause, _LAST_PAUSE)

    def learn(self, record: Round) -> None:
        """Counts the positions that were decided: those up to the first rejection."""
        self._costs.learn(record)
        self.warning.learn(record)
        self._keep_pause(record)
        self._sharing = record.sharing
        if not record.drafted:
            self._plain_rounds += 1
            return
        self._plain_rounds = 0
        accepted = record.accepted + record.dropped
        if self._probing and accepted and self._could_pay():
            self._probe_after = _NEXT_PROBE_AFTER_SUCCESS
        for at in range(min(accepted + 1, len(record.drafted), self._longest)):
            self._seen[at] = self._seen[at] * _MEMORY + 1
            self._kept[at] = self._kept[at] * _MEMORY + (at < accepted)

    def _could_pay(self) -> bool:
        """Whether a drafter that is always right would be worth its time."""
        plain = 1 / self._round_s(0)
        windows = range(1, self._longest + 1)
        return any((window + 1) / self._round_s(window) > plain for window in windows)
