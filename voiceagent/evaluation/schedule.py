"""How much fits into the time: a few replies are timed, and the plan takes what there is room for.

What the verdict rests on is never thinned: every prompt plainly, under the smaller model and
under the candidate. What stands beside it (other settings, arrivals at each level of load) takes
fewer prompts where the machine is slow; each population keeps its share. The plan that came out
stands in the report's lineage, so a reproduction runs that one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from time import perf_counter
from typing import Any

from voiceagent.evaluation.lab import ALONE, PLAIN, Lab
from voiceagent.evaluation.prompts import POPULATIONS, PromptSet
from voiceagent.evaluation.speculation import Plan, main_settings

_STEPS = (4, 6, 8, 12, 24)
"""Other settings take every so many-th prompt of a population; the last leaves one of 24."""
_REQUESTS = (10, 8, 6)
MARGIN = 1.2
"""Real work over what was expected of it: the machine is not ours alone."""


@dataclass(frozen=True, kw_only=True)
class Pace:
    """Seconds of a reply here, reading included, in the mean over the populations.

    Attributes:
        plain_s, candidate_s, alone_s: by setting; ``alone_s`` is 0 without a draft model.
    """

    plain_s: float
    candidate_s: float
    alone_s: float = 0.0

    @property
    def slowest_s(self) -> float:
        """What a setting that nobody timed is taken to need."""
        return max(self.plain_s, self.candidate_s)


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """A plan that was made to fit.

    Attributes:
        plan: to be run.
        expected_s: by part.
        budget_s: the time that there is.
        pace: what it was computed from.
    """

    plan: Plan
    expected_s: Mapping[str, float]
    budget_s: float
    pace: Pace

    @property
    def fits(self) -> bool:
        """Even with the margin; False where the least plan is too long for this machine."""
        return MARGIN * sum(self.expected_s.values()) <= self.budget_s

    def told(self) -> str:
        """In a line, before it begins."""
        minutes = sum(self.expected_s.values()) / 60
        beside = f"every {self.plan.others_step}. prompt under the other settings"
        told = f"about {minutes:.0f} minutes expected: {beside}, {self.plan.requests} requests"
        return told if self.fits else f"{told}; more than the {self.budget_s / 60:g} there are"

    def to_object(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "budget_s": self.budget_s,
            "expected_s": {name: round(value, 1) for name, value in self.expected_s.items()},
            "margin": MARGIN,
            "fits": self.fits,
            "pace": {name: round(value, 3) for name, value in asdict(self.pace).items()},
        }


def measure_pace(lab: Lab, prompts: PromptSet, plan: Plan) -> Pace:
    """Times a reply of each population, the middle one, under what all prompts are decoded with."""
    sample = [own[len(own) // 2] for name in POPULATIONS if (own := prompts.of(name))]
    seconds: dict[str, float] = {}
    for setting in main_settings(lab, plan):
        lab.run(sample[0], setting)  # opens the engine
        began_s = perf_counter()
        for prompt in sample:
            lab.run(prompt, setting)
        seconds[setting.name] = (perf_counter() - began_s) / len(sample)
    return Pace(
        plain_s=seconds[PLAIN.name],
        candidate_s=seconds[plan.candidate.name],
        alone_s=seconds.get(ALONE.name, 0.0),
    )


def fit(plan: Plan, prompts: PromptSet, pace: Pace, *, budget_s: float) -> Schedule:
    """The most that fits; the least plan where nothing does (`Schedule.fits` then says so)."""
    made = [
        Schedule(plan=each, expected_s=expect(each, prompts, pace), budget_s=budget_s, pace=pace)
        for each in _ladder(plan)
    ]
    return next((each for each in made if each.fits), made[-1])


def _ladder(plan: Plan) -> Sequence[Plan]:
    """From what was asked for to the least: first fewer prompts beside, then fewer requests."""
    steps = [plan.others_step, *(each for each in _STEPS if each > plan.others_step)]
    requests = [plan.requests, *(each for each in _REQUESTS if each < plan.requests)]
    thinned = [replace(plan, others_step=step) for step in steps]
    return [*thinned, *(replace(thinned[-1], requests=count) for count in requests[1:])]


def expect(plan: Plan, prompts: PromptSet, pace: Pace) -> dict[str, float]:
    """Seconds of each part of an evaluation."""
    part = prompts.every(plan.others_step).prompts
    both_s = pace.plain_s + pace.candidate_s
    return {
        "every prompt": len(prompts.prompts) * (both_s + pace.alone_s),
        "other settings": len(part) * len(plan.others) * pace.slowest_s,
        "sabotage": plan.sabotage_prompts * both_s,
        "half the cores": 2 * plan.variant_prompts * both_s,
        "load": 2 * sum(_level_s(plan, pace, sessions) for sessions in plan.sessions),
        "drift": plan.drift_replies * (2 * pace.plain_s + pace.slowest_s),
    }


def _level_s(plan: Plan, pace: Pace, sessions: int) -> float:
    """Until the last request has come and been served, or all have been served in a row."""
    arrivals_s = plan.requests * plan.think_s / sessions
    return max(arrivals_s + pace.slowest_s, plan.requests * pace.slowest_s)
