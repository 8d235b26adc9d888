"""A pipecat transport whose user is a page or another RTVI client.

The page says how far it has played; it can be held at a sample and let go again. Other clients do
neither: they play what they are sent, in order, so their ear is followed by a model of it
(``session/timeline.py``), as a telephone line's is.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

import numpy as np
from pipecat.frames.frames import (
    CancelFrame,
    EndFrame,
    Frame,
    InputAudioRawFrame,
    InterruptionFrame,
    OutputAudioRawFrame,
    StartFrame,
)
from pipecat.processors.frame_processor import FrameDirection
from pipecat.transports.base_input import BaseInputTransport
from pipecat.transports.base_output import BaseOutputTransport
from pipecat.transports.base_transport import BaseTransport, TransportParams

from voiceagent.core.history import Message
from voiceagent.gateway.talk.far_ear import FarEar
from voiceagent.gateway.talk.wire import WIRE_HZ, Sound
from voiceagent.session.conversation import Conversation
from voiceagent.session.frames import TypedFrame, YieldFrame
from voiceagent.session.playout import CHUNK_MS
from voiceagent.session.timeline import EarTimeline
from voiceagent.sound.pcm import Int16, to_float32, to_int16
from voiceagent.sound.resample import Resampler
from voiceagent.speech.turns import RATE_HZ

LEAD_MS = 240
"""Sound that a page is given ahead of its ear: the delay of a good network and of a sound card,
there and back. It costs no pause its promptness, because the page holds what it has."""
GAP_S = 0.3
"""A client that sends nothing for so long has closed its microphone: silence is filled in, so that
a turn that has begun can end. Networks that stand still for longer are heard as a pause too."""
BURST_S = 3.0
PACE = 1.05
"""Sound may come by a burst (a network that caught up) and by a drifting clock faster than time
passes; more is dropped."""
MOST_SILENCE = RATE_HZ // 2
"""Samples filled in at once."""
UNREPORTED_S = 5.0
"""A page that plays reports every 20 ms; one that has not for so long does not play any more."""
CHUNK_SAMPLES = RATE_HZ * CHUNK_MS // 1000
OnLost = Callable[[str], None]


class Outlet(Protocol):
    """Takes what goes to the client, in order, and never waits."""

    def sound(self, pcm: Int16) -> None:
        """A piece of the agent's sound (samples,) at ``WIRE_HZ``."""
        ...

    def message(self, data: Mapping[str, Any]) -> None:
        """A message of our own."""
        ...


