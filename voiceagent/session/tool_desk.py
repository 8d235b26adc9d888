"""Where admitted calls run: each once, so many at a time, and only while somebody wants them.

A call runs when its text is committed (so it is verified and complete), it fits its schema, its
turn is confirmed and its epoch is alive. Each has an idempotency key: the same key never runs
twice, and what did run keeps its result. A call whose reply was superseded before never starts.
"""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from voiceagent.core.history import Message
from voiceagent.session.tool_registry import Registry
from voiceagent.session.tools import RUN_TIMEOUT_S, Call, ToolFailed, ToolGate, ToolRefused

AT_ONCE = 4
"""Calls that run at the same time: programs on a machine whose cores decode."""
KEPT_RESULTS = 1024
"""Results that are remembered by their key; the oldest is forgotten first."""

Tell: TypeAlias = Callable[[str, str, Mapping[str, Any]], None]
"""Told of a call that has passed the gate: its key, its name, its arguments."""


class Desk:
    """Runs calls for everybody."""

    def __init__(
        self, registry: Registry, *, at_once: int = AT_ONCE, timeout_s: float = RUN_TIMEOUT_S
    ) -> None:
        self.registry = registry
        self._places = asyncio.Semaphore(at_once)
        self._timeout_s = timeout_s
        self._tasks: OrderedDict[str, asyncio.Task[str]] = OrderedDict()

    async def run(self, call: Call, *, key: str, is_wanted: Callable[[], bool]) -> str:
        """The result of the call with that key: of its one run, whoever asks and how often.

        Args:
            is_wanted: asked once a place is free; a call that nobody wants then never starts.

        Raises:
            ToolFailed: it ran and came to nothing.
            ToolRefused: nobody wanted it any more.
        """
        task = self._tasks.get(key)
        if task is None:
            task = asyncio.create_task(self._run(call, key=key, is_wanted=is_wanted))
            task.add_done_callback(_look)
            self._tasks[key] = task
            self._forget()
        # Whoever waits may go away; what has begun is not undone by that.
        return await asyncio.shield(task)

    async def _run(self, call: Call, *, key: str, is_wanted: Callable[[], bool]) -> str:
        async with self._places:
            if not is_wanted():
                self._tasks.pop(key, None)
                raise ToolRefused(f"{call.tool.name}: its reply was superseded")
            return await self.registry.run(call, call_id=key, timeout_s=self._timeout_s)

    def _forget(self) -> None:
        done = [key for key, task in self._tasks.items() if task.done()]
        for key in done[: max(0, len(self._tasks) - KEPT_RESULTS)]:
            del self._tasks[key]


@dataclass(slots=True)
class _Found:
    """A call in committed text."""

    key: str
    body: str
    call: Call | None = None
    refusal: str = ""
    task: "asyncio.Task[str] | None" = None


class CallsOfReply:
    """The tool gate of one request: calls are read from its replies, and run or handed on.

    Args:
        gate: knows the tools of the request.
        desk: runs those of the server.
        runs: names of the tools that run here; calls of others are the client's to run.
        scope: what makes keys unique: an idempotency key of the client, or the request's name.
    """

    def __init__(
        self, gate: ToolGate, desk: Desk, *, runs: frozenset[str] = frozenset(), scope: str
    ) -> None:
        self._gate, self._desk, self._runs, self._scope = gate, desk, runs, scope
        self._found: list[_Found] = []
        self._replies = 0
        self._confirmed = self._superseded = False
        self._tell: Tell = _tell_nobody

    def open(self, reply: str, *, confirmed: bool, tell: Tell) -> None:
        """The next reply begins; ``tell`` is told of calls that pass."""
        self._replies += 1
        self._found = []
        self._confirmed, self._tell = confirmed, tell

    def read(self, committed: str) -> None:
        """Takes committed text; each call in it passes now, or with the confirmation."""
        for body in self._gate.calls(committed):
            found = _Found(self._key(len(self._found)), body)
            try:
                found.call = self._gate.admit(body)
            except ToolRefused as refusal:
                found.refusal = str(refusal)
            self._found.append(found)
            if self._confirmed:
                self._pass(found)

    def confirm(self) -> None:
        """The turn is confirmed: calls that waited for it pass."""
        if not self._confirmed:
            self._confirmed = True
            for found in self._found:
                self._pass(found)

    def supersede(self) -> None:
        """The epoch is over: what has not begun never will."""
        self._superseded = True

    def _pass(self, found: _Found) -> None:
        if found.call is None or self._superseded:
            return
        self._tell(found.key, found.call.tool.name, found.call.arguments)
        if found.call.tool.name in self._runs:
            found.task = asyncio.create_task(
                self._desk.run(found.call, key=found.key, is_wanted=lambda: not self._superseded)
            )
            found.task.add_done_callback(_look)

    async def exchanges(self) -> list[tuple[str, str]]:
        """Calls and results that the model has to be told; none where the client has to answer."""
        if any(found.call is not None and found.task is None for found in self._found):
            return []
        return [(found.body, await self._result(found)) for found in self._found]

    async def _result(self, found: _Found) -> str:
        if found.task is None:
            return f"error: {found.refusal}"
        try:
            return await found.task
        except (ToolFailed, ToolRefused) as error:
            return f"error: {error}"

    def results(self, exchanges: Sequence[tuple[str, str]]) -> tuple[Message, ...]:
        """The exchanges as messages of the next prompt."""
        return self._gate.results(exchanges)

    def _key(self, number: int) -> str:
        text = f"{self._scope}/{self._replies}/{number}"
        return f"call_{hashlib.sha256(text.encode()).hexdigest()[:24]}"


def _look(task: "asyncio.Task[str]") -> None:
    """Looks at an error that perhaps nobody waits for any more: it is no accident of the loop."""
    if not task.cancelled():
        task.exception()


def _tell_nobody(key: str, name: str, arguments: Mapping[str, Any]) -> None:
    pass
