"""Bad days of the engine: what breaks ends one reply, what cannot be is refused."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from decoding_doubles import ScriptedDrafter, TableModel
from engines import CONFIG, EOS, TARGET, VOCABULARY, WAIT_S, Gate, LetterTokenizer, says, start

from voiceagent.config import Decoding
from voiceagent.core.events import EndReason, Finish
from voiceagent.decoding.engine import Engine, EngineError, Request
from voiceagent.decoding.errors import ContextOverflow, EngineClosed
from voiceagent.decoding.generation import EngineEvent
from voiceagent.decoding.sampling import Sampling, SamplingError


def broken(count: int) -> Callable[[], ScriptedDrafter]:
    """A drafter that fails at its ``count``-th proposal."""

    def make() -> ScriptedDrafter:
        left = iter(range(count))

        def guess(ids: list[int], count: int) -> list[int]:
            if next(left, None) is None:
                raise RuntimeError("the drafter broke")
            return [1] * count

        return ScriptedDrafter("broken", guess)

    return make


@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_an_error_ends_one_reply_and_harms_no_other(
    open_engine: Callable[..., Engine], rounds: int
) -> None:
    """The broken one says so in its last event; one beside it and one after it are untouched."""
    expected = start(open_engine(), "abcabc", window=3).wait().tokens
    engine = open_engine(slots=2, drafters={"broken": broken(rounds)})
    bad = start(engine, "abcabcd", drafter="broken", window=2, max_tokens=40)
    good = start(engine, "abcabc", window=3)
    assert bad.wait(fails=True).events[-1] == Finish(reason=EndReason.ERROR)
    assert bad.generation.error == "the drafter broke"
    assert bad.told.verified == len(bad.told.text)
    assert good.wait().tokens == expected
    assert [start(engine, "abcabc", window=3).wait().tokens for _ in range(3)] == [expected] * 3


def test_a_drafter_that_broke_is_made_anew(open_engine: Callable[..., Engine]) -> None:
    """Nobody knows what state it is in: the next reply gets a new one."""
    engine = open_engine(slots=1, drafters={"broken": broken(2)})
    never_ends = Sampling(logit_bias={EOS: -100.0})
    for _ in range(3):
        bad = start(engine, "abc", drafter="broken", window=2, sampling=never_ends)
        told = bad.wait(fails=True)
        assert sum(bool(each.drafted) for each in told.rounds) == 2


def test_a_reply_that_cannot_begin_ends_in_an_error(open_engine: Callable[..., Engine]) -> None:
    """A drafter that cannot be made: one Finish, and the slot is free again."""

    def unmakeable() -> ScriptedDrafter:
        raise MemoryError

    engine = open_engine(slots=1, drafters={"unmakeable": unmakeable})
    watched = start(engine, "abc", drafter="unmakeable")
    assert watched.wait(fails=True).events == [Finish(reason=EndReason.ERROR)]
    assert watched.generation.error == "MemoryError"
    assert start(engine, "abc").wait().tokens


def test_a_callback_that_raises_ends_its_reply_alone(open_engine: Callable[..., Engine]) -> None:
    """Nobody listens any more: the reply is over, the engine is not."""
    engine = open_engine(slots=1)

    def on_event(event: EngineEvent) -> None:
        raise ValueError("the listener broke")

    generation = engine.submit(engine.request(says("abc")), on_event=on_event)
    assert generation.wait(WAIT_S)
    assert generation.reason is EndReason.ERROR
    assert generation.error == "the listener broke"
    assert start(engine, "abc").wait().tokens


def test_a_drafter_outside_the_vocabulary_is_cut_off(open_engine: Callable[..., Engine]) -> None:
    """Padding ids and nonsense from a drafter never reach the target."""
    expected = start(open_engine(), "abc", drafter="none").wait().tokens
    for wild in (VOCABULARY, 10**6, -1):
        engine = open_engine(
            drafters={
                "wild": lambda wild=wild: ScriptedDrafter("wild", lambda ids, count: [0, wild])
            }
        )
        told = start(engine, "abc", drafter="wild", window=2).wait()
        assert told.tokens == expected
        assert told.drafted > 0


def test_what_does_not_fit_is_refused_before_anything_is_promised(
    open_engine: Callable[..., Engine],
) -> None:
    """A prompt as long as the context; one that leaves room for three tokens gets three."""
    engine = open_engine()
    with pytest.raises(ContextOverflow, match="120 tokens and the context holds 120: shorten"):
        start(engine, "abcd" * 30)
    watched = start(
        engine, "abc" * 39, window=4, max_tokens=50, sampling=Sampling(logit_bias={EOS: -100.0})
    )
    told = watched.wait()
    assert len(told.tokens) == 3
    assert told.events[-1] == Finish(reason=EndReason.LENGTH)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"drafter": "oracle"}, "no drafter 'oracle' here: use none or ngram or model or best"),
        ({"window": -1}, "window must be >= 0"),
        ({"max_tokens": -1}, "max_tokens must be >= 0"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(
    open_engine: Callable[..., Engine], changes: dict[str, Any], message: str
) -> None:
    """One line that names the field."""
    with pytest.raises(EngineError, match=message):
        start(open_engine(), "abc", **changes)


def test_a_bias_on_padding_is_refused(open_engine: Callable[..., Engine]) -> None:
    """No parameter can bring a padding id to life."""
    with pytest.raises(SamplingError, match="logit_bias"):
        start(open_engine(), "abc", sampling=Sampling(logit_bias={VOCABULARY: 1.0}))


def test_an_engine_without_draft_model_says_so() -> None:
    """The preset's drafter is n-grams then, and asking for the model is an error."""
    with Engine(TARGET, LetterTokenizer(), config=CONFIG) as engine:
        assert engine.default_drafter == "ngram"
        with pytest.raises(EngineError, match="no drafter 'model' here"):
            start(engine, "abc", drafter="model")


