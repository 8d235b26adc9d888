"""The verdict: checks against thresholds, and the finding that would turn it around.

Nothing here measures. What was not measured counts as not passed: absent evidence is none.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from voiceagent.evaluation.thresholds import Thresholds, unit_of

_TOLD = 3
LEAST_COMPARED = 4
"""Prompts of a surface whose speed can be compared; of fewer nothing follows."""


class Answer(StrEnum):
    """What is to be done."""

    ADOPT = "adopt"
    SOME_SURFACES = "adopt on these surfaces"
    REJECT = "do not adopt"


EXIT_STATUS = {Answer.ADOPT: 0, Answer.SOME_SURFACES: 3, Answer.REJECT: 4}


@dataclass(frozen=True, kw_only=True)
class Check:
    """One threshold and what was measured.

    Attributes:
        name: of the threshold.
        unit: ``algorithm``, ``engine``, ``session``, ``service``, ``quality`` or ``surface``.
        where: which prompts: ``chosen on``, ``held out``, ``all``, or the name of a surface.
        value: measured; None where it could not be.
        limit: the threshold.
        at_least: whether the value has to reach the limit, or not to exceed it.
    """

    name: str
    unit: str
    where: str
    value: float | None
    limit: float
    at_least: bool

    @property
    def passed(self) -> bool:
        """It was measured and is on the right side."""
        if self.value is None:
            return False
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    @property
    def margin(self) -> float:
        """How far from the limit, as a share of it; negative where it fails."""
        if self.value is None:
            return float("-inf")
        distance = self.value - self.limit if self.at_least else self.limit - self.value
        return distance / max(abs(self.limit), 1e-9) if self.limit else distance

    def __str__(self) -> str:
        relation = "at least" if self.at_least else "at most"
        value = "not measured" if self.value is None else f"{self.value:g}"
        return f"{self.name} ({self.unit}, {self.where}) is {value}; {relation} {self.limit:g}"

    def to_object(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self) | {"passed": self.passed}


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The answer and its reasons.

    Attributes:
        answer: what is to be done.
        surfaces: where speculation is adopted.
        checks: every one.
        reversal: the finding that would turn the answer around.
    """

    answer: Answer
    surfaces: tuple[str, ...]
    checks: tuple[Check, ...]
    reversal: str

    @property
    def exit_status(self) -> int:
        """Of the command."""
        return EXIT_STATUS[self.answer]

    def to_object(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "answer": str(self.answer),
            "exit_status": self.exit_status,
            "surfaces": list(self.surfaces),
            "failed": [str(each) for each in self.checks if not each.passed],
            "reversal": self.reversal,
            "checks": [each.to_object() for each in self.checks],
        }


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What the checks look at; see `voiceagent.evaluation.measure` for the figures.

    Attributes:
        chosen, held_out: figures of the candidate on the two parts of the evaluation set.
        everything: figures of the candidate on both.
        unexplained: replies that differ from plain decoding and are no near tie.
        memory_added_mb: of what drafts.
        load_p95_ratio: at the highest load, over plain.
        failures: replies that ended in an error, under load and outside it.
        surfaces: by name: ``speed`` (figures of its own prompts) and ``shown`` (what its people
            saw).
    """

    chosen: Mapping[str, Any]
    held_out: Mapping[str, Any]
    everything: Mapping[str, Any]
    unexplained: int
    memory_added_mb: float | None
    load_p95_ratio: float | None
    failures: int
    surfaces: Mapping[str, Mapping[str, Any]]


def decide(evidence: Evidence, thresholds: Thresholds) -> Verdict:
    """The verdict.

    What touches everybody (exactness, quality, failures, memory, load) has to hold everywhere.
    Speed has to hold on the part that was chosen on and on the one that was held out; where it
    does not, single surfaces may still pass with their own prompts.
    """
    shared = list(_shared(evidence, thresholds))
    speed = [
        check
        for where, figures in (("chosen on", evidence.chosen), ("held out", evidence.held_out))
        for check in _speed(figures, thresholds, where=where)
    ]
    surfaces = {
        name: list(_surface(found, thresholds, name=name))
        for name, found in evidence.surfaces.items()
        if name in thresholds.surfaces
    }
    passed = tuple(name for name, checks in surfaces.items() if all(each.passed for each in checks))
    answer = _answer(shared, speed, surfaces, passed)
    checks = (*shared, *speed, *(each for own in surfaces.values() for each in own))
    return Verdict(
        answer=answer,
        surfaces=() if answer is Answer.REJECT else passed,
        checks=checks,
        reversal=_reversal(answer, shared, speed, surfaces),
    )


def _answer(
    shared: Sequence[Check],
    speed: Sequence[Check],
    surfaces: Mapping[str, Sequence[Check]],
    passed: Sequence[str],
) -> Answer:
    if not all(each.passed for each in shared) or not passed:
        return Answer.REJECT
    if all(each.passed for each in speed) and len(passed) == len(surfaces):
        return Answer.ADOPT
    return Answer.SOME_SURFACES


def _shared(evidence: Evidence, limits: Thresholds) -> Iterable[Check]:
    quality = evidence.everything["quality"]
    service = evidence.everything["service"]
    values = {
        "unexplained_differences_max": evidence.unexplained,
        "right_lost_per_100_max": quality["right_lost_per_100"],
        "critical_added_max": quality["critical_added"],
        "forbidden_calls_added_max": quality["forbidden_calls_added"],
        "failures_max": evidence.failures,
        "memory_added_mb_max": evidence.memory_added_mb,
        "cost_ratio_max": service["cost_ratio"],
        "load_p95_ratio_max": evidence.load_p95_ratio,
    }
    for name, value in values.items():
        yield _check(name, value, limits, where="all")


def _speed(figures: Mapping[str, Any], limits: Thresholds, *, where: str) -> Iterable[Check]:
    engine = figures["engine"]
    values = {
        "tokens_per_round_min": figures["algorithm"]["tokens_per_round"],
        "speedup_median_min": engine["speedup_median"],
        "speedup_p95_min": engine["speedup_p95"],
        "first_commit_ratio_max": figures["session"]["first_commit_ratio"],
    }
    for name, value in values.items():
        yield _check(name, value, limits, where=where)


def _surface(found: Mapping[str, Any], limits: Thresholds, *, name: str) -> Iterable[Check]:
    engine = found["speed"]["engine"]
    enough = engine["compared"] >= LEAST_COMPARED
    speedup = engine["speedup_median"] if enough else None
    yield _check("speedup_median_min", speedup, limits, where=name)
    commit = found["speed"]["session"]["first_commit_ratio"] if enough else None
    yield _check("first_commit_ratio_max", commit, limits, where=name)
    own = limits.surfaces[name]
    for limit_name, key in (
        ("churn_max", "churn"),
        ("inversions_per_1000_max", "inversions_per_1000"),
    ):
        yield Check(
            name=limit_name,
            unit="surface",
            where=name,
            value=found["shown"][key],
            limit=getattr(own, limit_name),
            at_least=False,
        )


def _check(name: str, value: float | None, limits: Thresholds, *, where: str) -> Check:
    return Check(
        name=name,
        unit=unit_of(name),
        where=where,
        value=value,
        limit=getattr(limits, name),
        at_least=name.endswith("_min"),
    )


def _reversal(
    answer: Answer,
    shared: Sequence[Check],
    speed: Sequence[Check],
    surfaces: Mapping[str, Sequence[Check]],
) -> str:
    """The nearest change of a finding that changes the answer."""
    every = [*speed, *(each for own in surfaces.values() for each in own)]
    if answer is Answer.ADOPT:
        return _would_fall(answer, [*shared, *every])
    if answer is Answer.SOME_SURFACES:
        missing = [each for each in every if not each.passed]
        missing.sort(key=lambda each: each.margin, reverse=True)
        rest = f" (and {len(missing) - _TOLD} more)" if len(missing) > _TOLD else ""
        return (
            f"{_would_fall(answer, shared)} It would be '{Answer.ADOPT}' if these held: "
            + "; ".join(map(str, missing[:_TOLD]))
            + f"{rest}."
        )
    failed = [each for each in shared if not each.passed]
    if not failed:
        # No surface passes: the one that is nearest to it would have to.
        per_surface = [[each for each in own if not each.passed] for own in surfaces.values()]
        failed = min(per_surface, key=lambda own: (len(own), -sum(e.margin for e in own)))
    return "The answer would change if these held: " + "; ".join(map(str, failed)) + "."


def _would_fall(answer: Answer, deciding: Sequence[Check]) -> str:
    """What has the least room; what has none by nature (a single lie) is always said."""
    gradual = [each for each in deciding if each.passed and each.margin > 0]
    nearest = min(gradual, key=lambda each: each.margin)
    return (
        f"The answer would not be '{answer}' if this failed: {nearest}; or with a single "
        "unexplained difference, failure or critical answer more than allowed."
    )
