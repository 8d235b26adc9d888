"""A caller at the other end of a media-stream WebSocket: any agent that answers Twilio's messages.

Both sides run on one clock, that of the caller: every 20 ms one frame of the mouth is sent and one
frame of what has come in is played. So the recording is what a caller says and hears at the place
where the socket ends; what the network of a telephone adds lies behind it.
"""

import asyncio
import base64
import contextlib
import json
import threading
import time
import uuid
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import numpy as np

from voiceagent.core.errors import VoiceAgentError
from voiceagent.latency.tape import Tape
from voiceagent.sound.files import Sound
from voiceagent.sound.pcm import Int16, to_int16
from voiceagent.sound.resample import resample
from voiceagent.telephony.g711 import RATE_HZ, decode_mulaw, encode_mulaw

FRAME = 160
"""Samples of 20 ms, as telephone networks send them."""
FRAME_S = FRAME / RATE_HZ
SILENT = encode_mulaw(np.zeros(FRAME, dtype=np.int16))
MOST_BUFFERED_S = 120.0
"""More than any reply: what comes beyond it is thrown away, as a network does."""
MAX_MESSAGE_BYTES = 1 << 20
CONNECT_TIMEOUT_S = 15.0
KEY_S = 0.15
"""Between two keys."""


class PhoneError(VoiceAgentError):
    """The agent cannot be called, or has hung up; the message says which."""


@dataclass
class Far:
    """The far end of a call, without any network: what it holds, plays, and sends back.

    A mark comes back when the sound before it has been played, or has been thrown away by a clear
    (Twilio's "Media Streams - WebSocket Messages").
    """

    held: deque[Int16] = field(default_factory=deque)
    _marks: list[tuple[int, str]] = field(default_factory=list)
    _received: int = 0
    _played: int = 0
    returned: list[str] = field(default_factory=list)
    """Names of marks that are to be sent back; drained by whoever sends them."""
    clears: int = 0

    def take(self, message: dict[str, Any]) -> None:
        """One message of the agent's; what is none of a media stream's says nothing."""
        match message.get("event"):
            case "media":
                self._take_media(message)
            case "mark":
                name = message.get("mark", {}).get("name")
                if isinstance(name, str):
                    self._marks.append((self._received, name))
                    self._return_marks()
            case "clear":
                self.clears += 1
                self.held.clear()
                self._played = self._received
                self._return_marks()

    def _take_media(self, message: dict[str, Any]) -> None:
        payload = message.get("media", {}).get("payload", "")
        pcm = decode_mulaw(base64.b64decode(payload))
        if sum(map(len, self.held)) + len(pcm) <= MOST_BUFFERED_S * RATE_HZ:
            self.held.append(pcm)
            self._received += len(pcm)

    def play(self) -> Int16:
        """The next 20 ms (FRAME,): silence where there is nothing to play."""
        frame = np.zeros(FRAME, dtype=np.int16)
        at = 0
        while self.held and at < FRAME:
            piece = self.held.popleft()
            taken = piece[: FRAME - at]
            frame[at : at + len(taken)] = taken
            at += len(taken)
            if len(piece) > len(taken):
                self.held.appendleft(piece[len(taken) :])
        self._played += at
        self._return_marks()
        return frame

    def _return_marks(self) -> None:
        while self._marks and self._marks[0][0] <= self._played:
            self.returned.append(self._marks.pop(0)[1])


