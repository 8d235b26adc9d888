"""What a round leaves behind: the evidence for each of its five stages."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any


class Outcome(StrEnum):
    """What follows the accepted tokens of a round."""

    RECOVERED = "recovered"
    BONUS = "bonus"
    PLAIN = "plain"
    """The target's token of a round in which nothing was drafted."""
    END = "end"
    """Nothing: the last accepted token ended the reply."""


@dataclass(frozen=True, slots=True)
class StageTimes:
    """Seconds spent in each stage.

    A reply is charged its own work and its share of the passes that it shared with other replies:
    their time by its part of their rows. So the scoring times of all replies that shared a pass add
    up to the time of that pass, and a reply that drafts more pays more.
    """

    draft_s: float
    score_s: float
    accept_s: float
    resample_s: float
    advance_s: float

    @property
    def total_s(self) -> float:
        """The whole round."""
        return self.draft_s + self.score_s + self.accept_s + self.resample_s + self.advance_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Likelihood:
    """How likely the target found a token that it emitted; natural logarithms."""

    token: int
    logprob: float
    top: tuple[tuple[int, float], ...] = ()
    """The most likely ids of that row with theirs, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One round.

    Attributes:
        index: counts the rounds of a reply from 0.
        start: how many reply tokens there were before this round.
        fed: tokens the target read before the block: 1, or what was left of the prompt.
        drafter: its name.
        window: K as chosen, and ``why``.
        drafted: the block.
        draft_probabilities: the draft's probability of each drafted token, None where unknown.
        target_probabilities: the target's, as far as it looked: up to the first rejection.
        accepted: the length of the valid prefix.
        emitted: the accepted tokens and what followed them, as far as the reply kept them.
        outcome: what followed them.
        times: seconds in each stage.
        drafted_text: the text of each drafted token (bytes that are no text: U+FFFD).
        emitted_text: the same for the emitted ones.
        likelihoods: of each emitted token, where the request asked for them.
        dropped: accepted tokens that nobody sees, because a stop string ended the reply before.
        sharing: replies whose blocks the target read in the same pass, this one included.
        alarm: the drafter seems to have drifted (`voiceagent.decoding.early_warning`).
    """

    index: int
    start: int
    fed: int
    drafter: str
    window: int
    why: str
    drafted: tuple[int, ...]
    draft_probabilities: tuple[float | None, ...]
    target_probabilities: tuple[float, ...]
    accepted: int
    emitted: tuple[int, ...]
    outcome: Outcome
    times: StageTimes
    drafted_text: tuple[str, ...] = ()
    emitted_text: tuple[str, ...] = ()
    dropped: int = 0
    likelihoods: tuple[Likelihood, ...] = ()
    sharing: int = 1
    alarm: bool = False

    @property
    def rejected(self) -> tuple[int, ...]:
        """The alternatives that the target did not take: the block behind the valid prefix."""
        return self.drafted[self.accepted + self.dropped :]

    @property
    def speculated(self) -> bool:
        """There was something to verify."""
        return bool(self.drafted)

    def kept(self, count: int) -> "Round":
        """This round, where the reply ended after ``count`` of its emitted tokens.

        Tokens behind the end count neither as accepted nor as emitted.
        """
        if count >= len(self.emitted):
            return self
        accepted = min(self.accepted, count)
        outcome = self.outcome if count > self.accepted else Outcome.END
        return replace(
            self,
            accepted=accepted,
            dropped=self.accepted - accepted,
            emitted=self.emitted[:count],
            likelihoods=self.likelihoods[:count],
            outcome=outcome,
        )

    def as_record(self) -> dict[str, Any]:
        """The line of a trace, ready for JSON."""
        times_ms = {
            name: round(getattr(self.times, f"{name}_s") * 1000, 3)
            for name in ("draft", "score", "accept", "resample", "advance")
        }
        return {
            "type": "round",
            "round": self.index,
            "start": self.start,
            "fed": self.fed,
            "drafter": self.drafter,
            "window": self.window,
            "why": self.why,
            "drafted": list(self.drafted),
            "drafted_text": list(self.drafted_text),
            "draft_probabilities": [_rounded(p) for p in self.draft_probabilities],
            "target_probabilities": [_rounded(p) for p in self.target_probabilities],
            "accepted": self.accepted,
            "rejected": list(self.rejected),
            "emitted": list(self.emitted),
            "emitted_text": list(self.emitted_text),
            "outcome": str(self.outcome),
            "times_ms": times_ms,
            "sharing": self.sharing,
            "alarm": self.alarm,
        }


def _rounded(probability: float | None) -> float | None:
    return None if probability is None else float(f"{probability:.4g}")
