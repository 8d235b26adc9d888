"""The pipeline of one conversation, in pipecat's terms."""

from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.transports.base_transport import BaseTransport

from voiceagent.session.conversation import Conversation
from voiceagent.session.llm import ReplyService
from voiceagent.session.models import Models
from voiceagent.session.patience import Patience
from voiceagent.session.release import ReleaseGate
from voiceagent.session.tools import ToolGate
from voiceagent.session.turn_taking import TurnTaking
from voiceagent.session.turns import UserTurns
from voiceagent.speech.services import RecognizerService, SynthesizerService
from voiceagent.speech.tracing import is_traced
from voiceagent.speech.turns import RATE_HZ, VoiceActivity


def build_worker(
    conversation: Conversation,
    models: Models,
    *,
    transport: BaseTransport,
    language: str,
    patience: Patience,
    tools: ToolGate,
) -> PipelineWorker:
    """Mouth, VAD, recognizer, turns, replies, synthesizer, release gate, ear: in that order."""
    pipeline = Pipeline(
        [
            transport.input(),
            VoiceActivity(models.vad()),
            RecognizerService(
                models.recognizer, language=language, timeout_s=patience.recognition_s
            ),
            UserTurns(
                conversation,
                end_of_turn=models.end_of_turn,
                turn_taking=TurnTaking(language=language),
            ),
            ReplyService(models.source, conversation, tools=tools, patience=patience),
            SynthesizerService(models.synthesizer, timeout_s=patience.synthesis_s),
            ReleaseGate(conversation),
            transport.output(),
        ]
    )
    return PipelineWorker(
        pipeline,
        params=PipelineParams(
            audio_in_sample_rate=RATE_HZ, audio_out_sample_rate=conversation.playout.rate_hz
        ),
        cancel_on_idle_timeout=False,
        idle_timeout_secs=None,
        enable_rtvi=False,
        # Turns are followed for whoever traces, and for nobody else.
        enable_turn_tracking=is_traced(),
        enable_tracing=is_traced(),
    )
