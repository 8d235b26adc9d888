"""A pipecat transport whose user is at the far end of a telephone line."""

import asyncio

import numpy as np
from pipecat.frames.frames import InputAudioRawFrame, OutputAudioRawFrame, StartFrame
from pipecat.transports.base_input import BaseInputTransport
from pipecat.transports.base_output import BaseOutputTransport
from pipecat.transports.base_transport import BaseTransport, TransportParams

from voiceagent.session.conversation import Conversation
from voiceagent.session.frames import SayFrame, TypedFrame
from voiceagent.session.playout import CHUNK_MS
from voiceagent.sound.pcm import Int16, to_float32, to_int16
from voiceagent.sound.resample import Resampler
from voiceagent.speech.turns import RATE_HZ as INPUT_RATE_HZ
from voiceagent.telephony.players import Player

CHUNK_SAMPLES = INPUT_RATE_HZ * CHUNK_MS // 1000
BURST_S = 10.0
"""Sound that may come faster than it can have been spoken: what a network held back for a while."""
GAP_S = 0.3
"""A line that is silent for longer does not send its silences: they are put in, or no turn would
ever end."""


class LineMouth(BaseInputTransport):
    """What the caller says, in pieces of 20 ms."""

    def __init__(self, conversation: Conversation, *, rate_hz: int) -> None:
        super().__init__(
            TransportParams(audio_in_enabled=True, audio_in_sample_rate=INPUT_RATE_HZ),
            name="LineMouth",
        )
        self.ready = asyncio.Event()
        """Set when the pipeline takes sound."""
        self.dropped_s = 0.0
        """Sound that came faster than anybody speaks."""
        self._conversation = conversation
        self._line_rate_hz = rate_hz
        self._resampler = Resampler(rate_hz, INPUT_RATE_HZ)
        self._early: list[Int16] = []
        self._rest: Int16 = np.zeros(0, dtype=np.int16)
        self._heard_s = 0.0
        self._latest_s = 0.0

    async def start(self, frame: StartFrame) -> None:
        """Opens the line to the pipeline."""
        await super().start(frame)
        await self.set_transport_ready(frame)
        self._conversation.clock.begin()
        self.ready.set()
        for pcm in self._early:
            await self.hear(pcm)
        self._early.clear()

    async def hear(self, pcm: Int16) -> None:
        """Takes samples (n,) at the line's rate; before the pipeline is ready they wait for it."""
        if not self.ready.is_set():
            if sum(map(len, self._early)) < BURST_S * self._line_rate_hz:
                self._early.append(pcm)
            return
        now_s, length_s = self._conversation.clock.now_s(), len(pcm) / self._line_rate_hz
        if self._heard_s + length_s > now_s + BURST_S:
            self.dropped_s += length_s
            return
        self._latest_s = now_s
        await self._take(pcm)

    async def fill(self) -> None:
        """Puts in the silence of a line that sends none; called now and then."""
        now_s = self._conversation.clock.now_s()
        if now_s - self._latest_s > GAP_S:
            missing_s = min(now_s - self._heard_s, now_s - self._latest_s)
            self._latest_s = now_s - GAP_S
            await self._take(np.zeros(max(0, int(missing_s * self._line_rate_hz)), dtype=np.int16))

    async def type(self, text: str) -> None:
        """Takes words that were not spoken."""
        await self.push_frame(TypedFrame(text=text))

    async def say(self, text: str) -> None:
        """Has the agent say something that nobody asked for."""
        self._conversation.owe()
        await self.push_frame(SayFrame(text=text))

    async def _take(self, pcm: Int16) -> None:
        self._heard_s += len(pcm) / self._line_rate_hz
        wide = to_int16(self._resampler.push(to_float32(pcm)))
        wide = np.concatenate([self._rest, wide])
        whole = len(wide) - len(wide) % CHUNK_SAMPLES
        self._rest = wide[whole:]
        for chunk in wide[:whole].reshape(-1, CHUNK_SAMPLES):
            await self.push_audio_frame(InputAudioRawFrame(chunk.tobytes(), INPUT_RATE_HZ, 1))


class LineEar(BaseOutputTransport):
    """Plays to the caller, at the line's own rate: speech was made for it, segment by segment."""

    def __init__(self, conversation: Conversation, player: Player) -> None:
        playout = conversation.playout
        super().__init__(
            TransportParams(
                audio_out_enabled=True,
                audio_out_sample_rate=playout.rate_hz,
                audio_out_10ms_chunks=CHUNK_MS // 10,
                audio_out_end_silence_secs=0,
            ),
            name="LineEar",
        )
        self._player = player
        playout.ear, playout.travelling = player, player.travelling_samples

    async def start(self, frame: StartFrame) -> None:
        """Is ready at once."""
        await super().start(frame)
        self._player.begin()
        await self.set_transport_ready(frame)

    async def write_audio_frame(self, frame: OutputAudioRawFrame) -> bool:
        """Waits for room; false for sound that was cut while it waited."""
        return await self._player.play(np.frombuffer(frame.audio, dtype=np.int16))


class LineTransport(BaseTransport):
    """Both ends of one call."""

    def __init__(self, conversation: Conversation, player: Player) -> None:
        super().__init__()
        self.mouth = LineMouth(conversation, rate_hz=conversation.playout.rate_hz)
        self._ear = LineEar(conversation, player)

    def input(self) -> LineMouth:
        """The caller's voice."""
        return self.mouth

    def output(self) -> LineEar:
        """The caller's ear."""
        return self._ear
