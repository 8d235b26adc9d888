"""The controller against drafters of known quality, on a machine of known speed.

Nothing is timed: rounds report the seconds that the made-up machine would have taken.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import pytest

from voiceagent.decoding.controller import AdaptiveWindow, Controller, Costs, FixedWindow
from voiceagent.decoding.record import Outcome, Round, StageTimes

TARGET_S = {
    1: 0.040,
    2: 0.041,
    3: 0.042,
    4: 0.044,
    5: 0.048,
    6: 0.054,
    7: 0.060,
    8: 0.068,
    9: 0.076,
}
DRAFT_S = 0.013
Accepts = Callable[[int], float]
"""The chance that the draft at position 1, 2, ... is accepted after all before it."""


@dataclass
class Machine:
    """Plays rounds and keeps the time."""

    accepts: Accepts
    draft_s: float = DRAFT_S
    slow: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        self.luck = random.Random(self.seed)
        self.tokens, self.seconds, self.drafted = 0, 0.0, 0
        self.windows: list[int] = []

    def play(self, controller: Controller, *, rounds: int) -> float:
        """Tokens per second of these rounds."""
        tokens, seconds = self.tokens, self.seconds
        for _ in range(rounds):
            self._round(controller)
        return (self.tokens - tokens) / (self.seconds - seconds)

    def _round(self, controller: Controller) -> None:
        window = controller.plan().window
        accepted = 0
        while accepted < window and self.luck.random() < self.accepts(accepted + 1):
            accepted += 1
        draft_s, score_s = window * self.draft_s, TARGET_S[window + 1] * self.slow
        self.tokens += accepted + 1
        self.seconds += draft_s + score_s
        self.drafted += window
        self.windows.append(window)
        controller.learn(_record(window, accepted, draft_s=draft_s, score_s=score_s))


def _record(window: int, accepted: int, *, draft_s: float, score_s: float) -> Round:
    return Round(
        index=0,
        start=0,
        fed=1,
        drafter="double",
        window=window,
        why="",
        drafted=(0,) * window,
        draft_probabilities=(None,) * window,
        target_probabilities=(),
        accepted=accepted,
        emitted=(0,) * (accepted + 1),
        outcome=Outcome.BONUS,
        times=StageTimes(draft_s, score_s, 0.0, 0.0, 0.0),
    )


def adaptive(draft_s: float = DRAFT_S) -> AdaptiveWindow:
    """A controller after its warm-up."""
    return AdaptiveWindow(Costs(TARGET_S, draft_s=draft_s))


def best_fixed(accepts: Accepts, draft_s: float) -> float:
    """The best of a sweep over K, 0 included."""
    machines = [(Machine(accepts, draft_s), FixedWindow(window)) for window in range(9)]
    return max(machine.play(fixed, rounds=3000) for machine, fixed in machines)


def test_a_hopeless_drafter_is_given_up_after_a_few_rounds() -> None:
    """Against a drafter that is always wrong the cost settles within 5 % of plain decoding."""
    machine, controller = Machine(lambda position: 0.0), adaptive()
    machine.play(controller, rounds=5)
    assert machine.drafted > 0
    assert machine.windows[4] == 0
    assert machine.play(controller, rounds=300) > 0.95 / TARGET_S[1]
    assert "does not pay" in controller.plan().why


def test_it_looks_again_and_comes_back() -> None:
    """A drafter that becomes good is noticed by a probe and used again."""
    quality = 0.0
    machine, controller = Machine(lambda position: quality), adaptive()
    machine.play(controller, rounds=100)
    quality = 0.9
    machine.play(controller, rounds=200)
    after = machine.play(controller, rounds=400)
    assert after > 0.95 * best_fixed(lambda position: 0.9, DRAFT_S)


def test_probes_become_rare() -> None:
    """The longer speculation does not pay, the less often it is tried."""
    machine, controller = Machine(lambda position: 0.0), adaptive()
    machine.play(controller, rounds=2000)
    probes = [at for at, window in enumerate(machine.windows) if window and at > 10]
    gaps = [later - before for before, later in pairwise(probes)]
    assert 3 <= len(probes) <= 10
    assert gaps == sorted(gaps)
    assert gaps[-1] > 4 * gaps[0]


@pytest.mark.parametrize(
    ("accepts", "draft_s"),
    [
        (lambda position: 0.5, 0.013),
        (lambda position: 0.75, 0.013),
        (lambda position: 0.9, 0.013),
        (lambda position: 0.97, 0.013),
        (lambda position: 0.9 / position, 0.013),
        (lambda position: 0.3, 0.0),
        (lambda position: 0.8, 0.0),
        (lambda position: 0.4, 0.030),
    ],
)
def test_it_finds_the_best_window_of_a_sweep(accepts: Accepts, draft_s: float) -> None:
    """Whatever the drafter's quality and price: within 5 % of the best fixed K."""
    machine, controller = Machine(accepts, draft_s, seed=1), adaptive(draft_s)
    machine.play(controller, rounds=60)
    assert machine.play(controller, rounds=3000) > 0.95 * best_fixed(accepts, draft_s)


def test_it_follows_a_machine_that_changes() -> None:
    """When drafting becomes expensive (the core is taken by another process) it drafts less."""
    machine, controller = Machine(lambda position: 0.75), adaptive()
    machine.play(controller, rounds=200)
    before = machine.windows[-20:]
    machine.draft_s = 0.060
    machine.play(controller, rounds=200)
    assert sum(machine.windows[-20:]) < sum(before) / 2


def test_one_slow_pass_changes_little() -> None:
    """A hiccup of two seconds is no reason to stop."""
    machine, controller = Machine(lambda position: 0.9), adaptive()
    machine.play(controller, rounds=100)
    window = controller.plan().window
    controller.learn(_record(window, window, draft_s=2.0, score_s=2.0))
    assert abs(controller.plan().window - window) <= 1


def test_costs_between_measurements_are_interpolated() -> None:
    """Rows that were never measured lie on the line between their neighbours."""
    costs = Costs({1: 1.0, 5: 3.0}, draft_s=0.1)
    assert costs.target_s(3) == pytest.approx(2.0)
    assert costs.target_s(10) == pytest.approx(5.5)
    assert Costs({1: 1.0}, draft_s=0.3).target_s(4) == 1.0


def test_prompt_passes_say_nothing_about_rounds() -> None:
    """A round that read the rest of a prompt is not taken for a block's cost."""
    costs = Costs(TARGET_S, draft_s=DRAFT_S)
    record = _record(0, 0, draft_s=0.0, score_s=0.5)
    costs.learn(record)
    changed = costs.target_s(1)
    costs.learn(Round(**{**_fields(record), "fed": 200}))
    assert costs.target_s(1) == changed > TARGET_S[1]


def _fields(record: Round) -> dict[str, object]:
    return {name: getattr(record, name) for name in Round.__slots__}


def test_other_replies_in_the_pass_count() -> None:
    """Where eight replies share each pass their rows add up, and a window that pays for one alone
    does not; alone again, it pays again."""
    steep = {rows: 0.010 * rows for rows in (1, 8, 32)}
    crowded = AdaptiveWindow(Costs(steep | {2: 0.011, 4: 0.012}, draft_s=0.002))
    shared = Round(**{**_fields(_record(3, 2, draft_s=0.002, score_s=0.012)), "sharing": 8})
    for _ in range(20):
        crowded.learn(shared)
    assert crowded.plan().window == 0
    crowded.learn(_record(3, 2, draft_s=0.002, score_s=0.012))
    assert crowded.plan().window > 0
