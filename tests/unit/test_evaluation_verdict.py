"""The verdict: thresholds that nobody may leave out, and answers that can be no."""

import copy
import tomllib
from typing import Any

import pytest

from voiceagent.cli import main
from voiceagent.evaluation.lineage import differences
from voiceagent.evaluation.prompts import DATA
from voiceagent.evaluation.thresholds import ThresholdError, Thresholds
from voiceagent.evaluation.verdict import Answer, Evidence, decide

EXAMPLE = DATA / "thresholds.toml"
LIMITS = Thresholds.load(EXAMPLE)


def figures(**changes: Any) -> dict[str, Any]:
    """Figures of a candidate that passes; ``changes`` by the name of the figure."""
    made: dict[str, Any] = {
        "algorithm": {"tokens_per_round": 2.2},
        "engine": {"speedup_median": 1.5, "speedup_p95": 1.2, "compared": 9},
        "session": {"first_commit_ratio": 0.8},
        "service": {"cost_ratio": 0.9},
        "quality": {"right_lost_per_100": 0.0, "critical_added": 0, "forbidden_calls_added": 0},
    }
    for part in made.values():
        part.update({name: value for name, value in changes.items() if name in part})
    return made


def evidence(**changes: Any) -> Evidence:
    """Evidence that passes, with ``changes`` of its fields."""
    shown = {"churn": 1.0, "inversions_per_1000": 0.0}
    values: dict[str, Any] = {
        "chosen": figures(),
        "held_out": figures(),
        "everything": figures(),
        "unexplained": 0,
        "memory_added_mb": 500.0,
        "load_p95_ratio": 0.9,
        "failures": 0,
        "surfaces": {name: {"speed": figures(), "shown": dict(shown)} for name in LIMITS.surfaces},
    }
    return Evidence(**values | changes)


def test_what_passes_everything_is_adopted_and_says_what_would_reverse_it() -> None:
    """Status 0, all surfaces, and the check with the least room by name."""
    verdict = decide(evidence(), LIMITS)
    assert (verdict.answer, verdict.exit_status) == (Answer.ADOPT, 0)
    assert set(verdict.surfaces) == set(LIMITS.surfaces)
    assert "would not be 'adopt' if this failed: cost_ratio_max" in verdict.reversal


@pytest.mark.parametrize(
    "changes",
    [
        {"unexplained": 1},
        {"failures": 1},
        {"memory_added_mb": 5000.0},
        {"memory_added_mb": None},
        {"load_p95_ratio": 1.5},
        {"load_p95_ratio": None},
        {"everything": figures(right_lost_per_100=5.0)},
        {"everything": figures(critical_added=1)},
        {"everything": figures(forbidden_calls_added=1)},
        {"everything": figures(cost_ratio=2.0)},
    ],
)
def test_what_touches_everybody_decides_alone(changes: dict[str, Any]) -> None:
    """One lie, one failure, too much memory, or something not measured: do not adopt, status 4."""
    verdict = decide(evidence(**changes), LIMITS)
    assert (verdict.answer, verdict.exit_status, verdict.surfaces) == (Answer.REJECT, 4, ())
    assert "would change if these held" in verdict.reversal


def test_speed_that_the_held_out_part_does_not_confirm_is_no_adoption() -> None:
    """What was chosen on the rest has to hold where nobody looked."""
    verdict = decide(evidence(held_out=figures(speedup_median=1.0)), LIMITS)
    assert verdict.answer is Answer.SOME_SURFACES
    assert any("held out" in str(each) for each in verdict.checks if not each.passed)


def test_a_surface_that_shows_too_much_is_left_out() -> None:
    """Status 3: speculation stays off where people would see it."""
    found = evidence()
    surfaces = copy.deepcopy(dict(found.surfaces))
    surfaces["chat"]["shown"]["churn"] = 2.5
    verdict = decide(evidence(surfaces=surfaces), LIMITS)
    assert (verdict.answer, verdict.exit_status) == (Answer.SOME_SURFACES, 3)
    assert set(verdict.surfaces) == set(LIMITS.surfaces) - {"chat"}
    assert "It would be 'adopt' if these held: churn_max (surface, chat)" in verdict.reversal


def test_a_surface_of_a_few_prompts_is_not_decided() -> None:
    """Three prompts are no evidence."""
    surfaces = copy.deepcopy(dict(evidence().surfaces))
    surfaces["tool"]["speed"]["engine"]["compared"] = 3
    assert "tool" not in decide(evidence(surfaces=surfaces), LIMITS).surfaces


def test_slow_everywhere_is_a_no_with_the_nearest_change() -> None:
    """Where no surface pays, the reversal names what is missing."""
    slow = figures(speedup_median=0.9, tokens_per_round=1.0)
    surfaces = {
        name: {"speed": slow, "shown": {"churn": 1.0, "inversions_per_1000": 0.0}}
        for name in LIMITS.surfaces
    }
    verdict = decide(evidence(chosen=slow, held_out=slow, surfaces=surfaces), LIMITS)
    assert verdict.answer is Answer.REJECT
    assert "speedup_median_min" in verdict.reversal


def tree() -> dict[str, Any]:
    """The example, parsed."""
    return tomllib.loads(EXAMPLE.read_text())


def test_every_threshold_has_to_be_there() -> None:
    """Each entry that is taken away is named."""
    for table, entries in tree().items():
        for name in entries:
            less = tree()
            del less[table][name]
            if table == "surface":
                assert name not in Thresholds.of(less, digest="").surfaces
                continue
            with pytest.raises(ThresholdError, match=name):
                Thresholds.of(less, digest="")


def test_an_unknown_threshold_is_named() -> None:
    """A misspelt one would be a threshold that holds nobody back."""
    for table in ("engine", "decision"):
        more = tree()
        more[table]["speed"] = 2
        with pytest.raises(ThresholdError, match=f"{table}.speed"):
            Thresholds.of(more, digest="")
    more = tree()
    more["surface"]["cinema"] = {"churn_max": 1.0, "inversions_per_1000_max": 0.0}
    with pytest.raises(ThresholdError, match=r"surface\.cinema"):
        Thresholds.of(more, digest="")


def test_without_thresholds_there_is_no_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    """The command refuses before it loads anything, and says what to do."""
    assert main(["eval", "speculation", "--preset", "tiny"]) == 1
    assert "write down first" in capsys.readouterr().err


def test_two_lineages_say_where_they_differ() -> None:
    """The dotted path of each leaf, and both values."""
    one = {"code": {"version": "1"}, "weights": {"target": {"a": "x"}}}
    other = {"code": {"version": "2"}, "weights": {"target": {"a": "x", "b": "y"}}}
    assert differences(one, other) == {
        "code.version": ("1", "2"),
        "weights.target.b": (None, "y"),
    }
