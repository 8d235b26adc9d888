"""The bench of the evaluation: engines over one set of models, and replies that are recorded.

Every setting decodes the same prompt, one after the other, in an order that moves on, so that a
busy neighbour falls on all alike. The prompt is read before the clock starts, as the product reads
it while the user still speaks; what reading costs is measured under load, with prompts that no
cache has seen.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, Self

from voiceagent.core.errors import VoiceAgentError
from voiceagent.core.events import SourceEvent
from voiceagent.decoding.completion import Completion, complete
from voiceagent.decoding.drafters import Drafter, DraftModel, NgramDrafter
from voiceagent.decoding.engine import Engine, TokenizerLike
from voiceagent.decoding.generation import EngineEvent, Request
from voiceagent.decoding.record import Round
from voiceagent.decoding.sampling import Sampling
from voiceagent.evaluation.answers import Grade, grade
from voiceagent.evaluation.misleading import FOREIGN_TEXT, Drift, DriftingDrafter, ForeignDrafter
from voiceagent.evaluation.prompts import Prompt
from voiceagent.evaluation.shown import Timed

if TYPE_CHECKING:
    from voiceagent.config import Decoding
    from voiceagent.decoding.model import CausalModel
    from voiceagent.decoding.slot import DrafterFactory


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One way to decode.

    Attributes:
        name: in the report.
        drafter: its name in the engine; ``none`` decodes plainly.
        window: K; None lets the controller choose.
        acceptance: the rule.
        temperature: 0 is greedy.
        alone: the draft model is the whole engine: the smaller target that one could have instead.
    """

    name: str
    drafter: str = "none"
    window: int | None = None
    acceptance: Literal["coupled", "rejection", "lossy"] = "coupled"
    temperature: float = 0.0
    alone: bool = False

    @classmethod
    def parse(cls, text: str) -> Self:
        """``DRAFTER``, ``DRAFTER:auto`` or ``DRAFTER:K``.

        Raises:
            VoiceAgentError: K is neither ``auto`` nor a number.
        """
        drafter, _, window = text.partition(":")
        window = window or "auto"
        if window != "auto" and not window.isdecimal():
            raise VoiceAgentError(f"{text!r} is no setting: write DRAFTER:auto or DRAFTER:K")
        chosen = None if window == "auto" else int(window)
        return cls(name=f"{drafter}:{window}", drafter=drafter, window=chosen)


_WITHOUT_A_MODEL = frozenset({"none", "ngram", "misleading"})
PLAIN = Setting(name="plain")
ALONE = Setting(name="draft alone", alone=True)


@dataclass(frozen=True, kw_only=True)
class Run:
    """A recorded reply.

    Attributes:
        prompt, setting: what was decoded, and how.
        completion: text, tokens, rounds and times.
        events: what the engine said, each with its time.
        cpu_s: processor time of the whole process meanwhile.
        grade: by the prompt's answer key.
    """

    prompt: Prompt
    setting: Setting
    completion: Completion
    events: tuple[Timed, ...]
    cpu_s: float
    grade: Grade

    @property
    def tokens(self) -> tuple[int, ...]:
        """The reply's tokens."""
        return self.completion.tokens

    @property
    def rounds(self) -> tuple[Round, ...]:
        """All rounds."""
        return self.completion.rounds


