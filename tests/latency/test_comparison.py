"""When two runs are told apart, and when not."""

import numpy as np

from voiceagent.latency.comparison import LEAST_PAIRS, Verdict, compare, culprit, paired

FIXTURES = [f"q{number % 5}" for number in range(30)]


def run(seed: int, *, shift_ms: float = 0.0, spread_ms: float = 20.0) -> list[tuple[str, float]]:
    """Gaps that depend on the fixture much more than on anything else."""
    rng = np.random.default_rng(seed)
    base = {f"q{number}": 700.0 + 300 * number for number in range(5)}
    return [(name, base[name] + shift_ms + spread_ms * rng.standard_normal()) for name in FIXTURES]


def test_pairs_are_of_one_fixture() -> None:
    """The n-th turn with a fixture is compared with the n-th; what only one run has is left out."""
    pairs = paired([("a", 1), ("b", 2), ("a", 3)], [("a", 10), ("c", 5), ("a", 30), ("a", 40)])
    assert pairs.tolist() == [[1, 10], [3, 30]]


def test_a_shift_is_found_in_spite_of_the_fixtures() -> None:
    """Fixtures differ by 1200 ms, runs by 30, and the verdict is right both ways."""
    worse = compare(run(1), run(2, shift_ms=30))
    assert worse.verdict is Verdict.WORSE
    assert worse.low_ms is not None
    assert worse.low_ms < 30 < (worse.high_ms or 0)
    assert compare(run(2, shift_ms=30), run(1)).verdict is Verdict.BETTER


def test_equal_runs_are_rarely_told_apart() -> None:
    """Of a hundred pairs of equal runs, about as many are told apart as 95 % of confidence
    allow."""
    verdicts = [compare(run(seed), run(1000 + seed)).verdict for seed in range(100)]
    assert sum(verdict is not Verdict.NO_EVIDENCE for verdict in verdicts) <= 10


def test_a_change_that_does_not_matter_is_no_evidence() -> None:
    """One millisecond is certain here, and nobody's concern."""
    assert compare(run(1, spread_ms=0), run(1, shift_ms=1, spread_ms=0)).verdict is (
        Verdict.NO_EVIDENCE
    )


def test_few_pairs_are_no_evidence() -> None:
    """Seven turns prove nothing, whatever they show; none at all have no figure."""
    few = compare(run(1)[: LEAST_PAIRS - 1], run(1, shift_ms=900)[: LEAST_PAIRS - 1])
    assert few.pairs == LEAST_PAIRS - 1
    assert few.verdict is Verdict.NO_EVIDENCE
    assert compare([], run(1)).median_ms is None


def test_the_culprit_changed_most_in_the_same_direction() -> None:
    """Of two stages that got slower the slower one; what got quicker is not to blame."""
    stages = {
        "vad": compare(run(1), run(2, shift_ms=20)),
        "synthesis": compare(run(1), run(2, shift_ms=60)),
        "device": compare(run(1), run(2, shift_ms=-200)),
    }
    assert culprit(stages, verdict=Verdict.WORSE) == "synthesis"
    assert culprit(stages, verdict=Verdict.BETTER) == "device"
    assert culprit(stages, verdict=Verdict.NO_EVIDENCE) is None
