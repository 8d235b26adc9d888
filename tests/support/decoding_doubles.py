"""Doubles for the decoding loop: models that are tables, drafters of every temper, luck to count.

A table model's logits depend on the last two tokens in its *cache* and on the absolute position,
so that a cache that is one row too long, too short or stale shows in what it says.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import torch

from voiceagent.core.events import Draft, EndReason, Rollback, Verify
from voiceagent.decoding.choice import Chooser
from voiceagent.decoding.controller import Controller, FixedWindow, Plan
from voiceagent.decoding.drafters import DraftModel, FeatureHead, HeadDrafter, Proposal
from voiceagent.decoding.early_warning import EarlyWarning
from voiceagent.decoding.generation import EngineEvent, Generation, Request
from voiceagent.decoding.grammar import RowMasks
from voiceagent.decoding.job import Job
from voiceagent.decoding.kv_cache import KVCache
from voiceagent.decoding.noise import Purpose
from voiceagent.decoding.passes import alone
from voiceagent.decoding.record import Round
from voiceagent.decoding.rounds import Acceptance, Loop
from voiceagent.decoding.sampling import (
    Chance,
    Context,
    CounterNoise,
    Distribution,
    Sampler,
    Sampling,
)
from voiceagent.decoding.verify_gate import VerifyGate

PADDING = 3
"""Padding columns of every table model; they carry the highest logits of all."""
CAPACITY = 256


class TableCache(KVCache):
    """Remembers the tokens themselves."""

    def __init__(self, capacity: int) -> None:
        super().__init__(capacity)
        self.tokens = [0] * capacity

    def take_over(self, other: KVCache, length: int) -> bool:
        assert isinstance(other, TableCache)
        self.tokens[self.length : length] = other.tokens[self.length : length]
        self.advance(length - self.length)
        return True


class TableModel:
    """A causal model that looks its logits up.

    Args:
        vocabulary: real ids; ``PADDING`` more columns follow.
        seed: of the table.
        like, distance: another model's table plus so much noise of our own.
    """

    context_length = 4096

    def __init__(
        self,
        vocabulary: int,
        *,
        seed: int,
        scale: float = 1.5,
        like: "TableModel | None" = None,
        distance: float = 0.0,
    ) -> None:
        noise = np.random.default_rng(seed).normal(size=(vocabulary**2 * 3, vocabulary))
        own = noise * scale if like is None else like.table[:, :vocabulary] + noise * distance
        padding = np.full((len(own), PADDING), 50.0)
        self.table = np.concatenate([own, padding], axis=1).astype(np.float32)
        self.real = vocabulary
        self.vocabulary_size = vocabulary + PADDING
        self.hidden_size = vocabulary
        self.forwards = 0
        self.shared: list[int] = []  # conversations in each pass
        self.rows: list[int] = []  # tokens read in each pass
        self._hidden = torch.empty(0, vocabulary)

    @property
    def last_hidden(self) -> torch.Tensor:
        return self._hidden

    def new_cache(self, capacity: int) -> TableCache:
        return TableCache(capacity)

    def forward(
        self, tokens: torch.Tensor, cache: KVCache, *, last_only: bool = False
    ) -> torch.Tensor:
        return self.forward_many([(tokens, cache)], scored=[1] if last_only else None)

    def forward_many(
        self,
        blocks: Sequence[tuple[torch.Tensor, KVCache]],
        *,
        scored: Sequence[int] | None = None,
    ) -> torch.Tensor:
        for tokens, cache in blocks:
            cache.room_for(len(tokens))
        self.forwards += 1
        self.shared.append(len(blocks))
        self.rows.append(sum(len(tokens) for tokens, _ in blocks))
        entries: list[int] = []
        for (tokens, cache), count in zip(
            blocks, scored or [len(tokens) for tokens, _ in blocks], strict=True
        ):
            entries += self._read(tokens.tolist(), cache)[len(tokens) - count :]
        rows = torch.from_numpy(self.table[entries])
        self._hidden = rows[:, : self.real]
        return rows

    def _read(self, fed: list[int], cache: KVCache) -> list[int]:
        assert isinstance(cache, TableCache)
        assert 0 <= min(fed) <= max(fed) < self.real, "padding was fed"
        start = cache.room_for(len(fed))
        cache.tokens[start : start + len(fed)] = fed
        cache.advance(len(fed))
        return [self._entry(cache.tokens, row) for row in range(start, start + len(fed))]

    def _entry(self, tokens: list[int], row: int) -> int:
        before = tokens[max(row - 1, 0)]
        return (before * self.real + tokens[row]) * 3 + row % 3


# Drafters ------------------------------------------------------------------------------------


class ScriptedDrafter:
    """Guesses by a function of the tokens so far."""

    def __init__(self, name: str, guess: Callable[[list[int], int], Sequence[int]]) -> None:
        self.name = name
        self._guess = guess
        self.ids: list[int] = []

    def begin(self, prompt: Sequence[int], *, chooser: Chooser) -> None:
        self.ids = list(prompt)

    def propose(self, count: int) -> Proposal:
        return Proposal.certain(tuple(self._guess(self.ids, count)))

    def accept(self, emitted: Sequence[int]) -> None:
        self.ids.extend(emitted)


def oracle(plain: Sequence[int]) -> ScriptedDrafter:
    """Knows the whole sequence, prompt included."""
    return ScriptedDrafter("oracle", lambda ids, count: plain[len(ids) : len(ids) + count])


def adversary(plain: Sequence[int], vocabulary: int) -> ScriptedDrafter:
    """Knows the sequence and always says something else."""

    def guess(ids: list[int], count: int) -> list[int]:
        return [(token + 1) % vocabulary for token in plain[len(ids) : len(ids) + count]]

    return ScriptedDrafter("adversarial", guess)


def gambler(vocabulary: int, *, seed: int) -> ScriptedDrafter:
    """Guesses at random."""
    luck = np.random.default_rng(seed)
    return ScriptedDrafter("random", lambda ids, count: luck.integers(vocabulary, size=count))


def eos_happy(vocabulary: int, eos: int, *, seed: int) -> ScriptedDrafter:
    """Wants to stop all the time, and goes on guessing behind the end."""
    luck = np.random.default_rng(seed)

    def guess(ids: list[int], count: int) -> list[int]:
        guesses = luck.integers(vocabulary, size=count).tolist()
        guesses[int(luck.integers(count))] = eos
        return guesses

    return ScriptedDrafter("EOS-happy", guess)


def empty() -> ScriptedDrafter:
    """Never has an idea."""
    return ScriptedDrafter("empty", lambda ids, count: ())


def modelled(model: TableModel) -> DraftModel:
    """The real drafter over a table."""
    return DraftModel(model, model.new_cache(CAPACITY))


def headed(target: TableModel) -> HeadDrafter:
    """The real drafter over the table's rows as features, its head briefly trained on them."""
    luck = np.random.default_rng(17)
    texts = luck.integers(target.real, size=(20, 12)).tolist()
    embed = torch.eye(target.real).__getitem__
    return HeadDrafter(FeatureHead.fit(target, texts, embed=embed, score=lambda row: row))


