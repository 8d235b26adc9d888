"""Telephones: callers at the far end of a line, and a server that answers them on doubles.

``MediaStreamPhone`` is a provider of media streams by Twilio's words: it plays what it is sent in
order and in real time, sends a mark back when the sound before it was played, and sends all of them
back at once when it is cleared. It keeps what the caller could really hear.
"""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
from aiohttp import ClientWebSocketResponse, web
from aiohttp.test_utils import TestClient, TestServer

from voiceagent.config import Config, Persona, Telephony
from voiceagent.core.audit import Audit
from voiceagent.core.trace import Header, read
from voiceagent.session.models import Models
from voiceagent.session.trace_file import TraceFile
from voiceagent.telephony import g711
from voiceagent.telephony.switchboard import Switchboard
from voiceagent.telephony.twilio_routes import STREAM_PATH, Door, TwilioRoutes

STREAM = "MZ" + "0" * 32
PACKET = g711.RATE_HZ // 50
PACKET_S = 0.02


def call_config(*, greeting: str = "", **telephony: Any) -> Config:
    """A configuration whose calls say ``greeting`` first."""
    return Config(persona=Persona(greeting=greeting), telephony=Telephony(**telephony))


def audited(path: Any) -> list[Any]:
    """What is wrong with a trace."""
    audit = Audit()
    with path.open("rb") as lines:
        for line, record in read(lines):
            audit.feed(record, line=line)
    return list(audit.summary().violations)


def clicks_of(pcm: np.ndarray) -> int:
    """How often the tone synthesizer's tone, at 8 kHz, does not go on as a tone does: a piece is
    missing there, or was repeated, or its level jumps."""
    tone = pcm.astype(np.float64)
    step = 2 * 0.2  # radians a sample: made at 16 kHz
    expected = 2 * np.cos(step) * tone[1:-1] - tone[:-2]
    # What mu-law rounds is at most an 32nd of each of three samples; the ends of a reply are steps.
    wrong = np.flatnonzero(np.abs(tone[2:] - expected) > 1000)
    inside = wrong[(wrong > 400) & (wrong < len(tone) - 400)]
    return len(inside)


class Heard(list[Any]):
    """A listener that keeps everything, and can be waited for."""

    def __init__(self) -> None:
        super().__init__()
        self._changed = asyncio.Event()

    def __call__(self, happening: Any) -> None:
        self.append(happening)
        self._changed.set()

    async def until(self, wanted: Callable[[Any], bool], *, times: int = 1) -> Any:
        """Waits until that has happened so many times; returns the latest."""
        while sum(map(wanted, self)) < times:
            self._changed.clear()
            await self._changed.wait()
        return [each for each in self if wanted(each)][-1]


@asynccontextmanager
async def answering(
    models: Models, config: Config, *, trace: Any = None, door: Door | None = None
) -> AsyncIterator[tuple[TestClient, Switchboard, Heard]]:
    """A server with Twilio's routes; what happens in its calls."""
    happenings = Heard()
    writing = [TraceFile(trace, header=Header(preset="tiny"))] if trace else []
    switchboard = Switchboard(models, config, listeners=lambda call: [happenings, *writing])
    app = web.Application()
    app.add_routes(TwilioRoutes(switchboard, door=door).routes())
    async with TestClient(TestServer(app)) as client:
        yield client, switchboard, happenings
    for each in writing:
        each.close()


