"""A voice bot of pipecat's own parts on this project's models: what latency is compared with.

    python -m voiceagent.latency.stock_bot --llm URL     talks over the sound card until Ctrl-C

Silero VAD, smart-turn v3, faster-whisper, an OpenAI-compatible server (llama.cpp) and Piper, each
as pipecat sets it up. Needs the extra `peers`. Prints "ready" once it listens, and after each turn
one line of JSON with what pipecat's own observer took the user's wait for.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from pathlib import Path

from loguru import logger
from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.observers.user_bot_latency_observer import UserBotLatencyObserver
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import (
    LLMContextAggregatorPair,
    LLMUserAggregatorParams,
)
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.services.piper.tts import PiperTTSService
from pipecat.services.whisper.stt import WhisperSTTService
from pipecat.transports.local.audio import LocalAudioTransport, LocalAudioTransportParams
from pipecat.workers.runner import WorkerRunner

from voiceagent.config import Persona, cache_directory
from voiceagent.latency.agents import OBSERVER
from voiceagent.weights.manifest import Manifest
from voiceagent.weights.store import Store


def main() -> None:
    """Builds the bot and runs it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--llm", required=True, metavar="URL", help="base URL, .../v1")
    parser.add_argument("--max-tokens", type=int, help="of the longest reply")
    arguments = parser.parse_args()
    logger.remove()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(talk(arguments, voice=voice_folder(Path(folder))))


def tell(line: str) -> None:
    """Says a line to the rig."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def voice_folder(folder: Path) -> Path:
    """The voice under the names that Piper's service looks for."""
    preset, store = Manifest.load().preset("cpu"), Store(cache_directory())
    for file in preset.files["voice"]:
        suffix = ".onnx" if file.name.endswith(".onnx") else ".onnx.json"
        (folder / f"voice{suffix}").symlink_to(store.path(file))
    return folder


async def talk(arguments: argparse.Namespace, *, voice: Path) -> None:
    """One conversation."""
    preset, store = Manifest.load().preset("cpu"), Store(cache_directory())
    transport = LocalAudioTransport(
        LocalAudioTransportParams(audio_in_enabled=True, audio_out_enabled=True)
    )
    recognizer = WhisperSTTService(
        device="cpu",
        compute_type="int8",
        settings=WhisperSTTService.Settings(model=str(store.folder(preset.files["recognizer"]))),
    )
    llm = OpenAILLMService(
        api_key="none",
        base_url=arguments.llm,
        settings=OpenAILLMService.Settings(
            model="local",
            temperature=0.0,
            **({} if arguments.max_tokens is None else {"max_tokens": arguments.max_tokens}),
        ),
    )
    synthesizer = PiperTTSService(
        download_dir=voice, settings=PiperTTSService.Settings(voice="voice")
    )
    context = LLMContext([{"role": "system", "content": Persona().system_prompt}])
    user, assistant = LLMContextAggregatorPair(
        context, user_params=LLMUserAggregatorParams(vad_analyzer=SileroVADAnalyzer())
    )
    pipeline = Pipeline(
        [
            transport.input(),
            recognizer,
            user,
            llm,
            synthesizer,
            transport.output(),
            assistant,
        ]
    )
    observer = UserBotLatencyObserver()

    async def on_latency_measured(_: object, latency_s: float) -> None:
        tell(json.dumps({OBSERVER: round(1000 * latency_s, 1)}))

    observer.add_event_handler("on_latency_measured", on_latency_measured)
    worker = PipelineWorker(
        pipeline,
        observers=[observer],
        params=PipelineParams(audio_in_sample_rate=16_000, audio_out_sample_rate=24_000),
        cancel_on_idle_timeout=False,
    )

    async def on_pipeline_started(*_: object) -> None:
        tell("ready")

    worker.add_event_handler("on_pipeline_started", on_pipeline_started)
    runner = WorkerRunner()
    await runner.add_workers(worker)
    await runner.run()


if __name__ == "__main__":
    main()
