"""The release gate: sound goes on to the ear in small pieces, and only while it may.

It may while the user's turn is confirmed, the reply alive and the playout not paused. Little is
handed over ahead of the ear, so that a pause is a pause and not the end of a long queue.
"""

import asyncio
from collections import deque
from dataclasses import dataclass

from pipecat.frames.frames import (
    CancelFrame,
    EndFrame,
    Frame,
    InterruptionFrame,
    StartFrame,
    TTSAudioRawFrame,
    TTSStartedFrame,
    TTSStoppedFrame,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from voiceagent.core.events import Author, EndReason, Turn
from voiceagent.session.conversation import Conversation
from voiceagent.session.frames import PauseFrame, ResumeFrame, SayFrame
from voiceagent.session.open_reply import OpenReply
from voiceagent.session.playout import CHUNK_MS, release_position
from voiceagent.sound.pcm import Int16
from voiceagent.speech.frames import MuteFrame, SpeechFrame, WithdrawFrame, context_id
from voiceagent.speech.synthesizer import Speech

REMEMBERED = 8
"""Withdrawn replies whose last frames may still be on their way here: there is one at a time."""
APOLOGY_FOR_SILENCE = "Sorry, I lost my voice for a moment."


@dataclass
class _Piece:
    """A speech under way: its sound in whole chunks, and how much of it is out."""

    speech: Speech
    pcm: Int16
    out: int = 0


class ReleaseGate(FrameProcessor):
    """Stands between the synthesizer and the output transport."""

    def __init__(self, conversation: Conversation) -> None:
        super().__init__(name="ReleaseGate")
        self._conversation = conversation
        self._waiting: deque[Frame] = deque()
        self._withdrawn: deque[str] = deque(maxlen=REMEMBERED)
        self._piece: _Piece | None = None
        self._pump_task: asyncio.Task[None] | None = None

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Queues speech; lets everything else pass, in order with it where order matters."""
        await super().process_frame(frame, direction)
        match frame:
            case SpeechFrame() if frame.speech is not None:
                self._admit(frame, frame.speech)
            case MuteFrame() | TTSStartedFrame() | TTSStoppedFrame():
                self._note_mute(frame)
                self._queue(frame)
            case WithdrawFrame():
                self._withdraw(frame)
                await self.push_frame(frame, direction)
            case PauseFrame():
                self._conversation.pause()
                await self.push_frame(frame, direction)
            case ResumeFrame():
                self._conversation.resume()
                await self.push_frame(frame, direction)
            case _:
                await self._pass(frame, direction)

    async def _pass(self, frame: Frame, direction: FrameDirection) -> None:
        if isinstance(frame, StartFrame):
            await self.push_frame(frame, direction)
            self._pump_task = self.create_task(self._pump(), "release")
        elif isinstance(frame, InterruptionFrame):
            self._drop()
            await self.push_frame(frame, direction)
        elif isinstance(frame, EndFrame | CancelFrame):
            await self._stop()
            await self.push_frame(frame, direction)
        else:
            await self.push_frame(frame, direction)

    async def cleanup(self) -> None:
        """Ends the pump at teardown."""
        await super().cleanup()  # type: ignore[no-untyped-call]  # pipecat's
        await self._stop()

    async def _stop(self) -> None:
        if self._pump_task is not None:
            task, self._pump_task = self._pump_task, None
            await self.cancel_task(task)

    def _admit(self, frame: SpeechFrame, speech: Speech) -> None:
        if self._reply_of(speech) is not None:
            self._queue(frame)
            self._conversation.spoken(speech)

    def _queue(self, frame: Frame) -> None:
        if _context_of(frame) not in self._withdrawn:
            self._waiting.append(frame)
            self._count()

    def _note_mute(self, frame: Frame) -> None:
        if isinstance(frame, MuteFrame) and frame.commit is not None:
            reply = self._conversation.find(frame.commit.reply, epoch=frame.commit.epoch)
            if reply is not None:
                reply.is_mute = True

    def _withdraw(self, frame: WithdrawFrame) -> None:
        """A reply was voided: nothing of it goes on."""
        context = context_id(frame.reply, epoch=frame.epoch)
        self._withdrawn.append(context)
        self._waiting = deque(each for each in self._waiting if _context_of(each) != context)
        self._count()

    def _drop(self) -> None:
        """An interruption: nothing that waits will be heard."""
        self._waiting.clear()
        self._piece = None
        self._count()

    def _count(self) -> None:
        samples = sum(
            len(frame.speech.pcm)
            for frame in self._waiting
            if isinstance(frame, SpeechFrame) and frame.speech is not None
        )
        if self._piece is not None:
            samples += len(self._piece.pcm) - self._piece.out
        self._conversation.waiting_ms = 1000 * samples / self._conversation.playout.rate_hz
        self._conversation.changed.ring()

    # The pump ---------------------------------------------------------------------------------

    async def _pump(self) -> None:
        """Moves what waits on to the ear, a chunk at a time, and hears how far it was heard."""
        try:
            while True:
                self._conversation.listen()
                moved = await self._move()
                if not moved:
                    await self._rest()
        except Exception as error:  # noqa: BLE001  # without the pump nobody hears anything more
            self._conversation.break_down(f"the playout failed: {error}")

    async def _rest(self) -> None:
        """Until something changes; while sound is in flight, until the ear has heard more."""
        conversation = self._conversation
        if conversation.playout.in_flight_samples > 0:
            await conversation.clock.sleep_until(conversation.clock.now_s() + CHUNK_MS / 1000)
        else:
            await conversation.changed.wait()

    async def _move(self) -> bool:
        """One step, if one is possible now."""
        if self._piece is not None:
            return await self._move_chunk(self._piece)
        if not self._waiting:
            return False
        match frame := self._waiting[0]:
            case SpeechFrame() if frame.speech is not None:
                return self._begin(frame.speech)
            case MuteFrame():
                return await self._fail(frame)
            case _ if self._is_held(frame):
                return False
            case _:
                self._waiting.popleft()
                await self.push_frame(frame)
                return True

    def _is_held(self, frame: Frame) -> bool:
        """Whether its reply waits for its turn: not even the beginning of it is told."""
        reply = self._conversation.find_by(_context_of(frame))
        return reply is not None and reply.ledger.turn is not Turn.CONFIRMED

    def _begin(self, speech: Speech) -> bool:
        reply = self._reply_of(speech)
        if reply is None:
            self._waiting.popleft()
            self._count()
            return True
        if not reply.may_release:
            return False
        self._waiting.popleft()
        if len(speech.pcm) == 0:
            # Text that is not for the ear is out as soon as everything before it is.
            reply.release(speech.commit.end)
        self._piece = _Piece(speech, self._conversation.playout.begin(speech))
        self._conversation.begun(speech)
        self._count()
        return True

    async def _move_chunk(self, piece: _Piece) -> bool:
        playout, reply = self._conversation.playout, self._reply_of(piece.speech)
        if reply is None or piece.out >= len(piece.pcm):
            self._piece = None
            self._count()
            return True
        if not reply.may_release or not playout.has_room:
            return False
        chunk = piece.pcm[piece.out : piece.out + playout.chunk_samples]
        piece.out += len(chunk)
        playout.hand_over(len(chunk))
        reply.release(max(reply.ledger.released, release_position(piece.speech, samples=piece.out)))
        self._count()
        await self.push_frame(TTSAudioRawFrame(chunk.tobytes(), playout.rate_hz, 1))
        return True

    async def _fail(self, frame: MuteFrame) -> bool:
        """A commit has no sound: the reply ends after what came before it was heard."""
        commit = frame.commit
        assert commit is not None
        reply = self._conversation.find(commit.reply, epoch=commit.epoch)
        held = reply is not None and reply.ledger.turn is not Turn.CONFIRMED
        if held or self._conversation.playout.in_flight_samples > 0:
            return False
        self._waiting.popleft()
        if reply is not None:
            self._conversation.trouble(f"no sound for {commit.text[:40]!r}: {frame.reason}")
            reply.end(EndReason.ERROR)
            await self._apologize(reply)
        return True

    async def _apologize(self, failed: OpenReply) -> None:
        """Says so once: if the apology has no sound either, silence is all that is left."""
        if failed.ledger.author is Author.MODEL:
            self._conversation.owe()
            await self.push_frame(SayFrame(text=APOLOGY_FOR_SILENCE), FrameDirection.UPSTREAM)

    def _reply_of(self, speech: Speech) -> OpenReply | None:
        return self._conversation.find(speech.commit.reply, epoch=speech.commit.epoch)


def _context_of(frame: Frame) -> str:
    """Which reply a frame belongs to, in pipecat's way; empty for one that belongs to none."""
    match frame:
        case SpeechFrame() if frame.speech is not None:
            return context_id(frame.speech.commit.reply, epoch=frame.speech.commit.epoch)
        case MuteFrame() if frame.commit is not None:
            return context_id(frame.commit.reply, epoch=frame.commit.epoch)
        case TTSStartedFrame() | TTSStoppedFrame():
            return frame.context_id or ""
        case _:
            return ""
