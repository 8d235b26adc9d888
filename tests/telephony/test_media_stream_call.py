"""One call over a real WebSocket: a caller speaks mu-law, is answered in it, and hangs up."""

import asyncio
import base64
import json

import numpy as np
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from recordings import fixture_path

from voiceagent.config import Config, Decoding, Persona, cache_directory
from voiceagent.core.audit import Audit
from voiceagent.core.events import Author, Ended, EndReason, Heard, Started
from voiceagent.core.trace import Header, read
from voiceagent.session.cores import share_cores
from voiceagent.session.models import load_models
from voiceagent.session.trace_file import TraceFile
from voiceagent.sound.files import read_sound
from voiceagent.sound.pcm import to_float32, to_int16
from voiceagent.sound.resample import resample
from voiceagent.speech.recognizer import WhisperRecognizer
from voiceagent.telephony import mulaw
from voiceagent.telephony.media_stream import RATE_HZ, encode_media
from voiceagent.telephony.routes import PATH, media_stream_route
from voiceagent.weights.manifest import Manifest
from voiceagent.weights.store import Store

STREAM = "MZ" + "0" * 32
PACKET = RATE_HZ // 50
GREETING = "Good morning, how can I help you today?"


@pytest.fixture(scope="module")
def models():
    """The tiny preset."""
    config = _config()
    preset, store = Manifest.load().preset("tiny"), Store(cache_directory())
    with load_models(config, preset=preset, store=store, shares=share_cores(2)) as models:
        yield models


def _config():
    return Config(decoding=Decoding(max_tokens=24), persona=Persona(greeting=GREETING))


class Call:
    """A caller with a recording for a mouth; hostile frames come between its words."""

    def __init__(self, socket):
        self._socket = socket
        self.heard = bytearray()
        self.over = asyncio.Event()

    async def start(self):
        """What the provider sends first."""
        start = {"streamSid": STREAM, "callSid": "CA1", "mediaFormat": {"sampleRate": RATE_HZ}}
        await self._send({"event": "connected", "protocol": "Call"})
        await self._send({"event": "start", "streamSid": STREAM, "start": start})

    async def speak(self, sound):
        """Sends ``sound`` in packets of 20 ms at the pace of a line, then silence until over."""
        silence = mulaw.encode(np.zeros(PACKET, dtype=np.int16))
        packets = [sound[at : at + PACKET] for at in range(0, len(sound), PACKET)]
        for hostile in ("{", "[]", encode_media("MZother", silence), '{"event": "media"}'):
            await self._socket.send_str(hostile)
        while packets or not self.over.is_set():
            await self._socket.send_str(
                encode_media(STREAM, packets.pop(0) if packets else silence)
            )
            await asyncio.sleep(0.02)
        await self._send({"event": "stop", "streamSid": STREAM})

    async def listen(self):
        """Keeps what the line would play."""
        async for received in self._socket:
            message = json.loads(received.data)
            assert message["streamSid"] == STREAM
            if message["event"] == "media":
                self.heard += base64.b64decode(message["media"]["payload"])

    async def _send(self, fields):
        await self._socket.send_str(json.dumps(fields))


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    """Where the call's trace is."""
    return tmp_path_factory.mktemp("call") / "trace.jsonl"


@pytest.fixture(scope="module")
def call(models, trace):
    """One whole call: what was heard at the far end, and everything that happened."""
    writing = TraceFile(trace, header=Header(preset="tiny"))
    result = asyncio.run(_hold_call(models, writing))
    writing.close()
    return result


async def _hold_call(models, writing):
    happenings = []
    greeted, answered = asyncio.Event(), asyncio.Event()

    def listen(happening):
        happenings.append(happening)
        if isinstance(happening, Ended):
            (answered if greeted.is_set() else greeted).set()

    app = web.Application()
    app.add_routes(
        [media_stream_route(models, _config(), listeners=lambda call: [listen, writing])]
    )
    question = read_sound(fixture_path("largest-planet"))
    pcm = to_int16(resample(question.pcm, from_hz=question.rate_hz, to_hz=RATE_HZ))
    async with TestClient(TestServer(app)) as client, client.ws_connect(PATH) as socket:
        caller = Call(socket)
        listening = asyncio.create_task(caller.listen())
        await caller.start()
        await greeted.wait()
        speaking = asyncio.create_task(caller.speak(mulaw.encode(pcm)))
        await answered.wait()
        caller.over.set()
        await asyncio.gather(speaking, listening)
    return bytes(caller.heard), happenings


def test_the_caller_is_greeted_and_answered(call):
    """The greeting and one reply were heard to their ends; hostile frames ended nothing."""
    _, happenings = call
    ended = [each for each in happenings if isinstance(each, Ended)]
    authors = [each.author for each in happenings if isinstance(each, Started)]
    assert authors == [Author.SCRIPT, Author.MODEL]
    assert ended[0].reason is EndReason.STOP
    assert ended[1].reason in (EndReason.STOP, EndReason.LENGTH)
    assert max(each.to for each in happenings if isinstance(each, Heard)) > 0


def test_what_the_far_end_recorded_is_what_was_said(call):
    """The recording of the line, recognized again, begins with the greeting."""
    heard, _ = call
    pcm = resample(to_float32(mulaw.decode(heard)), from_hz=RATE_HZ, to_hz=16_000)
    files = Manifest.load().preset("tiny").files["recognizer"]
    recognizer = WhisperRecognizer(Store(cache_directory()).folder(files))
    assert "how can i help you" in recognizer.recognize(pcm).text.lower()


@pytest.mark.usefixtures("call")
def test_the_call_passes_the_audit(trace):
    """Nothing unverified was spoken, nothing released early, on the telephone as elsewhere."""
    audit = Audit()
    with trace.open("rb") as lines:
        for line, record in read(lines):
            audit.feed(record, line=line)
    summary = audit.summary()
    assert not summary.violations
    assert summary.turns == 1
    assert summary.replies == 2
    assert summary.speech_s > 0
