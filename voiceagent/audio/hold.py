"""Holds one conversation with a recording, from models to sound and minutes."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from voiceagent.audio.file import FileTransport
from voiceagent.audio.room import Room
from voiceagent.config import Config
from voiceagent.session.assembly import converse_over, make_conversation
from voiceagent.session.clock import VirtualClock, WallClock
from voiceagent.session.conversation import Conversation
from voiceagent.session.happenings import Listener
from voiceagent.session.minutes import Minutes
from voiceagent.session.models import Models
from voiceagent.session.pacing import AsFastAsPossible, RealTime
from voiceagent.session.patience import Patience
from voiceagent.session.timeline import EarTimeline
from voiceagent.sound.echo import EchoCanceller, EchoGuard, HalfDuplex
from voiceagent.sound.files import Sound
from voiceagent.sound.onset import response_gaps
from voiceagent.sound.pcm import Int16, to_float32, to_int16
from voiceagent.sound.resample import resample
from voiceagent.speech.turns import RATE_HZ

GuardName = Literal["cancel", "half-duplex", "off"]
_GUARDS: dict[GuardName, Callable[[], EchoGuard | None]] = {
    "cancel": EchoCanceller,
    "half-duplex": HalfDuplex,
    "off": lambda: None,
}


@dataclass(frozen=True, kw_only=True)
class Manner:
    """How the recording is played to the agent."""

    fast: bool = False
    """On a clock that stands still while the agent works; otherwise in real time."""
    waits: bool = True
    """Whether the recording stands still while the agent has the floor."""
    greets: bool = True
    echo_db: float | None = None
    """How loud the agent comes back at the microphone of a recording; None for not at all."""
    guard: GuardName = "cancel"
    """Between the microphone and the agent, where its own sound may come back."""
    patience: Patience = field(default_factory=Patience)


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

    def gaps_ms(self) -> list[float]:
        """The response gap of each answered turn, from the sound of both sides alone."""
        mouth, ear = (to_float32(np.ascontiguousarray(side)) for side in self.both().T)
        return [1000 * gap for gap in response_gaps(mouth, ear, self.rate_hz)]


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
    clock: VirtualClock | WallClock = VirtualClock() if manner.fast else WallClock()
    conversation = make_conversation(config, models, clock=clock)
    timeline = _timeline(conversation)
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
        room=_room(manner, timeline),
    )
    stopped = stopped or asyncio.Event()
    minutes = await converse_over(
        transport,
        conversation,
        models,
        config,
        greets=manner.greets,
        patience=manner.patience,
        listeners=listeners,
        ended=transport.mouth.ended,
        stopped=stopped,
    )
    return _held(conversation, minutes, transport.mouth.pcm(), timeline, stopped=stopped)


async def hold_live(
    models: Models,
    config: Config,
    *,
    manner: Manner,
    listeners: Iterable[Listener] = (),
    stopped: asyncio.Event,
    devices: tuple[str | None, str | None] = (None, None),
    on_ready: Callable[[], None] = lambda: None,
) -> Held:
    """Talks over the sound card until ``stopped``; ``on_ready`` is called when it listens.

    Raises:
        SoundCardError: there is no usable card, or it went away.
        VoiceAgentError: the pipeline could not run, or nothing moved any more.
    """
    from voiceagent.audio.card import SoundCardError
    from voiceagent.audio.sound_card import SoundCardTransport

    conversation = make_conversation(config, models, clock=WallClock())
    timeline = _timeline(conversation)
    transport = SoundCardTransport(
        conversation,
        timeline=timeline,
        devices=devices,
        guard=_GUARDS[manner.guard](),
        on_ready=on_ready,
    )
    try:
        minutes = await converse_over(
            transport,
            conversation,
            models,
            config,
            greets=manner.greets,
            patience=manner.patience,
            listeners=listeners,
            ended=transport.mouth.lost,
            stopped=stopped,
        )
    finally:
        transport.close()
    if transport.mouth.lost.is_set():
        raise SoundCardError("the sound card went away; voiceagent doctor lists what is there")
    return _held(conversation, minutes, transport.mouth.pcm(), timeline, stopped=stopped)


def _room(manner: Manner, timeline: EarTimeline) -> Room | None:
    if manner.echo_db is None:
        return None
    return Room(timeline, echo_db=manner.echo_db, guard=_GUARDS[manner.guard]())


def _timeline(conversation: Conversation) -> EarTimeline:
    return EarTimeline(clock=conversation.clock, rate_hz=conversation.playout.rate_hz)


def _held(
    conversation: Conversation,
    minutes: Minutes,
    mouth: Int16,
    timeline: EarTimeline,
    *,
    stopped: asyncio.Event,
) -> Held:
    return Held(
        minutes=minutes,
        mouth=mouth,
        ear=timeline.pcm(),
        rate_hz=timeline.rate_hz,
        duration_s=conversation.clock.now_s(),
        stopped=stopped.is_set(),
    )
