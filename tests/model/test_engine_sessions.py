"""Several sessions at once: shared passes, turns, admission; each says what it says alone."""

import random
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from decoding_doubles import TableModel, Told
from engines import DRAFT, NEVER_ENDS, TARGET, WAIT_S, Gate, Watched, says, start

from voiceagent.config import Decoding
from voiceagent.core.events import EndReason, Finish
from voiceagent.decoding.engine import Engine
from voiceagent.decoding.errors import EngineBusy
from voiceagent.decoding.generation import EngineEvent, Generation
from voiceagent.decoding.record import Round
from voiceagent.decoding.sampling import Sampling

GRAMMAR = "start: /[a-f]{5,30}/"


@dataclass
class Session:
    """One scripted reply: what is asked, when it joins, and after how many rounds it is cut."""

    prompt: str
    asked: dict[str, Any]
    joins_at: int
    cut_after: int | None
    told: Told = field(default_factory=Told)
    generation: Generation | None = None


class Script:
    """Starts and cancels sessions by the count of all rounds, on the engine's own thread."""

    def __init__(self, engine: Engine, sessions: Sequence[Session]) -> None:
        self._engine, self._sessions = engine, sessions
        self._rounds = 0
        self._ready = threading.Event()

    def play(self) -> None:
        """Runs to the end of every session."""
        self._start_due()
        self._ready.set()
        for at, session in enumerate(self._sessions):
            while session.generation is None:  # it joins in a round of one before it
                before = [each.generation for each in self._sessions[:at] if each.generation]
                assert all(each.wait(WAIT_S) for each in before)
                self._rounds += 1
                self._start_due()
            assert session.generation.wait(WAIT_S)
            assert session.generation.error is None

    def _start_due(self) -> None:
        for session in self._sessions:
            if session.generation is None and session.joins_at <= self._rounds:
                request = self._engine.request(says(session.prompt), **session.asked)
                session.generation = self._engine.submit(request, on_event=self._follow(session))

    def _follow(self, session: Session) -> Callable[[EngineEvent], None]:
        def on_event(event: EngineEvent) -> None:
            assert self._ready.wait(WAIT_S)
            session.told(event)
            if isinstance(event, Round):
                self._rounds += 1
                self._start_due()
                if session.cut_after == event.index and session.generation is not None:
                    session.generation.cancel()

        return on_event


def sessions(luck: random.Random, drafters: Sequence[str], *, grammar: bool) -> list[Session]:
    """Eight of them: greedy and sampled, short and long prompts, some cut, some late."""
    made = []
    for at in range(8):
        asked = {
            "drafter": drafters[at % len(drafters)],
            "window": luck.choice([1, 2, 3, 5]),
            "max_tokens": luck.randint(10, 30),
            "sampling": Sampling(temperature=luck.choice([0.0, 0.8, 1.3]), seed=at),
            "grammar": GRAMMAR if grammar and at % 2 else None,
        }
        prompt = "".join(luck.choices("abcdefgh", k=luck.choice([3, 20, 80])))
        cut_after = luck.choice([None, None, 0, 2, 5])
        made.append(Session(prompt, asked, luck.choice([0, 0, 5, 20]) if at else 0, cut_after))
    return made


@pytest.mark.parametrize("grammar", [False, True], ids=["free", "grammar"])
@pytest.mark.parametrize("drafters", [["none"], ["ngram"], ["model"], ["model", "ngram", "none"]])
def test_sessions_say_what_they_say_alone(
    open_engine: Callable[..., Engine], drafters: list[str], grammar: bool
) -> None:
    """Eight at once, random joins and cancels: the same tokens and text, as far as they went."""
    alone = open_engine()
    drafted = accepted = rejected = shared = cut = 0
    for seed in range(4):
        together = open_engine(slots=9, batch=3 + seed * 3)
        script = sessions(random.Random(seed), drafters, grammar=grammar)
        Script(together, script).play()
        for session in script:
            told, expected = session.told, start(alone, session.prompt, **session.asked).wait()
            if told.events[-1] == Finish(reason=EndReason.CANCELLED):
                cut += 1
                assert told.tokens == expected.tokens[: len(told.tokens)]
                assert expected.text.startswith(told.text)
            else:
                assert told.tokens == expected.tokens
                assert told.text == expected.text
            drafted += told.drafted
            accepted += told.accepted
            rejected += told.rejected
            shared += sum(each.sharing > 1 for each in told.rounds)
        together.close()
    assert cut > 4
    assert shared > 20
    assert (drafted > 0, accepted > 0, rejected > 0) == ((drafters != ["none"],) * 3)