# Luck ----------------------------------------------------------------------------------------


class RationalSampler(Sampler):
    """The real sampler, its probabilities taken as exact fractions (sum exactly one)."""

    def distribution(self, logits: torch.Tensor, context: Context) -> Distribution:
        law = super().distribution(logits, context)
        exact = np.array([Fraction(float(p)) for p in law.probabilities], dtype=object)
        return Distribution(law.ids, exact / exact.sum())


@dataclass
class Branching:
    """Luck that follows a given path and notes where else it could have gone."""

    path: list[int]
    options: list[list[tuple[Any, Fraction]]] = field(default_factory=list)

    def choose(self, law: Distribution, *, position: int, purpose: Purpose) -> int:
        pairs = zip(law.ids.tolist(), law.probabilities.tolist(), strict=True)
        return int(self._branch([(token, Fraction(p)) for token, p in pairs if p > 0]))

    def accepts(self, probability: Any, *, position: int) -> bool:
        yes = Fraction(probability)
        assert 0 <= yes <= 1
        return bool(self._branch([(v, p) for v, p in ((True, yes), (False, 1 - yes)) if p > 0]))

    def _branch(self, options: list[tuple[Any, Fraction]]) -> Any:
        depth = len(self.options)
        if depth == len(self.path):
            self.path.append(0)
        self.options.append(options)
        return options[self.path[depth]][0]

    @property
    def weight(self) -> Fraction:
        weight = Fraction(1)
        for choice, options in zip(self.path, self.options, strict=True):
            weight *= options[choice][1]
        return weight


