"""RTVI clients that this project did not write hold a spoken conversation with the gateway."""

import asyncio
from typing import Any

from aiohttp.test_utils import TestClient, TestServer
from gateway_doubles import playing, said
from pipecat.frames.frames import (
    EndFrame,
    Frame,
    InputAudioRawFrame,
    InputTransportMessageFrame,
    OutputAudioRawFrame,
    OutputTransportMessageUrgentFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.transports.websocket.client import WebsocketClientParams, WebsocketClientTransport
from pipecat.workers.runner import WorkerRunner
from talk_doubles import RATE_HZ, models, recording

from voiceagent.config import Config, Persona
from voiceagent.gateway.app import Gateway, make_app
from voiceagent.gateway.talk.route import Talks
from voiceagent.gateway.talk.wire import WIRE_HZ
from voiceagent.sound.pcm import to_int16

REPLY = "It is about two miles from here."


class Ear(FrameProcessor):
    """What pipecat's own client makes of what it is sent."""

    def __init__(self) -> None:
        super().__init__()
        self.sound = bytearray()
        self.messages: list[dict[str, Any]] = []
        self.over = asyncio.Event()
        self.ready = asyncio.Event()

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, InputAudioRawFrame):
            assert frame.sample_rate == WIRE_HZ
            self.sound += frame.audio
        elif isinstance(frame, InputTransportMessageFrame):
            self._take(frame.message)
        else:
            await self.push_frame(frame, direction)

    def _take(self, message: dict[str, Any]) -> None:
        self.messages.append(message)
        if message["type"] == "bot-ready":
            self.ready.set()
        if message["type"] == "bot-stopped-speaking":
            self.over.set()


async def test_pipecats_own_client_transport_asks_and_hears() -> None:
    """Its serializer, its framing, its pace: sound in, sound and verified words out."""
    talks = Talks(
        models(hears=["How far is it?"], replies=[REPLY]), Config(persona=Persona(greeting=""))
    )
    gateway = Gateway(source=playing(*said("Typed.")), model="double", max_tokens=64)
    async with TestClient(TestServer(make_app(gateway, talks=talks))) as client:
        transport = WebsocketClientTransport(
            f"ws://{client.host}:{client.port}/v1/talk",
            WebsocketClientParams(
                audio_in_enabled=True, audio_out_enabled=True, add_wav_header=False
            ),
        )
        ear = Ear()
        worker = PipelineWorker(
            Pipeline([transport.input(), ear, transport.output()]),
            params=PipelineParams(audio_in_sample_rate=WIRE_HZ, audio_out_sample_rate=RATE_HZ),
            enable_rtvi=False,
        )
        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(worker)
        running = asyncio.create_task(runner.run())
        async with asyncio.timeout(40):
            hello = {
                "label": "rtvi-ai",
                "type": "client-ready",
                "id": "1",
                "data": {"version": "2.2.0"},
            }
            await worker.queue_frame(OutputTransportMessageUrgentFrame(message=hello))
            await ear.ready.wait()
            question = to_int16(recording(("voice", 0.8), ("pause", 1.2)).pcm)
            await worker.queue_frame(OutputAudioRawFrame(question.tobytes(), RATE_HZ, 1))
            await ear.over.wait()
            await worker.queue_frame(EndFrame())
            await running
    words = [each["data"]["text"] for each in ear.messages if each["type"] == "bot-llm-text"]
    assert "".join(words) == REPLY
    heard = [each["data"]["text"] for each in ear.messages if each["type"] == "user-transcription"]
    assert heard[-1] == "How far is it?"
    # Twenty characters are said in a second; the last 4 ms wait in the resampler for others.
    assert abs(len(ear.sound) / 2 / WIRE_HZ - len(REPLY) / 20) < 0.005
