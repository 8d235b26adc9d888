"""Calls over media-stream WebSockets, as a route of an aiohttp application.

One call is one conversation. A message that is not one of a media stream's, comes before the call
has begun or belongs to another stream is counted and passed over: it never ends a call.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable

from aiohttp import WSMsgType, web

from voiceagent.config import Config
from voiceagent.core.errors import VoiceAgentError
from voiceagent.session.assembly import converse_over, make_conversation
from voiceagent.session.clock import WallClock
from voiceagent.session.happenings import Listener
from voiceagent.session.models import Models
from voiceagent.session.patience import Patience
from voiceagent.telephony.media_stream import (
    MAX_MESSAGE_BYTES,
    Media,
    MediaStreamError,
    Message,
    Started,
    Stopped,
    decode,
)
from voiceagent.telephony.transport import LineTransport

PATH = "/telephony/media-stream"
MAX_CALLS = 4
"""As many replies as the engine decodes in turns; one more caller is refused, not starved."""
START_TIMEOUT_S = 10.0
"""A peer that opens a socket and never starts a stream holds a place for so long."""

log = logging.getLogger(__name__)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def media_stream_route(
    models: Models, config: Config, *, listeners: Callable[[str], list[Listener]] = lambda call: []
) -> web.RouteDef:
    """The route that answers calls.

    Args:
        models: shared by all calls.
        config: persona, voice and decoding of every call.
        listeners: makes the listeners of one call, by its identifier.
    """
    calls: set[str] = set()

    async def answer(request: web.Request) -> web.StreamResponse:
        if len(calls) >= MAX_CALLS:
            raise web.HTTPServiceUnavailable(reason=f"{MAX_CALLS} calls are being held already")
        socket = web.WebSocketResponse(max_msg_size=MAX_MESSAGE_BYTES)
        await socket.prepare(request)
        place = f"{id(socket):x}"
        calls.add(place)
        try:
            started = await _started(socket)
            if started is not None:
                call = _Call(socket, started, models=models, config=config)
                await call.hold(listeners(started.call))
        finally:
            calls.discard(place)
            await socket.close()
        return socket

    return web.get(PATH, answer)


async def _started(socket: web.WebSocketResponse) -> Started | None:
    """The message that begins the call; None if none comes in time."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(START_TIMEOUT_S):
            async for received in socket:
                if isinstance(message := _read(received.data), Started):
                    return message
    return None


def _read(data: object) -> Message | None:
    """One message, or None for what says nothing."""
    if not isinstance(data, str | bytes):
        return None
    try:
        return decode(data)
    except MediaStreamError as error:
        log.warning("a message of the line was passed over: %s", error)
        return None


class _Call:
    """One call from its first sound to its last."""

    def __init__(
        self, socket: web.WebSocketResponse, started: Started, *, models: Models, config: Config
    ) -> None:
        self._socket, self._stream = socket, started.stream
        self._models, self._config = models, config
        self._conversation = make_conversation(config, models, clock=WallClock())
        self._line = LineTransport(self._conversation, stream=started.stream, send=self._send)

    async def hold(self, listeners: list[Listener]) -> None:
        """Talks until the caller hangs up."""
        reading = asyncio.create_task(self._listen(), name="caller")
        try:
            await converse_over(
                self._line,
                self._conversation,
                self._models,
                self._config,
                greets=True,
                patience=Patience(),
                listeners=listeners,
                ended=self._line.mouth.ended,
                stopped=self._line.mouth.ended,
            )
        except VoiceAgentError as error:
            log.error("a call was broken off: %s", error)
        finally:
            reading.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await reading

    async def _listen(self) -> None:
        mouth = self._line.mouth
        await mouth.ready.wait()
        async for received in self._socket:
            if received.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
                continue
            message = _read(received.data)
            if message is None or isinstance(message, Started) or message.stream != self._stream:
                continue
            if isinstance(message, Media):
                await mouth.hear(message.mulaw)
            elif isinstance(message, Stopped):
                break
        mouth.ended.set()

    async def _send(self, text: str) -> None:
        """A line that is gone takes nothing more; its end is noticed by ``_listen``."""
        with contextlib.suppress(ConnectionError):
            await self._socket.send_str(text)
