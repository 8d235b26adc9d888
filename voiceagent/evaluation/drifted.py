"""Injected drift: in the middle of a conversation the drafter begins to be wrong.

Shown is that the controller falls back before anybody sees a stall, that the alarm goes off, and
what a reply then takes beside plain decoding. Each reply is decoded plainly just before and just
after; a conversation that is held again, with the same drift, tells what the machine did from
what the controller did: a reply counts with the median of its repetitions. What drafting took of
a reply is measured inside it, where no neighbour of the machine disturbs the share.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from voiceagent.decoding.record import Round
from voiceagent.evaluation.lab import PLAIN, Lab, Run, Setting
from voiceagent.evaluation.measure import LEAST_TOKENS
from voiceagent.evaluation.misleading import Drift
from voiceagent.evaluation.prompts import Prompt
from voiceagent.evaluation.statistics import middle, ratio, rounded

MOST_ROUNDS = 3
"""With guesses, until the controller falls back."""
MOST_STALL = 1.10
"""Of a reply's time over plain decoding."""
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


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """One conversation whose drafter was spoilt from the middle of its middle reply on.

    Attributes:
        before, after: replies that began before the drift, and the others.
        plain: the same replies decoded plainly: all of them, each before and after its like.
        left: tokens of the first reply in ``after`` that were still drafted well.
    """

    before: Sequence[Run]
    after: Sequence[Run]
    plain: Sequence[tuple[Run, Run]]
    left: int

    @property
    def onset(self) -> _Onset:
        """The rounds that began after the drift did."""
        left, behind = self.left, list[Round]()
        for run in self.after:
            for each in run.rounds:
                if left <= 0 and each.index > 0:
                    behind.append(each)
                left -= len(each.emitted)
        return _Onset(behind)

    @property
    def stalls(self) -> list[float | None]:
        """Time over plain of each reply behind the onset; None where one is too short."""
        return [
            2 * run.completion.total_s / sum(each.completion.total_s for each in around)
            if len(run.tokens) >= LEAST_TOKENS
            else None
            for run, around in zip(self.after, self.plain[len(self.before) :], strict=True)
        ]

    @property
    def draft_shares(self) -> list[float]:
        """Of the time of each reply behind the first drifted one: what drafting took."""
        times = [[each.times for each in run.rounds] for run in self.after[1:]]
        return [sum(t.draft_s for t in own) / sum(t.total_s for t in own) for own in times]

    @property
    def equal(self) -> bool:
        """Every reply is plain decoding's."""
        replies = zip([*self.before, *self.after], self.plain, strict=True)
        return all(run.tokens == one.tokens == other.tokens for run, (one, other) in replies)


def inject_drift(
    lab: Lab,
    prompts: Sequence[Prompt],
    *,
    acceptance: float = 0.1,
    window: int | None = None,
    conversations: int = 1,
    repeats: int = 1,
) -> dict[str, Any]:
    """Holds conversations whose drafter is spoilt from the middle of their middle reply on.

    Args:
        lab: its ``drift`` is replaced.
        prompts: one reply each, in every conversation; the first half begins undisturbed.
        acceptance: what the drift leaves of it.
        window: K; None lets the controller choose, which then falls back.
        conversations: each with another luck, on an engine that knows nothing yet.
        repeats: how often each is held.
    """
    setting = Setting(name="drifting", drafter="drifting", window=window)
    held = [
        [_converse(lab, prompts, setting, acceptance=acceptance, seed=seed) for _ in range(repeats)]
        for seed in range(conversations)
    ]
    return _figures(held)


def _converse(
    lab: Lab, prompts: Sequence[Prompt], setting: Setting, *, acceptance: float, seed: int
) -> Conversation:
    lab.drift = drift = Drift(acceptance=acceptance, luck=random.Random(seed))
    half, left = max(len(prompts) // 2, 1), 0
    drafted: list[Run] = []
    plain: list[tuple[Run, Run]] = []
    with lab.fresh() as engine:
        for number, prompt in enumerate(prompts):
            if number == half:
                left = _half_a_reply(drafted)
                drift.after_tokens = drift.emitted + left
            before = lab.run(prompt, PLAIN, engine=engine)
            drafted.append(lab.run(prompt, setting, engine=engine))
            plain.append((before, lab.run(prompt, PLAIN, engine=engine)))
    lab.drift = Drift()
    return Conversation(before=drafted[:half], after=drafted[half:], plain=plain, left=left)


def _half_a_reply(before: Sequence[Run]) -> int:
    return max(round((middle(len(run.tokens) for run in before) or 2) / 2), 1)


def _figures(held: Sequence[Sequence[Conversation]]) -> dict[str, Any]:
    every = [each for repeated in held for each in repeated]
    onsets = [each.onset for each in every]
    stalls = [stall for repeated in held for stall in _stalls(repeated)]
    before = [record for each in every for run in each.before for record in run.rounds]
    fell_back = [each.fell_back_after for each in onsets]
    alarmed = [each.alarm_after for each in onsets]
    shares = [share for each in every for share in each.draft_shares]
    worst = max(stalls, default=None)
    return {
        "conversations": len(held),
        "repeats": len(held[0]),
        "acceptance_before": _acceptance(before),
        "acceptance_after": _acceptance([record for each in onsets for record in each.rounds]),
        "fell_back_after_rounds": _latest(fell_back),
        "fell_back_after_rounds_each": fell_back,
        "alarm_after_rounds": _latest(alarmed),
        "alarm_after_rounds_each": alarmed,
        "reply_time_over_plain": {
            "median": rounded(middle(stalls)),
            "worst": rounded(worst),
            "replies": len(stalls),
            "each": [rounded(each) for each in stalls],
        },
        "draft_share_later_replies": {
            "median": rounded(middle(shares)),
            "worst": rounded(max(shares, default=None)),
        },
        "equal_to_plain": all(each.equal for each in every),
        "windows_after": [each.window for each in onsets[0].rounds[:12]],
        "holds": _holds(fell_back, alarmed, worst),
    }


def _stalls(repeated: Sequence[Conversation]) -> list[float]:
    """Of each reply behind the onset: the median of its repetitions."""
    columns = zip(*(each.stalls for each in repeated), strict=True)
    known = ([ratio for ratio in column if ratio is not None] for column in columns)
    return [value for own in known if (value := middle(own)) is not None]


def _latest(rounds: Sequence[int | None]) -> int | None:
    """Of all conversations; None where it did not happen in one."""
    happened = [each for each in rounds if each is not None]
    return max(happened) if len(happened) == len(rounds) else None


def _holds(
    fell_back: Sequence[int | None], alarmed: Sequence[int | None], worst: float | None
) -> bool:
    """In time, told, and unnoticed, in every conversation."""
    latest = _latest(fell_back)
    in_time = latest is not None and latest <= MOST_ROUNDS
    return in_time and None not in alarmed and worst is not None and worst <= MOST_STALL


def _acceptance(rounds: Sequence[Round]) -> float | None:
    drafted = [each for each in rounds if each.drafted]
    decided = sum(min(each.accepted + 1, len(each.drafted)) for each in drafted)
    return rounded(ratio(sum(each.accepted for each in drafted), decided))