def test_models_of_different_vocabularies_are_refused() -> None:
    """Before a thread is started or a cache is made."""
    other = TableModel(VOCABULARY - 6, seed=1)
    with pytest.raises(EngineError, match="the draft model scores 9 tokens"):
        Engine(TARGET, LetterTokenizer(), config=CONFIG, draft=other)


def test_closing_ends_everything(open_engine: Callable[..., Engine]) -> None:
    """Running and waiting replies get their Finish, the thread ends, later calls are refused."""
    gate = Gate()
    engine = open_engine(drafters={"gate": gate.drafter})
    running = start(engine, "abc", drafter="gate", window=2, max_tokens=50)
    gate.entered.get(timeout=WAIT_S)
    waiting = start(engine, "abc")
    closer = threading.Thread(target=engine.close)
    closer.start()
    gate.go_on.release(1)
    gate.go_on.release(100)
    closer.join(WAIT_S)
    assert not closer.is_alive()
    assert running.wait().events[-1] == Finish(reason=EndReason.CANCELLED)
    assert waiting.wait().events == [Finish(reason=EndReason.CANCELLED)]
    assert "decoding" not in {thread.name for thread in threading.enumerate()}
    for late in (lambda: start(engine, "abc"), engine.warm_up):
        with pytest.raises(EngineClosed):
            late()
    engine.close()


def test_warm_up_lets_the_controller_choose(open_engine: Callable[..., Engine]) -> None:
    """With measured costs and no K asked for, rounds carry a K and the reason for it."""
    engine = open_engine()
    engine.warm_up()
    told = start(engine, "abc", drafter="model", max_tokens=30).wait()
    assert told.tokens == start(engine, "abc", drafter="none", max_tokens=30).wait().tokens
    assert all("fixed" not in each.why for each in told.rounds)


def test_a_request_takes_the_configurations_values(open_engine: Callable[..., Engine]) -> None:
    """And changes win over them."""
    config = Decoding(
        context_tokens=120, temperature=0.5, top_k=3, top_p=0.9, seed=4, max_tokens=7, threads=1
    )
    engine = open_engine(config=config)
    assert engine.request(says("abc"), max_tokens=9) == Request(
        messages=says("abc"),
        sampling=Sampling(temperature=0.5, top_k=3, top_p=0.9, seed=4),
        max_tokens=9,
    )
    assert engine.count_tokens(says("abcx")) == 3
