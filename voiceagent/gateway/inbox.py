"""Events of a source's thread, taken on the event loop: all that are there, with one wake-up.

A pass of the target says something to every reply that shares it. The event loop is woken once for
all that has been said when it comes to it. Waiting for more (2 ms) cost a quarter of the tokens per
second under load and spared nothing.
"""

import asyncio
from collections import deque

from voiceagent.decoding.generation import EngineEvent


class Post:
    """Wakes the event loop for many inboxes at once. Filled on any thread."""

    def __init__(self) -> None:
        self._full: deque[Inbox] = deque()
        self._is_under_way = False

    def inbox(self) -> "Inbox":
        """A new one; called on the event loop."""
        return Inbox(self)

    def announce(self, inbox: "Inbox", loop: asyncio.AbstractEventLoop) -> None:
        """``inbox`` has something for ``loop``."""
        self._full.append(inbox)
        if not self._is_under_way and not loop.is_closed():
            self._is_under_way = True
            loop.call_soon_threadsafe(self._hand_out)

    def _hand_out(self) -> None:
        # In this order: what is announced after the flag fell starts another round.
        self._is_under_way = False
        while self._full:
            self._full.popleft().tell()


class Inbox:
    """What a source has said to one reply.

    It needs no bound: ``max_tokens`` bounds what one reply can put into it.
    """

    def __init__(self, post: Post) -> None:
        self._post, self._loop = post, asyncio.get_running_loop()
        self._events: deque[EngineEvent] = deque()
        self._told = asyncio.Event()
        self._is_announced = False

    def put(self, event: EngineEvent) -> None:
        """Adds an event; on any thread."""
        self._events.append(event)
        if not self._is_announced:
            self._is_announced = True
            self._post.announce(self, self._loop)

    def tell(self) -> None:
        """Wakes whoever takes; on the event loop."""
        self._told.set()

    async def take(self) -> list[EngineEvent]:
        """The events that are there; waits for the first."""
        while True:
            # In this order: what is put in after the flag fell is announced again.
            self._is_announced = False
            self._told.clear()
            if self._events:
                return [self._events.popleft() for _ in range(len(self._events))]
            await self._told.wait()
