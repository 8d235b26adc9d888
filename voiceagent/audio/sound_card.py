"""The sound card: separate input and output streams, rings between their callbacks and the loop.

One stream for both directions dies on several systems and misreports its times (measured under
PulseAudio); two streams do neither. Callbacks copy and count, nothing else. ``sounddevice`` is
imported when a card is opened and not before: it fails to load where PortAudio is missing.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from pipecat.frames.frames import (
    CancelFrame,
    EndFrame,
    InputAudioRawFrame,
    OutputAudioRawFrame,
    StartFrame,
)
from pipecat.transports.base_input import BaseInputTransport
from pipecat.transports.base_output import BaseOutputTransport
from pipecat.transports.base_transport import BaseTransport, TransportParams

from voiceagent.audio.ring import Ring
from voiceagent.core.errors import VoiceAgentError
from voiceagent.session.conversation import Conversation
from voiceagent.session.playout import CHUNK_MS
from voiceagent.session.timeline import EarTimeline
from voiceagent.sound.pcm import Int16, to_float32, to_int16
from voiceagent.sound.resample import Resampler
from voiceagent.speech.turns import RATE_HZ

RING_S = 2.0
"""An event loop that is late by more has other troubles."""
AHEAD_S = 0.1
"""Sound kept in the output ring: what a late event loop cannot be heard through, and no more,
because it is played on after a pause."""
CARD_HZ = 48_000
BLOCK_MS = 10
"""There and back in 30 ms; at 16 kHz in blocks of 20 ms it was 80 (PulseAudio, measured)."""
POLL_S = 0.005
LOST_AFTER_S = 5.0
"""Callbacks come every 10 ms; a card that has not called for so long is gone, however busy the
machine is (a server that is killed sends no other sign)."""
INSTALL = "install PortAudio (Debian: apt-get install --reinstall libportaudio2), or use --in"


class SoundCardError(VoiceAgentError):
    """There is no usable sound card; the message says what to do."""


def load_sounddevice() -> Any:
    """The ``sounddevice`` module.

    Raises:
        SoundCardError: it, or PortAudio behind it, is missing.
    """
    try:
        import sounddevice  # type: ignore[import-untyped]  # it ships no types
    except (ImportError, OSError) as error:  # OSError: PortAudio's library cannot be found
        raise SoundCardError(f"no sound: {error}; {INSTALL}") from error
    return sounddevice


class Microphone:
    """The input stream: 16 kHz, whatever the card's own rate is."""

    def __init__(self, sounddevice: Any, *, device: str | None) -> None:
        self._rate_hz = _usable_rate(sounddevice.check_input_settings, RATE_HZ, device, "input")
        self._resampler = Resampler(self._rate_hz, RATE_HZ)
        self.ring = Ring(int(RING_S * self._rate_hz))
        self.called_s = time.monotonic()
        self._stream = sounddevice.InputStream(
            samplerate=self._rate_hz,
            blocksize=self._rate_hz * BLOCK_MS // 1000,
            device=device,
            channels=1,
            dtype="int16",
            latency="low",
            callback=self._on_block,
        )

    def start(self) -> None:
        """Begins to listen."""
        self.called_s = time.monotonic()
        self._stream.start()

    def close(self) -> None:
        """Stops within a block."""
        self._stream.close()

    def take(self) -> Int16:
        """What has come in since the last call (samples,) at 16 kHz."""
        pcm = self.ring.take(self.ring.held)
        return to_int16(self._resampler.push(to_float32(pcm)))

    def _on_block(self, block: Any, frames: int, times: Any, status: Any) -> None:
        self.ring.write(block[:, 0])
        self.called_s = time.monotonic()


