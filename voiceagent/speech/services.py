"""Our recognizer and synthesizer as pipecat services: each can be put into any pipecat pipeline.

Both run their model on a thread of its own with a bounded wait: a model that hangs costs one
utterance, never the pipeline.
"""

from collections.abc import AsyncGenerator
from typing import Protocol

import numpy as np
from pipecat.frames.frames import (
    Frame,
    InterruptionFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    TextFrame,
    TranscriptionFrame,
    TTSSpeakFrame,
    TTSStartedFrame,
    TTSStoppedFrame,
)
from pipecat.processors.frame_processor import FrameDirection
from pipecat.services.settings import STTSettings, TTSSettings
from pipecat.services.stt_service import SegmentedSTTService
from pipecat.services.tts_service import TTSService
from pipecat.utils.time import time_now_iso8601

from voiceagent.core.errors import VoiceAgentError
from voiceagent.sound.pcm import Float32, to_float32
from voiceagent.speech.frames import CommitFrame, MuteFrame, SpeechFrame, UnheardFrame
from voiceagent.speech.offload import Lane
from voiceagent.speech.recognizer import Transcript
from voiceagent.speech.synthesizer import Speech, SynthesisError, Synthesizer

RECOGNITION_TIMEOUT_S = 20.0
"""Forty times what an utterance takes on two cores; beyond it the recognizer hangs."""
SYNTHESIS_TIMEOUT_S = 20.0
"""The longest commit takes under a second; beyond this the synthesizer hangs."""


class Recognizer(Protocol):
    """Sound of one utterance in, words out."""

    def recognize(self, pcm: Float32, *, rate_hz: int, language: str) -> Transcript:
        """Blocks while the model runs. ``pcm`` has shape (samples,)."""
        ...


class RecognizerService(SegmentedSTTService):
    """Recognizes each utterance that the VAD cuts; says so when there were no words."""

    def __init__(
        self,
        recognizer: Recognizer,
        *,
        language: str = "en",
        timeout_s: float = RECOGNITION_TIMEOUT_S,
    ) -> None:
        super().__init__(
            # Silence enough to end the last word; the recognizer pads its own window.
            trailing_silence_secs=0.2,
            ttfs_p99_latency=0.5,
            settings=STTSettings(model="local", language=language),
        )
        self._recognizer = recognizer
        self._language = language
        self._timeout_s = timeout_s
        self._lane = Lane("recognizer")

    @property
    def wants_wav_segments(self) -> bool:
        """The recognizer reads samples."""
        return False

    async def run_stt(self, audio: bytes) -> AsyncGenerator[Frame | None, None]:
        """Yields one transcript, or says that there is none and why."""
        pcm = to_float32(np.frombuffer(audio, dtype=np.int16))
        try:
            transcript = await self._lane.run(
                lambda: self._recognizer.recognize(
                    pcm, rate_hz=self.sample_rate, language=self._language
                ),
                timeout_s=self._timeout_s,
            )
        except Exception as error:  # noqa: BLE001  # any failure of a model costs this utterance only
            await self.push_error(f"recognizer: {error}", exception=error)
            yield UnheardFrame(cause="failed")
            return
        yield self._outcome(transcript)

    def _outcome(self, transcript: Transcript) -> Frame:
        text = transcript.text.strip()
        if not text or not transcript.confident:
            return UnheardFrame(cause="unsure" if text else "nothing")
        frame = TranscriptionFrame(
            text=text, user_id="", timestamp=time_now_iso8601(), result=transcript
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
        else:
            if isinstance(frame, InterruptionFrame):
                self._sounding = None
            await super().process_frame(frame, direction)

    async def _speak(self, frame: CommitFrame) -> None:
        commit = frame.commit
        assert commit is not None
        await self.push_frame(frame)
        try:
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
        if len(speech.pcm) and self._sounding is None:
            self._sounding = commit.reply
            await self.push_frame(TTSStartedFrame(context_id=commit.reply))
        await self.push_frame(SpeechFrame.of(speech))

    async def _stop_sounding(self) -> None:
        if self._sounding is not None:
            sounded, self._sounding = self._sounding, None
            await self.push_frame(TTSStoppedFrame(context_id=sounded))
