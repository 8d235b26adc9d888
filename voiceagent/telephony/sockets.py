"""Calls over WebSockets, whichever provider's words they are in."""

import contextlib
from collections.abc import AsyncIterator
from typing import Final

from aiohttp import WSMsgType, web

from voiceagent.telephony.codecs.base import Codec, WireMessage
from voiceagent.telephony.far_end import TRAVEL_S
from voiceagent.telephony.line import Transfer, open_line
from voiceagent.telephony.switchboard import AllBusy, Switchboard

MAX_FRAME_BYTES: Final = 1 << 22
"""A frame that is too long for the codec costs that frame; beyond this the connection ends, as
nobody holds the whole of it."""
HEARTBEAT_S: Final = 30.0


async def hold_over_socket(
    request: web.Request,
    switchboard: Switchboard,
    codec: Codec,
    *,
    transfer: Transfer | None = None,
) -> web.StreamResponse:
    """Answers the upgrade of ``request``, which may come in, and holds the call; 503 if it is full.

    Args:
        transfer: told the call and whom to hand it to, where what comes after it can be said.
    """
    try:
        with switchboard.seat():
            # No compression: nobody needs it, and a small frame could become a large one.
            socket = web.WebSocketResponse(
                max_msg_size=MAX_FRAME_BYTES, compress=False, heartbeat=HEARTBEAT_S
            )
            await socket.prepare(request)
            wire = SocketWire(socket)
            try:
                line = await open_line(wire, codec, travel_s=TRAVEL_S, transfer=transfer)
                if line is not None:
                    await switchboard.hold(line)
            finally:
                await wire.close()
            return socket
    except AllBusy as error:
        raise web.HTTPServiceUnavailable(reason=str(error)) from error


class SocketWire:
    """A WebSocket as a wire."""

    def __init__(self, socket: web.WebSocketResponse) -> None:
        self._socket = socket

    async def messages(self) -> AsyncIterator[WireMessage]:
        """Texts and binaries, until it is closed."""
        async for received in self._socket:
            if received.type in (WSMsgType.TEXT, WSMsgType.BINARY):
                yield received.data

    async def send(self, message: WireMessage) -> None:
        """One message."""
        # A line that is gone takes nothing more; its end is noticed by whoever reads it.
        with contextlib.suppress(ConnectionError):
            if isinstance(message, str):
                await self._socket.send_str(message)
            else:
                await self._socket.send_bytes(message)

    async def close(self) -> None:
        """Closes it."""
        await self._socket.close()