class PageMouth(BaseInputTransport):
    """What the user says and types."""

    def __init__(self, conversation: Conversation) -> None:
        super().__init__(
            TransportParams(audio_in_enabled=True, audio_in_sample_rate=RATE_HZ), name="PageMouth"
        )
        self.ended = asyncio.Event()
        """Set when the user has gone."""
        self.ready = asyncio.Event()
        """Set when the pipeline takes sound."""
        self.dropped_samples = 0
        """Of sound that came faster than time passes."""
        self._conversation = conversation
        self._resampler = Resampler(RATE_HZ, RATE_HZ)
        self._resamplers = {RATE_HZ: self._resampler}
        """One for each rate that was used: making one takes a while."""
        self._rest: Int16 = np.zeros(0, dtype=np.int16)
        self._taken = 0
        self._latest_s = 0.0
        self._keeping: asyncio.Task[None] | None = None

    async def start(self, frame: StartFrame) -> None:
        """Opens the ear to the user."""
        await super().start(frame)
        await self.set_transport_ready(frame)
        self._conversation.clock.begin()
        self._keeping = self.create_task(self._keep_time(), "time of the microphone")
        self.ready.set()

    async def stop(self, frame: EndFrame) -> None:
        """Ends listening."""
        await self._stop_keeping()
        await super().stop(frame)

    async def cancel(self, frame: CancelFrame) -> None:
        """Ends listening at once."""
        await self._stop_keeping()
        await super().cancel(frame)

    async def cleanup(self) -> None:
        """Leaves nothing running."""
        await super().cleanup()  # type: ignore[no-untyped-call]  # pipecat's
        await self._stop_keeping()

    async def hear(self, sound: Sound) -> None:
        """Takes the user's sound, in pieces of any length and at any rate."""
        now_s = self._conversation.clock.now_s()
        self._latest_s = now_s
        pcm = self._at_our_rate(sound)
        if self._taken + len(pcm) > (PACE * now_s + BURST_S) * RATE_HZ:
            self.dropped_samples += len(pcm)
            return
        await self._push(np.concatenate([self._rest, pcm]))

    async def read(self, text: str) -> None:
        """Takes words that the user typed."""
        await self.push_frame(TypedFrame(text=text))

    def recall(self, messages: Iterable[Message]) -> None:
        """Takes what was said before the conversation."""
        self._conversation.history.recall(messages)

    async def yield_turn(self) -> None:
        """The user has let go of the button."""
        await self.push_frame(YieldFrame())

    def _at_our_rate(self, sound: Sound) -> Int16:
        if sound.rate_hz != self._resampler.from_hz:
            known = self._resamplers
            if sound.rate_hz not in known:
                known[sound.rate_hz] = Resampler(sound.rate_hz, RATE_HZ)
            self._resampler = known[sound.rate_hz]
            self._resampler.reset()
        return to_int16(self._resampler.push(sound.pcm))

    async def _push(self, pcm: Int16) -> None:
        whole = len(pcm) - len(pcm) % CHUNK_SAMPLES
        self._rest = pcm[whole:]
        self._taken += whole
        for chunk in pcm[:whole].reshape(-1, CHUNK_SAMPLES):
            await self.push_audio_frame(InputAudioRawFrame(chunk.tobytes(), RATE_HZ, 1))

    async def _keep_time(self) -> None:
        """Fills in silence while nothing comes."""
        while True:
            await asyncio.sleep(CHUNK_MS / 1000)
            now_s = self._conversation.clock.now_s()
            if now_s - self._latest_s > GAP_S:
                missing = int(now_s * RATE_HZ) - self._taken
                silence = np.zeros(max(0, min(missing, MOST_SILENCE)), dtype=np.int16)
                await self._push(np.concatenate([self._rest, silence]))

    async def _stop_keeping(self) -> None:
        if self._keeping is not None:
            task, self._keeping = self._keeping, None
            await self.cancel_task(task)


class _Modelled:
    """The ear of a client that says nothing about it."""

    cuts = 0

    def __init__(self, conversation: Conversation) -> None:
        rate_hz = conversation.playout.rate_hz
        self._clock = conversation.clock
        self._timeline = EarTimeline(clock=conversation.clock, rate_hz=rate_hz)

    async def room(self) -> None:
        """Waits until there is room in the client's buffer."""
        await self._clock.sleep_until(self._timeline.accepts_at_s)

    def write(self, pcm: Int16, *, sent: int) -> None:
        """``pcm`` went out."""
        self._timeline.write(pcm)

    def played_samples(self) -> int:
        """How many samples have sounded, by the model."""
        return self._timeline.played_samples()

    def cut(self) -> None:
        """What has not sounded never will."""
        self._timeline.cut()
        self.cuts += 1


class _Reporting:
    """The ear of a client that reports."""

    def __init__(self, conversation: Conversation, *, on_lost: OnLost) -> None:
        conversation.playout.lead_ms = LEAD_MS
        self._on_lost = on_lost
        self.far = FarEar(rate_hz=conversation.playout.rate_hz, wire_hz=WIRE_HZ)
        self._since_s = time.monotonic()

    @property
    def cuts(self) -> int:
        """How often sound was dropped."""
        return self.far.cuts

    async def room(self) -> None:
        """The release gate gives out as much as may lie there."""

    def write(self, pcm: Int16, *, sent: int) -> None:
        """``pcm`` went out."""
        if not self.far.is_waiting:
            self._since_s = time.monotonic()
        self.far.write(len(pcm), sent=sent)

    def report(self, played: int, *, cuts: int) -> None:
        """The client has played that much since that cut."""
        self._since_s = time.monotonic()
        self.far.report(played, cuts=cuts)

    def played_samples(self) -> int:
        """How many samples have sounded, by the client's reports."""
        if self.far.is_waiting and time.monotonic() - self._since_s > UNREPORTED_S:
            self._on_lost("the page no longer says what it plays")
        return self.far.played_samples()

    def cut(self) -> None:
        """What has not sounded never will."""
        self.far.cut()


