"""The VAD and the end-of-turn model, from the files of the manifest.

pipecat carries both models in its package; ours are the same bytes, checked by digest like every
other model, and can be replaced by editing the manifest alone.
"""

from pathlib import Path

import numpy as np
from pipecat.audio.turn.smart_turn.local_smart_turn_v3 import LocalSmartTurnAnalyzerV3
from pipecat.audio.vad.silero import SileroOnnxModel, SileroVADAnalyzer
from pipecat.audio.vad.vad_analyzer import VADAnalyzer, VADParams, VADState
from pipecat.frames.frames import Frame, InputAudioRawFrame
from pipecat.processors.audio.vad_processor import VADProcessor
from pipecat.processors.frame_processor import FrameDirection

from voiceagent.sound.pcm import Float32
from voiceagent.speech.frames import HushFrame
from voiceagent.speech.offload import Lane

RATE_HZ = 16_000
"""The rate at which the user's sound is judged and recognized."""
VAD = VADParams(
    confidence=0.7,
    # As few windows of 32 ms as tell a voice from a click: a pause of the playout is reversible,
    # a recognition that came too early costs time nobody else needs.
    start_secs=0.1,
    stop_secs=0.1,
    # pipecat's own floor of 0.6 silences a quiet caller; the model's confidence suffices.
    min_volume=0.0,
)
VERDICT_TIMEOUT_S = 5.0
"""Two hundred times what a verdict takes; beyond it the silence time-out decides."""


class Vad(SileroVADAnalyzer):
    """Silero's voice activity detector, read from ``model``."""

    def __init__(self, model: Path, *, params: VADParams = VAD) -> None:
        super().__init__(sample_rate=RATE_HZ, params=params)
        self._model = SileroOnnxModel(str(model))  # type: ignore[no-untyped-call]  # pipecat's


class VoiceActivity(VADProcessor):
    """pipecat's, which also tells of the first quiet window: most of them become a pause."""

    def __init__(self, vad: VADAnalyzer) -> None:
        # Silence of the transport is not silence of the user: a recording may stand still.
        super().__init__(vad_analyzer=vad, audio_idle_timeout=0)
        self._vad = vad
        self._was_quiet = False

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Passes everything on, and says behind the sound what it made of it."""
        await super().process_frame(frame, direction)
        if isinstance(frame, InputAudioRawFrame):
            # The analyzer's public answers leave out the states between voice and pause.
            is_quiet = self._vad._vad_state is VADState.STOPPING
            if is_quiet and not self._was_quiet:
                await self.push_frame(HushFrame())
            self._was_quiet = is_quiet


class EndOfTurn:
    """smart-turn v3: how likely it is that a speaker who paused has finished."""

    def __init__(self, model: Path, *, threshold: float = 0.5, threads: int = 1) -> None:
        self._analyzer = LocalSmartTurnAnalyzerV3(
            smart_turn_model_path=str(model), cpu_count=threads, sample_rate=RATE_HZ
        )
        self._threshold = threshold
        self._lane = Lane("end of turn")

    def probability(self, pcm: Float32) -> float:
        """Of the end of a turn after ``pcm`` (samples,) at 16 kHz; its last 8 s count."""
        return float(self._analyzer._predict_endpoint(pcm)["probability"])

    async def is_complete(self, pcm: Float32) -> bool:
        """Whether the turn has ended, judged on a thread of its own.

        Raises:
            WorkTimeout: the model hangs.
        """
        probability = await self._lane.run(
            lambda: self.probability(pcm), timeout_s=VERDICT_TIMEOUT_S
        )
        return probability > self._threshold

    def warm_up(self) -> None:
        """Runs the model once, so that the first turn does not pay for it."""
        self.probability(np.zeros(RATE_HZ, dtype=np.float32))