@dataclass
class Lab:
    """Models, and engines over them that are opened when they are asked for.

    Attributes:
        target, tokenizer, draft: the models; ``draft`` is None where n-grams draft.
        config: of the engines.
        max_tokens: of a reply whose prompt does not say.
        candidate: a draft model on trial, the drafter ``file``.
        candidate_memory_mb: of that one.
        memory_added_mb: measured when the draft model was loaded; None where nobody looked.
    """

    target: CausalModel
    tokenizer: TokenizerLike
    draft: CausalModel | None
    config: Decoding
    max_tokens: int = 40
    memory_added_mb: float | None = None
    candidate: CausalModel | None = None
    candidate_memory_mb: float | None = None
    drift: Drift = field(default_factory=Drift)
    _open: dict[str, Engine] = field(default_factory=dict)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the engines."""
        while self._open:
            self._open.popitem()[1].close()

    @property
    def usual_drafter(self) -> str:
        """The one that the deployment would use."""
        return self.config.drafter or ("ngram" if self.draft is None else "model")

    def memory_of(self, setting: Setting) -> float | None:
        """Megabytes that a setting adds to plain decoding; a table of words weighs nothing."""
        if setting.drafter == "file":
            return self.candidate_memory_mb
        if self.draft is None or setting.drafter in _WITHOUT_A_MODEL:
            return 0.0
        return self.memory_added_mb

    @property
    def engine(self) -> Engine:
        """Target and draft, with every drafter, those of the evaluation too."""
        return self._engine("main", lambda: self._make(self.config, self.target, self.draft))

    @property
    def alone(self) -> Engine | None:
        """The draft model as a target of its own."""
        draft = self.draft
        if draft is None:
            return None
        config = replace(self.config, drafter="none")
        return self._engine("alone", lambda: self._make(config, draft, None))

    def variant(self, name: str, **changes: Any) -> Engine:
        """The same models under another configuration: fewer cores, less memory."""
        config = replace(self.config, **changes)
        return self._engine(name, lambda: self._make(config, self.target, self.draft))

    @contextmanager
    def fresh(self) -> Iterator[Engine]:
        """An engine over the same models that has learnt nothing yet."""
        with self._make(self.config, self.target, self.draft) as engine:
            engine.warm_up()
            yield engine

    def _engine(self, name: str, make: Callable[[], Engine]) -> Engine:
        if name not in self._open:
            self._open[name] = make()
            self._open[name].warm_up()
        return self._open[name]

    def _make(self, config: Decoding, target: CausalModel, draft: CausalModel | None) -> Engine:
        return Engine(
            target,
            self.tokenizer,
            config=config,
            draft=draft,
            candidate=self.candidate if target is self.target else None,
            drafters=self._evaluation_drafters() if target is self.target else None,
            sabotage=True,
        )

    def _evaluation_drafters(self) -> Mapping[str, DrafterFactory]:
        foreign = self.tokenizer.encode(FOREIGN_TEXT)
        size = self.tokenizer.vocabulary_size
        return {
            "misleading": lambda: ForeignDrafter(foreign),
            "drifting": lambda: DriftingDrafter(self._base(), self.drift, vocabulary_size=size),
        }

    def _base(self) -> Drafter:
        if self.draft is None:
            return NgramDrafter()
        capacity = min(self.config.context_tokens, self.draft.context_length)
        return DraftModel(self.draft, self.draft.new_cache(capacity))

    # Replies --------------------------------------------------------------------------------

    def request(
        self,
        prompt: Prompt,
        setting: Setting,
        *,
        engine: Engine,
        salt: str = "",
        max_tokens: int | None = None,
    ) -> Request:
        """The request of a prompt under a setting."""
        return engine.request(
            prompt.messages(salt=salt),
            drafter=setting.drafter,
            window=setting.window,
            acceptance=setting.acceptance,
            sampling=Sampling(temperature=setting.temperature, seed=self.config.seed),
            max_tokens=max_tokens or prompt.max_tokens or self.max_tokens,
        )

    def run(self, prompt: Prompt, setting: Setting, *, engine: Engine | None = None) -> Run:
        """Decodes one reply and records it; its prompt was read before."""
        engine = engine or (self.alone if setting.alone else self.engine)
        assert engine is not None, "there is no draft model to stand alone"
        request = self.request(prompt, setting, engine=engine)
        complete(engine, replace(request, max_tokens=0))
        events: list[Timed] = []
        cpu_s, started_s = time.process_time(), perf_counter()

        def note(event: EngineEvent) -> None:
            if isinstance(event, SourceEvent):
                events.append((perf_counter() - started_s, event))

        done = complete(engine, request, on_event=note)
        return Run(
            prompt=prompt,
            setting=setting,
            completion=done,
            events=tuple(events),
            cpu_s=time.process_time() - cpu_s,
            grade=grade(done.text, prompt),
        )

    def gap(self, prompt: Prompt, at: int) -> float:
        """How far apart the target's two likeliest tokens are at a token of the plain reply.

        In natural logarithms; what lies closer than rounding may change places (a near tie).
        """
        request = self.request(prompt, PLAIN, engine=self.engine, max_tokens=at + 1)
        done = complete(self.engine, replace(request, top_logprobs=2))
        likelihoods = [each for record in done.rounds for each in record.likelihoods]
        if at >= len(likelihoods) or len(likelihoods[at].top) < 2:
            return float("inf")
        (_, first), (_, second) = likelihoods[at].top[:2]
        return abs(first - second)