class Phone:
    """One call, held open on a thread of its own; a line for the director.

    Args:
        url: of the agent's socket, ``ws://`` or ``wss://``.
    """

    rate_hz = RATE_HZ

    def __init__(self, url: str) -> None:
        self._url = url
        self._far = Far()
        self._mouth: deque[Int16] = deque()
        self._keys: deque[str] = deque()
        self._tape: Tape | None = None
        self._idle = threading.Event()
        self._connected = threading.Event()
        self._hung_up = threading.Event()
        self._failure = ""
        self._stream, self._id = f"MZ{uuid.uuid4().hex}", f"CA{uuid.uuid4().hex}"

    def __enter__(self) -> "Phone":
        self._thread = threading.Thread(target=lambda: asyncio.run(self._call()), daemon=True)
        self._thread.start()
        if not self._connected.wait(CONNECT_TIMEOUT_S) or self._failure:
            raise PhoneError(f"{self._url} does not answer: {self._failure or 'no connection'}")
        return self

    def __exit__(self, *_: object) -> None:
        self._hung_up.set()
        self._thread.join(timeout=CONNECT_TIMEOUT_S)

    @contextlib.contextmanager
    def listen(self) -> Iterator[Tape]:
        """Records both sides."""
        tape = Tape(rate_hz=RATE_HZ)
        self._tape = tape
        try:
            tape.wait_until_s(0.3)
            yield tape
        finally:
            self._tape = None

    def say(self, sound: Sound) -> None:
        """Speaks into the line, and returns when everything has been sent."""
        pcm = to_int16(resample(sound.pcm, from_hz=sound.rate_hz, to_hz=RATE_HZ))
        pcm = np.pad(pcm, (0, -len(pcm) % FRAME))
        self._idle.clear()
        self._mouth.extend(pcm.reshape(-1, FRAME))
        self._wait_until_idle(CONNECT_TIMEOUT_S + len(pcm) / RATE_HZ)

    def press(self, keys: str) -> None:
        """Presses keys one after the other."""
        for key in keys:
            self._keys.append(key)
            time.sleep(KEY_S)

    def _wait_until_idle(self, timeout_s: float) -> None:
        if not self._idle.wait(timeout_s) or self._failure:
            raise PhoneError(f"{self._url}: {self._failure or 'the line stands still'}")

    async def _call(self) -> None:
        try:
            timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_S)
            async with (
                aiohttp.ClientSession(timeout=timeout) as session,
                session.ws_connect(self._url, max_msg_size=MAX_MESSAGE_BYTES) as socket,
            ):
                await self._begin(socket)
                self._connected.set()
                listening = asyncio.create_task(self._hear(socket))
                await self._speak(socket)
                await self._send(socket, {"event": "stop", "streamSid": self._stream, "stop": {}})
                listening.cancel()
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            self._failure = str(error) or type(error).__name__
        finally:
            self._failure = self._failure or ("" if self._hung_up.is_set() else "hung up")
            self._connected.set()
            self._idle.set()

    async def _begin(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        form = {"encoding": "audio/x-mulaw", "sampleRate": RATE_HZ, "channels": 1}
        start = {
            "accountSid": f"AC{'0' * 32}",
            "streamSid": self._stream,
            "callSid": self._id,
            "tracks": ["inbound"],
            "customParameters": {},
            "mediaFormat": form,
        }
        await self._send(socket, {"event": "connected", "protocol": "Call", "version": "1.0.0"})
        await self._send(
            socket,
            {"event": "start", "sequenceNumber": "1", "streamSid": self._stream, "start": start},
        )

    async def _speak(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        """One frame out and one frame in every 20 ms; a late one is made up for at once."""
        began_s, frames = time.monotonic(), 0
        while not self._hung_up.is_set() and not socket.closed:
            said = self._mouth.popleft() if self._mouth else None
            if said is None:
                self._idle.set()
            await self._send_frame(socket, said, number=frames)
            heard = self._far.play()
            if (tape := self._tape) is not None:
                mouth = np.zeros(FRAME, dtype=np.int16) if said is None else said
                tape.write(np.stack([mouth, heard], axis=1))
            frames += 1
            await asyncio.sleep(max(0.0, began_s + frames * FRAME_S - time.monotonic()))

    async def _send_frame(
        self, socket: aiohttp.ClientWebSocketResponse, said: Int16 | None, *, number: int
    ) -> None:
        sound = SILENT if said is None else encode_mulaw(said)
        media = {
            "track": "inbound",
            "chunk": str(number + 1),
            "timestamp": str(round(1000 * number * FRAME_S)),
            "payload": base64.b64encode(sound).decode("ascii"),
        }
        own = {"streamSid": self._stream, "sequenceNumber": str(number + 2)}
        await self._send(socket, {"event": "media", "media": media, **own})
        if self._keys:
            dtmf = {"track": "inbound_track", "digit": self._keys.popleft()}
            await self._send(socket, {"event": "dtmf", "dtmf": dtmf, **own})
        while self._far.returned:
            mark = {"name": self._far.returned.pop(0)}
            await self._send(socket, {"event": "mark", "mark": mark, **own})

    async def _hear(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        async for received in socket:
            if received.type is aiohttp.WSMsgType.TEXT:
                with contextlib.suppress(ValueError, AttributeError, TypeError):
                    self._far.take(json.loads(received.data))

    async def _send(self, socket: aiohttp.ClientWebSocketResponse, message: dict[str, Any]) -> None:
        with contextlib.suppress(ConnectionError):
            await socket.send_str(json.dumps(message))
