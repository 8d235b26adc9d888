"""What the engine keeps between replies says what a fresh one would."""

import threading
from collections.abc import Callable

from decoding_doubles import Told
from engines import WAIT_S, says, start

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


def test_words_that_were_judged_need_not_be_read_again(open_engine: Callable[..., Engine]) -> None:
    """How finished they are comes of reading them; the reply begins behind the last one."""
    engine = open_engine()
    assert 0.0 <= engine.how_finished(says("abcabcabc")) <= 1.0
    reply = start(engine, "abcabcabcd", window=3)
    told = reply.wait()
    assert reply.generation.reused_tokens == 9
    assert told.tokens == start(open_engine(), "abcabcabcd", window=3).wait().tokens


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
