"""What goes to one client, in order: nobody waits for it, and it may not wait for ever."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from aiohttp import web

from voiceagent.gateway.talk.rtvi import server_message
from voiceagent.gateway.talk.wire import write_message, write_sound
from voiceagent.sound.pcm import Int16

MOST_WAITING = 1024
"""Messages for a client: the frames of ten seconds of token push."""


class Outbox:
    """An ``Outlet`` over a socket.

    Args:
        socket: to the client.
        patience_s: how long one message may take; a client that takes longer is gone.
    """

    def __init__(self, socket: web.WebSocketResponse, *, patience_s: float) -> None:
        self.is_slow = asyncio.Event()
        """Set when the client does not take what is sent."""
        self._socket, self._patience_s = socket, patience_s
        self._waiting: asyncio.Queue[Int16 | Mapping[str, Any] | None] = asyncio.Queue(MOST_WAITING)
        self._sending = asyncio.create_task(self._send_all(), name="outbox")

    def sound(self, pcm: Int16) -> None:
        """A piece of the agent's sound (samples,) at ``WIRE_HZ``."""
        self._put(pcm)

    def message(self, data: Mapping[str, Any]) -> None:
        """A message of our own."""
        self.rtvi(server_message(data))

    def rtvi(self, message: Mapping[str, Any]) -> None:
        """A message of RTVI's."""
        self._put(message)

    async def close(self) -> None:
        """Sends what waits, as far as the client takes it."""
        if not self._waiting.full():
            self._waiting.put_nowait(None)
            await asyncio.wait([self._sending], timeout=self._patience_s)
        self._sending.cancel()
        with suppress(asyncio.CancelledError):
            await self._sending

    def _put(self, item: Int16 | Mapping[str, Any]) -> None:
        if self._waiting.full():
            self.is_slow.set()
        else:
            self._waiting.put_nowait(item)

    async def _send_all(self) -> None:
        with suppress(ConnectionError):
            while (item := await self._waiting.get()) is not None:
                try:
                    async with asyncio.timeout(self._patience_s):
                        await self._socket.send_bytes(_written(item))
                except TimeoutError:
                    return self.is_slow.set()


def _written(item: Int16 | Mapping[str, Any]) -> bytes:
    return write_message(item) if isinstance(item, Mapping) else write_sound(item)
