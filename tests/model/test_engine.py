"""The engine around the loop: threads, queues, caches and bad days, on table models."""

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from decoding_doubles import ScriptedDrafter, TableModel, Told, letters

from voiceagent.config import Decoding
from voiceagent.core.events import Draft, EndReason, Finish, Rollback, Verify
from voiceagent.core.history import Message, Role
from voiceagent.core.ledger import Author, Ledger, Turn
from voiceagent.decoding.completion import complete
from voiceagent.decoding.engine import Engine, EngineError, Request
from voiceagent.decoding.errors import ContextOverflow, EngineBusy, EngineClosed
from voiceagent.decoding.generation import EngineEvent, Generation
from voiceagent.decoding.record import Round
from voiceagent.decoding.sampling import Sampling, SamplingError

VOCABULARY, EOS = 12, 11
TARGET = TableModel(VOCABULARY, seed=31)
DRAFT = TableModel(VOCABULARY, seed=32, like=TARGET, distance=0.8)
CONFIG = Decoding(context_tokens=120, max_tokens=20, threads=1)
WAIT_S = 60.0
"""A bound for a machine that is very busy; nothing depends on it."""


class LetterTokenizer:
    """One token for each letter from a to l; l ends a reply."""

    vocabulary_size = VOCABULARY
    eos_ids = frozenset([EOS])

    def encode(self, text: str) -> list[int]:
        return [ord(letter) - ord("a") for letter in text if "a" <= letter <= "l"]

    def decode_bytes(self, token: int) -> bytes:
        return letters(token)

    def render(self, messages: Sequence[Message]) -> list[int]:
        return self.encode("".join(message.content for message in messages))


def says(content: str) -> tuple[Message, ...]:
    """A conversation of one message."""
    return (Message(Role.USER, content),)


@dataclass
class Watched:
    """A reply and what was told of it."""

    generation: Generation
    told: Told

    def wait(self, *, fails: bool = False) -> Told:
        assert self.generation.wait(WAIT_S)
        assert (self.generation.error is not None) is fails, self.generation.error
        finishes = [event for event in self.told.events if isinstance(event, Finish)]
        assert self.told.events[-1:] == finishes, "exactly one Finish, and it is the last event"
        return self.told


def start(engine: Engine, content: str, **changes: Any) -> Watched:
    """Submits a request and watches it."""
    told = Told()
    request = engine.request(says(content), **changes)
    return Watched(engine.submit(request, on_event=told), told)


@pytest.fixture
def open_engine() -> Iterator[Callable[..., Engine]]:
    """Makes engines and closes them."""
    opened: list[Engine] = []

    def open_(**changes: Any) -> Engine:
        values: dict[str, Any] = {"config": CONFIG, "draft": DRAFT, **changes}
        opened.append(Engine(TARGET, LetterTokenizer(), **values))
        return opened[-1]

    yield open_
    for engine in opened:
        engine.close()


class Gate:
    """A drafter that stops the engine's thread until the test lets it go on."""

    def __init__(self) -> None:
        self.entered: queue.Queue[None] = queue.Queue()
        self.go_on = threading.Semaphore(0)

    def drafter(self) -> ScriptedDrafter:
        def guess(ids: list[int], count: int) -> list[int]:
            self.entered.put(None)
            assert self.go_on.acquire(timeout=WAIT_S)
            return [0] * count

        return ScriptedDrafter("gate", guess)


# What a reply looks like -----------------------------------------------------------------------


@pytest.mark.parametrize("drafter", ["none", "ngram", "model"])
def test_every_drafter_gives_the_same_reply(
    open_engine: Callable[..., Engine], drafter: str
) -> None:
    """Greedy and sampled, whoever drafts; and the speculative ones really speculate."""
    engine = open_engine()
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


# Caches ----------------------------------------------------------------------------------------


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


# Several replies at once -----------------------------------------------------------------------


def test_replies_take_turns_and_do_not_mix(open_engine: Callable[..., Engine]) -> None:
    """Nine at once on three slots, some cancelled: each of the others is what it is alone."""
    alone, together = open_engine(), open_engine(slots=3)
    prompts = ["abcdefghi"[at:] * 2 for at in range(9)]
    asked = [{"window": at % 4, "sampling": Sampling(seed=at, temperature=0.8)} for at in range(9)]
    expected = [start(alone, p, **a).wait().tokens for p, a in zip(prompts, asked, strict=True)]
    watched = [start(together, p, **a) for p, a in zip(prompts, asked, strict=True)]
    for each in watched[::4]:
        each.generation.cancel()
    for at, each in enumerate(watched):
        tokens = each.wait().tokens
        assert tokens == expected[at][: len(tokens)]
        if at % 4:
            assert tokens == expected[at]


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

    never_ends = Sampling(logit_bias={EOS: -100.0})
    long = engine.request(says("abc"), max_tokens=60, sampling=never_ends, drafter="none")
    short = engine.request(says("abd"), max_tokens=3, sampling=never_ends, drafter="none")
    both = [
        engine.submit(long, on_event=follow("long")),
        engine.submit(short, on_event=follow("short")),
    ]
    begun.set()
    assert all(each.wait(WAIT_S) for each in both)
    assert order == ["short", "long"]


def test_a_full_queue_refuses_at_once(open_engine: Callable[..., Engine]) -> None:
    """One runs, one waits, the third is refused; afterwards there is room again."""
    gate = Gate()
    engine = open_engine(slots=1, waiting=1, drafters={"gate": gate.drafter})
    running = start(engine, "abc", drafter="gate", window=2, max_tokens=4)
    gate.entered.get(timeout=WAIT_S)
    waiting = start(engine, "abc")
    with pytest.raises(EngineBusy, match="1 replies are waiting already"):
        start(engine, "abc")
    gate.go_on.release(100)
    running.wait()
    waiting.wait()
    assert start(engine, "abc").wait().tokens == waiting.told.tokens


def test_a_waiting_reply_can_be_cancelled(open_engine: Callable[..., Engine]) -> None:
    """It ends without having begun, and the queue moves on."""
    gate = Gate()
    engine = open_engine(slots=1, waiting=2, drafters={"gate": gate.drafter})
    running = start(engine, "abc", drafter="gate", window=2, max_tokens=6)
    gate.entered.get(timeout=WAIT_S)
    waiting = start(engine, "abc")
    waiting.generation.cancel()
    gate.go_on.release(100)
    assert waiting.wait().events == [Finish(reason=EndReason.CANCELLED)]
    assert running.wait().events[-1] != Finish(reason=EndReason.ERROR)


# Bad days --------------------------------------------------------------------------------------


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
        ({"drafter": "oracle"}, "no drafter 'oracle' here: use none or ngram or model"),
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
    engine = open_engine(slots=1, drafters={"gate": gate.drafter})
    running = start(engine, "abc", drafter="gate", window=2, max_tokens=50)
    waiting = start(engine, "abc")
    gate.entered.get(timeout=WAIT_S)
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
