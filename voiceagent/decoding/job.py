"""A reply at work on the engine's thread: its loop, its text, its controller."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from voiceagent.core.events import EndReason, Finish
from voiceagent.decoding.controller import Controller, Plan
from voiceagent.decoding.drafters import Proposal
from voiceagent.decoding.generation import EngineEvent, Generation, OnEvent
from voiceagent.decoding.record import Round
from voiceagent.decoding.rounds import Loop, prefill, read_ahead, run_round
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
    ) -> None:
        self.loop = loop
        self.generation = generation
        self._gate = gate
        self._controller = controller
        self._on_event = on_event
        self._decode_bytes = decode_bytes
        self._told = False  # the last event was taken

    @property
    def over(self) -> bool:
        """The last event was delivered."""
        return self.generation.done

    def step(self) -> None:
        """One chunk of the prompt, or one round."""
        if self.generation.cancelled:
            self.end(EndReason.CANCELLED)
        elif prefill(self.loop):
            pass
        elif self.generation.request.max_tokens == 0:
            self.generation.following = read_ahead(self.loop)
            self.end(EndReason.LENGTH)
        else:
            self._round()

    def end(self, reason: EndReason, *, error: str | None = None) -> None:
        """Ends the reply from outside."""
        if not self._told:
            self._deliver(self._gate.abandon(reason))
        self.generation.finish(reason, error=error)

    def _round(self) -> None:
        plan = self._plan()
        record = run_round(self.loop, window=plan.window, why=plan.why, on_draft=self._show)
        passed = self._gate.emit(record.emitted)
        record = self._with_text(record.kept(passed.kept))
        self._controller.learn(record)
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