def exact_law(run: Callable[[Chance], Hashable]) -> dict[Hashable, Fraction]:
    """The law of what ``run`` returns, by running it once for every way luck can go."""
    law: dict[Hashable, Fraction] = defaultdict(Fraction)
    path: list[int] = []
    while True:
        luck = Branching(path)
        outcome = run(luck)
        law[outcome] += luck.weight
        while path and path[-1] == len(luck.options[len(path) - 1]) - 1:
            path.pop()
        if not path:
            assert sum(law.values()) == 1
            return dict(law)
        path[-1] += 1


# A whole reply -------------------------------------------------------------------------------


@dataclass
class WindowScript:
    """K by a fixed sequence, over and over: K changing in the middle of a reply."""

    windows: Sequence[int]
    warning: EarlyWarning = field(default_factory=EarlyWarning)
    _round: int = 0

    def plan(self) -> Plan:
        self._round += 1
        return Plan(self.windows[(self._round - 1) % len(self.windows)], "script")

    def learn(self, record: Round) -> None:
        pass


@dataclass
class Told:
    """What the events of a reply said; checks them as they come."""

    text: str = ""
    verified: int = 0
    rounds: list[Round] = field(default_factory=list)
    events: list[EngineEvent] = field(default_factory=list)

    def __call__(self, event: EngineEvent) -> None:
        self.events.append(event)
        match event:
            case Draft():
                assert event.text
                self.text += event.text
            case Rollback():
                assert self.verified <= event.to < len(self.text)
                self.text = self.text[: event.to]
            case Verify():
                assert self.verified < event.to <= len(self.text)
                self.verified = event.to
            case Round():
                self.rounds.append(event)

    @property
    def tokens(self) -> tuple[int, ...]:
        return tuple(token for each in self.rounds for token in each.emitted)

    @property
    def drafted(self) -> int:
        return sum(len(each.drafted) for each in self.rounds)

    @property
    def accepted(self) -> int:
        return sum(each.accepted for each in self.rounds)

    @property
    def rejected(self) -> int:
        return sum(len(each.rejected) for each in self.rounds)


def letters(token: int) -> bytes:
    """One letter for each id."""
    return bytes([ord("a") + token])


def reply(
    target: TableModel,
    drafter: Any,
    *,
    sampling: Sampling,
    prompt: Sequence[int] = (0, 1),
    windows: int | Sequence[int] = 0,
    max_tokens: int = 8,
    eos: int | None = None,
    acceptance: str = "coupled",
    chance: Chance | None = None,
    stop: tuple[str, ...] = (),
    bad_words: Sequence[tuple[int, ...]] = (),
    decode_bytes: Callable[[int], bytes] = letters,
    grammar: RowMasks | None = None,
) -> Told:
    """One reply through the real loop, gate and job, without an engine's thread."""
    eos_ids = frozenset() if eos is None else frozenset([eos])
    make = RationalSampler if chance is not None else Sampler
    loop = Loop(
        target=target,
        cache=target.new_cache(CAPACITY),
        drafter=drafter,
        sampler=make(
            sampling,
            vocabulary_size=target.real,
            eos_ids=eos_ids,
            bad_words=bad_words,
            grammar=grammar,
        ),
        chance=chance or CounterNoise(sampling.seed),
        acceptance=Acceptance(acceptance),
        ids=list(prompt),
        prompt_length=len(prompt),
    )
    drafter.begin(prompt, chooser=loop.draft_chooser)
    controller: Controller = (
        FixedWindow(windows) if isinstance(windows, int) else WindowScript(windows)
    )
    told = Told()
    request = Request(messages=(), max_tokens=max_tokens)
    job = Job(
        loop,
        VerifyGate(decode_bytes, eos_ids=eos_ids, stop=stop, max_tokens=max_tokens),
        controller,
        Generation(request, prompt_tokens=len(prompt)),
        on_event=told,
        decode_bytes=decode_bytes,
    )
    while not job.over:
        alone(job.turn())
        assert loop.cache.length == len(loop.ids) - 1
    assert job.generation.reason in (EndReason.STOP, EndReason.LENGTH)
    return told