class Speaker:
    """The output stream, and how much of what was written has sounded.

    Samples are written and counted at ``rate_hz``; the card plays them at its own rate.
    """

    def __init__(self, sounddevice: Any, *, device: str | None, rate_hz: int) -> None:
        self.rate_hz = rate_hz
        self._card_hz = _usable_rate(sounddevice.check_output_settings, rate_hz, device, "output")
        self._resampler = Resampler(rate_hz, self._card_hz)
        self.ring = Ring(int(RING_S * self._card_hz))
        self.called_s = time.monotonic()
        self.underruns = 0
        """Blocks in which sound broke off though more was on its way."""
        self.cuts = 0
        self._written = 0
        self._is_held = False
        self._drop_to = 0
        self._counted = 0
        """Samples that had sounded when the output was last cut; since then, by ``_cut_at``."""
        self._cut_at = 0
        self._latest = (0, time.monotonic(), 0.0)
        """First sample of the latest block with sound, when it was asked for, and how long until
        it sounds."""
        self._stream = sounddevice.OutputStream(
            samplerate=self._card_hz,
            blocksize=self._card_hz * BLOCK_MS // 1000,
            device=device,
            channels=1,
            dtype="int16",
            latency="low",
            callback=self._on_block,
        )

    def start(self) -> None:
        """Begins to play; silence while there is nothing."""
        self._stream.start()

    def close(self) -> None:
        """Stops within a block."""
        self._stream.close()

    @property
    def waiting_s(self) -> float:
        """Sound that was written and not given to the card."""
        return self.ring.held / self._card_hz

    def write(self, pcm: Int16) -> None:
        """Plays ``pcm`` (samples,) after what was written before."""
        self._written += len(pcm)
        self.ring.write(to_int16(self._resampler.push(to_float32(pcm))))

    def played_samples(self) -> int:
        """How many of the samples written have sounded, by the card's own clock."""
        first, asked_s, delay_s = self._latest
        place = first + int((time.monotonic() - asked_s - delay_s) * self._card_hz)
        place = max(0, min(place, self.ring.read) - self._cut_at)
        if place + self._cut_at == self.ring.written:
            # The last few samples stay in the resampler until others push them out.
            return self._written
        return self._counted + place * self.rate_hz // self._card_hz

    def cut(self) -> None:
        """Silence from the next block on."""
        self._written = self._counted = self.played_samples()
        self._cut_at = self._drop_to = self.ring.written
        self._resampler.reset()
        self._is_held = False
        self.cuts += 1

    def hold(self) -> None:
        """Silence from the next block on; what was written stays."""
        self._is_held = True

    def let_go(self) -> None:
        """Plays on from the sample at which it was held."""
        self._is_held = False

    def _on_block(self, block: Any, frames: int, times: Any, status: Any) -> None:
        if self._drop_to > self.ring.read:
            self.ring.drop(self._drop_to - self.ring.read)
        first = self.ring.read
        pcm = self.ring.take(0 if self._is_held else frames)
        if len(pcm):
            delay_s = max(0.0, times.outputBufferDacTime - times.currentTime)
            self._latest = (first, time.monotonic(), delay_s)
        if 0 < len(pcm) < frames:
            self.underruns += 1
        block[: len(pcm), 0] = pcm
        block[len(pcm) :, 0] = 0
        self.called_s = time.monotonic()


def _usable_rate(check: Any, wanted_hz: int, device: str | None, direction: str) -> int:
    """48 kHz, which every card takes and which delays least; ``wanted_hz`` if it does not."""
    for rate_hz in (CARD_HZ, wanted_hz):
        try:
            check(device=device, channels=1, dtype="int16", samplerate=rate_hz)
        except Exception as error:  # noqa: BLE001  # PortAudioError or ValueError: no such device
            reason = str(error)
        else:
            return rate_hz
    named = f"{direction} {device!r}" if device else f"{direction} device"
    raise SoundCardError(
        f"the {named} cannot be used: {reason}; voiceagent doctor lists the devices"
    )


