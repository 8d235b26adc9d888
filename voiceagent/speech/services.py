"""Our recognizer and synthesizer as pipecat services: each can be put into any pipecat pipeline.

Both run their model on a thread of its own with a bounded wait: a model that hangs costs one
utterance, never the pipeline.
"""

import asyncio
from collections.abc import AsyncGenerator
from typing import Protocol

import numpy as np
from loguru import logger
from pipecat.frames.frames import (
    CancelFrame,
    EndFrame,
    Frame,
    InputAudioRawFrame,
    InterimTranscriptionFrame,
    InterruptionFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    TextFrame,
    TTSSpeakFrame,
    TTSStartedFrame,
    TTSStoppedFrame,
    UserStoppedSpeakingFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.processors.frame_processor import FrameDirection
from pipecat.services.settings import STTSettings, TTSSettings
from pipecat.services.stt_service import STTService
from pipecat.services.tts_service import TTSService
from pipecat.utils.time import time_now_iso8601

from voiceagent.core.errors import VoiceAgentError
from voiceagent.sound.pcm import Float32, to_float32
from voiceagent.speech.frames import (
    CommitFrame,
    HushFrame,
    MuteFrame,
    SpeechFrame,
    TurnWordsFrame,
    UnheardFrame,
    WithdrawFrame,
    context_id,
)
from voiceagent.speech.offload import Lane
from voiceagent.speech.recognizer import RATE_HZ, Effort, Transcript
from voiceagent.speech.synthesizer import Speech, SynthesisError, Synthesizer
from voiceagent.speech.tracing import span
from voiceagent.speech.turn_sound import TurnSound

RECOGNITION_TIMEOUT_S = 20.0
"""Forty times what an utterance takes on two cores; beyond it the recognizer hangs."""
SYNTHESIS_TIMEOUT_S = 20.0
"""The longest commit takes under a second; beyond this the synthesizer hangs."""


class Recognizer(Protocol):
    """Sound of one utterance in, words out."""

    def recognize(self, pcm: Float32, *, rate_hz: int, language: str, effort: Effort) -> Transcript:
        """Blocks while the model runs. ``pcm`` has shape (samples,)."""
        ...


class RecognizerService(STTService):
    """Reads a turn at each of its pauses; says so when there are no words.

    While the user speaks it glances at what was said so far, and whenever the voice stops. If a
    pause comes of that, the turn is read already. It works while the user speaks on: words that a
    longer turn has overtaken are never waited for.
    """

    def __init__(
        self,
        recognizer: Recognizer,
        *,
        language: str = "en",
        timeout_s: float = RECOGNITION_TIMEOUT_S,
    ) -> None:
        super().__init__(
            ttfs_p99_latency=0.5, settings=STTSettings(model="local", language=language)
        )
        self._recognizer = recognizer
        self._language = language
        self._timeout_s = timeout_s
        self._lane = Lane("recognizer")
        self._turn = TurnSound(rate_hz=RATE_HZ)
        self._wanted: bytes | None = None
        self._seen: tuple[bytes, Transcript] | None = None
        """What the latest glance was at, and what it saw."""
        self._reading: asyncio.Task[None] | None = None

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Follows the VAD; a turn that is over is forgotten."""
        if isinstance(frame, VADUserStartedSpeakingFrame):
            self._turn.begin()
        elif isinstance(frame, UserStoppedSpeakingFrame):
            self._turn.forget()
            self._wanted = None
        elif isinstance(frame, EndFrame) and self._reading is not None:
            await self._reading  # what was said last is still told
        elif isinstance(frame, CancelFrame):
            await self._stop_reading()
        elif isinstance(frame, HushFrame):
            self._turn.hush()
            return self._begin_reading()
        await super().process_frame(frame, direction)
        if isinstance(frame, VADUserStoppedSpeakingFrame):
            self._wanted = self._turn.end()
            self._begin_reading()

    async def process_audio_frame(
        self, frame: InputAudioRawFrame, direction: FrameDirection
    ) -> None:
        """Keeps the sound until there is a pause."""
        if frame.sample_rate != RATE_HZ:
            raise ValueError(f"the recognizer takes {RATE_HZ} Hz, got {frame.sample_rate}")
        self._turn.add(frame.audio)
        if self._turn.is_worth_a_glance:
            self._begin_reading()

    async def run_stt(self, audio: bytes) -> AsyncGenerator[Frame | None, None]:
        """Yields the words of ``audio``, or says that there are none and why."""
        yield await self._outcome(audio, utterance=None)

    def _begin_reading(self) -> None:
        if self._reading is None:
            self._reading = self.create_task(self._read(), "read")

    async def cleanup(self) -> None:
        """Leaves nothing running."""
        await super().cleanup()  # type: ignore[no-untyped-call]  # pipecat's
        await self._stop_reading()

    async def _stop_reading(self) -> None:
        if self._reading is not None:
            task, self._reading = self._reading, None
            await self.cancel_task(task)

    async def _read(self) -> None:
        """Reads what is wanted, the latest first and last; has a glance where nothing is."""
        while True:
            if self._wanted is not None:
                audio, self._wanted = self._wanted, None
                frame = await self._outcome(audio, utterance=self._turn.utterances)
                await self.push_frame(frame)
            elif self._turn.is_worth_a_glance:
                await self._glance()
            else:
                break
        self._reading = None

    async def _glance(self) -> None:
        settled, utterances = self._turn.words, self._turn.utterances
        audio = self._turn.glance()
        try:
            transcript = await self._recognize(audio, effort=Effort.GLANCE)
        except Exception as error:  # noqa: BLE001  # whether it matters is seen at the pause
            logger.debug(f"{self}: a glance failed: {error}")
            return
        if not transcript.confident:
            return
        self._seen = audio, transcript
        if self._turn.utterances == utterances:
            words = f"{settled} {transcript.text.strip()}".strip()
            await self.push_frame(
                InterimTranscriptionFrame(
                    text=words, user_id="", timestamp=time_now_iso8601(), result=transcript
                )
            )

    async def _transcript(self, audio: bytes) -> Transcript:
        if self._seen is not None and self._seen[0] == audio:
            return self._seen[1]
        return await self._recognize(audio, effort=Effort.USUAL)

    async def _recognize(self, audio: bytes, *, effort: Effort) -> Transcript:
        pcm = to_float32(np.frombuffer(audio, dtype=np.int16))
        with span(self, "stt", {"stt.audio_seconds": len(pcm) / RATE_HZ}):
            return await self._lane.run(
                lambda: self._recognizer.recognize(
                    pcm, rate_hz=RATE_HZ, language=self._language, effort=effort
                ),
                timeout_s=self._timeout_s,
            )

    async def _outcome(self, audio: bytes, *, utterance: int | None) -> Frame:
        settled = self._turn.words
        try:
            transcript = await self._transcript(audio)
        except Exception as error:  # noqa: BLE001  # any failure of a model costs this turn only
            await self.push_error(f"recognizer: {error}", exception=error)
            return UnheardFrame(cause="failed", utterance=utterance)
        text = transcript.text.strip()
        if transcript.confident:
            self._turn.read(text, length=len(audio))
        words = f"{settled} {text}".strip() if transcript.confident else settled
        if not words:
            return UnheardFrame(cause="unsure" if text else "nothing", utterance=utterance)
        frame = TurnWordsFrame(
            text=words,
            user_id="",
            timestamp=time_now_iso8601(),
            result=transcript,
            finalized=True,
            utterance=utterance,
        )
        # What the user said outlives an interruption, above all the one that it causes.
        frame.interruptible = False
        return frame


class SynthesizerService(TTSService):
    """Makes speech of commits and refuses every other text, whoever sent it."""

    def __init__(
        self,
        synthesizer: Synthesizer,
        *,
        timeout_s: float = SYNTHESIS_TIMEOUT_S,
    ) -> None:
        super().__init__(
            push_text_frames=False,
            settings=TTSSettings(model="local", voice=None, language=None),
        )
        self._synthesizer = synthesizer
        self._timeout_s = timeout_s
        self._lane = Lane("synthesizer")
        self._sounding: str | None = None
        self._withdrawn: str | None = None

    async def run_tts(self, text: str, context_id: str) -> AsyncGenerator[Frame | None, None]:
        """Refuses: a string has no proof that it was verified."""
        raise TypeError(f"only commits are synthesized, not {text[:40]!r}")
        yield  # makes this an asynchronous generator, as the base class requires

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Takes commits; passes all other text by, unsaid."""
        if isinstance(frame, CommitFrame) and frame.commit is not None:
            await self._speak(frame)
        elif isinstance(frame, TTSSpeakFrame):
            await self.push_error(f"only commits are synthesized, not {frame.text[:40]!r}")
        elif isinstance(frame, TextFrame):
            frame.skip_tts = True
            await super().process_frame(frame, direction)
        elif isinstance(frame, LLMFullResponseStartFrame):
            await self.push_frame(frame, direction)
        elif isinstance(frame, LLMFullResponseEndFrame):
            await self._stop_sounding()
            await self.push_frame(frame, direction)
        elif isinstance(frame, WithdrawFrame):
            self._withdraw(context_id(frame.reply, epoch=frame.epoch))
            await self.push_frame(frame, direction)
        else:
            if isinstance(frame, InterruptionFrame):
                self._sounding = None
            await super().process_frame(frame, direction)

    def _withdraw(self, context: str) -> None:
        """Its commits that still wait are passed over."""
        self._withdrawn = context
        if self._sounding == context:
            self._sounding = None

    async def _speak(self, frame: CommitFrame) -> None:
        commit = frame.commit
        assert commit is not None
        context = context_id(commit.reply, epoch=commit.epoch)
        if context == self._withdrawn:
            return
        await self.push_frame(frame)
        try:
            with span(self, "tts", {"tts.reply": commit.reply, "tts.segment": commit.segment}):
                speech: Speech = await self._lane.run(
                    lambda: self._synthesizer.synthesize(commit).at_rate(self.sample_rate),
                    timeout_s=self._timeout_s,
                )
        except (VoiceAgentError, SynthesisError) as error:
            await self.push_frame(MuteFrame(commit=commit, reason=str(error)))
            return
        except Exception as error:  # noqa: BLE001  # any failure of a model costs this reply only
            await self.push_frame(
                MuteFrame(commit=commit, reason=f"{type(error).__name__}: {error}")
            )
            return
        if context == self._withdrawn:
            return
        if len(speech.pcm) and self._sounding is None:
            self._sounding = context
            await self.push_frame(TTSStartedFrame(context_id=context))
        await self.push_frame(SpeechFrame.of(speech))

    async def _stop_sounding(self) -> None:
        if self._sounding is not None:
            sounded, self._sounding = self._sounding, None
            await self.push_frame(TTSStoppedFrame(context_id=sounded))
