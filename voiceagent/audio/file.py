"""A transport whose user is a recording and whose ear is a timeline."""

import asyncio
from collections.abc import Iterator

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

from voiceagent.audio.room import Room
from voiceagent.session.conversation import Conversation
from voiceagent.session.pacing import Pacing
from voiceagent.session.playout import CHUNK_MS
from voiceagent.session.timeline import EarTimeline
from voiceagent.sound.files import Sound
from voiceagent.sound.pcm import Int16, to_int16
from voiceagent.sound.resample import resample
from voiceagent.speech.turns import RATE_HZ

CHUNK_SAMPLES = RATE_HZ * CHUNK_MS // 1000
LOOK_AHEAD_SAMPLES = 4 * CHUNK_SAMPLES
LOUD = 0.1
"""Of the recording's peak: 20 dB below it is no pause any more."""
TAIL_S = 0.7
"""Silence after the recording before its end can be the conversation's: the VAD needs 0.2 s of it
to notice that the user has stopped, smart-turn a moment to judge it."""


class FileMouth(BaseInputTransport):
    """Plays a recording to the agent, and silence wherever the recording waits or has ended.

    Args:
        sound: what the user says.
        conversation: says who has the floor.
        pacing: how quickly the sound comes in.
        waits: whether the recording stands still while the agent has the floor, so that every
            reply is heard to its end; otherwise it runs on and may interrupt.
        room: in which the agent's own sound reaches the microphone; None for headphones.
    """

    def __init__(
        self,
        sound: Sound,
        *,
        conversation: Conversation,
        pacing: Pacing,
        waits: bool,
        room: Room | None = None,
    ) -> None:
        super().__init__(
            TransportParams(audio_in_enabled=True, audio_in_sample_rate=RATE_HZ),
            name="FileMouth",
        )
        self.ended = asyncio.Event()
        """Set once the recording is over and nothing more will follow from it."""
        self._recording = to_int16(resample(sound.pcm, from_hz=sound.rate_hz, to_hz=RATE_HZ))
        self._peak = int(np.abs(self._recording.astype(np.int32)).max(initial=1))
        self._conversation = conversation
        self._pacing = pacing
        self._waits = waits
        self._room = room
        self._at = 0
        self._samples = 0
        self._fed: list[Int16] = []
        self._feeding: asyncio.Task[None] | None = None

    def pcm(self) -> Int16:
        """What came in so far (samples,) at 16 kHz, on the conversation's timeline."""
        return np.concatenate([np.zeros(0, dtype=np.int16), *self._fed])

    async def start(self, frame: StartFrame) -> None:
        """Begins to feed."""
        await super().start(frame)
        await self.set_transport_ready(frame)
        self._conversation.clock.begin()
        self._feeding = self.create_task(self._feed_guarded(), "feed")

    async def stop(self, frame: EndFrame) -> None:
        """Ends feeding."""
        await self._stop_feeding()
        await super().stop(frame)

    async def cancel(self, frame: CancelFrame) -> None:
        """Ends feeding at once."""
        await self._stop_feeding()
        await super().cancel(frame)

    async def cleanup(self) -> None:
        """Leaves nothing running."""
        await super().cleanup()  # type: ignore[no-untyped-call]  # pipecat's
        await self._stop_feeding()

    async def _stop_feeding(self) -> None:
        if self._feeding is not None:
            task, self._feeding = self._feeding, None
            await self.cancel_task(task)

    async def _feed_guarded(self) -> None:
        try:
            await self._feed()
        except Exception as error:  # noqa: BLE001  # without input the conversation never ends
            self._conversation.break_down(f"the recording cannot be played: {error}")

    async def _feed(self) -> None:
        for chunk in self._chunks():
            await self._pacing.before(until_s=(self._samples + len(chunk)) / RATE_HZ)
            self._samples += len(chunk)
            self._fed.append(chunk)
            heard = chunk if self._room is None else self._room.hear(chunk)
            await self.push_audio_frame(InputAudioRawFrame(heard.tobytes(), RATE_HZ, 1))
            await self._pacing.after(samples=self._samples)
        self.ended.set()

    def _chunks(self) -> Iterator[Int16]:
        """The recording and the silences around it, decided piece by piece as time goes on."""
        silence = np.zeros(CHUNK_SAMPLES, dtype=np.int16)
        silent_chunks = 0
        while True:
            if self._waits and self._must_wait():
                yield silence
            elif self._at < len(self._recording):
                piece = self._recording[self._at : self._at + CHUNK_SAMPLES]
                self._at += CHUNK_SAMPLES
                yield np.pad(piece, (0, CHUNK_SAMPLES - len(piece)))
            elif silent_chunks * CHUNK_MS < TAIL_S * 1000 or not self._is_settled():
                silent_chunks += 1
                yield silence
            else:
                return

    def _must_wait(self) -> bool:
        """While the agent has the floor, or may have it any moment and the user would speak next.

        A pause goes on as recorded while it is being judged; only where a busy machine is still at
        it when the next words are due do they wait for the verdict.
        """
        if self._conversation.agent_has_floor:
            return True
        ahead = self._recording[self._at : self._at + LOOK_AHEAD_SAMPLES]
        return bool(self._conversation.thinking) and len(ahead) > 0 and self._is_loud(ahead)

    def _is_loud(self, pcm: Int16) -> bool:
        return int(np.abs(pcm.astype(np.int32)).max()) > LOUD * self._peak

    def _is_settled(self) -> bool:
        conversation = self._conversation
        # The latest pieces may still be on their way to the VAD; a busy machine is further behind.
        if conversation.input_samples < self._samples - 5 * CHUNK_SAMPLES:
            return False
        return not (
            conversation.user_has_floor or conversation.agent_has_floor or conversation.is_busy
        )


class TimelineEar(BaseOutputTransport):
    """Plays to a timeline."""

    def __init__(self, timeline: EarTimeline, conversation: Conversation) -> None:
        super().__init__(
            TransportParams(
                audio_out_enabled=True,
                audio_out_sample_rate=timeline.rate_hz,
                audio_out_10ms_chunks=CHUNK_MS // 10,
                audio_out_end_silence_secs=0,
                # On a virtual clock a write waits for as long as something is being worked out.
                audio_out_write_timeout_secs=120.0,
            ),
            name="TimelineEar",
        )
        self._timeline = timeline
        self._clock = conversation.clock
        conversation.playout.ear = timeline

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
        self._timeline.write(np.frombuffer(frame.audio, dtype=np.int16))
        return True


class FileTransport(BaseTransport):
    """A recording for a mouth, a timeline for an ear."""

    def __init__(
        self,
        sound: Sound,
        *,
        conversation: Conversation,
        pacing: Pacing,
        timeline: EarTimeline,
        waits: bool = True,
        room: Room | None = None,
    ) -> None:
        super().__init__()
        self.mouth = FileMouth(
            sound, conversation=conversation, pacing=pacing, waits=waits, room=room
        )
        self._ear = TimelineEar(timeline, conversation)

    def input(self) -> FileMouth:
        """The recording."""
        return self.mouth

    def output(self) -> TimelineEar:
        """The timeline."""
        return self._ear
