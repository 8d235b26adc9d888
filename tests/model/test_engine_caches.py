"""What the engine keeps between replies says what a fresh one would."""

import threading
from collections.abc import Callable

import pytest
import torch
from decoding_doubles import Told
from engines import EOS, TARGET, WAIT_S, LetterTokenizer, says, start

from voiceagent.core.events import Ending
from voiceagent.decoding.engine import Engine
from voiceagent.decoding.generation import EngineEvent, Generation
from voiceagent.decoding.record import Round


def test_the_prefix_is_read_once(open_engine: Callable[..., Engine]) -> None:
    """A second turn reads only what is new, and says what it would say without a cache."""
    engine = open_engine()
    first = start(engine, "abcabcabc", window=3).wait()
    longer = "abcabcabc" + first.text + "abc"
    second = start(engine, longer, window=3)
    told = second.wait()
    assert second.generation.reused_tokens >= len("abcabcabc" + first.text)
    assert told.rounds[0].fed == len(longer) - second.generation.reused_tokens
    fresh = start(open_engine(), longer, window=3)
    assert fresh.wait().tokens == told.tokens
    assert fresh.generation.reused_tokens == 0


def test_a_prompt_can_be_read_ahead(open_engine: Callable[..., Engine]) -> None:
    """What was prepared while the user spoke is not read again; nothing is said meanwhile."""
    engine = open_engine()
    prepared = engine.prepare(says("abcabcabc"))
    assert prepared.wait(WAIT_S)
    reply = start(engine, "abcabcabcd", window=3)
    told = reply.wait()
    assert reply.generation.reused_tokens == 9
    assert told.tokens == start(open_engine(), "abcabcabcd", window=3).wait().tokens


@pytest.mark.parametrize("window", [0, 3])
def test_the_words_are_judged_in_passing(
    open_engine: Callable[..., Engine], *, window: int
) -> None:
    """The row behind the last word says how probable an end is there; the reply stays the same."""
    words = "abcabcabcd" * 6  # more than one piece of a prompt that is read beside others
    row = TARGET.forward(torch.tensor(LetterTokenizer().encode(words)), TARGET.new_cache(64))[-1]
    expected = float(torch.softmax(row, dim=-1)[EOS])
    plain = start(open_engine(), words, window=window).wait()
    engine = open_engine(slots=1)
    for _ in range(2):  # the second time, the words lie in the cache already
        told = start(engine, words, window=window, judges_ending=True).wait()
        first, *rest = told.events
        assert isinstance(first, Ending)
        assert first.probability == pytest.approx(expected, rel=1e-5)
        assert not any(isinstance(event, Ending) for event in rest)
        assert told.tokens == plain.tokens


def test_a_cancelled_reply_leaves_a_cache_that_can_be_used(
    open_engine: Callable[..., Engine],
) -> None:
    """Cut short at any round, the slot's caches still say what a fresh one says."""
    expected = start(open_engine(), "abcabc", window=3, drafter="model").wait().tokens
    engine = open_engine(slots=1)
    for rounds in range(1, 6):
        cut: list[Generation] = []
        told = Told()
        ready = threading.Event()

        def on_event(
            event: EngineEvent,
            rounds: int = rounds,
            cut: list[Generation] = cut,
            told: Told = told,
            ready: threading.Event = ready,
        ) -> None:
            told(event)
            if isinstance(event, Round) and event.index == rounds - 1:
                assert ready.wait(WAIT_S)
                cut[0].cancel()

        request = engine.request(says("abcabcdeabc"), window=3, drafter="model", max_tokens=40)
        cut.append(engine.submit(request, on_event=on_event))
        ready.set()
        assert cut[0].wait(WAIT_S)
        assert len(told.rounds) <= rounds, "it stops within one round"
        assert start(engine, "abcabc", window=3, drafter="model").wait().tokens == expected