def at_once(engine: Engine, count: int, **asked: Any) -> list[Told]:
    """What is told of so many replies that all begin in the same round."""
    entered, ready = threading.Event(), threading.Event()

    def hold(event: EngineEvent) -> None:
        entered.set()
        assert ready.wait(WAIT_S)

    holding = engine.request(says("abc"), max_tokens=1, drafter="none")
    replies = [engine.submit(holding, on_event=hold)]
    assert entered.wait(WAIT_S)
    tolds = [Told() for _ in range(count)]
    for at, told in enumerate(tolds):
        request = engine.request(says("abc" + "abcdefgh"[at % 8]), **asked)
        replies.append(engine.submit(request, on_event=told))
    ready.set()
    assert all(each.wait(WAIT_S) for each in replies)
    return tolds


@pytest.mark.parametrize("drafter", ["none", "ngram", "model", "best"])
def test_a_common_beginning_is_read_once(open_engine: Callable[..., Engine], drafter: str) -> None:
    """A conversation that begins like another, at work or over, copies what that one has read."""
    common, own = "abcdabccba" * 3, "gh" * 25
    engine = open_engine(slots=4)
    asked: dict[str, Any] = {"drafter": drafter, "window": 3, "sampling": NEVER_ENDS}
    start(engine, common + own, **asked).wait()
    later: list[Watched] = []

    def on_event(event: EngineEvent) -> None:
        if isinstance(event, Round) and not later:
            later.append(start(engine, common + "fe", **asked))

    first = engine.submit(engine.request(says(common + "ef"), **asked), on_event=on_event)
    assert first.wait(WAIT_S)
    assert first.reused_tokens == len(common), "of a conversation that is over"
    read = len(DRAFT.rows)
    told = later[0].wait()
    assert later[0].generation.reused_tokens == len(common), "of one at work"
    borrowed = sum(DRAFT.rows[read:])
    read = len(DRAFT.rows)
    assert told.tokens == start(open_engine(), common + "fe", **asked).wait().tokens
    alone = sum(DRAFT.rows[read:])
    assert borrowed <= alone - len(common) if drafter in ("model", "best") else not alone


@pytest.mark.parametrize("window", [0, 3])
def test_sixteen_replies_share_one_pass_a_round(
    open_engine: Callable[..., Engine], window: int
) -> None:
    """The target's passes are counted, and the draft model's steps: K a round, for all of them."""
    engine = open_engine(slots=20)
    before, drafts = TARGET.forwards, DRAFT.forwards
    tolds = at_once(engine, 16, max_tokens=12, window=window, drafter="model", sampling=NEVER_ENDS)
    rounds = max(len(told.rounds) for told in tolds)
    assert TARGET.forwards - before == 1 + rounds, "one for the reply that held them back"
    assert TARGET.shared[-rounds] == 16
    assert all(told.rounds[0].sharing == 16 for told in tolds)
    assert DRAFT.forwards - drafts <= window * (rounds - 1)
    assert (DRAFT.forwards > drafts) is (window > 0)


