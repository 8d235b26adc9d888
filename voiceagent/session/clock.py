"""The conversation's clock: wall time, or time that passes only when the input says so.

Everything that waits in a conversation (pacing of the input, of the playout, of the heard
position) waits on this clock. ``--fast`` is the same code on a clock that stands still while
anything is still being worked out, and jumps ahead as soon as nothing is.
"""

import asyncio
import heapq
import itertools
import time
from typing import Protocol


class Clock(Protocol):
    """Seconds since the conversation began."""

    def begin(self) -> None:
        """The first sound is about to come in: now is 0."""
        ...

    def now_s(self) -> float:
        """The present."""
        ...

    async def sleep_until(self, at_s: float) -> None:
        """Returns once the present is ``at_s`` or later."""
        ...


class WallClock:
    """Real time. It stands at 0 until the conversation begins: a pipeline takes time to start."""

    def __init__(self) -> None:
        self._origin_s: float | None = None

    def begin(self) -> None:
        """Now is 0; a second call changes nothing."""
        if self._origin_s is None:
            self._origin_s = time.monotonic()

    def now_s(self) -> float:
        """Seconds since the beginning."""
        return 0.0 if self._origin_s is None else time.monotonic() - self._origin_s

    async def sleep_until(self, at_s: float) -> None:
        """Sleeps the time that is left; yields once even if none is."""
        await asyncio.sleep(max(0.0, at_s - self.now_s()))


class VirtualClock:
    """Time that moves when told to, waking each sleeper at its own instant and in order."""

    def __init__(self) -> None:
        self._now_s = 0.0
        self._order = itertools.count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []

    def begin(self) -> None:
        """Time is told when to pass."""

    def now_s(self) -> float:
        """Seconds of the conversation so far."""
        return self._now_s

    async def sleep_until(self, at_s: float) -> None:
        """Waits until ``advance`` has reached ``at_s``; yields once if it has already."""
        if at_s <= self._now_s:
            await asyncio.sleep(0)
            return
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (at_s, next(self._order), woken))
        await woken

    async def advance(self, to_s: float) -> None:
        """Moves the present forward to ``to_s``; never back."""
        while self._sleepers and self._sleepers[0][0] <= to_s:
            at_s, _, woken = heapq.heappop(self._sleepers)
            self._now_s = max(self._now_s, at_s)
            if not woken.done():
                woken.set_result(None)
                # Let the sleeper act at its own instant before time goes on.
                await asyncio.sleep(0)
                await asyncio.sleep(0)
        self._now_s = max(self._now_s, to_s)
