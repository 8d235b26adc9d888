"""A drafter's guesses depend on the tokens alone, not on how the reply came to them."""

from collections.abc import Sequence

from decoding_doubles import CAPACITY, TableModel, modelled
from hypothesis import given
from hypothesis import strategies as st

from voiceagent.decoding.choice import Chooser
from voiceagent.decoding.drafters import Drafter, DraftModel, NgramDrafter, NoDrafter
from voiceagent.decoding.noise import Purpose
from voiceagent.decoding.sampling import CounterNoise, Sampler, Sampling

VOCABULARY = 5
MODEL = TableModel(VOCABULARY, seed=41)
SAMPLER = Sampler(Sampling(temperature=1.0), vocabulary_size=VOCABULARY)
CHOOSER = Chooser(SAMPLER, CounterNoise(8), Purpose.DRAFT)

TOKENS = st.lists(st.integers(0, VOCABULARY - 1), min_size=1, max_size=5)
# How many guesses are asked for (0: a round without), how many of them the target keeps, and what
# it says after them.
ROUNDS = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, VOCABULARY - 1)), max_size=8
)


def live(drafter: Drafter, ids: list[int], rounds: Sequence[tuple[int, int, int]]) -> list[int]:
    """Goes through rounds; returns the tokens that there are in the end."""
    for asked, kept, answer in rounds:
        guesses = drafter.propose(asked).tokens if asked else ()
        emitted = [*guesses[:kept], answer]
        drafter.accept(emitted)
        ids = ids + emitted
    return ids


@given(first=TOKENS, second=TOKENS, before=ROUNDS, rounds=ROUNDS)
def test_a_draft_model_with_a_past_guesses_like_a_new_one(
    first: list[int],
    second: list[int],
    before: Sequence[tuple[int, int, int]],
    rounds: Sequence[tuple[int, int, int]],
) -> None:
    """After blocks kept whole, in part or not at all, rounds without a draft, and another reply
    with another prompt: the cache holds what it should, no row more and no hole."""
    old = modelled(MODEL)
    old.begin(first, chooser=CHOOSER)
    live(old, first, before)
    old.begin(second, chooser=CHOOSER)
    ids = live(old, second, rounds)
    new = modelled(MODEL)
    new.begin(ids, chooser=CHOOSER)
    assert old.propose(4).tokens == new.propose(4).tokens


@given(first=TOKENS, second=TOKENS, rounds=ROUNDS)
def test_an_ngram_table_with_a_past_guesses_like_a_new_one(
    first: list[int], second: list[int], rounds: Sequence[tuple[int, int, int]]
) -> None:
    """The index grows with the reply, and what an earlier prompt shares is not indexed twice."""
    old, new = NgramDrafter(), NgramDrafter()
    for prompt in (first, first + second):
        old.begin(prompt, chooser=CHOOSER)
    ids = live(old, first + second, rounds)
    new.begin(ids, chooser=CHOOSER)
    assert old.propose(4).tokens == new.propose(4).tokens


def test_ngrams_follow_the_longest_and_latest_match() -> None:
    """Three tokens tell more than two, the later place more than the earlier one."""
    table = NgramDrafter()
    table.begin([1, 2, 3, 4, 9, 2, 3, 5, 8, 2, 3], chooser=CHOOSER)
    assert table.propose(2).tokens == (5, 8)
    table.begin([1, 2, 3, 4, 9, 2, 3, 5, 1, 2, 3], chooser=CHOOSER)
    assert table.propose(3).tokens == (4, 9, 2)


def test_ngrams_go_round_in_a_repetition() -> None:
    """Past the end of what is known the guess follows itself; no match, no guess."""
    table = NgramDrafter()
    table.begin([7, 1, 2, 1, 2], chooser=CHOOSER)
    assert table.propose(5).tokens == (1, 2, 1, 2, 1)
    table.accept([6, 5])
    assert table.propose(5).tokens == ()


def test_a_draft_ends_where_its_cache_does_and_at_the_end_of_a_reply() -> None:
    """It stops guessing instead of failing: the target may still have room."""
    small = DraftModel(MODEL, MODEL.new_cache(6))
    small.begin([0, 1, 2, 3], chooser=CHOOSER)
    assert len(small.propose(9).tokens) == 3
    ending = Sampler(
        Sampling(logit_bias={4: 100.0}), vocabulary_size=VOCABULARY, eos_ids=frozenset([4])
    )
    eager = DraftModel(MODEL, MODEL.new_cache(CAPACITY))
    eager.begin([0], chooser=Chooser(ending, CounterNoise(0), Purpose.TARGET))
    assert eager.propose(5).tokens == (4,)


def test_a_proposal_reports_the_law_it_was_drawn_from() -> None:
    """Under temperature every token has its law and that law's probability; the rejection rule
    and the trace stand on both."""
    drafter = modelled(MODEL)
    drafter.begin([0, 1], chooser=CHOOSER)
    proposal = drafter.propose(3)
    for token, law, probability in zip(
        proposal.tokens, proposal.laws, proposal.probabilities, strict=True
    ):
        assert law is not None
        assert law.of(token) == probability > 0
    assert proposal.cut(2).tokens == proposal.tokens[:2]
    assert len(proposal.cut(2).laws) == len(proposal.cut(2).probabilities) == 2


def test_no_drafter_never_guesses() -> None:
    """Plain decoding is the loop with this one."""
    nobody = NoDrafter()
    nobody.begin([1, 2], chooser=CHOOSER)
    nobody.accept([3])
    assert nobody.propose(4).tokens == ()
