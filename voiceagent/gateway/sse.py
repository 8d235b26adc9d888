"""Server-sent events to one reader, who has to keep reading."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any, Self

from aiohttp import web

from voiceagent.core.errors import VoiceAgentError

BUFFER_BYTES = 1 << 15
"""Half of what a transport of asyncio's buffers before it asks writers to wait."""
GOODBYE_S = 1.0
"""How long a connection that was given up may take to carry its last words."""


class SlowReader(VoiceAgentError):
    """The client does not take what it asked for."""


def event(data: str, *, identity: str | None = None) -> str:
    """One event."""
    head = "" if identity is None else f"id: {identity}\n"
    return f"{head}data: {data}\n\n"


class EventStream:
    """One answer of server-sent events.

    The buffer between us and the reader is the transport's own (64 KiB and what the kernel
    holds); a reader that leaves it full for ``patience_s`` is ended, and nobody else waits.
    """

    def __init__(self, response: web.StreamResponse, request: web.Request, patience_s: float):
        self._response, self._request, self._patience_s = response, request, patience_s

    @classmethod
    async def open(
        cls, request: web.Request, *, headers: Mapping[str, str], patience_s: float
    ) -> Self:
        """Sends the head of the answer."""
        response = web.StreamResponse(
            headers={
                "Content-Type": "text/event-stream; charset=utf-8",
                "Cache-Control": "no-store",
                "X-Accel-Buffering": "no",  # proxies of nginx's kind would hold tokens back
                **headers,
            }
        )
        await response.prepare(request)
        return cls(response, request, patience_s)

    async def send(self, *events: str) -> None:
        """Some events (see :func:`event`), in one write.

        Raises:
            SlowReader: the reader takes nothing; the connection is closed with a reason.
        """
        data = "".join(events).encode()
        if self._has_room(len(data)):
            return await self._response.write(data)
        try:
            async with asyncio.timeout(self._patience_s):
                await self._response.write(data)
        except TimeoutError:
            self._give_up()
            raise SlowReader(f"nothing was taken for {self._patience_s:g} s") from None

    async def close(self) -> web.StreamResponse:
        """The end of the answer."""
        try:
            async with asyncio.timeout(self._patience_s):
                await self._response.write_eof()
        except TimeoutError:
            self._give_up()
        return self._response

    def _has_room(self, length: int) -> bool:
        """Whether the buffer takes so many bytes at once: then there is nothing to wait for, and a
        timer for every token is spared."""
        transport = self._request.transport
        return transport is not None and (transport.get_write_buffer_size() + length < BUFFER_BYTES)

    def _give_up(self) -> None:
        """Leaves the reason behind what is buffered, and lets go of the connection."""
        transport = self._request.transport
        if transport is None:
            return
        reason: dict[str, Any] = {"code": "slow_reader", "message": "the stream was not read"}
        text = f"event: error\ndata: {json.dumps({'type': 'error', **reason})}\n\n".encode()
        transport.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(text), text))
        transport.close()
        asyncio.get_running_loop().call_later(GOODBYE_S, transport.abort)
