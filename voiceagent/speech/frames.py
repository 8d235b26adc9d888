"""The frames between the committer and the ear, and what a recognizer says when it heard nothing.

A commit travels in a frame of its own class, so that no other text can reach the synthesizer.
"""

from dataclasses import dataclass, field

from pipecat.frames.frames import (
    AggregatedTextFrame,
    DataFrame,
    SystemFrame,
    TranscriptionFrame,
    TTSAudioRawFrame,
)

from voiceagent.core.committer import Commit
from voiceagent.speech.synthesizer import Speech


@dataclass
class CommitFrame(AggregatedTextFrame):
    """Committed text on its way to the synthesizer; made with :meth:`of`."""

    commit: Commit | None = None

    @classmethod
    def of(cls, commit: Commit) -> "CommitFrame":
        """The frame of one commit."""
        frame = cls(text=commit.text, text_type=str(commit.kind), commit=commit)
        # The text reaches pipecat's context from our history alone.
        frame.append_to_context = False
        return frame


@dataclass
class SpeechFrame(TTSAudioRawFrame):
    """The sound of one commit, with its words: plain audio to a pipeline that knows no better."""

    speech: Speech | None = None

    @classmethod
    def of(cls, speech: Speech) -> "SpeechFrame":
        """The frame of one commit's speech."""
        return cls(
            audio=speech.pcm.tobytes(), sample_rate=speech.rate_hz, num_channels=1, speech=speech
        )


@dataclass
class MuteFrame(DataFrame):
    """No sound could be made of a commit: its reply cannot go on past it. In order with speech."""

    commit: Commit | None = None
    reason: str = ""


@dataclass
class HushFrame(SystemFrame):
    """The voice of the user has just stopped: a pause, or nothing (a "t" is silent inside)."""


@dataclass
class UnheardFrame(SystemFrame):
    """An utterance in which no words were recognized."""

    cause: str = field(default="nothing")
    """``nothing`` (noise, silence), ``unsure`` (speech, but not understood), ``failed``."""
    utterance: int | None = None
    """Up to the end of which utterance, counted from 1; None for the latest."""


@dataclass
class TurnWordsFrame(TranscriptionFrame):
    """All words of a turn so far, read anew at each of its pauses."""

    utterance: int | None = None
    """Up to the end of which utterance, counted from 1; None for the latest."""


@dataclass
class WithdrawFrame(SystemFrame):
    """A reply to an unconfirmed turn is withdrawn: what is left of it makes no sound."""

    reply: str = ""
    epoch: int = 0


def context_id(reply: str, *, epoch: int) -> str:
    """pipecat's name for the sound of one epoch of a reply."""
    return f"{reply}.{epoch}"