class MediaStreamPhone:
    """One caller; ``delay_s`` is the way between us and the provider, each way."""

    def __init__(self, socket: ClientWebSocketResponse, *, delay_s: float = 0.0) -> None:
        self._socket, self._delay_s = socket, delay_s
        self._buffered: list[tuple[str, Any]] = []
        self._to_say: list[bytes] = []
        self._chunk = 0
        self.sends_silence = True
        """Whether it sends anything while nobody speaks; some lines do not."""
        self._changed = asyncio.Event()
        self.played: list[np.ndarray] = []
        """Of our sound, what the caller heard, piece by piece."""
        self.latest_s = 0.0
        """When its last piece was over, by the event loop."""
        self.clears = 0
        self.closed = asyncio.Event()

    @classmethod
    @asynccontextmanager
    async def calling(
        cls, client: TestClient, *, delay_s: float = 0.0, call: str = "CA1", **headers: str
    ) -> "AsyncIterator[MediaStreamPhone]":
        """Calls, and hangs up at the end unless the other side has."""
        async with client.ws_connect(STREAM_PATH, headers=headers) as socket:
            phone = cls(socket, delay_s=delay_s)
            await phone._begin(call)
            tasks = [asyncio.create_task(each) for each in (phone._listen(), phone._play())]
            tasks.append(asyncio.create_task(phone._speak()))
            try:
                yield phone
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    async def _begin(self, call: str) -> None:
        form = {"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1}
        start = {"streamSid": STREAM, "callSid": call, "tracks": ["inbound"], "mediaFormat": form}
        await self.send({"event": "connected", "protocol": "Call", "version": "1.0.0"})
        await self.send({"event": "start", "sequenceNumber": "1", "start": start})

    # The caller -------------------------------------------------------------------------------

    def say(self, pcm: np.ndarray) -> None:
        """Speaks ``pcm`` (samples,) at 8 kHz, from now on."""
        sound = g711.encode_mulaw(pcm)
        self._to_say += [sound[at : at + PACKET] for at in range(0, len(sound), PACKET)]

    def shout(self, length_s: float) -> None:
        """Makes a noise that a loudness VAD takes for a voice."""
        random = np.random.default_rng(0)
        self.say(random.integers(-9000, 9000, int(length_s * 8000)).astype(np.int16))

    async def press(self, digits: str) -> None:
        """Presses keys."""
        for digit in digits:
            dtmf = {"track": "inbound_track", "digit": digit}
            await self.send({"event": "dtmf", "streamSid": STREAM, "dtmf": dtmf})

    async def hang_up(self) -> None:
        """Hangs up politely."""
        await self.send({"event": "stop", "streamSid": STREAM, "stop": {"callSid": "CA1"}})

    async def send(self, fields: Any) -> None:
        """Sends a message of any kind."""
        await self.send_text(json.dumps(fields))

    async def send_text(self, text: str) -> None:
        """Sends a text of any kind; one that has hung up already sends nothing."""
        try:
            await self._socket.send_str(text)
        except ConnectionError:
            self.closed.set()

    async def _speak(self) -> None:
        loop, silence = asyncio.get_running_loop(), b"\xff" * PACKET
        due_s = loop.time()
        while True:
            if self._to_say or self.sends_silence:
                self._chunk += 1
                sound = self._to_say.pop(0) if self._to_say else silence
                payload = base64.b64encode(sound).decode()
                media = {"track": "inbound", "chunk": str(self._chunk), "payload": payload}
                await self.send({"event": "media", "streamSid": STREAM, "media": media})
            due_s += PACKET_S
            await asyncio.sleep(max(0.0, due_s - loop.time()))

    # The provider -----------------------------------------------------------------------------

    def heard(self) -> np.ndarray:
        """Everything the caller heard of us (samples,), at 8 kHz."""
        return np.concatenate([np.zeros(0, dtype=np.int16), *self.played])

    async def until_heard(self, samples: int) -> None:
        """Waits until so many samples of our sound were played."""
        while sum(map(len, self.played)) < samples:
            self._changed.clear()
            await self._changed.wait()

    async def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        async for received in self._socket:
            message = json.loads(received.data)
            assert message["streamSid"] == STREAM
            loop.call_later(self._delay_s, self._receive, message)
        self.closed.set()

    def _receive(self, message: Any) -> None:
        match message["event"]:
            case "media":
                sound = base64.b64decode(message["media"]["payload"])
                self._buffered.append(("sound", g711.decode_mulaw(sound)))
            case "mark":
                self._buffered.append(("mark", message["mark"]["name"]))
            case "clear":
                self.clears += 1
                marks = [what for kind, what in self._buffered if kind == "mark"]
                self._buffered.clear()
                for name in marks:
                    self._return(name)

    def _return(self, name: str) -> None:
        mark = {"event": "mark", "streamSid": STREAM, "mark": {"name": name}}
        asyncio.get_running_loop().call_later(
            self._delay_s, lambda: asyncio.ensure_future(self.send(mark))
        )

    async def _play(self) -> None:
        """Plays the buffer, a piece at a time; a mark at its head goes back."""
        loop = asyncio.get_running_loop()
        due_s = loop.time()
        while True:
            while self._buffered and self._buffered[0][0] == "mark":
                self._return(self._buffered.pop(0)[1])
            if not self._buffered:
                await asyncio.sleep(0.002)
                due_s = loop.time()
                continue
            pcm = self._buffered.pop(0)[1]
            self.played.append(pcm)
            due_s += len(pcm) / 8000
            await asyncio.sleep(max(0.0, due_s - loop.time()))
            self.latest_s = loop.time()
            self._changed.set()


class AudioSocketPhone:
    """Asterisk's side of AudioSocket, by its documentation: it plays what it gets as it gets it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._to_say: list[bytes] = []
        self.arrived: list[tuple[float, np.ndarray]] = []
        """When each frame of our sound came, and the sound."""
        self.hung_up = asyncio.Event()
        self.closed = asyncio.Event()
        self._changed = asyncio.Event()

    @classmethod
    @asynccontextmanager
    async def calling(cls, port: int) -> "AsyncIterator[AudioSocketPhone]":
        """Calls, and breaks the connection at the end."""
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        phone = cls(reader, writer)
        phone.send(0x01, bytes(range(16)))
        tasks = [asyncio.create_task(each) for each in (phone._listen(), phone._speak())]
        try:
            yield phone
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            writer.close()

    @staticmethod
    def silence(length_s: float) -> np.ndarray:
        """Nothing (samples,), float32 at 8 kHz."""
        return np.zeros(int(length_s * 8000), dtype=np.float32)

    def send(self, kind: int, payload: bytes = b"") -> None:
        """One frame."""
        self._writer.write(bytes([kind]) + len(payload).to_bytes(2, "big") + payload)

    def say(self, pcm: np.ndarray) -> None:
        """Speaks ``pcm`` (samples,) at 8 kHz, from now on."""
        sound = np.pad(pcm, (0, -len(pcm) % PACKET)).astype("<i2").reshape(-1, PACKET)
        self._to_say += [packet.tobytes() for packet in sound]

    def shout(self, length_s: float) -> None:
        """Makes a noise that a loudness VAD takes for a voice."""
        random = np.random.default_rng(0)
        self.say(random.integers(-9000, 9000, int(length_s * 8000)).astype(np.int16))

    def heard(self) -> np.ndarray:
        """Everything that came (samples,), silence included."""
        return np.concatenate([np.zeros(0, dtype=np.int16), *(pcm for _, pcm in self.arrived)])

    def sounding(self) -> int:
        """Frames of it that are not silent."""
        return sum(bool(np.any(pcm)) for _, pcm in self.arrived)

    async def until(self, wanted: Callable[[], bool]) -> None:
        """Waits until something is true of what came."""
        while not wanted():
            self._changed.clear()
            await self._changed.wait()

    async def _speak(self) -> None:
        loop = asyncio.get_running_loop()
        due_s = loop.time()
        while True:
            self.send(0x10, self._to_say.pop(0) if self._to_say else bytes(2 * PACKET))
            due_s += PACKET_S
            await asyncio.sleep(max(0.0, due_s - loop.time()))

    async def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while True:
                head = await self._reader.readexactly(3)
                payload = await self._reader.readexactly(int.from_bytes(head[1:], "big"))
                if head[0] == 0x00:
                    self.hung_up.set()
                elif head[0] == 0x10:
                    self.arrived.append((loop.time(), np.frombuffer(payload, dtype="<i2")))
                self._changed.set()
        except (asyncio.IncompleteReadError, ConnectionError):
            self.closed.set()
