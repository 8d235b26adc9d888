"""One reply of an engine through ledger, committer, tone synthesizer and release gate to an ear.

The part of scripts/gpu_check that needs a pipeline. The words mean nothing; their way is the real
one, on the wall clock, and the trace is audited.
"""

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext

from voiceagent.audio.file import TimelineEar
from voiceagent.core.audit import audit
from voiceagent.core.committer import Commit, Kind
from voiceagent.core.events import Committed, Ended, Released, Verified
from voiceagent.core.history import History, Message
from voiceagent.core.trace import Header
from voiceagent.decoding.engine import Engine
from voiceagent.session.clock import WallClock
from voiceagent.session.conversation import Conversation
from voiceagent.session.frames import TurnFrame
from voiceagent.session.happenings import Happening, RoundHappened
from voiceagent.session.llm import ReplyService
from voiceagent.session.models import EngineSource
from voiceagent.session.patience import Patience
from voiceagent.session.playout import Playout
from voiceagent.session.release import ReleaseGate
from voiceagent.session.run import converse
from voiceagent.session.timeline import EarTimeline
from voiceagent.session.trace_file import TraceFile
from voiceagent.speech.services import SynthesizerService
from voiceagent.speech.synthesizer import Speech, Word, no_sound

RATE_HZ = 16_000
CHAR_S = 0.005
"""Ten times as quick as speech: nobody listens."""
NOUNS = "river stone cloud garden letter window number engine captain island".split()
VERBS = "finds keeps follows carries answers measures".split()
REST = "the a this every with near of and quite".split()
ENDINGS = (". Now", ". Then", "! Today", ". But", ", while", "? Perhaps")


class WordTokenizer:
    """A vocabulary of a few words and sentence ends, for models that mean nothing."""

    def __init__(self) -> None:
        words = [f" {word}" for word in (*NOUNS, *VERBS, *REST)]
        self._texts = [*words, *ENDINGS, *ENDINGS, "<end>"]
        self.vocabulary_size = len(self._texts)
        self.eos_ids = frozenset({self.vocabulary_size - 1})

    def encode(self, text: str) -> list[int]:
        """An id for each word, whatever it is."""
        return [crc32(word.encode()) % (self.vocabulary_size - 1) for word in text.split()]

    def decode_bytes(self, token: int) -> bytes:
        """The word."""
        return b"" if token in self.eos_ids else self._texts[token].encode()

    def render(self, messages: Sequence[Message]) -> list[int]:
        """All words, one after the other."""
        return [token for message in messages for token in self.encode(message.content)]


class ToneSynthesizer:
    """A tone as long as the text."""

    rate_hz = RATE_HZ
    least_words = 4

    def synthesize(self, commit: Commit) -> Speech:
        """With a time for each word."""
        if commit.kind is Kind.SILENT:
            return no_sound(commit, rate_hz=RATE_HZ)
        per_char = int(CHAR_S * RATE_HZ)
        tone = 8000 * np.sin(np.arange(len(commit.text) * per_char) * 0.2)
        return Speech(
            commit=commit,
            pcm=tone.astype(np.int16),
            rate_hz=RATE_HZ,
            words=tuple(_words(commit, per_char)),
        )


def _words(commit: Commit, per_char: int) -> list[Word]:
    words, at = [], 0
    for text in commit.text.split():
        begin = commit.text.index(text, at)
        at = begin + len(text)
        words.append(
            Word(
                text=text,
                start=commit.start + begin,
                end=commit.start + at,
                begin_sample=begin * per_char,
                end_sample=at * per_char,
            )
        )
    return words


@dataclass
class Account:
    """What one reply came to."""

    first_s: dict[str, float] = field(default_factory=dict)
    """Seconds of the conversation's clock until the first event of each kind."""
    rounds: int = 0
    drafted: int = 0
    accepted: int = 0
    emitted: int = 0
    heard: str = ""
    violations: list[str] = field(default_factory=list)

    def note(self, happening: Happening) -> None:
        """Takes whatever happened."""
        match happening:
            case Verified() | Committed() | Released():
                self.first_s.setdefault(happening.event_name(), happening.at_s)
            case RoundHappened(round=record):
                self.rounds += 1
                self.drafted += len(record.drafted)  # type: ignore[attr-defined]  # our engine's
                self.accepted += record.accepted  # type: ignore[attr-defined]
                self.emitted += len(record.emitted)  # type: ignore[attr-defined]


def hold(engine: Engine, *, question: str) -> Account:
    """Asks once and waits until the reply was heard to its end."""
    return asyncio.run(_hold(engine, question))


async def _hold(engine: Engine, question: str) -> Account:
    account, ended = Account(), asyncio.Event()
    conversation = Conversation(
        history=History(system_prompt="Speak."),
        clock=WallClock(),
        playout=Playout(rate_hz=RATE_HZ),
    )
    conversation.subscribe(account.note)
    conversation.subscribe(_rings(ended))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.jsonl"
        trace = TraceFile(path, header=Header(preset="gpu_check"))
        conversation.subscribe(trace)
        worker = _worker(engine, conversation)
        conversation.clock.begin()
        conversation.turn_began()
        attempt = conversation.turn_ended(question)
        assert attempt is not None
        asked_s = conversation.clock.now_s()
        messages: list[Any] = [
            {"role": str(each.role), "content": each.content} for each in conversation.prompt()
        ]
        await worker.queue_frame(TurnFrame(LLMContext(messages), attempt=attempt))
        await converse(
            conversation, worker, ended=ended, stopped=asyncio.Event(), patience=Patience()
        )
        trace.close()
        account.violations = [
            str(each) for each in audit(path.read_text(encoding="utf-8").splitlines())
        ]
    account.first_s = {name: at_s - asked_s for name, at_s in account.first_s.items()}
    account.heard = conversation.history.messages()[-1].content
    return account


def _worker(engine: Engine, conversation: Conversation) -> PipelineWorker:
    ear = TimelineEar(EarTimeline(clock=conversation.clock, rate_hz=RATE_HZ), conversation)
    parts = [
        ReplyService(EngineSource(engine), conversation),
        SynthesizerService(ToneSynthesizer()),
        ReleaseGate(conversation),
        ear,
    ]
    return PipelineWorker(
        Pipeline(parts),
        params=PipelineParams(audio_in_sample_rate=RATE_HZ, audio_out_sample_rate=RATE_HZ),
        cancel_on_idle_timeout=False,
        idle_timeout_secs=None,
        enable_rtvi=False,
        enable_turn_tracking=False,
    )


def _rings(ended: asyncio.Event) -> Callable[[Happening], None]:
    def listen(happening: Happening) -> None:
        if isinstance(happening, Ended):
            ended.set()

    return listen
