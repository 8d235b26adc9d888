"""Our parts as pipecat parts: alone in a pipeline, each keeps its promise."""

import asyncio

import numpy as np
from pipecat.frames.frames import (
    ErrorFrame,
    Frame,
    InputAudioRawFrame,
    InterimTranscriptionFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    TextFrame,
    TranscriptionFrame,
    TTSAudioRawFrame,
    TTSSpeakFrame,
    TTSStartedFrame,
    TTSStoppedFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.tests.utils import SleepFrame, run_test
from talk_doubles import (
    RATE_HZ,
    LoudnessVad,
    ScriptedEndOfTurn,
    ScriptedRecognizer,
    ScriptedSource,
    ToneSynthesizer,
)

from voiceagent.core.events import Turn, VoidCause
from voiceagent.core.history import History
from voiceagent.core.reply import Reply
from voiceagent.session.clock import VirtualClock
from voiceagent.session.conversation import Conversation
from voiceagent.session.frames import AheadFrame, TurnFrame
from voiceagent.session.happenings import Happening, TurnHappened
from voiceagent.session.llm import ReplyService
from voiceagent.session.open_reply import OpenReply
from voiceagent.session.playout import Playout
from voiceagent.session.release import ReleaseGate
from voiceagent.session.turns import UserTurns
from voiceagent.speech.frames import (
    CommitFrame,
    HushFrame,
    MuteFrame,
    SpeechFrame,
    UnheardFrame,
)
from voiceagent.speech.services import RecognizerService, SynthesizerService
from voiceagent.speech.turns import VoiceActivity


def commit_frames(text: str) -> list[CommitFrame]:
    """The commits of a text, on their way."""
    return [CommitFrame.of(each) for each in Reply.scripted(text, reply="r1", now_s=0.0).commits()]


def kinds(frames: list[Frame], *wanted: type[Frame]) -> list[type[Frame]]:
    """The classes of the frames that matter, in order."""
    return [type(frame) for frame in frames if isinstance(frame, wanted)]


async def test_a_synthesizer_speaks_commits_and_nothing_else() -> None:
    """Text frames of every kind go by unsaid; a speak frame is an error."""
    synthesizer = ToneSynthesizer()
    down, up = await run_test(
        SynthesizerService(synthesizer),
        frames_to_send=[
            LLMFullResponseStartFrame(),
            TextFrame("Not this."),
            TTSSpeakFrame("Nor this."),
            *commit_frames("Only this. And this."),
            LLMFullResponseEndFrame(),
        ],
    )
    assert [commit.text for commit in synthesizer.spoken] == ["Only this.", " And this."]
    assert kinds(down, TTSStartedFrame, TTSAudioRawFrame, TTSStoppedFrame) == [
        TTSStartedFrame,
        SpeechFrame,
        SpeechFrame,
        TTSStoppedFrame,
    ]
    assert [frame.error for frame in up if isinstance(frame, ErrorFrame)]


async def test_a_commit_without_sound_says_so_in_order() -> None:
    """The failure travels behind the sound that came before it."""
    down, _ = await run_test(
        SynthesizerService(ToneSynthesizer(mute=["secret"])),
        frames_to_send=commit_frames("First comes this. Then a secret."),
    )
    assert kinds(down, SpeechFrame, MuteFrame) == [SpeechFrame, MuteFrame]


def utterance() -> list[Frame]:
    """A second of sound between an onset and an offset."""
    sound = np.full(RATE_HZ, 3000, dtype=np.int16).tobytes()
    return [
        VADUserStartedSpeakingFrame(),
        InputAudioRawFrame(sound, RATE_HZ, 1),
        VADUserStoppedSpeakingFrame(stop_secs=0.2),
    ]


async def test_a_recognizer_says_what_it_heard() -> None:
    """One final transcript for an utterance, which an interruption does not drop."""
    down, _ = await run_test(
        RecognizerService(ScriptedRecognizer(["Hello."])), frames_to_send=utterance()
    )
    (transcript,) = [frame for frame in down if isinstance(frame, TranscriptionFrame)]
    assert (transcript.text, transcript.finalized, transcript.interruptible) == (
        "Hello.",
        True,
        False,
    )


async def test_a_recognizer_says_when_it_heard_nothing() -> None:
    """Silence has an outcome too: whoever waits for words must not wait for ever."""
    for text, cause in ((" ", "nothing"), (RuntimeError("broken"), "failed")):
        down, _ = await run_test(
            RecognizerService(ScriptedRecognizer([text])), frames_to_send=utterance()
        )
        assert [frame.cause for frame in down if isinstance(frame, UnheardFrame)] == [cause]


async def test_a_recognizer_glances_at_what_is_being_said() -> None:
    """Words that are not final, of a turn whose end is not in sight."""
    recognizer = ScriptedRecognizer([], glances=["How far"])
    speaking = utterance()[:2]
    down, _ = await run_test(RecognizerService(recognizer), frames_to_send=speaking)
    (words,) = [frame for frame in down if isinstance(frame, InterimTranscriptionFrame)]
    assert words.text == "How far"
    assert not [frame for frame in down if isinstance(frame, TranscriptionFrame | UnheardFrame)]


class PausesWhenGlancedAt(FrameProcessor):
    """A user who pauses as soon as the first words were made out."""

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        await self.push_frame(frame, direction)
        if isinstance(frame, InterimTranscriptionFrame):
            await self.push_frame(
                VADUserStoppedSpeakingFrame(stop_secs=0.1), FrameDirection.UPSTREAM
            )


async def test_a_pause_finds_the_turn_read() -> None:
    """What was read when the voice stopped is not read again when the pause is certain."""
    recognizer = ScriptedRecognizer(["not read"], glances=["Hello."])
    service = RecognizerService(recognizer)
    down, _ = await run_test(
        Pipeline([service, PausesWhenGlancedAt()]),
        frames_to_send=[*utterance()[:2], HushFrame()],
    )
    assert [frame.text for frame in down if isinstance(frame, TranscriptionFrame)] == ["Hello."]
    assert recognizer.texts == ["not read"]


async def test_what_was_said_behind_a_stop_is_read() -> None:
    """The voice went on: the glance at its first part is not taken for the whole."""
    onset, speech, offset = utterance()
    recognizer = ScriptedRecognizer(["Hello there."], glances=["Hello."])
    frames = [onset, speech, HushFrame(), speech, HushFrame(), offset]
    down, _ = await run_test(RecognizerService(recognizer), frames_to_send=frames)
    (words,) = [frame.text for frame in down if isinstance(frame, TranscriptionFrame)]
    assert words == "Hello there."


async def test_the_first_quiet_window_is_told_at_once() -> None:
    """Before the pause, and again only when there was a voice in between."""
    voice = np.full(RATE_HZ // 2, 3000, dtype=np.int16).tobytes()
    quiet = bytes(len(voice) // 10)
    sounds = [voice, *[quiet] * 2, voice, *[quiet] * 9]
    down, _ = await run_test(
        VoiceActivity(LoudnessVad()),
        frames_to_send=[InputAudioRawFrame(each, RATE_HZ, 1) for each in sounds],
    )
    told = kinds(down, VADUserStartedSpeakingFrame, VADUserStoppedSpeakingFrame, HushFrame)
    assert told == [VADUserStartedSpeakingFrame, HushFrame, HushFrame, VADUserStoppedSpeakingFrame]


async def test_a_glance_that_fails_costs_nothing() -> None:
    """The turn is read at its pause all the same."""
    recognizer = ScriptedRecognizer(["How far?"], glances=[RuntimeError("broken")])
    down, up = await run_test(RecognizerService(recognizer), frames_to_send=utterance())
    assert [frame.text for frame in down if isinstance(frame, TranscriptionFrame)] == ["How far?"]
    assert not [frame for frame in up if isinstance(frame, ErrorFrame)]


class Ahead:
    """A conversation of which the first exchange is over, and what is told of its turns."""

    def __init__(self) -> None:
        self.conversation = Conversation(
            history=History(system_prompt="Be brief."),
            clock=VirtualClock(),
            playout=Playout(rate_hz=RATE_HZ),
        )
        self.turns: list[tuple[str, str]] = []
        self.conversation.subscribe(self._note)

    def _note(self, happening: Happening) -> None:
        if isinstance(happening, TurnHappened):
            self.turns.append((happening.state, happening.text))

    async def hear(self, *texts: str) -> list[list[str]]:
        """The user is speaking, and these words are made out; the prompts that are read ahead."""
        words = [InterimTranscriptionFrame(text, user_id="", timestamp="") for text in texts]
        down, _ = await run_test(
            UserTurns(self.conversation, end_of_turn=ScriptedEndOfTurn()),
            frames_to_send=[VADUserStartedSpeakingFrame(), *words],
        )
        contexts = [frame.context for frame in down if isinstance(frame, AheadFrame)]
        return [[each["content"] for each in context.get_messages()] for context in contexts]


async def test_a_prompt_is_read_while_the_user_speaks() -> None:
    """All words but the last, which may be half of one; what was said is not known yet."""
    ahead = Ahead()
    assert await ahead.hear("How", "How far is the") == [["Be brief.", "How far is"]]
    assert ahead.turns == [("began", ""), ("partial", "How"), ("partial", "How far is the")]
    assert [each.content for each in ahead.conversation.prompt()] == ["Be brief."]


async def test_nothing_is_read_ahead_over_a_reply() -> None:
    """The models are busy with it, and its heard words are not known yet."""
    ahead = Ahead()
    ahead.conversation.open_reply(script="It is far.")
    assert await ahead.hear("How far is the") == []
    assert ahead.turns[-1] == ("partial", "How far is the")


async def test_reading_ahead_stops_when_there_is_something_to_answer() -> None:
    """Of the prompts that will not come, the latest alone is read."""
    source, conversation = ScriptedSource(["Yes."]), Ahead().conversation
    contexts = [LLMContext([{"role": "user", "content": text}]) for text in ("How", "How far")]
    attempt = conversation.turn_may_end("How far?")
    await run_test(
        ReplyService(source, conversation),
        frames_to_send=[
            *map(AheadFrame, contexts),
            TurnFrame(LLMContext([{"role": "user", "content": "How far?"}]), attempt=attempt),
        ],
    )
    assert [messages[0].content for messages in source.read] == ["How", "How far"]
    assert [each.cancelled.is_set() for each in source.readings] == [True, True]
    assert len(source.prompts) == 1


class Gate:
    """A release gate with one reply whose sound has arrived."""

    def __init__(self) -> None:
        self.conversation = Conversation(
            history=History(system_prompt=""),
            clock=VirtualClock(),
            playout=Playout(rate_hz=RATE_HZ),
        )
        self.reply = self.conversation.open_reply(script="Hello there.", turn=Turn.EAGER)
        synthesizer = ToneSynthesizer()
        self.speech = [
            SpeechFrame.of(synthesizer.synthesize(commit)) for commit in self.reply.take_written()
        ]

    async def run(self, *steps: object) -> list[Frame]:
        """Sends the sound, then takes each step; what came out."""
        gate = ReleaseGate(self.conversation)

        async def act(reply: OpenReply) -> None:
            for step in steps:
                await asyncio.sleep(0.05)
                step(reply)  # type: ignore[operator]

        acting = asyncio.create_task(act(self.reply))
        down, _ = await run_test(gate, frames_to_send=[*self.speech, SleepFrame(sleep=0.3)])
        await acting
        return [frame for frame in down if isinstance(frame, TTSAudioRawFrame)]


async def test_nothing_is_released_before_the_turn_is_confirmed() -> None:
    """The sound of an eager reply waits, and goes as soon as the turn is certain."""
    held, released = Gate(), Gate()
    assert await held.run() == []
    assert held.reply.ledger.synthesized == len("Hello there.")
    assert held.reply.ledger.released == 0
    assert await released.run(OpenReply.confirm) != []
    assert released.reply.ledger.released > 0


async def test_a_voided_reply_vanishes() -> None:
    """No sound, no history: the turn went on."""
    gate = Gate()
    assert await gate.run(lambda reply: reply.void(VoidCause.TURN_REVISED)) == []
    assert not gate.conversation.agent_has_floor
    assert gate.conversation.prompt() == ()


async def test_a_paused_reply_waits_and_resumes() -> None:
    """The gate is shut by a pause and opened by the end of it."""
    gate = Gate()
    gate.reply.confirm()
    gate.reply.pause()
    assert await gate.run() == []
    resumed = Gate()
    resumed.reply.confirm()
    resumed.reply.pause()
    assert await resumed.run(OpenReply.resume) != []
