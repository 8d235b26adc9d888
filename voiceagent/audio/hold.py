"""Holds one conversation with a recording, from models to sound and minutes."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from voiceagent.audio.file import FileTransport
from voiceagent.audio.timeline import EarTimeline
from voiceagent.config import Config
from voiceagent.core.history import History
from voiceagent.session.clock import VirtualClock, WallClock
from voiceagent.session.conversation import Conversation
from voiceagent.session.happenings import Listener
from voiceagent.session.minutes import Minutes
from voiceagent.session.models import Models
from voiceagent.session.pacing import AsFastAsPossible, RealTime
from voiceagent.session.pipeline import build_worker
from voiceagent.session.playout import Playout
from voiceagent.session.run import converse
from voiceagent.sound.files import Sound
from voiceagent.sound.pcm import Int16, to_float32, to_int16
from voiceagent.sound.resample import resample
from voiceagent.speech.turns import RATE_HZ


@dataclass(frozen=True, kw_only=True)
class Manner:
    """How the recording is played to the agent."""

    fast: bool = False
    """On a clock that stands still while the agent works; otherwise in real time."""
    waits: bool = True
    """Whether the recording stands still while the agent has the floor."""
    greets: bool = True


@dataclass(kw_only=True)
class Held:
    """What is left of a conversation."""

    minutes: Minutes
    mouth: Int16 = field(default_factory=lambda: np.zeros(0, dtype=np.int16))
    """What the user said (samples,) at 16 kHz, on the conversation's timeline."""
    ear: Int16 = field(default_factory=lambda: np.zeros(0, dtype=np.int16))
    """What the user heard (samples,) at ``rate_hz``, on the same timeline."""
    rate_hz: int = RATE_HZ
    duration_s: float = 0.0
    stopped: bool = False
    """Whether it was broken off."""

    def both(self) -> Int16:
        """The evidence (samples, 2) at ``rate_hz``: mouth left, ear right."""
        mouth = to_int16(resample(to_float32(self.mouth), from_hz=RATE_HZ, to_hz=self.rate_hz))
        length = max(len(mouth), len(self.ear))
        sides = [np.pad(side, (0, length - len(side))) for side in (mouth, self.ear)]
        return np.stack(sides, axis=1)


def make_conversation(config: Config, models: Models, *, fast: bool) -> Conversation:
    """A conversation as configured, with nothing said yet."""
    decoding = config.decoding
    return Conversation(
        history=History(system_prompt=config.persona.system_prompt),
        clock=VirtualClock() if fast else WallClock(),
        playout=Playout(rate_hz=models.synthesizer.rate_hz),
        language=config.persona.language,
        count_tokens=models.count_tokens,
        budget_tokens=decoding.context_tokens - decoding.max_tokens,
    )


async def hold(
    sound: Sound,
    models: Models,
    config: Config,
    *,
    manner: Manner,
    listeners: Iterable[Listener] = (),
    stopped: asyncio.Event | None = None,
) -> Held:
    """Plays ``sound`` to the agent and returns what came of it.

    Raises:
        VoiceAgentError: the pipeline could not run, or nothing moved any more.
    """
    conversation = make_conversation(config, models, fast=manner.fast)
    held = Held(minutes=Minutes(), rate_hz=conversation.playout.rate_hz)
    for listener in (held.minutes, *listeners):
        conversation.subscribe(listener)
    clock = conversation.clock
    timeline = EarTimeline(clock=clock, rate_hz=held.rate_hz)
    transport = FileTransport(
        sound,
        conversation=conversation,
        pacing=(
            AsFastAsPossible(clock, conversation)
            if isinstance(clock, VirtualClock)
            else RealTime(clock)
        ),
        timeline=timeline,
        waits=manner.waits,
    )
    worker = build_worker(
        conversation, models, transport=transport, language=config.persona.language
    )
    stopped = stopped or asyncio.Event()
    await converse(
        conversation,
        worker,
        greeting=config.persona.greeting if manner.greets else "",
        ended=transport.mouth.ended,
        stopped=stopped,
    )
    held.mouth, held.ear = transport.mouth.pcm(), timeline.pcm()
    held.duration_s, held.stopped = clock.now_s(), stopped.is_set()
    return held
