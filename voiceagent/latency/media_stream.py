"""A call over a media-stream WebSocket: what Twilio sends to an agent, and understands of it."""

import base64
import contextlib
import json
import uuid
from typing import Any

import aiohttp

from voiceagent.latency.caller import ANSWER_TIMEOUT_S, FRAME_S, CallError, Far
from voiceagent.sound.pcm import Int16
from voiceagent.telephony.g711 import RATE_HZ, decode_mulaw, encode_mulaw

MAX_MESSAGE_BYTES = 1 << 20


def take(message: dict[str, Any], far: Far) -> None:
    """One message of the agent's; what is none of a media stream's says nothing."""
    match message.get("event"):
        case "media":
            payload = message.get("media", {}).get("payload", "")
            far.hear(decode_mulaw(base64.b64decode(payload)))
        case "mark":
            name = message.get("mark", {}).get("name")
            if isinstance(name, str):
                far.mark(name)
        case "clear":
            far.clear()


class MediaStreamWire:
    """One call.

    Args:
        url: of the agent's socket, ``ws://`` or ``wss://``.
    """

    rate_hz = RATE_HZ

    def __init__(self, url: str) -> None:
        self._url = url
        self._stream, self._call = f"MZ{uuid.uuid4().hex}", f"CA{uuid.uuid4().hex}"
        self._sent = 0
        self._session: aiohttp.ClientSession | None = None
        self._socket: aiohttp.ClientWebSocketResponse | None = None

    async def open(self) -> None:
        """Connects, and begins the stream.

        Raises:
            CallError: nobody answers at that address.
        """
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=ANSWER_TIMEOUT_S)
        self._session = aiohttp.ClientSession(timeout=timeout)
        try:
            self._socket = await self._session.ws_connect(self._url, max_msg_size=MAX_MESSAGE_BYTES)
        except aiohttp.ClientError as error:
            await self._session.close()
            raise CallError(str(error) or type(error).__name__) from error
        start = {
            "accountSid": f"AC{'0' * 32}",
            "streamSid": self._stream,
            "callSid": self._call,
            "tracks": ["inbound"],
            "customParameters": {},
            "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": RATE_HZ, "channels": 1},
        }
        await self._send({"event": "connected", "protocol": "Call", "version": "1.0.0"})
        await self._tell("start", start=start)

    async def receive(self, far: Far) -> None:
        """Hands what comes in to ``far`` until the agent hangs up."""
        assert self._socket is not None, "open() comes first"
        async for received in self._socket:
            if received.type is aiohttp.WSMsgType.TEXT:
                with contextlib.suppress(ValueError, AttributeError, TypeError):
                    take(json.loads(received.data), far)

    async def send(self, pcm: Int16, *, returned: list[str]) -> None:
        """Sends 20 ms (samples,), and the marks that come back."""
        media = {
            "track": "inbound",
            "chunk": str(self._sent + 1),
            "timestamp": str(round(1000 * self._sent * FRAME_S)),
            "payload": base64.b64encode(encode_mulaw(pcm)).decode("ascii"),
        }
        self._sent += 1
        await self._tell("media", media=media)
        for name in returned:
            await self._tell("mark", mark={"name": name})

    async def press(self, key: str) -> None:
        """Presses a key."""
        await self._tell("dtmf", dtmf={"track": "inbound_track", "digit": key})

    async def close(self) -> None:
        """Hangs up."""
        await self._tell("stop", stop={"callSid": self._call})
        if self._socket is not None:
            await self._socket.close()
        if self._session is not None:
            await self._session.close()

    async def _tell(self, event: str, **fields: Any) -> None:
        number = {"sequenceNumber": str(self._sent + 1), "streamSid": self._stream}
        await self._send({"event": event, **number, **fields})

    async def _send(self, message: dict[str, Any]) -> None:
        assert self._socket is not None, "open() comes first"
        with contextlib.suppress(ConnectionError):
            await self._socket.send_str(json.dumps(message))
