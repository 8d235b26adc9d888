"""Frames of a session: what to say, and to hold or let go what is being said."""

from dataclasses import dataclass

from pipecat.frames.frames import ControlFrame, LLMContextFrame, SystemFrame


@dataclass
class SayFrame(ControlFrame):
    """Words that no model wrote, to be said as a scripted reply."""

    text: str = ""


@dataclass
class PauseFrame(SystemFrame):
    """Hold the playout, reversibly. pipecat's own interruption destroys what is queued."""


@dataclass
class ResumeFrame(SystemFrame):
    """Let the playout go on at the sample at which it was held."""


@dataclass
class TurnFrame(LLMContextFrame):
    """What a reply is decoded from, for the latest turn of the user."""

    attempt: int = 0
    """Which of the conversation's attempts at an answer this is; see ``Attempts``."""


@dataclass
class AheadFrame(LLMContextFrame):
    """The beginning of a prompt that is to come: the user is still speaking."""


@dataclass
class EndingFrame(SystemFrame):
    """Goes upstream: what the source of a reply makes of the user's words."""

    attempt: int = 0
    """That of the `TurnFrame`."""
    probability: float | None = None
    """That the words end where they do; None if the source does not say."""


@dataclass
class TypedFrame(SystemFrame):
    """Words of the user that were not spoken, such as keys of a telephone: a turn of their own."""

    text: str = ""


@dataclass
class YieldFrame(SystemFrame):
    """The user has let go of the button: the turn is over as soon as its words are known."""
