"""The early warning: evidence of a drift, the fall-back of the controller, and a canary that stops.

Nothing is timed: rounds report the seconds that a made-up machine would have taken.
"""

import copy
import logging
import random
from functools import cache
from itertools import pairwise

import pytest
from made_rounds import guessed

from voiceagent.config import ConfigError, Decoding
from voiceagent.decoding.controller import AdaptiveWindow, Costs
from voiceagent.decoding.early_warning import EarlyWarning
from voiceagent.decoding.trial import (
    LEAST_ROUNDS,
    Canary,
    Comparison,
    Tally,
    WatchedController,
    clearly_worse,
)

TARGET_S = {1: 0.040, 2: 0.041, 3: 0.042, 4: 0.044, 5: 0.048, 9: 0.076}
DRAFT_S = 0.013


def controller() -> AdaptiveWindow:
    """One that has been speculating for a while, all of it at 80 % acceptance."""
    return copy.deepcopy(_experienced())


@cache
def _experienced() -> AdaptiveWindow:
    made = AdaptiveWindow(Costs(TARGET_S, draft_s=DRAFT_S))
    luck = random.Random(3)
    for _ in range(200):
        play(made, luck, acceptance=0.8)
    return made


def play(made: AdaptiveWindow, luck: random.Random, *, acceptance: float) -> tuple[int, float, int]:
    """One round; returns its window, its seconds and its tokens."""
    window = made.plan().window
    accepted = 0
    while accepted < window and luck.random() < acceptance:
        accepted += 1
    seconds = TARGET_S.get(window + 1, 0.076) + window * DRAFT_S
    made.learn(guessed(window, accepted, claimed=0.8, seconds=seconds, draft_s=window * DRAFT_S))
    return window, seconds, accepted + 1


def test_confident_guesses_refused_are_evidence_and_hesitant_ones_are_not() -> None:
    """Three sure guesses in a row are a collapse; any number of unlikely ones is none."""
    sure, hesitant = EarlyWarning(), EarlyWarning()
    for _ in range(3):
        sure.learn(guessed(1, 0, claimed=0.9))
    for _ in range(50):
        hesitant.learn(guessed(1, 0, claimed=0.3))
    assert sure.collapsed
    assert not hesitant.cautious


def test_the_alarm_is_told_once_and_ends_when_guesses_stand_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """One line in the log for each time that it goes off, and one when it is over."""
    warning = EarlyWarning("model")
    with caplog.at_level(logging.INFO):
        for _ in range(10):
            warning.learn(guessed(2, 0, claimed=0.9))
        assert warning.alarmed
        for _ in range(10):
            warning.learn(guessed(2, 2, claimed=0.9))
    assert not warning.alarmed
    assert warning.alarms == 1
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    assert "drafter model" in caplog.records[0].message


@pytest.mark.parametrize("seed", range(20))
def test_a_drift_to_nothing_shortens_blocks_within_three_rounds(seed: int) -> None:
    """After three rounds of refused guesses no block of several is drafted."""
    made, luck = controller(), random.Random(seed)
    windows = [play(made, luck, acceptance=0.0)[0] for _ in range(5)]
    assert max(windows[3:]) <= 1, windows


def test_a_drift_to_a_tenth_falls_back_soon_and_costs_little() -> None:
    """Nine in ten drifts within three rounds; a whole reply takes at most 10 % over plain."""
    quick, ratios = 0, []
    for seed in range(100):
        made, luck = controller(), random.Random(seed)
        played = [play(made, luck, acceptance=0.1) for _ in range(40)]
        quick += min(window for window, _, _ in played[:4]) <= 1
        seconds = sum(each[1] for each in played)
        ratios.append(seconds / (TARGET_S[1] * sum(each[2] for each in played)))
    assert quick >= 90
    assert sorted(ratios)[94] <= 1.10


def test_the_controller_says_why_it_pauses() -> None:
    """A trace names the drift, not only a window of 0."""
    made = controller()
    for _ in range(4):
        made.learn(guessed(2, 0, claimed=0.9))
    assert "drifted" in made.plan().why


def test_a_canary_gets_its_share_evenly() -> None:
    """A tenth of the replies, none of them two in a row."""
    canary = Canary("model", "best", share=0.1)
    chosen = [canary.choose() for _ in range(100)]
    assert chosen.count("best") == 10
    assert all(pair != ("best", "best") for pair in pairwise(chosen))


def test_a_worse_canary_stops_by_itself(caplog: pytest.LogCaptureFixture) -> None:
    """Its guesses are refused more often, beyond chance: no more replies, and a line in the log."""
    canary = Canary("model", "best", share=0.5)
    for _ in range(LEAST_ROUNDS):
        canary.learn("model", guessed(1, 1))
        canary.learn("best", guessed(1, 0))
    assert canary.stopped is not None
    assert {canary.choose() for _ in range(20)} == {"model"}
    assert "canary stopped" in caplog.text


def test_a_canary_whose_alarm_goes_off_stops() -> None:
    """The alarm is the candidate's own: that of the drafter in use does not stop it."""
    canary = Canary("model", "best", share=0.5)
    for name in ("model", "best"):
        watched = WatchedController(
            AdaptiveWindow(Costs(TARGET_S, draft_s=0.0)), canary, drafter=name
        )
        for _ in range(5):
            watched.learn(guessed(1, 0, claimed=0.9))
        assert (canary.stopped is not None) is (name == "best")


def test_as_good_a_canary_goes_on() -> None:
    """Equal shares are no reason to stop, nor is a handful of rounds."""
    few = Tally(decided=LEAST_ROUNDS - 1, stood=0)
    assert not clearly_worse(few, Tally(decided=1000, stood=1000))
    assert not clearly_worse(Tally(decided=300, stood=200), Tally(decided=300, stood=210))
    assert clearly_worse(Tally(decided=300, stood=100), Tally(decided=300, stood=210))


def test_a_shadow_is_compared_at_the_same_places() -> None:
    """Both guesses against what was emitted; where both agree with each other is counted too."""
    comparison = Comparison()
    comparison.count([5, 6], [5, 7], [5, 7])
    comparison.count([1], [], [2])
    assert comparison.used == Tally(decided=2, stood=1)
    assert comparison.candidate == Tally(decided=1, stood=1)
    assert comparison.same == 1


def test_a_share_beyond_all_replies_is_refused() -> None:
    """The configuration names the key."""
    with pytest.raises(ConfigError, match="trial_share"):
        Decoding(trial="ngram", trial_share=1.5)
