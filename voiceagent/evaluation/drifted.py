"""Injected drift: in the middle of a conversation the drafter begins to be wrong.

Shown is that the controller falls back before anybody sees a stall, that the alarm goes off, and
what a reply then takes beside plain decoding.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from voiceagent.decoding.record import Round
from voiceagent.evaluation.lab import PLAIN, Lab, Run, Setting
from voiceagent.evaluation.measure import LEAST_TOKENS
from voiceagent.evaluation.misleading import Drift
from voiceagent.evaluation.prompts import Prompt
from voiceagent.evaluation.statistics import middle, ratio, rounded

_SHORT = 1
"""A block of one guess, or of none, is falling back."""


@dataclass
class _Onset:
    """The rounds after the drift began, of all replies in a row."""

    rounds: list[Round]

    @property
    def fell_back_after(self) -> int | None:
        """Rounds with guesses before the first short block or plain round; None: never."""
        guessed = 0
        for each in self.rounds:
            if each.window <= _SHORT:
                return guessed
            guessed += bool(each.drafted)
        return None

    @property
    def alarm_after(self) -> int | None:
        """Rounds with guesses until the alarm stood; None: it never did."""
        guessed = 0
        for each in self.rounds:
            guessed += bool(each.drafted)
            if each.alarm:
                return guessed
        return None


def inject_drift(
    lab: Lab, prompts: Sequence[Prompt], *, acceptance: float = 0.1, window: int | None = None
) -> dict[str, Any]:
    """Holds a conversation whose drafter is spoilt from the middle of its middle reply on.

    Args:
        lab: its ``drift`` is set, and reset afterwards.
        prompts: one reply each; the first half runs undisturbed.
        acceptance: what the drift leaves of it.
        window: K; None lets the controller choose, which then falls back.
    """
    half = max(len(prompts) // 2, 1)
    setting = Setting(name="drifting", drafter="drifting", window=window)
    before = [lab.run(each, setting) for each in prompts[:half]]
    lab.drift = _at_middle_of_next(lab, before, acceptance=acceptance)
    after = [lab.run(each, setting) for each in prompts[half:]]
    lab.drift.after_tokens = None
    plain = [lab.run(each, PLAIN) for each in prompts]
    return _figures(before, after, plain)


def _at_middle_of_next(lab: Lab, before: Sequence[Run], *, acceptance: float) -> Drift:
    lengths = [len(run.tokens) for run in before]
    middle_of_reply = max(round((middle(lengths) or 2) / 2), 1)
    drift = lab.drift
    drift.acceptance = acceptance
    drift.after_tokens = drift.emitted + middle_of_reply
    return drift


def _figures(
    before: Sequence[Run],
    after: Sequence[Run],
    plain: Sequence[Run],
) -> dict[str, Any]:
    drifted = _Onset(_behind_onset(after, before))
    stalls = [
        run.completion.total_s / other.completion.total_s
        for run, other in zip(after, plain[len(before) :], strict=True)
        if min(len(run.tokens), len(other.tokens)) >= LEAST_TOKENS
    ]
    equal = [
        run.tokens == other.tokens for run, other in zip([*before, *after], plain, strict=True)
    ]
    return {
        "acceptance_before": _acceptance([each for run in before for each in run.rounds]),
        "acceptance_after": _acceptance(drifted.rounds),
        "fell_back_after_rounds": drifted.fell_back_after,
        "alarm_after_rounds": drifted.alarm_after,
        "reply_time_over_plain": {
            "median": rounded(middle(stalls)),
            "worst": rounded(max(stalls, default=None)),
            "replies": len(stalls),
        },
        "equal_to_plain": all(equal),
        "windows_after": [each.window for each in drifted.rounds[:12]],
    }


def _behind_onset(after: Sequence[Run], before: Sequence[Run]) -> list[Round]:
    """The rounds of the drifted part that began after the middle of its first reply."""
    lengths = [len(run.tokens) for run in before]
    left = max(round((middle(lengths) or 2) / 2), 1)
    behind: list[Round] = []
    for run in after:
        for each in run.rounds:
            if left <= 0 and each.index > 0:
                behind.append(each)
            left -= len(each.emitted)
    return behind


def _acceptance(rounds: Sequence[Round]) -> float | None:
    drafted = [each for each in rounds if each.drafted]
    decided = sum(min(each.accepted + 1, len(each.drafted)) for each in drafted)
    return rounded(ratio(sum(each.accepted for each in drafted), decided))
