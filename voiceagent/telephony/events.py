"""What a telephone line tells a conversation, whichever provider or protocol it comes from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from voiceagent.core.errors import VoiceAgentError
from voiceagent.sound.pcm import Int16

DIGITS = frozenset("0123456789*#ABCD")
"""The sixteen keys of RFC 4733, section 3.2."""


class LineError(VoiceAgentError, ValueError):
    """Not a message of this line, or not now; it costs that message and nothing else."""


@dataclass(frozen=True, slots=True)
class Started:
    """The call's sound begins."""

    call: str
    """The provider's name for the call."""
    stream: str = ""
    """Its name for this call's sound, where it has one of its own."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """What the answer document or the dial plan passed along: data of the caller's, kept in the
    session and written to no log."""


@dataclass(frozen=True, slots=True, eq=False)
class Sound:
    """Sound of the caller."""

    pcm: Int16
    """Shape (samples,), at the line's rate."""
    number: int | None = None
    """Its place among the line's pieces of sound; None where they are not counted."""


@dataclass(frozen=True, slots=True)
class Marked:
    """Sound up to a mark of ours was played, or thrown away by a ``clear``."""

    name: str


@dataclass(frozen=True, slots=True)
class Digit:
    """A key was pressed."""

    digit: str


@dataclass(frozen=True, slots=True)
class Stopped:
    """The call is over at the far end."""


LineEvent: TypeAlias = Started | Sound | Marked | Digit | Stopped