class SoundCardMouth(BaseInputTransport):
    """What the microphone hears, in pieces of 20 ms."""

    def __init__(
        self, microphone: Microphone, conversation: Conversation, *, on_ready: Callable[[], None]
    ) -> None:
        super().__init__(
            TransportParams(audio_in_enabled=True, audio_in_sample_rate=RATE_HZ),
            name="SoundCardMouth",
        )
        self._on_ready = on_ready
        self.lost = asyncio.Event()
        """Set when the card no longer calls."""
        self._microphone = microphone
        self._conversation = conversation
        self._heard: list[Int16] = []
        self._listening: asyncio.Task[None] | None = None

    def pcm(self) -> Int16:
        """What was heard so far (samples,) at 16 kHz."""
        return np.concatenate([np.zeros(0, dtype=np.int16), *self._heard])

    async def start(self, frame: StartFrame) -> None:
        """Opens the ear to the user."""
        await super().start(frame)
        await self.set_transport_ready(frame)
        self._microphone.start()
        self._conversation.clock.begin()
        self._listening = self.create_task(self._listen(), "listen")
        self._on_ready()

    async def stop(self, frame: EndFrame) -> None:
        """Ends listening."""
        await self._stop_listening()
        await super().stop(frame)

    async def cancel(self, frame: CancelFrame) -> None:
        """Ends listening at once."""
        await self._stop_listening()
        await super().cancel(frame)

    async def cleanup(self) -> None:
        """Leaves nothing running."""
        await super().cleanup()  # type: ignore[no-untyped-call]  # pipecat's
        await self._stop_listening()

    async def _stop_listening(self) -> None:
        if self._listening is not None:
            task, self._listening = self._listening, None
            await self.cancel_task(task)

    async def _listen(self) -> None:
        held = np.zeros(0, dtype=np.int16)
        length = RATE_HZ * CHUNK_MS // 1000
        while True:
            held = np.concatenate([held, self._microphone.take()])
            while len(held) >= length:
                chunk, held = held[:length], held[length:]
                self._heard.append(chunk)
                await self.push_audio_frame(InputAudioRawFrame(chunk.tobytes(), RATE_HZ, 1))
            if time.monotonic() - self._microphone.called_s > LOST_AFTER_S:
                self.lost.set()
            await asyncio.sleep(POLL_S)


class SoundCardEar(BaseOutputTransport):
    """Plays to the speaker, and keeps what was played on a timeline."""

    def __init__(
        self, speaker: Speaker, conversation: Conversation, *, timeline: EarTimeline
    ) -> None:
        super().__init__(
            TransportParams(
                audio_out_enabled=True,
                audio_out_sample_rate=speaker.rate_hz,
                audio_out_10ms_chunks=CHUNK_MS // 10,
                audio_out_end_silence_secs=0,
            ),
            name="SoundCardEar",
        )
        self._speaker = speaker
        self._timeline = timeline
        conversation.playout.ear = self

    def played_samples(self) -> int:
        """How many of the samples written have sounded."""
        return self._speaker.played_samples()

    def cut(self) -> None:
        """Silence, at once."""
        self._speaker.cut()
        self._timeline.cut()

    def hold(self) -> None:
        """Silence, at once and reversibly."""
        self._speaker.hold()
        self._timeline.hold()

    def let_go(self) -> None:
        """Plays on."""
        self._speaker.let_go()
        self._timeline.let_go()

    async def start(self, frame: StartFrame) -> None:
        """Begins to play."""
        await super().start(frame)
        self._speaker.start()
        await self.set_transport_ready(frame)

    async def write_audio_frame(self, frame: OutputAudioRawFrame) -> bool:
        """Waits for room; false for sound that was cut while it waited."""
        pcm, cuts = np.frombuffer(frame.audio, dtype=np.int16), self._speaker.cuts
        most_s = AHEAD_S - len(pcm) / self._speaker.rate_hz
        # A callback of the card frees the room and cannot set an asyncio event: it must not wait.
        while self._speaker.waiting_s > most_s:  # noqa: ASYNC110
            await asyncio.sleep(POLL_S)
        if cuts != self._speaker.cuts:
            return False
        self._speaker.write(pcm)
        self._timeline.write(pcm)
        return True


class SoundCardTransport(BaseTransport):
    """Microphone and speaker."""

    def __init__(
        self,
        conversation: Conversation,
        *,
        timeline: EarTimeline,
        devices: tuple[str | None, str | None] = (None, None),
        on_ready: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__()
        sounddevice = load_sounddevice()
        self._microphone = Microphone(sounddevice, device=devices[0])
        try:
            self._speaker = Speaker(sounddevice, device=devices[1], rate_hz=timeline.rate_hz)
        except SoundCardError:
            self._microphone.close()
            raise
        self.mouth = SoundCardMouth(self._microphone, conversation, on_ready=on_ready)
        self._ear = SoundCardEar(self._speaker, conversation, timeline=timeline)

    def input(self) -> SoundCardMouth:
        """The microphone."""
        return self.mouth

    def output(self) -> SoundCardEar:
        """The speaker."""
        return self._ear

    def close(self) -> None:
        """Closes both streams."""
        self._microphone.close()
        self._speaker.close()
