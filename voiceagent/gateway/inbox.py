"""Events of a source's thread, taken on the event loop: all that are there, with one wake-up."""

import asyncio
from collections import deque

from voiceagent.decoding.generation import EngineEvent


class Inbox:
    """Made on the event loop; filled on any thread.

    It needs no bound: ``max_tokens`` bounds what one reply can put into it.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._events: deque[EngineEvent] = deque()
        self._told = asyncio.Event()
        self._knocked = False

    def put(self, event: EngineEvent) -> None:
        """Adds an event. Waking a loop costs a system call: it is done once for many."""
        self._events.append(event)
        if not self._knocked and not self._loop.is_closed():
            self._knocked = True
            self._loop.call_soon_threadsafe(self._told.set)

    async def take(self) -> list[EngineEvent]:
        """The events that are there; waits for the first."""
        while True:
            # In this order: what is put in after the flag fell knocks again.
            self._knocked = False
            self._told.clear()
            if self._events:
                return [self._events.popleft() for _ in range(len(self._events))]
            await self._told.wait()
