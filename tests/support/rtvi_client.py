"""An RTVI client in Python: pipecat's own protobuf classes, and an ear that plays in real time."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import numpy as np
from pipecat.frames.protobufs import frames_pb2

RATE_HZ = 16_000
WIRE_HZ = 24_000
PIECE = RATE_HZ // 50


def message_of(data: dict[str, Any]) -> bytes:
    """An RTVI message as pipecat's clients send it."""
    frame = frames_pb2.Frame()
    frame.message.data = json.dumps(data)
    return frame.SerializeToString()


def sound_of(pcm: Any, *, rate_hz: int = RATE_HZ) -> bytes:
    """A piece of the user's sound (samples,), int16."""
    frame = frames_pb2.Frame()
    frame.audio.audio = pcm.tobytes()
    frame.audio.sample_rate, frame.audio.num_channels = rate_hz, 1
    return frame.SerializeToString()


class RtviClient:
    """Talks over a socket. With ``reports`` it plays like the page does and says how far it is."""

    def __init__(self, socket: Any, *, reports: bool = False) -> None:
        self._socket, self._reports = socket, reports
        self.messages: list[dict[str, Any]] = []
        self.sound = bytearray()
        self.played = 0
        """Samples played since the latest cut."""
        self.is_held = False
        self.heard: list[Any] = []
        """What has sounded, piece by piece."""
        self._pending = np.zeros(0, dtype=np.int16)
        self._cuts = 0
        self._came = asyncio.Event()
        self._tasks = [asyncio.create_task(self._listen())]
        if reports:
            self._tasks.append(asyncio.create_task(self._play()))

    async def begin(self, *, version: str = "2.1.0") -> dict[str, Any]:
        """The handshake; the server's answer."""
        data = {"version": version, "about": {"library": "test"}}
        await self.say("client-ready", data, request="ready")
        return await self.until("bot-ready")

    async def say(self, kind: str, data: Any = None, *, request: str = "m") -> None:
        """Sends one message."""
        fields = {"label": "rtvi-ai", "type": kind, "id": request, "data": data}
        await self._socket.send_bytes(message_of(fields))

    async def send(self, data: bytes | str) -> None:
        """Sends anything."""
        await (self._socket.send_bytes if isinstance(data, bytes) else self._socket.send_str)(data)

    async def closed(self) -> None:
        """Waits until the server has closed."""
        async with asyncio.timeout(30):
            await self._tasks[0]

    async def speak(self, pcm: Any) -> None:
        """Sends sound at once, so that its times do not depend on the machine's."""
        for at in range(0, len(pcm), PIECE):
            await self._socket.send_bytes(sound_of(pcm[at : at + PIECE]))

    async def until(
        self, kind: str, wanted: Callable[[Any], bool] = lambda data: True
    ) -> dict[str, Any]:
        """The next message of that type that is wanted; it is taken out of ``messages``."""
        async with asyncio.timeout(30):
            while True:
                for message in self.messages:
                    if message["type"] == kind and wanted(message.get("data")):
                        self.messages.remove(message)
                        return message
                self._came.clear()
                await self._came.wait()

    async def until_refused(self, request: str) -> None:
        """Until the server has refused the message of that name."""
        while (await self.until("error-response"))["id"] != request:
            pass

    async def until_frame(self, kind: str) -> dict[str, Any]:
        """The next frame of ours of that type."""
        found = await self.until("server-message", lambda data: data["type"] == kind)
        frame: dict[str, Any] = found["data"]
        return frame

    async def close(self) -> None:
        """Goes away."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._socket.close()

    async def _listen(self) -> None:
        async for received in self._socket:
            frame = frames_pb2.Frame.FromString(received.data)
            if frame.WhichOneof("frame") == "audio":
                assert frame.audio.sample_rate == WIRE_HZ
                self.sound += frame.audio.audio
                pcm = np.frombuffer(frame.audio.audio, dtype=np.int16)
                self._pending = np.concatenate([self._pending, pcm])
                continue
            message = json.loads(frame.message.data)
            self._obey(message.get("data"))
            self.messages.append(message)
            self._came.set()

    def _obey(self, data: Any) -> None:
        if not self._reports or not isinstance(data, dict) or data.get("type") != "playout":
            return
        self.is_held = data["do"] == "hold"
        if data["do"] == "cut":
            self._pending, self.played, self._cuts = self._pending[:0], 0, data["cuts"]

    async def _play(self) -> None:
        """A sound card: 20 ms at a time, and a report after each."""
        piece = WIRE_HZ // 50
        while True:
            await asyncio.sleep(0.02)
            if not self.is_held and len(self._pending):
                now, self._pending = self._pending[:piece], self._pending[piece:]
                self.heard.append(now)
                self.played += len(now)
            data = {"t": "playout", "d": {"played": self.played, "cuts": self._cuts}}
            await self.say("client-message", data)
