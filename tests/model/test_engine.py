"""What a reply of the engine looks like, on table models."""

from collections.abc import Callable

import pytest
from decoding_doubles import headed
from engines import EOS, TARGET, says, start

from voiceagent.core.events import Draft, EndReason, Finish, Rollback, Verify
from voiceagent.core.ledger import Author, Ledger, Turn
from voiceagent.decoding.completion import complete
from voiceagent.decoding.engine import Engine
from voiceagent.decoding.record import Round
from voiceagent.decoding.sampling import Sampling


@pytest.mark.parametrize("drafter", ["none", "ngram", "model", "best", "head"])
def test_every_drafter_gives_the_same_reply(
    open_engine: Callable[..., Engine], drafter: str
) -> None:
    """Greedy and sampled, whoever drafts; and the speculative ones really speculate."""
    engine = open_engine(drafters={"head": lambda: headed(TARGET)})
    drafted = accepted = rejected = 0
    for seed in range(12):
        sampling = Sampling(temperature=0.5 * (seed % 3), seed=seed)
        changes = {"sampling": sampling, "max_tokens": 30, "window": 3}
        prompt = "abcabcab" + "abcdefgh"[seed % 8]
        plain = complete(engine, engine.request(says(prompt), drafter="none", **changes))
        got = complete(engine, engine.request(says(prompt), drafter=drafter, **changes))
        assert (got.tokens, got.text, got.reason) == (plain.tokens, plain.text, plain.reason)
        figures = got.figures()
        drafted += figures["drafted"]
        accepted += figures["accepted"]
        rejected += figures["rejected"]
        assert figures["drafted"] == figures["accepted"] + figures["rejected"]
    assert (drafted > 0, accepted > 0, rejected > 0) == ((drafter != "none",) * 3)


def test_events_are_legal_orders_to_a_ledger(open_engine: Callable[..., Engine]) -> None:
    """A ledger takes every event of every reply, and ends with the verified text."""
    engine = open_engine()
    rollbacks = 0
    for seed in range(20):
        sampling = Sampling(temperature=1.0, seed=seed)
        watched = start(engine, "abc", sampling=sampling, stop=("ab", "ea"), window=3)
        told = watched.wait()
        ledger = Ledger(reply="r", epoch=1, turn=Turn.CONFIRMED, author=Author.MODEL, now_s=0.0)
        for event in told.events:
            if not isinstance(event, Round):
                ledger.apply(event, now_s=0.0)
                rollbacks += isinstance(event, Rollback)
        assert ledger.verified == ledger.drafted == len(told.text)
        assert not any(stop in told.text for stop in ("ab", "ea"))
    assert rollbacks > 0


def test_provisional_text_comes_before_the_target_has_seen_it(
    open_engine: Callable[..., Engine],
) -> None:
    """Drafted text is shown first and verified in a later event of the same round."""
    told = start(open_engine(), "abc", window=4, drafter="model").wait()
    kinds = [type(event) for event in told.events]
    assert kinds[-1] is Finish
    first_draft = next(
        at for at, each in enumerate(told.rounds) if each.drafted and each.drafted != (EOS,)
    )
    ends = [at for at, kind in enumerate(kinds) if kind is Round]
    inside = kinds[ends[first_draft - 1] + 1 : ends[first_draft]]
    assert inside.index(Draft) < inside.index(Verify)


def test_a_round_leaves_its_record(open_engine: Callable[..., Engine]) -> None:
    """All five stages with tokens, probabilities, counts, times, K and why; ready for JSON."""
    told = start(open_engine(), "abc", window=3).wait()
    assert told.rejected > 0
    for each in told.rounds:
        record = each.as_record()
        assert record["type"] == "round"
        assert len(record["draft_probabilities"]) == len(record["drafted"])
        looked = min(len(record["drafted"]), record["accepted"] + 1)
        assert len(record["target_probabilities"]) == looked
        assert all(0 <= p <= 1 for p in record["target_probabilities"])
        assert set(record["times_ms"]) == {"draft", "score", "accept", "resample", "advance"}
        assert record["why"]
        assert "".join(record["emitted_text"]) == "".join(
            chr(ord("a") + token) for token in record["emitted"]
        )
    assert [each.start for each in told.rounds] == [
        sum(len(before.emitted) for before in told.rounds[:at]) for at in range(len(told.rounds))
    ]


@pytest.mark.parametrize("window", [0, 3])
@pytest.mark.parametrize("max_tokens", [1, 2, 3, 7])
def test_length_is_kept_inside_a_block(
    open_engine: Callable[..., Engine], window: int, max_tokens: int
) -> None:
    """Never a token more than asked for, and never drafted in vain behind the end."""
    bias = Sampling(logit_bias={EOS: -100.0})
    told = start(open_engine(), "abc", window=window, max_tokens=max_tokens, sampling=bias).wait()
    assert len(told.tokens) == max_tokens
    assert told.events[-1] == Finish(reason=EndReason.LENGTH)
    assert all(each.start + len(each.drafted) < max_tokens for each in told.rounds)
