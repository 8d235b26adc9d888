"""Whether the laboratory sees what it must see: a delay of 50 ms in one stage, and no delay in
none.

The agent is simulated, its recordings and its trace go through the whole analysis. Its durations
vary from turn to turn and from run to run as measured ones do.
"""

from functools import cache

import pytest
from simulated_agent import BASE_MS, simulate

from voiceagent.latency.analysis import TurnValues, compare_runs, explain, judge
from voiceagent.latency.comparison import Verdict

TURNS = 20
INJECTED_MS = 50.0
BEFORE, AFTER = 1, 2
"""Seeds of the two runs."""


@cache
def measured(seed: int, delayed: str | None = None) -> list[TurnValues]:
    """The turns of a run, as the laboratory sees them."""
    delay = None if delayed is None else (delayed, INJECTED_MS)
    run = simulate(TURNS, seed=seed, delay=delay)
    judged = [judge(exchange) for exchange in run.exchanges]
    found = explain(judged, run.own, run.records)
    return [
        TurnValues(
            fixture=turn.fixture,
            response_gap_ms=turn.response_gap_ms,
            stages_ms=waterfall.stages_ms,
        )
        for each, falls in zip(judged, found, strict=True)
        for turn, waterfall in zip(each.turns, falls, strict=True)
    ]


def test_waterfalls_are_the_stages_that_were_given() -> None:
    """Every stage of every turn is found to 2 ms, parts add up to the gap, the rest is shown."""
    run = simulate(12, seed=BEFORE)
    judged = [judge(exchange) for exchange in run.exchanges]
    for each, falls, given in zip(
        judged, explain(judged, run.own, run.records), run.stages_ms, strict=True
    ):
        (turn,), (waterfall,) = each.turns, falls
        assert turn.response_gap_ms == pytest.approx(sum(given.values()), abs=2)
        assert waterfall.total_ms == pytest.approx(turn.response_gap_ms, abs=0.1)
        assert set(waterfall.stages_ms) == set(given)
        for stage in set(given) - {"device"}:
            assert waterfall.stages_ms[stage] == pytest.approx(given[stage], abs=2)
        # The device is taken for constant; what it deviates is the residual.
        device_ms = waterfall.stages_ms["device"] + waterfall.residual_ms
        assert device_ms == pytest.approx(given["device"], abs=2)


@pytest.mark.parametrize("stage", sorted(BASE_MS))
def test_a_delay_is_found_and_put_on_its_stage(stage: str) -> None:
    """50 ms in any one stage make the run worse, by that stage."""
    comparison = compare_runs(measured(BEFORE), measured(AFTER, stage))
    assert comparison.verdict is Verdict.WORSE
    assert comparison.culprit == stage
    assert comparison.response_gap.median_ms == pytest.approx(INJECTED_MS, abs=25)
    assert compare_runs(measured(AFTER, stage), measured(BEFORE)).verdict is Verdict.BETTER


def test_no_delay_is_no_evidence() -> None:
    """Two runs of the same agent are not told apart."""
    comparison = compare_runs(measured(BEFORE), measured(AFTER))
    assert comparison.verdict is Verdict.NO_EVIDENCE
    assert comparison.culprit is None
