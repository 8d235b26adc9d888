"""Frames of a session: what to say, and to hold or let go what is being said."""

from dataclasses import dataclass

from pipecat.frames.frames import ControlFrame, SystemFrame


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
