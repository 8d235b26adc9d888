"""An evaluation that has to be over in time: what is thinned, and what never is."""

import pytest

from voiceagent.evaluation.lab import Setting
from voiceagent.evaluation.prompts import POPULATIONS, PromptSet
from voiceagent.evaluation.schedule import MARGIN, Pace, fit
from voiceagent.evaluation.speculation import Plan

QUICK = PromptSet.load().quick()
PLAN = Plan(
    candidate=Setting.parse("model:auto"),
    others=tuple(Setting.parse(f"model:{k}") for k in range(1, 10)),
)


def at(plain_s: float) -> Pace:
    """A machine whose plain reply takes so long."""
    return Pace(plain_s=plain_s, candidate_s=0.8 * plain_s, alone_s=0.5 * plain_s)


@pytest.mark.parametrize("plain_s", [0.1, 0.7, 1.0, 1.5, 2.0])
def test_what_is_planned_fits_into_the_time_with_a_margin(plain_s: float) -> None:
    """On machines up to three times slower than two usual cores."""
    schedule = fit(PLAN, QUICK, at(plain_s), budget_s=24 * 60)
    assert schedule.fits
    assert MARGIN * sum(schedule.expected_s.values()) <= 24 * 60


def test_a_slower_machine_compares_less_and_judges_as_much() -> None:
    """Prompts, candidate, sabotage, drift and levels of load stay; every population stays in."""
    fast, slow = (fit(PLAN, QUICK, at(each), budget_s=24 * 60).plan for each in (0.5, 2.0))
    assert fast == PLAN
    assert slow.others_step > fast.others_step
    for name in ("candidate", "others", "sessions", "sabotage_prompts", "drift_replies"):
        assert getattr(slow, name) == getattr(fast, name)
    assert {each.population for each in QUICK.every(slow.others_step).prompts} == set(POPULATIONS)


def test_where_nothing_fits_the_least_is_run_and_said_to_be_too_long() -> None:
    """Judging fewer prompts than were asked for would be another verdict."""
    schedule = fit(PLAN, QUICK, at(30.0), budget_s=24 * 60)
    assert not schedule.fits
    assert schedule.to_object()["fits"] is False
    assert "more than the 24 there are" in schedule.told()
    assert schedule.expected_s["every prompt"] == pytest.approx(len(QUICK.prompts) * 30 * 2.3)
