"""A pipecat transport whose user is at the other end of a media stream.

Sound comes and goes as 8 kHz mu-law. The line plays what it is sent in order and in real time, so
the heard position follows a model of it (``session/timeline.py``): it is exact up to the delay of
the network, which is not known here.
"""

import asyncio
from collections.abc import Awaitable, Callable

import numpy as np
from pipecat.frames.frames import InputAudioRawFrame, OutputAudioRawFrame, StartFrame
from pipecat.transports.base_input import BaseInputTransport
from pipecat.transports.base_output import BaseOutputTransport
from pipecat.transports.base_transport import BaseTransport, TransportParams

from voiceagent.session.conversation import Conversation
from voiceagent.session.playout import CHUNK_MS
from voiceagent.session.timeline import EarTimeline
from voiceagent.sound.pcm import Int16, to_float32, to_int16
from voiceagent.sound.resample import Resampler
from voiceagent.speech.turns import RATE_HZ as INPUT_RATE_HZ
from voiceagent.telephony import mulaw
from voiceagent.telephony.media_stream import RATE_HZ as LINE_RATE_HZ
from voiceagent.telephony.media_stream import encode_clear, encode_media

Send = Callable[[str], Awaitable[None]]
"""Sends one message to the line."""

CHUNK_SAMPLES = INPUT_RATE_HZ * CHUNK_MS // 1000


class LineMouth(BaseInputTransport):
    """What the caller says, in pieces of 20 ms."""

    def __init__(self, conversation: Conversation) -> None:
        super().__init__(
            TransportParams(audio_in_enabled=True, audio_in_sample_rate=INPUT_RATE_HZ),
            name="LineMouth",
        )
        self.ended = asyncio.Event()
        """Set when the caller has hung up."""
        self.ready = asyncio.Event()
        """Set when the pipeline takes sound."""
        self._conversation = conversation
        self._resampler = Resampler(LINE_RATE_HZ, INPUT_RATE_HZ)
        self._rest: Int16 = np.zeros(0, dtype=np.int16)

    async def start(self, frame: StartFrame) -> None:
        """Opens the line to the pipeline."""
        await super().start(frame)
        await self.set_transport_ready(frame)
        self._conversation.clock.begin()
        self.ready.set()

    async def hear(self, sound: bytes) -> None:
        """Takes mu-law from the line, in pieces of any length."""
        pcm = to_int16(self._resampler.push(to_float32(mulaw.decode(sound))))
        pcm = np.concatenate([self._rest, pcm])
        whole = len(pcm) - len(pcm) % CHUNK_SAMPLES
        self._rest = pcm[whole:]
        for chunk in pcm[:whole].reshape(-1, CHUNK_SAMPLES):
            await self.push_audio_frame(InputAudioRawFrame(chunk.tobytes(), INPUT_RATE_HZ, 1))


class LineEar(BaseOutputTransport):
    """Plays to the caller."""

    def __init__(self, conversation: Conversation, *, stream: str, send: Send) -> None:
        rate_hz = conversation.playout.rate_hz
        super().__init__(
            TransportParams(
                audio_out_enabled=True,
                audio_out_sample_rate=rate_hz,
                audio_out_10ms_chunks=CHUNK_MS // 10,
                audio_out_end_silence_secs=0,
            ),
            name="LineEar",
        )
        self._clock = conversation.clock
        self._timeline = EarTimeline(clock=self._clock, rate_hz=rate_hz)
        self._resampler = Resampler(rate_hz, LINE_RATE_HZ)
        self._stream, self._send = stream, send
        self._clearing: set[asyncio.Task[None]] = set()
        conversation.playout.ear = self

    def played_samples(self) -> int:
        """How many of the samples sent have sounded, by the model of the line."""
        return self._timeline.played_samples()

    def cut(self) -> None:
        """Silence at the far end: what it holds is thrown away."""
        self._timeline.cut()
        self._resampler.reset()
        clearing = asyncio.ensure_future(self._clear())
        self._clearing.add(clearing)
        clearing.add_done_callback(self._clearing.discard)

    def hold(self) -> None:
        """The line cannot be held: it plays on what it was sent, which is little."""

    def let_go(self) -> None:
        """Nothing was held."""

    async def start(self, frame: StartFrame) -> None:
        """Is ready at once."""
        await super().start(frame)
        await self.set_transport_ready(frame)

    async def write_audio_frame(self, frame: OutputAudioRawFrame) -> bool:
        """Waits for room; false for sound that was cut while it waited."""
        cuts = self._timeline.cuts
        await self._clock.sleep_until(self._timeline.accepts_at_s)
        if cuts != self._timeline.cuts:
            return False
        pcm = np.frombuffer(frame.audio, dtype=np.int16)
        self._timeline.write(pcm)
        narrow = to_int16(self._resampler.push(to_float32(pcm)))
        await self._send(encode_media(self._stream, mulaw.encode(narrow)))
        return True

    async def _clear(self) -> None:
        await self._send(encode_clear(self._stream))


class LineTransport(BaseTransport):
    """Both ends of one call."""

    def __init__(self, conversation: Conversation, *, stream: str, send: Send) -> None:
        super().__init__()
        self.mouth = LineMouth(conversation)
        self._ear = LineEar(conversation, stream=stream, send=send)

    def input(self) -> LineMouth:
        """The caller's voice."""
        return self.mouth

    def output(self) -> LineEar:
        """The caller's ear."""
        return self._ear
