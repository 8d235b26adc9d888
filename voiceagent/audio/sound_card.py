"""The sound card as a pipecat transport: what its microphone hears, what its speaker plays."""

import asyncio
import time
from collections.abc import Callable

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

from voiceagent.audio.card import Card, Echo, SoundCardError, Speaker
from voiceagent.session.conversation import Conversation
from voiceagent.session.playout import CHUNK_MS
from voiceagent.session.timeline import EarTimeline
from voiceagent.sound.echo import EchoGuard
from voiceagent.sound.pcm import Int16
from voiceagent.speech.turns import RATE_HZ

AHEAD_S = 0.1
"""Sound kept in the output ring: what a late event loop cannot be heard through, and no more,
because it is played on after a pause."""
POLL_S = 0.005
GAP_S = 0.25
"""What is missing by more than that is lost; by less, it is late."""
RECOVERY_S = 30.0
"""How long a card that went away is waited for: a plug that is pulled and put back."""
RECOVERY_TRY_S = 0.5


class SoundCardMouth(BaseInputTransport):
    """What the microphone hears, in pieces of 20 ms."""

    def __init__(
        self,
        card: Card,
        conversation: Conversation,
        *,
        echo: Echo | None,
        on_ready: Callable[[], None],
    ) -> None:
        super().__init__(
            TransportParams(audio_in_enabled=True, audio_in_sample_rate=RATE_HZ),
            name="SoundCardMouth",
        )
        self._echo = echo
        self._on_ready = on_ready
        self.lost = asyncio.Event()
        """Set when the card has gone away and does not come back."""
        self._card = card
        self._conversation = conversation
        self._heard: list[Int16] = []
        self._samples = 0
        self._listening: asyncio.Task[None] | None = None

    def pcm(self) -> Int16:
        """What was heard so far (samples,) at 16 kHz."""
        return np.concatenate([np.zeros(0, dtype=np.int16), *self._heard])

    async def start(self, frame: StartFrame) -> None:
        """Opens the ear to the user."""
        await super().start(frame)
        await self.set_transport_ready(frame)
        self._card.microphone.start()
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
            held = np.concatenate([held, self._card.microphone.take()])
            if len(held) >= length:
                self._fill_gap(waiting=len(held))
            while len(held) >= length:
                chunk, held = held[:length], held[length:]
                self._remember(chunk)
                if self._echo is not None:
                    chunk = self._echo.without(chunk)
                await self.push_audio_frame(InputAudioRawFrame(chunk.tobytes(), RATE_HZ, 1))
            if not (self._card.is_alive or self.lost.is_set()):
                await self._recover()
            await asyncio.sleep(POLL_S)

    def _fill_gap(self, *, waiting: int) -> None:
        """Sound that never came is silence: a card may take a second to deliver its first, and an
        outage has none. Else the recording of the user would run ahead of the conversation's."""
        due = int(self._conversation.clock.now_s() * RATE_HZ)
        missing = due - self._samples - waiting
        if missing > GAP_S * RATE_HZ:
            self._remember(np.zeros(missing, dtype=np.int16))

    def _remember(self, pcm: Int16) -> None:
        self._heard.append(pcm)
        self._samples += len(pcm)

    async def _recover(self) -> None:
        """Waits for a card that went away; what was to be said waits too."""
        self._conversation.trouble("the sound card went away: waiting for it")
        deadline_s = time.monotonic() + RECOVERY_S
        while time.monotonic() < deadline_s:
            try:
                await asyncio.to_thread(self._card.recover)
            except SoundCardError:
                await asyncio.sleep(RECOVERY_TRY_S)
            else:
                self._conversation.trouble("the sound card is back")
                return
        self.lost.set()


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
        guard: EchoGuard | None = None,
        on_ready: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__()
        self._card = Card(devices=devices, rate_hz=timeline.rate_hz)
        self.mouth = SoundCardMouth(
            self._card,
            conversation,
            echo=None if guard is None else Echo(self._card.speaker, guard),
            on_ready=on_ready,
        )
        self._ear = SoundCardEar(self._card.speaker, conversation, timeline=timeline)

    def input(self) -> SoundCardMouth:
        """The microphone."""
        return self.mouth

    def output(self) -> SoundCardEar:
        """The speaker."""
        return self._ear

    def close(self) -> None:
        """Closes both streams."""
        self._card.close()
