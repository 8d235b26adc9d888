"""Calls from Asterisk over AudioSocket: a TCP server beside the HTTP server.

The protocol has no password and no encryption: it belongs on this machine or in a network of its
own, never on a public address.
"""

import asyncio
import contextlib
import logging
import socket
from collections.abc import AsyncIterator
from typing import Final

from voiceagent.telephony.codecs.audiosocket import AudioSocketCodec
from voiceagent.telephony.codecs.base import WireMessage
from voiceagent.telephony.line import open_line
from voiceagent.telephony.switchboard import AllBusy, Switchboard

TRAVEL_S: Final = 0.06
"""From us to the ear: Asterisk plays as it gets, a telephone's jitter buffer holds 40 to 60 ms."""
MOST_UNSENT_BYTES: Final = 1280
"""80 ms of sound: what lies in buffers cannot be taken back, and is old when it is played."""
SEND_BUFFER_BYTES: Final = 8192
"""The kernel's own, which would else hold many seconds of a peer that does not read."""
MOST_READ: Final = 4096
"""Bytes at once: a quarter of a second of sound."""
CLOSE_S: Final = 2.0

log = logging.getLogger(__name__)


class AudioSocketServer:
    """Answers calls until it is closed."""

    def __init__(self, switchboard: Switchboard) -> None:
        self._switchboard = switchboard
        self._server: asyncio.Server | None = None
        self._calls: set[asyncio.Task[None]] = set()

    async def listen(self, host: str, port: int) -> int:
        """Begins; returns the port, which is a free one for 0.

        Raises:
            OSError: the port is taken, or not for this user.
        """
        self._server = await asyncio.start_server(self._connected, host, port)
        bound: int = self._server.sockets[0].getsockname()[1]
        return bound

    async def close(self) -> None:
        """Takes no more calls, and ends those that are held."""
        if self._server is not None:
            self._server.close()
        for call in list(self._calls):
            call.cancel()
        await asyncio.gather(*self._calls, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        call = asyncio.ensure_future(self._answer(StreamWire(reader, writer)))
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)

    async def _answer(self, wire: "StreamWire") -> None:
        codec = AudioSocketCodec()
        try:
            with self._switchboard.seat():
                line = await open_line(wire, codec, travel_s=TRAVEL_S)
                if line is not None:
                    await self._switchboard.hold(line)
        except AllBusy as error:
            log.warning("a call was refused: %s", error)
            await wire.send(codec.hang_up())
        finally:
            await wire.close()


class StreamWire:
    """A TCP connection as a wire."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        writer.transport.set_write_buffer_limits(high=MOST_UNSENT_BYTES)
        if (connection := writer.get_extra_info("socket")) is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)

    async def messages(self) -> AsyncIterator[WireMessage]:
        """Bytes as they come, until the connection ends."""
        with contextlib.suppress(ConnectionError):
            while received := await self._reader.read(MOST_READ):
                yield received

    async def send(self, message: WireMessage) -> None:
        """Sends bytes; waits while the peer reads too slowly."""
        assert isinstance(message, bytes), "AudioSocket has no texts"
        with contextlib.suppress(ConnectionError):
            self._writer.write(message)
            await self._writer.drain()

    async def close(self) -> None:
        """Ends the connection, at once if the peer does not read what is left."""
        self._writer.close()
        with contextlib.suppress(ConnectionError, TimeoutError):
            async with asyncio.timeout(CLOSE_S):
                await self._writer.wait_closed()
        self._writer.transport.abort()
