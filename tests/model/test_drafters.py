"""A drafter's guesses depend on the tokens alone, not on how the reply came to them."""

from collections.abc import Sequence

import torch
from decoding_doubles import CAPACITY, TableModel, modelled
from hypothesis import given
from hypothesis import strategies as st

from voiceagent.decoding.choice import Chooser
from voiceagent.decoding.drafters import (
    BestDrafter,
    Drafter,
    DraftModel,
    FeatureHead,
    HeadDrafter,
    NgramDrafter,
    NoDrafter,
)
from voiceagent.decoding.drafters.draft_model import CATCH_UP
from voiceagent.decoding.kv_cache import KVCache
from voiceagent.decoding.noise import Purpose
from voiceagent.decoding.sampling import Context, CounterNoise, Sampler, Sampling

VOCABULARY = 5
MODEL = TableModel(VOCABULARY, seed=41)
SAMPLER = Sampler(Sampling(temperature=1.0), vocabulary_size=VOCABULARY)
NOISE, PURPOSE = CounterNoise(8), Purpose.DRAFT
CHOOSER = Chooser(SAMPLER, NOISE, PURPOSE)

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


def test_a_draft_model_far_behind_catches_up_in_pieces() -> None:
    """Others are waiting: it reads a piece a round, and guesses when it has read everything."""
    model = TableModel(VOCABULARY, seed=41)
    drafter = DraftModel(model, model.new_cache(700))
    prompt = [at % VOCABULARY for at in range(600)]
    drafter.begin(prompt, chooser=CHOOSER)
    guesses = [drafter.propose(3).tokens for _ in range(3)]
    assert guesses[:2] == [(), ()]
    assert model.rows == [CATCH_UP, CATCH_UP, 600 - 2 * CATCH_UP, 1, 1]
    cache, logits = model.new_cache(700), torch.empty(0)
    for token in prompt:
        logits = model.forward(torch.tensor([token]), cache)
    context = Context(prompt, len(prompt))
    assert guesses[2][0] == CHOOSER.choose(logits[-1], context).token


def test_the_best_drafter_asks_the_model_where_the_table_knows_nothing() -> None:
    """Three tokens that stood there before: no pass of the model; and it catches up afterwards."""
    model = TableModel(VOCABULARY, seed=41)
    best, alone = BestDrafter(modelled(model)), modelled(model)
    for drafter in (best, alone):
        drafter.begin([1, 2, 3, 4, 0, 1, 2, 3], chooser=CHOOSER)
    assert (best.propose(2).tokens, best.name, model.forwards) == ((4, 0), "ngram", 0)
    for drafter in (best, alone):
        drafter.accept([0, 0, 0])
    guess = best.propose(2)
    assert (guess.tokens, best.name) == (alone.propose(2).tokens, "model")


def test_a_head_knows_what_it_was_trained_on() -> None:
    """Features that follow by a line are followed; before the first round there is no guess."""
    turn = torch.linalg.qr(torch.randn(4, 4, generator=torch.Generator().manual_seed(1)))[0]

    class Turning(TableModel):
        """Each feature is the last one, turned, and the token's place in it."""

        def forward(
            self, tokens: torch.Tensor, cache: KVCache, *, last_only: bool = False
        ) -> torch.Tensor:
            rows = [torch.zeros(4)]
            for token in tokens.tolist():
                rows.append(rows[-1] @ turn + torch.eye(4)[token])
            self._hidden = torch.stack(rows[1:])
            return self._hidden

    target = Turning(4, seed=0)
    texts = [[(at * step) % 4 for at in range(9)] for step in (1, 2, 3)]
    head = FeatureHead.fit(
        target, texts, embed=torch.eye(4).__getitem__, score=lambda row: row, ridge=1e-9
    )
    features = target.forward(torch.tensor([3, 1, 0]), target.new_cache(3))
    assert torch.allclose(head.follow(features[1], 0), features[2], atol=1e-4)
    drafter = HeadDrafter(head)
    drafter.begin([3, 1], chooser=Chooser(Sampler(Sampling(), vocabulary_size=4), NOISE, PURPOSE))
    assert drafter.propose(3).tokens == ()
    drafter.observe(features[:2])
    drafter.accept([0])
    assert drafter.propose(1).tokens == (int(features[2].argmax()),)


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
