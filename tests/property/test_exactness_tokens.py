"""Coupled exactness: the reply is plain decoding's, token for token, whoever drafts.

More than ten thousand replies, spread over drafters of every temper, windows, seeds and sampler
parameters. Every drafter has to be caught doing what it claims to do.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from decoding_doubles import (
    TableModel,
    Told,
    adversary,
    empty,
    eos_happy,
    gambler,
    headed,
    modelled,
    oracle,
    reply,
)

from voiceagent.decoding.drafters import BestDrafter, NgramDrafter
from voiceagent.decoding.sampling import Sampling

VOCABULARY, EOS = 6, 5
PROMPT = (0, 1, 2, 0, 1)
TARGET = TableModel(VOCABULARY, seed=1)
CLOSE = TableModel(VOCABULARY, seed=2, like=TARGET, distance=1.0)
HEAD = headed(TARGET)
WINDOWS: tuple[int | Sequence[int], ...] = (1, 2, 4, (0, 3, 1))
SEEDS = range(65)

# What is asked of the sampler; every reply has its own seed, greedy ones their own prompt.
SAMPLINGS: tuple[dict[str, Any], ...] = (
    {},
    {"temperature": 1.0},
    {"temperature": 0.7, "top_k": 3, "repetition_penalty": 1.3},
    {"temperature": 1.5, "top_p": 0.9, "frequency_penalty": 0.4, "min_tokens": 3},
)

# Name, how to make it, and what must be seen of it: accepted tokens, rejected tokens.
Case = tuple[int, Sampling, tuple[int, ...]]
Maker = Callable[[Sequence[int], int], Any]
DRAFTERS: dict[str, tuple[Maker, bool, bool]] = {
    "self": (lambda plain, seed: modelled(TARGET), True, False),
    "model": (lambda plain, seed: modelled(CLOSE), True, True),
    "ngram": (lambda plain, seed: NgramDrafter(shortest=1), True, True),
    "best": (lambda plain, seed: BestDrafter(modelled(CLOSE)), True, True),
    "head": (lambda plain, seed: HEAD, True, True),
    "oracle": (lambda plain, seed: oracle(plain), True, False),
    "adversarial": (lambda plain, seed: adversary(plain, VOCABULARY), False, True),
    "random": (lambda plain, seed: gambler(VOCABULARY, seed=seed), True, True),
    "EOS-happy": (lambda plain, seed: eos_happy(VOCABULARY, EOS, seed=seed), True, True),
    "empty": (lambda plain, seed: empty(), False, False),
}


def cases() -> Iterator[Case]:
    """A number, parameters and a prompt."""
    for seed in SEEDS:
        for asked in SAMPLINGS:
            yield seed, Sampling(seed=seed, **asked), (*PROMPT, seed % EOS, seed // EOS % EOS)


def told(case: Case, drafter: Any, windows: int | Sequence[int]) -> Told:
    """One reply to a case."""
    _, sampling, prompt = case
    return reply(
        TARGET, drafter, sampling=sampling, prompt=prompt, windows=windows, max_tokens=7, eos=EOS
    )


@pytest.fixture(scope="module")
def plain() -> list[tuple[Case, Told]]:
    """Every case without a drafter."""
    return [(case, told(case, empty(), 0)) for case in cases()]


@pytest.mark.parametrize("name", DRAFTERS)
def test_tokens_are_plain_decodings(name: str, plain: list[tuple[Case, Told]]) -> None:
    """Whatever is drafted, the target's own choices come out."""
    make, accepts, rejects = DRAFTERS[name]
    drafted = accepted = rejected = runs = 0
    for case, expected in plain:
        for windows in WINDOWS:
            drafter = make((*case[2], *expected.tokens), case[0])
            got = told(case, drafter, windows)
            assert got.tokens == expected.tokens
            assert got.text == expected.text
            drafted += got.drafted
            accepted += got.accepted
            rejected += got.rejected
            runs += 1
    assert runs == len(SEEDS) * len(SAMPLINGS) * len(WINDOWS)
    assert (drafted > 0) is (name != "empty")
    assert (accepted > 0) is accepts
    assert (rejected > 0) is rejects


def test_there_are_ten_thousand_of_them(plain: list[tuple[Case, Told]]) -> None:
    """The claim of the module's first line, and that replies end in both ways and differ."""
    assert len(plain) * len(WINDOWS) * len(DRAFTERS) >= 10_000
    assert len({each.tokens for _, each in plain}) > len(plain) / 3
    ended = [EOS in each.tokens for _, each in plain]
    assert any(ended)
    assert not all(ended)
    assert max(token for _, each in plain for token in each.tokens) < VOCABULARY


def test_the_same_model_drafts_what_it_will_say(plain: list[tuple[Case, Told]]) -> None:
    """With shared noise a draft equal to the target is accepted whole, in every single round.

    So the draft's cache has no hole after a block accepted in full, and its noise and its history
    are those of the target's row.
    """
    for case, _ in plain[::7]:
        got = told(case, modelled(TARGET), 3)
        assert got.rejected == 0
        assert got.drafted > 0 or len(got.tokens) <= 2
