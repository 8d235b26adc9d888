"""The thread that owns the models: admits replies and runs their rounds, many at a time."""

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from voiceagent.core.errors import VoiceAgentError
from voiceagent.core.events import EndReason, Finish
from voiceagent.decoding.errors import EngineBusy, EngineClosed
from voiceagent.decoding.generation import Generation, OnEvent
from voiceagent.decoding.job import Job
from voiceagent.decoding.passes import run_together
from voiceagent.decoding.scheduler import Scheduler
from voiceagent.decoding.slot import Slot, Slots

if TYPE_CHECKING:
    from voiceagent.decoding.model import CausalModel

_log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Ticket:
    """A request on its way to a slot.

    ``positions`` are those of the cache that it may need; once it has a slot, those charged for it.
    ``judged_at`` is the position of the prompt's token behind which an `Ending` is judged.
    """

    generation: Generation
    prompt: list[int]
    on_event: OnEvent
    positions: int
    judged_at: int | None = None

    def end(self, reason: EndReason, *, error: str | None = None) -> None:
        """Ends a reply that never began."""
        try:
            self.on_event(Finish(reason=reason))
        finally:
            self.generation.finish(reason, error=error)


@dataclass(frozen=True, slots=True, eq=False)
class _Seat:
    """A reply at work, and where."""

    job: Job
    slot: Slot

    @property
    def unread(self) -> int:
        return self.job.unread


class Worker:
    """Runs jobs round by round, those of several replies together.

    Args:
        target: the model whose passes score the blocks.
        slots: one reply each; one more is refused.
        positions: cache positions of all of them together.
        open_job: makes a job of a ticket; called on the thread.
        batch: replies in one round.
        threads: CPU threads of a forward pass.
    """

    def __init__(
        self,
        target: "CausalModel",
        slots: Sequence[Slot],
        *,
        positions: int,
        open_job: Callable[[Ticket, Slot], Job],
        batch: int,
        threads: int,
    ) -> None:
        self._target = target
        self._slots = Slots(slots, positions=positions)
        self._limit, self._positions = len(slots), positions
        self._open_job = open_job
        self._threads = threads
        self._scheduler: Scheduler[_Seat] = Scheduler(batch=batch)
        self._promised: list[Ticket] = []  # taken on and not over yet
        self._arrived: deque[Ticket] = deque()
        self._tasks: deque[tuple[Callable[[], object], Future[None]]] = deque()
        self._closing = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="decoding", daemon=True)
        self._thread.start()

    # On any thread -------------------------------------------------------------------------

    def add(self, ticket: Ticket) -> None:
        """Takes a ticket on; raises EngineBusy or EngineClosed."""
        with self._changed:
            self._check_open()
            self._promised = [each for each in self._promised if not each.generation.done]
            self._check_room(ticket)
            self._promised.append(ticket)
            self._arrived.append(ticket)
            self._changed.notify()

    def _check_room(self, ticket: Ticket) -> None:
        if len(self._promised) >= self._limit:
            raise EngineBusy(
                f"{len(self._promised)} replies are under way already: try again in a moment"
            )
        promised = sum(each.positions for each in self._promised)
        if promised + ticket.positions > self._positions:
            raise EngineBusy(
                f"the engine is full: {promised} of {self._positions} positions are promised to "
                f"other replies and this one may need {ticket.positions}: try again in a moment, "
                "or raise decoding.cache_tokens"
            )

    def call(self, task: Callable[[], object]) -> None:
        """Runs ``task`` on the thread between two rounds and waits for it."""
        done: Future[None] = Future()
        with self._changed:
            self._check_open()
            self._tasks.append((task, done))
            self._changed.notify()
        done.result()

    def close(self) -> None:
        """Ends every reply and the thread, and waits for it."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _check_open(self) -> None:
        if self._closing:
            raise EngineClosed("the engine was closed")

    # On the thread -------------------------------------------------------------------------

    def _run(self) -> None:
        torch.set_num_threads(self._threads)
        with torch.inference_mode():
            while self._wait():
                self._do_tasks()
                self._end_cancelled()
                self._admit()
                self._round()
        self._end_everything()

    def _wait(self) -> bool:
        """Until there is something to do; false when it is time to end."""
        with self._changed:
            while not (self._scheduler.members or self._arrived or self._tasks or self._closing):
                self._changed.wait()
            return not self._closing

    def _do_tasks(self) -> None:
        while self._tasks:
            task, done = self._tasks.popleft()
            try:
                task()
            except Exception as error:  # noqa: BLE001  # belongs to the caller, on its thread
                done.set_exception(error)
            else:
                done.set_result(None)

    def _end_cancelled(self) -> None:
        for seat in self._scheduler.members:
            if seat.job.generation.cancelled:
                self._end(seat.job, EndReason.CANCELLED)
                self._leave(seat)

    def _admit(self) -> None:
        while self._arrived:
            with self._changed:
                ticket = self._arrived.popleft()
            if ticket.generation.cancelled:
                self._end(ticket, EndReason.CANCELLED)
            else:
                self._seat(ticket)

    def _seat(self, ticket: Ticket) -> None:
        slot: Slot | None = None
        try:
            slot = self._slots.take(ticket.prompt, positions=ticket.positions)
            job = self._open_job(ticket, slot)
        except Exception as error:  # noqa: BLE001  # this reply's alone, see _round
            if slot is not None:
                slot.reset()
                self._slots.give_back(slot)
            self._end(ticket, EndReason.ERROR, error=_report(error))
        else:
            with self._changed:
                ticket.positions = slot.charge
            self._scheduler.join(_Seat(job, slot))

    def _round(self) -> None:
        """One round of all whose turn it is: one pass of the target."""
        for seat in self._scheduler.members:
            if seat.unread:
                seat.job.generation.reused_tokens += self._slots.lend(seat.slot)
        turns = self._scheduler.next_turns()
        steps = [seat.job.turn(prompt_tokens) for seat, prompt_tokens in turns]
        errors = run_together(steps, last=self._target)
        for (seat, _), error in zip(turns, errors, strict=True):
            if error is not None:
                # Whatever it was (a full cache, a broken drafter, a callback that raised), it is
                # this reply's alone; nobody knows what lies in the slot's caches now.
                seat.slot.reset()
                self._end(seat.job, EndReason.ERROR, error=_report(error))
            if error is not None or seat.job.over:
                self._leave(seat, broken=error is not None)

    def _leave(self, seat: _Seat, *, broken: bool = False) -> None:
        if not broken:
            seat.slot.leave(seat.job.loop.ids)
        self._scheduler.leave(seat)
        self._slots.give_back(seat.slot)

    def _end(self, reply: Job | Ticket, reason: EndReason, *, error: str | None = None) -> None:
        try:
            reply.end(reason, error=error)
        except Exception as failure:  # noqa: BLE001  # the callback's; nobody is left to tell
            _report(failure)
            reply.generation.finish(reason, error=error)

    def _end_everything(self) -> None:
        for seat in self._scheduler.members:
            self._end(seat.job, EndReason.CANCELLED)
        with self._changed:
            arrived, tasks = list(self._arrived), list(self._tasks)
        for ticket in arrived:
            self._end(ticket, EndReason.CANCELLED)
        for _, done in tasks:
            done.set_exception(EngineClosed("the engine was closed"))


def _report(error: Exception) -> str:
    """Logs an error, with its trace where nobody expected it; returns its one line."""
    if isinstance(error, VoiceAgentError):
        _log.warning("a reply ended: %s", error)
    else:
        _log.error("a reply ended in an unexpected error", exc_info=error)
    return str(error) or type(error).__name__