def test_more_than_sixteen_take_turns(open_engine: Callable[..., Engine]) -> None:
    """Forty at once: never more than sixteen in a pass, and every pass but the last is full."""
    engine = open_engine(config=Decoding(context_tokens=120, cache_tokens=4000, threads=1))
    passes = len(TARGET.shared)
    asked: dict[str, Any] = {"max_tokens": 9, "window": 0, "sampling": NEVER_ENDS}
    tolds = at_once(engine, 40, **asked)
    assert max(TARGET.shared[passes:]) == 16
    assert {len(told.tokens) for told in tolds} == {9}
    assert len(TARGET.shared) - passes == 1 + -(-40 * 9 // 16)


def test_the_sixty_fifth_is_refused(open_engine: Callable[..., Engine]) -> None:
    """At once, with nothing promised; those under way are not harmed, and then there is room."""
    gate = Gate()
    config = Decoding(context_tokens=120, cache_tokens=4000, max_tokens=4, threads=1)
    engine = open_engine(config=config, drafters={"gate": gate.drafter})
    asked = {"drafter": "gate", "window": 2, "sampling": NEVER_ENDS}
    running = [start(engine, "abc", **asked)]
    gate.entered.get(timeout=WAIT_S)
    running += [start(engine, "abc", drafter="none", sampling=NEVER_ENDS) for _ in range(63)]
    with pytest.raises(EngineBusy, match="64 replies are under way already"):
        start(engine, "abc")
    gate.go_on.release(100)
    assert len({each.wait().tokens for each in running}) == 1
    assert start(engine, "abc").wait().tokens


def test_a_full_cache_is_refused_and_harms_nobody(open_engine: Callable[..., Engine]) -> None:
    """What running replies may still need is kept for them; what is idle makes room."""
    gate = Gate()
    config = Decoding(context_tokens=120, cache_tokens=130, max_tokens=20, threads=1)
    engine = open_engine(config=config, drafters={"gate": gate.drafter})
    expected = start(engine, "abcabc", sampling=NEVER_ENDS).wait().tokens
    running = start(engine, "abcabc", drafter="gate", window=1, sampling=NEVER_ENDS)
    gate.entered.get(timeout=WAIT_S)
    with pytest.raises(EngineBusy, match=r"full: 26 of 130 positions are promised .* need 110"):
        start(engine, "abcd" * 20, max_tokens=30)
    beside = start(engine, "abcd" * 20, max_tokens=20)
    gate.go_on.release(100)
    assert running.wait().tokens == expected
    assert beside.wait().tokens
    for at in range(8):  # more conversations than the cache holds: the oldest is forgotten
        prompt = "abcdefgh"[at] * 50
        again = start(engine, prompt, sampling=NEVER_ENDS, window=3).wait()
        assert again.tokens == start(engine, prompt, sampling=NEVER_ENDS).wait().tokens
    assert start(engine, "abcabc", sampling=NEVER_ENDS).wait().tokens == expected


def test_a_reply_is_cancelled_within_one_round(open_engine: Callable[..., Engine]) -> None:
    """Whoever cancels it, and also while it waits for its turn."""
    for batch in (1, 2, 8):
        engine = open_engine(batch=batch)
        tolds = [Told() for _ in range(4)]
        replies: list[Generation] = []
        ready, counted = threading.Event(), []

        def on_event(
            event: EngineEvent,
            at: int,
            tolds: list[Told] = tolds,
            replies: list[Generation] = replies,
            ready: threading.Event = ready,
            counted: list[int] = counted,
        ) -> None:
            assert ready.wait(WAIT_S)
            tolds[at](event)
            if at == 0 and isinstance(event, Round) and event.index == 4:
                counted.extend(len(told.rounds) for told in tolds)
                for other in replies[1:]:
                    other.cancel()

        request = engine.request(says("abc"), max_tokens=40, window=0, sampling=NEVER_ENDS)
        replies += [
            engine.submit(request, on_event=lambda event, at=at: on_event(event, at))
            for at in range(4)
        ]
        ready.set()
        assert all(each.wait(WAIT_S) for each in replies)
        for told, before in zip(tolds[1:], counted[1:], strict=True):
            assert told.events[-1] == Finish(reason=EndReason.CANCELLED)
            assert len(told.rounds) <= before + 1
        assert len(tolds[0].tokens) == 40


def test_a_long_prompt_holds_nobody_up(open_engine: Callable[..., Engine]) -> None:
    """It is read in pieces beside the rounds of another, which goes on round by round."""
    target = TableModel(TARGET.real, seed=31)
    config = Decoding(context_tokens=3000, cache_tokens=6000, threads=1)
    engine = open_engine(target=target, config=config)
    told, order = Told(), list[str]()
    asked: dict[str, Any] = {"max_tokens": 30, "window": 0, "sampling": NEVER_ENDS}
    long: list[Generation] = []

    def on_event(event: EngineEvent) -> None:
        told(event)
        if isinstance(event, Round) and event.index == 0:
            request = engine.request(says("abcde" * 500), **asked)
            long.append(engine.submit(request, on_event=lambda event: order.append("long")))
        if isinstance(event, Round):
            order.append("short")

    short = engine.submit(engine.request(says("abc"), **asked), on_event=on_event)
    assert short.wait(WAIT_S)
    assert long[0].wait(WAIT_S)
    assert order[:30] == ["short"] * 30
    assert max(target.rows[: len(told.rounds)]) == 65, "a piece of the prompt and one token"
    assert max(target.rows) == 256, "the rest of it with nobody beside"


def test_a_reply_does_not_wait_for_a_longer_one(open_engine: Callable[..., Engine]) -> None:
    """Rounds alternate: a short reply that starts second ends first."""
    engine = open_engine(slots=2)
    order: list[str] = []
    begun = threading.Event()

    def follow(name: str) -> Callable[[EngineEvent], None]:
        def on_event(event: EngineEvent) -> None:
            begun.wait(WAIT_S)
            if isinstance(event, Finish):
                order.append(name)

        return on_event

    long = engine.request(says("abc"), max_tokens=60, sampling=NEVER_ENDS, drafter="none")
    short = engine.request(says("abd"), max_tokens=3, sampling=NEVER_ENDS, drafter="none")
    both = [
        engine.submit(long, on_event=follow("long")),
        engine.submit(short, on_event=follow("short")),
    ]
    begun.set()
    assert all(each.wait(WAIT_S) for each in both)
    assert order == ["short", "long"]
