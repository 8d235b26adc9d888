"""The engine: one thread owns the models, the rounds of several replies share their passes.

Requests come from any thread; events are delivered on the engine's own, so a callback must be
quick (hand the event to a queue or an event loop). An error in one reply ends that reply.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, Self

from voiceagent.decoding.controller import AdaptiveWindow, Controller, Costs, FixedWindow
from voiceagent.decoding.drafters import BestDrafter, DraftModel, NgramDrafter, NoDrafter
from voiceagent.decoding.early_warning import EarlyWarning
from voiceagent.decoding.endings import EndingJudge, ending_tokens, last_word
from voiceagent.decoding.errors import ContextOverflow, EngineError
from voiceagent.decoding.generation import EngineEvent, Generation, OnEvent, Request
from voiceagent.decoding.grammar import Grammars, RowMasks
from voiceagent.decoding.job import Job
from voiceagent.decoding.rounds import Acceptance, Loop
from voiceagent.decoding.sampling import CounterNoise, Sampler, Sampling
from voiceagent.decoding.scheduler import BATCH
from voiceagent.decoding.slot import DrafterFactory, Slot
from voiceagent.decoding.trial import Canary, Comparison, ShadowDrafter, WatchedController
from voiceagent.decoding.verify_gate import VerifyGate
from voiceagent.decoding.warm_up import time_draft, time_target
from voiceagent.decoding.worker import Ticket, Worker

if TYPE_CHECKING:
    from torch import Tensor

    from voiceagent.config import Decoding
    from voiceagent.core.history import Message
    from voiceagent.decoding.model import CausalModel
    from voiceagent.weights.manifest import Preset
    from voiceagent.weights.store import Store

__all__ = ["Engine", "EngineError", "EngineEvent", "Generation", "Request"]

SLOTS = 64
"""Replies under way; one more is refused before anything was promised."""


class TokenizerLike(Protocol):
    """What the engine asks of a tokenizer."""

    @property
    def vocabulary_size(self) -> int:
        """Real ids; what lies behind them is padding."""

    @property
    def eos_ids(self) -> frozenset[int]:
        """Tokens that end a reply."""

    def encode(self, text: str) -> list[int]:
        """Text to ids."""

    def decode_bytes(self, token: int) -> bytes:
        """The bytes of one id."""

    def render(self, messages: Sequence[Message]) -> list[int]:
        """The prompt of a conversation."""


class Engine:
    """Decodes replies.

    Args:
        target: the model whose distribution counts.
        tokenizer: its vocabulary.
        config: defaults for requests, the context's size and the number of threads.
        draft: a small model of the same vocabulary, or None.
        candidate: another draft model, on trial under the name ``file``.
        drafters: further drafters by name.
        slots: replies under way; one more is refused.
        batch: replies in one round; of more than that each takes its turn.
        sabotage: take the lossy acceptance rule too; for the evaluation alone.

    Raises:
        EngineError: the models do not fit together.
    """

    def __init__(
        self,
        target: CausalModel,
        tokenizer: TokenizerLike,
        *,
        config: Decoding,
        draft: CausalModel | None = None,
        candidate: CausalModel | None = None,
        drafters: Mapping[str, DrafterFactory] | None = None,
        slots: int = SLOTS,
        batch: int = BATCH,
        sabotage: bool = False,
    ) -> None:
        _check_vocabularies(target, draft, candidate, tokenizer)
        self._target, self._draft, self._tokenizer = target, draft, tokenizer
        self._candidate = candidate
        self._config = config
        self._sabotage = sabotage
        self._warnings: dict[str, EarlyWarning] = {}
        self.canary: Canary | None = None
        """The drafter on trial for a share of the replies (`decoding.trial_share`)."""
        self._capacity = min(config.context_tokens, target.context_length)
        self._drafters = self._known_drafters(drafters or {})
        self.comparison = Comparison()
        """What the drafter on trial would have done in shadow (`decoding.trial`)."""
        if config.trial is not None:
            self._begin_trial(config.trial, share=config.trial_share)
        self._grammars = Grammars(tokenizer)
        self._costs: Costs | None = None
        self._draft_s = {"ngram": 0.0}  # of drafters whose guess costs something of their own
        self._adaptive: dict[str, AdaptiveWindow] = {}
        self._worker = Worker(
            target,
            [Slot(target, capacity=self._capacity, drafters=self._drafters) for _ in range(slots)],
            positions=max(config.cache_tokens, self._capacity),
            open_job=self._open_job,
            batch=batch,
            threads=config.threads,
        )

    @classmethod
    def load(cls, config: Decoding, *, preset: Preset, store: Store) -> Self:
        """The engine of a preset.

        Raises:
            MissingWeights, DamagedWeights: a file is not there; the message says how to get it.
            EngineError: the models do not fit together.
        """
        from voiceagent.decoding.loading import load_models

        models = load_models(config, preset=preset, store=store)
        return cls(
            models.target,
            models.tokenizer,
            config=config,
            draft=models.draft,
            candidate=models.candidate,
        )

    @classmethod
    def open(cls, preset: str | None = None, **settings: Any) -> Self:
        """The engine of a preset by name, warmed up; for use as a library.

        Args:
            preset: ``cpu``, ``gpu`` or ``tiny``; None takes the machine's.
            settings: fields of `voiceagent.config.Decoding`.

        Raises:
            VoiceAgentError: files are missing or damaged; the message says what to do.
        """
        from voiceagent.config import Decoding, cache_directory
        from voiceagent.decoding.loading import machine_preset
        from voiceagent.weights.manifest import Manifest
        from voiceagent.weights.store import Store

        chosen = Manifest.load().preset(preset or machine_preset())
        engine = cls.load(Decoding(**settings), preset=chosen, store=Store(cache_directory()))
        engine.warm_up()
        return engine

    @property
    def default_drafter(self) -> str:
        """The configured drafter; else the draft model, or n-grams where there is none."""
        return self._config.drafter or ("ngram" if self._draft is None else "model")

    @property
    def on_trial(self) -> bool:
        """Another drafter is on trial, in shadow or as a canary."""
        return self._config.trial is not None

    @property
    def capacity(self) -> int:
        """Tokens of prompt and reply together."""
        return self._capacity

    def request(self, messages: Sequence[Message], **changes: Any) -> Request:
        """A request with the configuration's values; ``changes`` are fields of `Request`."""
        config = self._config
        values: dict[str, Any] = {
            "sampling": Sampling(
                temperature=config.temperature,
                top_k=config.top_k,
                top_p=config.top_p,
                seed=config.seed,
            ),
            "max_tokens": config.max_tokens,
            "acceptance": config.acceptance,
        }
        return Request(messages=tuple(messages), **(values | changes))

    def count_tokens(self, messages: Sequence[Message]) -> int:
        """The length of the prompt that these messages make."""
        return len(self._tokenizer.render(messages))

    def token_bytes(self, token: int) -> bytes:
        """The bytes of one token; none for a control token."""
        return self._tokenizer.decode_bytes(token)

    def warm_up(self) -> None:
        """Runs both models once at every block size; blocks until the costs are known.

        Raises:
            EngineClosed: the engine was closed before.
        """
        self._worker.call(self._measure)
        _ = self._endings  # 0.3 s over a large vocabulary: not in front of the first answer

    def submit(self, request: Request, *, on_event: OnEvent) -> Generation:
        """Starts a reply; ``on_event`` is called on the engine's thread, last with a `Finish`.

        Raises:
            ContextOverflow: the prompt leaves no room for a reply.
            EngineBusy: too many replies are under way, or they may need the whole cache.
            EngineClosed: the engine was closed.
            EngineError: the drafter is unknown, or a parameter cannot be used.
        """
        prompt = self._tokenizer.render(request.messages)
        self._check(request, prompt)
        if request.grammar is not None:
            self._grammars.begin(request.grammar)  # compiled here: it may take a while, or fail
        generation = Generation(request, prompt_tokens=len(prompt))
        positions = min(len(prompt) + request.max_tokens, self._capacity)
        judged_at = self._last_word(request, prompt) if request.judges_ending else None
        self._worker.add(Ticket(generation, prompt, on_event, positions, judged_at=judged_at))
        return generation

    def prepare(self, messages: Sequence[Message]) -> Generation:
        """Reads a prompt ahead, while the user is still speaking: a reply of no tokens."""
        return self.submit(self.request(messages, max_tokens=0), on_event=lambda event: None)

    @cached_property
    def _endings(self) -> Tensor:
        tokenizer = self._tokenizer
        return ending_tokens(
            tokenizer.decode_bytes,
            vocabulary_size=tokenizer.vocabulary_size,
            eos_ids=tokenizer.eos_ids,
        )

    def close(self) -> None:
        """Cancels what is running and ends the thread. Closing twice does nothing more."""
        self._worker.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # On any thread -------------------------------------------------------------------------

    def _known_drafters(self, more: Mapping[str, DrafterFactory]) -> dict[str, DrafterFactory]:
        known: dict[str, DrafterFactory] = {"none": NoDrafter, "ngram": NgramDrafter}
        draft = self._draft
        if draft is not None:
            capacity = min(self._capacity, draft.context_length)
            known["model"] = lambda: DraftModel(draft, draft.new_cache(capacity))
            known["best"] = lambda: BestDrafter(DraftModel(draft, draft.new_cache(capacity)))
        candidate = self._candidate
        if candidate is not None:
            room = min(self._capacity, candidate.context_length)
            known["file"] = lambda: DraftModel(candidate, candidate.new_cache(room), name="file")
        return known | dict(more)

    def _begin_trial(self, candidate: str, *, share: float) -> None:
        """In shadow where no reply shall be drafted by the candidate, else as a canary."""
        usual = self.default_drafter
        if candidate not in self._drafters or candidate == usual:
            raise EngineError(f"decoding.trial: no other drafter {candidate!r} beside {usual}")
        if share:
            self.canary = Canary(usual, candidate, share=share)
            return
        used, asked = self._drafters[usual], self._drafters[candidate]
        self._drafters[usual] = lambda: ShadowDrafter(used(), asked(), self.comparison)

    def _next_drafter(self) -> str:
        return self.default_drafter if self.canary is None else self.canary.choose()

    def _check(self, request: Request, prompt: Sequence[int]) -> None:
        name = request.drafter or self.default_drafter
        if name not in self._drafters:
            raise EngineError(f"no drafter {name!r} here: use {' or '.join(self._drafters)}")
        window = self._window(request)
        if window is not None and window < 0:
            raise EngineError(f"window must be >= 0, not {window}")
        if request.acceptance == "lossy" and not self._sabotage:
            raise EngineError("acceptance must be coupled or rejection: lossy changes the output")
        if request.max_tokens < 0:
            raise EngineError(f"max_tokens must be >= 0, not {request.max_tokens}")
        if len(prompt) >= self._capacity:
            raise ContextOverflow(
                f"the conversation has {len(prompt)} tokens and the context holds "
                f"{self._capacity}: shorten it, or raise decoding.context_tokens"
            )
        self._sampler(request.sampling)

    def _last_word(self, request: Request, prompt: Sequence[int]) -> int | None:
        return last_word(prompt, request.messages, render=self._tokenizer.render)

    def _window(self, request: Request) -> int | None:
        return self._config.window if request.window is None else request.window

    def _sampler(self, sampling: Sampling, *, grammar: str | None = None) -> Sampler:
        return Sampler(
            sampling,
            vocabulary_size=self._tokenizer.vocabulary_size,
            eos_ids=self._tokenizer.eos_ids,
            bad_words=[
                tuple(self._tokenizer.encode(form))
                for word in sampling.bad_words
                for form in (word, f" {word}")
            ],
            grammar=None if grammar is None else RowMasks(self._grammars.begin(grammar)),
        )

    # On the engine's thread ----------------------------------------------------------------

    def _open_job(self, ticket: Ticket, slot: Slot) -> Job:
        request, generation = ticket.generation.request, ticket.generation
        at = ticket.judged_at
        generation.reused_tokens = slot.shared(ticket.prompt, read_from=at)
        name = request.drafter or self._next_drafter()
        sampler = self._sampler(request.sampling, grammar=request.grammar)
        loop = Loop(
            target=self._target,
            cache=slot.begin(ticket.prompt, read_from=at),
            drafter=slot.drafter(name),
            sampler=sampler,
            chance=CounterNoise(request.sampling.seed),
            acceptance=Acceptance(request.acceptance),
            ids=list(ticket.prompt),
            prompt_length=len(ticket.prompt),
            top_logprobs=request.top_logprobs,
        )
        loop.drafter.begin(ticket.prompt, chooser=loop.draft_chooser)
        gate = VerifyGate(
            self._tokenizer.decode_bytes,
            eos_ids=sampler.eos_ids,
            stop=request.stop,
            max_tokens=min(request.max_tokens, self._capacity - len(ticket.prompt)),
        )
        controller = self._controller(name, self._window(request))
        if self.canary is not None and request.drafter is None:
            controller = WatchedController(controller, self.canary, drafter=name)
        return Job(
            loop,
            gate,
            controller,
            generation,
            on_event=ticket.on_event,
            decode_bytes=self._tokenizer.decode_bytes,
            ending=None if at is None else EndingJudge(at, self._endings),
        )

    def _controller(self, name: str, window: int | None) -> Controller:
        if name == "none":
            return FixedWindow(0, why="no drafter")
        warning = self._warnings.setdefault(name, EarlyWarning(name))
        if window is not None:
            return FixedWindow(window, warning=warning)
        if name not in self._adaptive:
            costs = self._costs or self._measure()
            draft_s = self._draft_s.get(name, costs.draft_s)
            self._adaptive[name] = AdaptiveWindow(costs.with_draft(draft_s), warning=warning)
        return self._adaptive[name]

    def _measure(self) -> Costs:
        draft_s = 0.0 if self._draft is None else time_draft(self._draft)
        if self._candidate is not None:
            self._draft_s["file"] = time_draft(self._candidate)
        self._costs = Costs(time_target(self._target), draft_s=draft_s)
        self._adaptive.clear()
        return self._costs


def _check_vocabularies(
    target: CausalModel,
    draft: CausalModel | None,
    candidate: CausalModel | None,
    tokenizer: TokenizerLike,
) -> None:
    for role, model in (("target", target), ("draft", draft), ("candidate", candidate)):
        if model is not None and model.vocabulary_size < tokenizer.vocabulary_size:
            raise EngineError(
                f"the {role} model scores {model.vocabulary_size} tokens and the tokenizer has "
                f"{tokenizer.vocabulary_size}: they do not belong together"
            )