class PageEar(BaseOutputTransport):
    """Plays to the client."""

    def __init__(
        self, conversation: Conversation, *, outlet: Outlet, reports: bool, on_lost: OnLost
    ) -> None:
        rate_hz = conversation.playout.rate_hz
        super().__init__(
            TransportParams(
                audio_out_enabled=True,
                audio_out_sample_rate=rate_hz,
                audio_out_10ms_chunks=CHUNK_MS // 10,
                audio_out_end_silence_secs=0,
            ),
            name="PageEar",
        )
        self._far: _Reporting | _Modelled = (
            _Reporting(conversation, on_lost=on_lost) if reports else _Modelled(conversation)
        )
        self._resampler = Resampler(rate_hz, WIRE_HZ)
        self._outlet = outlet
        self._is_cut = False
        """Between a cut and the interruption behind it, sound on its way here is of before it."""
        conversation.playout.ear = self

    def report(self, played: int, *, cuts: int) -> None:
        """A client that reports has played that much since that cut; see ``FarEar.report``."""
        if isinstance(self._far, _Reporting):
            self._far.report(played, cuts=cuts)

    def played_samples(self) -> int:
        """How many of the samples sent have sounded."""
        return self._far.played_samples()

    def cut(self) -> None:
        """Silence at the far end: what it holds is thrown away."""
        self._far.cut()
        self._resampler.reset()
        self._is_cut = True
        self._tell("cut")

    def hold(self) -> None:
        """Silence at the far end; what it has stays."""
        self._tell("hold")

    def let_go(self) -> None:
        """Plays on from the sample at which it was held."""
        self._tell("go")

    async def start(self, frame: StartFrame) -> None:
        """Is ready at once."""
        await super().start(frame)
        await self.set_transport_ready(frame)

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Notes when an interruption has passed."""
        await super().process_frame(frame, direction)
        if isinstance(frame, InterruptionFrame):
            self._is_cut = False

    async def write_audio_frame(self, frame: OutputAudioRawFrame) -> bool:
        """Waits for room; false for sound that was cut while it waited."""
        cuts = self._far.cuts
        await self._far.room()
        if self._is_cut or cuts != self._far.cuts:
            return False
        pcm = np.frombuffer(frame.audio, dtype=np.int16)
        out = to_int16(self._resampler.push(to_float32(pcm)))
        self._far.write(pcm, sent=len(out))
        self._outlet.sound(out)
        return True

    def _tell(self, what: str) -> None:
        if isinstance(self._far, _Reporting):
            self._outlet.message({"type": "playout", "do": what, "cuts": self._far.cuts})


class PageTransport(BaseTransport):
    """Both ends of one conversation.

    Args:
        conversation: that is held.
        outlet: takes what goes to the client.
        reports: whether the client says how far it has played, and can be held.
        on_lost: told why, when it no longer does.
    """

    def __init__(
        self, conversation: Conversation, *, outlet: Outlet, reports: bool, on_lost: OnLost
    ) -> None:
        super().__init__()
        self.mouth = PageMouth(conversation)
        self.ear = PageEar(conversation, outlet=outlet, reports=reports, on_lost=on_lost)

    def input(self) -> PageMouth:
        """The user's voice."""
        return self.mouth

    def output(self) -> PageEar:
        """The user's ear."""
        return self.ear
