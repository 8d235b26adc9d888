"""The user's side of the floor: sound and words in; turns, pauses and interruptions out.

Everything that decides is in ``turn_taking``; this feeds it and acts on it.
"""

import asyncio
from collections import deque
from collections.abc import Coroutine, Iterable
from typing import Any, Protocol

import numpy as np
from pipecat.frames.frames import (
    CancelFrame,
    EndFrame,
    Frame,
    InputAudioRawFrame,
    InterimTranscriptionFrame,
    TranscriptionFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from voiceagent.core.errors import VoiceAgentError
from voiceagent.core.history import Message
from voiceagent.session.conversation import Conversation
from voiceagent.session.frames import (
    AheadFrame,
    EndingFrame,
    PauseFrame,
    ResumeFrame,
    SayFrame,
    TurnFrame,
    TypedFrame,
    YieldFrame,
)
from voiceagent.session.turn_taking import (
    Began,
    Decision,
    Dropped,
    Ended,
    Interrupt,
    Judge,
    Pause,
    Prepare,
    Resume,
    Revise,
    TurnTaking,
)
from voiceagent.sound.pcm import Float32, to_float32
from voiceagent.speech.frames import TurnWordsFrame, UnheardFrame, WithdrawFrame

JUDGED_MS = 8000
"""smart-turn listens to the last eight seconds."""
LEAD_IN_MS = 700
"""Sound kept from before an onset was noticed: the VAD notices 200 ms late, and the model was
trained on some silence before speech."""
MOST_TYPED = 8
"""Entries that wait for the end of a spoken turn."""
APOLOGY = "Sorry, I did not catch that. Could you say it again?"


class EndOfTurnModel(Protocol):
    """Whether a speaker who paused has finished."""

    async def is_complete(self, pcm: Float32) -> bool:
        """Judges ``pcm`` (samples,) at 16 kHz."""
        ...


class UserTurns(FrameProcessor):
    """Consumes the user's sound and words; asks for a reply when a turn is confirmed."""

    def __init__(
        self,
        conversation: Conversation,
        *,
        end_of_turn: EndOfTurnModel,
        turn_taking: TurnTaking | None = None,
    ) -> None:
        super().__init__(name="UserTurns")
        self._conversation = conversation
        self._end_of_turn = end_of_turn
        self._taking = turn_taking or TurnTaking()
        self._sound: deque[bytes] = deque()
        self._sound_ms = 0
        self._at_ms = 0
        self._began_ms = 0
        self._onsets = 0
        self._judgements = 0
        self._prepared: tuple[int, str] | None = None
        self._working: set[asyncio.Task[None]] = set()
        self._typed: deque[str] = deque(maxlen=MOST_TYPED)

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Takes what the user's side says; lets everything else pass."""
        await super().process_frame(frame, direction)
        match frame:
            case InputAudioRawFrame():
                self._keep(frame)
                self._taking.passed(at_ms=self._at_ms)
            case VADUserStartedSpeakingFrame():
                self._onset(ago_ms=round(1000 * frame.start_secs))
            case VADUserStoppedSpeakingFrame():
                if self._taking.is_open:
                    self._conversation.turn_paused()
                self._taking.offset(at_ms=self._at_ms - round(1000 * frame.stop_secs))
            case InterimTranscriptionFrame():
                await self._hear_so_far(frame.text)
            case TurnWordsFrame():
                self._taking.heard(frame.text, utterance=frame.utterance)
            case TranscriptionFrame():
                self._taking.heard(frame.text)
            case EndingFrame():
                self._read(frame)
            case TypedFrame():
                self._typed.append(frame.text)
            case YieldFrame():
                self._taking.yielded()
            case UnheardFrame():
                self._taking.unheard(frame.cause, utterance=frame.utterance)
            case _:
                if isinstance(frame, EndFrame | CancelFrame):
                    await self._stop_working()
                await self.push_frame(frame, direction)
                return
        await self._act()
        if isinstance(frame, InputAudioRawFrame):
            self._conversation.heard_input(frame.num_frames)

    async def cleanup(self) -> None:
        """Leaves nothing running."""
        await super().cleanup()  # type: ignore[no-untyped-call]  # pipecat's
        await self._stop_working()

    # The user's sound -------------------------------------------------------------------------

    def _keep(self, frame: InputAudioRawFrame) -> None:
        length_ms = 1000 * frame.num_frames // frame.sample_rate
        self._at_ms += length_ms
        self._sound.append(frame.audio)
        self._sound_ms += length_ms
        while self._sound_ms > JUDGED_MS:
            dropped = self._sound.popleft()
            self._sound_ms -= 1000 * len(dropped) // 2 // frame.sample_rate

    def _onset(self, *, ago_ms: int) -> None:
        if not self._taking.is_open:
            self._began_ms = self._at_ms
        self._onsets += 1
        self._taking.onset(
            at_ms=self._at_ms - ago_ms, agent_has_floor=self._conversation.agent_has_floor
        )

    async def _hear_so_far(self, text: str) -> None:
        """Words that were made out while the user speaks: the models read them ahead."""
        if not self._taking.is_open:
            return
        # What was cut in its last word is not what will have been said.
        certain = text.rpartition(" ")[0]
        prompt = self._conversation.turn_so_far(text, certain=certain)
        if prompt is not None:
            await self.push_frame(AheadFrame(_context(prompt)))

    async def _judge(self, onset: int, *, work: str) -> None:
        self._conversation.begin(work)
        try:
            complete = await self._end_of_turn.is_complete(self._turn_sound())
        except VoiceAgentError as error:
            # The silence time-out decides instead.
            self._conversation.trouble(str(error))
            complete = False
        finally:
            self._conversation.done(work)
        if onset == self._onsets:
            self._taking.judged(complete=complete)
            await self._act()

    def _turn_sound(self) -> Float32:
        """The sound of the turn so far, with a little of what was before it."""
        pcm = np.frombuffer(b"".join(self._sound), dtype=np.int16)
        length_ms = min(self._at_ms - self._began_ms + LEAD_IN_MS, self._sound_ms)
        if self._sound_ms == 0:
            return to_float32(pcm)
        return to_float32(pcm[len(pcm) - len(pcm) * length_ms // self._sound_ms :])

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = self.create_task(work)
        self._working.add(task)
        task.add_done_callback(self._working.discard)

    async def _stop_working(self) -> None:
        for task in list(self._working):
            await self.cancel_task(task)

    # What follows -----------------------------------------------------------------------------

    async def _act(self) -> None:
        await self._carry_out_all()
        if self._typed and not self._taking.is_open:
            self._taking.typed(
                self._typed.popleft(), agent_has_floor=self._conversation.agent_has_floor
            )
            await self._carry_out_all()
        if self._taking.is_deciding:
            self._conversation.begin("recognition")
        else:
            self._conversation.done("recognition")

    async def _carry_out_all(self) -> None:
        for decision in self._taking.decisions():
            await self._carry_out(decision)

    async def _carry_out(self, decision: Decision) -> None:
        match decision:
            case Began():
                self._conversation.turn_began()
                await self.broadcast_frame(UserStartedSpeakingFrame)
            case Pause():
                self._conversation.pause()
                await self.push_frame(PauseFrame())
            case Judge():
                self._judgements += 1
                self._start(self._judge(self._onsets, work=f"end of turn {self._judgements}"))
            case Prepare(text):
                self._prepared = self._conversation.turn_may_end(text), text
                await self._ask(self._prepared[0])
            case Revise():
                await self._revise()
            case Resume():
                self._conversation.turn_dropped("backchannel")
                self._conversation.resume()
                await self.push_frame(ResumeFrame())
                await self.broadcast_frame(UserStoppedSpeakingFrame)
            case Interrupt():
                self._conversation.take_floor()
                await self.broadcast_interruption()  # type: ignore[no-untyped-call]  # pipecat's
            case Ended(text):
                attempt = self._conversation.turn_ended(text)
                await self.broadcast_frame(UserStoppedSpeakingFrame)
                await self._ask(attempt)
            case Dropped(cause):
                attempt = self._conversation.turn_dropped(cause)
                await self.broadcast_frame(UserStoppedSpeakingFrame)
                await self._ask(attempt)
                if attempt is None:
                    await self._excuse(cause)

    def _read(self, frame: EndingFrame) -> None:
        """The source has read the words that a reply is being prepared to."""
        if self._prepared is not None and self._prepared[0] == frame.attempt:
            self._taking.read(self._prepared[1], finished=frame.probability)

    async def _ask(self, attempt: int | None) -> None:
        if attempt is None or not self._conversation.is_wanted(attempt):
            return
        context = _context(self._conversation.prompt())
        await self.push_frame(TurnFrame(context, attempt=attempt))

    async def _revise(self) -> None:
        withdrawn = self._conversation.turn_revised()
        if withdrawn is not None:
            await self.push_frame(WithdrawFrame(reply=withdrawn.name, epoch=withdrawn.epoch))

    async def _excuse(self, cause: str) -> None:
        """Speech that was not understood is owed a word; noise is not."""
        if cause in ("failed", "unsure") and not self._conversation.agent_has_floor:
            self._conversation.owe()
            await self.push_frame(SayFrame(text=APOLOGY))


def _context(prompt: Iterable[Message]) -> LLMContext:
    messages: list[Any] = [
        {"role": str(message.role), "content": message.content} for message in prompt
    ]
    return LLMContext(messages)
