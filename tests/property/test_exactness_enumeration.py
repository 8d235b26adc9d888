"""Exactness by counting: every way luck can go, in rational arithmetic, equal to the last digit.

The loop under test is the real one (rounds, job, verify gate, draft model's cache), the sampler
is the real one with its probabilities taken as fractions. The law of a speculative reply must be
*equal* to the law of plain decoding: no tolerance, no statistics.
"""

from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from typing import Any

import pytest
from decoding_doubles import TableModel, empty, exact_law, gambler, headed, modelled, reply

from voiceagent.decoding.sampling import Chance, Sampling

VOCABULARY = 3
EOS = 2
TARGET = TableModel(VOCABULARY, seed=5, scale=1.0)
DRAFT = TableModel(VOCABULARY, seed=6, like=TARGET, distance=0.8)

PARAMETERS = {
    "temperature 1": Sampling(temperature=1.0),
    "temperature 0.5": Sampling(temperature=0.5),
    "temperature 3": Sampling(temperature=3.0),
    "top-k": Sampling(temperature=1.0, top_k=2),
    "top-p": Sampling(temperature=1.0, top_p=0.7),
    "min-p": Sampling(temperature=1.0, min_p=0.15),
    "repetition penalty": Sampling(temperature=1.0, repetition_penalty=1.7),
    "presence penalty": Sampling(temperature=1.0, presence_penalty=0.9),
    "frequency penalty": Sampling(temperature=1.0, frequency_penalty=-0.6),
    "logit bias": Sampling(temperature=1.0, logit_bias={0: 1.3, 1: -0.4}),
    "minimum length": Sampling(temperature=1.0, min_tokens=3),
    "all together": Sampling(
        temperature=0.8,
        top_p=0.95,
        min_p=0.05,
        repetition_penalty=1.2,
        presence_penalty=0.3,
        frequency_penalty=0.2,
        logit_bias={1: 0.5},
        min_tokens=2,
    ),
}


def law(
    sampling: Sampling,
    *,
    windows: int | Sequence[int],
    acceptance: str,
    max_tokens: int = 4,
    bad_words: Sequence[tuple[int, ...]] = (),
    stop: tuple[str, ...] = (),
    draft: TableModel | None = DRAFT,
    drafter: Callable[[], Any] | None = None,
) -> tuple[dict[Hashable, Fraction], dict[str, int]]:
    """The law of tokens and text, and how often each thing happened on the way to it."""
    counts = {"drafted": 0, "accepted": 0, "rejected": 0, "ended inside": 0}

    def run(chance: Chance) -> Hashable:
        told = reply(
            TARGET,
            drafter() if drafter else empty() if draft is None else modelled(draft),
            sampling=sampling,
            windows=windows,
            max_tokens=max_tokens,
            eos=EOS,
            acceptance=acceptance,
            chance=chance,
            bad_words=bad_words,
            stop=stop,
        )
        counts["drafted"] += told.drafted
        counts["accepted"] += told.accepted
        counts["rejected"] += told.rejected
        counts["ended inside"] += any(each.outcome == "end" for each in told.rounds)
        return told.tokens, told.text[: told.verified]

    return exact_law(run), counts


@pytest.mark.parametrize("acceptance", ["rejection", "coupled"])
@pytest.mark.parametrize("name", PARAMETERS)
def test_law_is_the_targets_for_every_parameter(name: str, acceptance: str) -> None:
    """Each sampler parameter acts on every row of both models: the law is plain decoding's."""
    plain, _ = law(PARAMETERS[name], windows=0, acceptance=acceptance, draft=None)
    speculative, counts = law(PARAMETERS[name], windows=2, acceptance=acceptance)
    assert speculative == plain
    assert all(counts[what] > 0 for what in ("drafted", "accepted", "rejected"))


@pytest.mark.parametrize("windows", [1, 2, 3, 4, (0, 2), (2, 0, 1), (3, 1)])
def test_law_does_not_depend_on_the_window(windows: int | Sequence[int]) -> None:
    """Any K, and K changing in the middle of a reply, 0 included, leaves the law as it is."""
    sampling = Sampling(temperature=1.0)
    plain, _ = law(sampling, windows=0, acceptance="rejection", draft=None)
    speculative, counts = law(sampling, windows=windows, acceptance="rejection")
    assert speculative == plain
    assert all(count > 0 for count in counts.values()) or windows == 1


def test_law_of_a_longer_reply() -> None:
    """Five tokens in blocks of three: several rounds, their caches rolled back in between."""
    sampling = Sampling(temperature=1.0, top_k=2)
    plain, _ = law(sampling, windows=0, acceptance="rejection", max_tokens=5, draft=None)
    speculative, counts = law(sampling, windows=3, acceptance="rejection", max_tokens=5)
    assert speculative == plain
    assert all(count > 0 for count in counts.values())


@pytest.mark.parametrize("acceptance", ["rejection", "coupled"])
def test_law_with_bad_words_and_stop_strings(acceptance: str) -> None:
    """A forbidden pair and a stop string that ends inside a block change nothing either."""
    extra = {"bad_words": [(0, 1)], "stop": ("ab", "ba")}
    sampling = Sampling(temperature=1.0)
    plain, _ = law(sampling, windows=0, acceptance=acceptance, draft=None, **extra)
    speculative, counts = law(sampling, windows=2, acceptance=acceptance, **extra)
    assert speculative == plain
    assert counts["accepted"] > 0
    assert counts["rejected"] > 0


def test_law_with_a_draft_equal_to_the_target() -> None:
    """Equal laws never reject (the residual would be empty) and stay exact."""
    sampling = Sampling(temperature=1.0)
    plain, _ = law(sampling, windows=0, acceptance="rejection", draft=None)
    speculative, counts = law(sampling, windows=2, acceptance="rejection", draft=TARGET)
    assert speculative == plain
    assert counts["accepted"] > 0
    assert counts["rejected"] == 0


@pytest.mark.parametrize("acceptance", ["rejection", "coupled"])
@pytest.mark.parametrize("name", ["temperature 1", "all together"])
def test_law_with_a_head_over_hidden_states(name: str, acceptance: str) -> None:
    """Drafted from the target's own features, after rounds of every outcome."""
    plain, _ = law(PARAMETERS[name], windows=0, acceptance=acceptance, draft=None)
    head = headed(TARGET)
    speculative, counts = law(
        PARAMETERS[name], windows=(2, 1), acceptance=acceptance, drafter=lambda: head
    )
    assert speculative == plain
    assert all(counts[what] > 0 for what in ("drafted", "accepted", "rejected"))


def test_law_with_guesses_that_had_no_alternative() -> None:
    """A drafter without probabilities counts as certain: kept with the target's probability."""
    sampling = Sampling(temperature=1.0)
    plain, _ = law(sampling, windows=0, acceptance="rejection", draft=None)
    counts = {"accepted": 0, "rejected": 0}

    def run(chance: Chance) -> Hashable:
        told = reply(
            TARGET,
            gambler(VOCABULARY, seed=3),
            sampling=sampling,
            windows=2,
            max_tokens=4,
            eos=EOS,
            acceptance="rejection",
            chance=chance,
        )
        counts["accepted"] += told.accepted
        counts["rejected"] += told.rejected
        return told.tokens, told.text[: told.verified]

    assert exact_law(run) == plain
    assert counts["accepted"] > 0
    assert counts["rejected"] > 0
