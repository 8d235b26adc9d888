"""A reply at work on the engine's thread: its loop, its text, its controller."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from torch import Tensor

from voiceagent.core.events import Ending, EndReason, Finish
from voiceagent.decoding.controller import Controller, Plan
from voiceagent.decoding.drafters import Proposal, Stepwise
from voiceagent.decoding.drafters.draft_model import CATCH_UP
from voiceagent.decoding.endings import EndingJudge
from voiceagent.decoding.generation import EngineEvent, Generation, OnEvent
from voiceagent.decoding.passes import Steps, overhear
from voiceagent.decoding.record import Round
from voiceagent.decoding.rounds import (
    PREFILL_CHUNK,
    Loop,
    draft,
    prefill,
    read_to_end,
    run_round,
)
from voiceagent.decoding.verify_gate import VerifyGate

_FIRST_ROUND = Plan(0, "first token: the draft model reads the prompt after it")


class Job:
    """One reply between admission and its last event; used by the engine's thread alone."""

    def __init__(
        self,
        loop: Loop,
        gate: VerifyGate,
        controller: Controller,
        generation: Generation,
        *,
        on_event: OnEvent,
        decode_bytes: Callable[[int], bytes],
        ending: EndingJudge | None = None,
    ) -> None:
        self.loop = loop
        self.generation = generation
        self._gate = gate
        self._controller = controller
        self._on_event = on_event
        self._decode_bytes = decode_bytes
        self._ending = ending
        self._told = False  # the last event was taken
        reads = isinstance(loop.drafter, Stepwise)
        self._draft_turns = 1 + loop.prompt_length // CATCH_UP if reads else 0

    @property
    def over(self) -> bool:
        """The last event was delivered."""
        return self.generation.done

    @property
    def unread(self) -> int:
        """Prompt tokens that the target has yet to read before the reply can go on."""
        return 0 if self.loop.rounds else len(self.loop.pending)

    def turn(self, prompt_tokens: int = PREFILL_CHUNK) -> Steps[None]:
        """One round, or, while the prompt has more than that unread, ``prompt_tokens`` of it."""
        steps = self._turn(prompt_tokens)
        if self._ending is None:
            return steps
        return overhear(steps, model=self.loop.target, at=self._ending.at, told=self._judge)

    def _turn(self, prompt_tokens: int) -> Steps[None]:
        if self.unread and (yield from prefill(self.loop, count=prompt_tokens)):
            return
        if self.generation.request.max_tokens == 0:
            yield from self._read_ahead()
        else:
            yield from self._round()

    def end(self, reason: EndReason, *, error: str | None = None) -> None:
        """Ends the reply from outside."""
        if not self._told:
            self._deliver(self._gate.abandon(reason))
        self.generation.finish(reason, error=error)

    def _judge(self, logits: Tensor) -> None:
        if self._ending is not None:
            self._deliver([Ending(probability=self._ending.probability(logits))])

    def _read_ahead(self) -> Steps[None]:
        """The target reads what is left of the prompt; then the drafter, a piece at a turn."""
        if self.loop.pending:
            yield from read_to_end(self.loop)
        else:
            guess = yield from draft(self.loop, window=1)
            self._draft_turns = 0 if guess.tokens else self._draft_turns - 1
        if not self._draft_turns:
            self.end(EndReason.LENGTH)

    def _round(self) -> Steps[None]:
        plan = self._plan()
        record = yield from run_round(
            self.loop, window=plan.window, why=plan.why, on_draft=self._show
        )
        passed = self._gate.emit(record.emitted)
        record = self._with_text(record.kept(passed.kept))
        self._controller.learn(record)
        record = replace(record, alarm=self._controller.warning.alarmed)
        # The record comes before the last event: nobody listens after a Finish.
        before = [event for event in passed.events if not isinstance(event, Finish)]
        self._deliver([*before, record, *passed.events[len(before) :]])
        if self._gate.finished:
            self.generation.finish(self._gate.finished)

    def _plan(self) -> Plan:
        if self.loop.rounds == 0:
            return _FIRST_ROUND
        plan = self._controller.plan()
        # A block emits up to K + 1 tokens, and the target's cache has to hold it whole.
        room = min(
            self.generation.request.max_tokens - self._gate.tokens - 1,
            self.loop.cache.capacity - len(self.loop.ids),
        )
        if plan.window <= room:
            return plan
        return Plan(max(room, 0), f"{plan.why}; cut to the room that is left")

    def _show(self, proposal: Proposal) -> None:
        self._deliver(self._gate.draft(proposal.tokens))

    def _with_text(self, record: Round) -> Round:
        return replace(
            record,
            drafted_text=self._texts(record.drafted),
            emitted_text=self._texts(record.emitted),
        )

    def _texts(self, tokens: Sequence[int]) -> tuple[str, ...]:
        return tuple(self._decode_bytes(token).decode(errors="replace") for token in tokens)

    def _deliver(self, events: Sequence[EngineEvent]) -> None:
        for event in events:
            self._on_event(event)
            self._told |= isinstance(event, Finish)
