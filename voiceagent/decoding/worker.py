"""The thread that owns the models: admits replies to slots and gives each a round in turn."""

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

import torch

from voiceagent.core.errors import VoiceAgentError
from voiceagent.core.events import EndReason, Finish
from voiceagent.decoding.errors import EngineBusy, EngineClosed
from voiceagent.decoding.generation import Generation, OnEvent
from voiceagent.decoding.job import Job
from voiceagent.decoding.slot import Slot

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class Ticket:
    """A request that waits for a slot."""

    generation: Generation
    prompt: list[int]
    on_event: OnEvent

    def end(self, reason: EndReason, *, error: str | None = None) -> None:
        """Ends a reply that never began."""
        try:
            self.on_event(Finish(reason=reason))
        finally:
            self.generation.finish(reason, error=error)


class Worker:
    """Runs jobs round by round, in turn.

    Args:
        slots: one reply each.
        open_job: makes a job of a ticket; called on the thread.
        waiting: tickets that may wait.
        threads: CPU threads of a forward pass.
    """

    def __init__(
        self,
        slots: Sequence[Slot],
        *,
        open_job: Callable[[Ticket, Slot], Job],
        waiting: int,
        threads: int,
    ) -> None:
        self._free = list(slots)
        self._open_job = open_job
        self._limit = waiting
        self._threads = threads
        self._waiting: deque[Ticket] = deque()
        self._tasks: deque[tuple[Callable[[], object], Future[None]]] = deque()
        self._active: list[tuple[Job, Slot]] = []
        self._closing = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="decoding", daemon=True)
        self._thread.start()

    # On any thread -------------------------------------------------------------------------

    def add(self, ticket: Ticket) -> None:
        """Queues a ticket; raises EngineBusy or EngineClosed."""
        with self._changed:
            self._check_open()
            if len(self._waiting) >= self._limit:
                raise EngineBusy(
                    f"{len(self._waiting)} replies are waiting already: try again in a moment"
                )
            self._waiting.append(ticket)
            self._changed.notify()

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
                self._drop_cancelled()
                self._admit()
                for job, slot in list(self._active):
                    self._step(job, slot)
        self._end_everything()

    def _wait(self) -> bool:
        """Until there is something to do; false when it is time to end."""
        with self._changed:
            while not (self._active or self._waiting or self._tasks or self._closing):
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

    def _drop_cancelled(self) -> None:
        with self._changed:
            cancelled = [ticket for ticket in self._waiting if ticket.generation.cancelled]
            for ticket in cancelled:
                self._waiting.remove(ticket)
        for ticket in cancelled:
            self._end(ticket, EndReason.CANCELLED)

    def _admit(self) -> None:
        while self._free and self._waiting:
            with self._changed:
                ticket = self._waiting.popleft()
            slot = max(self._free, key=lambda free: free.shared(ticket.prompt))
            try:
                job = self._open_job(ticket, slot)
            except Exception as error:  # noqa: BLE001  # this reply's alone, see _step
                slot.reset()
                self._end(ticket, EndReason.ERROR, error=_report(error))
            else:
                self._free.remove(slot)
                self._active.append((job, slot))

    def _step(self, job: Job, slot: Slot) -> None:
        try:
            job.step()
        except Exception as error:  # noqa: BLE001
            # Whatever it was (a full cache, a broken drafter, a callback that raised), it is this
            # reply's alone; nobody knows what lies in the slot's caches now.
            slot.reset()
            self._end(job, EndReason.ERROR, error=_report(error))
        else:
            slot.leave(job.loop.ids)
        if job.over:
            self._active.remove((job, slot))
            self._free.append(slot)

    def _end(self, reply: Job | Ticket, reason: EndReason, *, error: str | None = None) -> None:
        try:
            reply.end(reason, error=error)
        except Exception as failure:  # noqa: BLE001  # the callback's; nobody is left to tell
            _report(failure)
            reply.generation.finish(reason, error=error)

    def _end_everything(self) -> None:
        for job, _ in self._active:
            self._end(job, EndReason.CANCELLED)
        with self._changed:
            waiting, tasks = list(self._waiting), list(self._tasks)
        for ticket in waiting:
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
