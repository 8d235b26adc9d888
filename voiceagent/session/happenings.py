"""What listeners of a conversation are told beside ledger events: turns, rounds, sound, trouble.

A listener is called on the event loop, in order, as things happen; it must not block.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from voiceagent.core.events import LedgerEvent
from voiceagent.speech.synthesizer import Speech


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnHappened:
    """Something became known about a turn of the user."""

    turn: int
    at_s: float
    text: str
    state: str
    """``began``, ``silent`` (a pause was noticed), ``eager``, ``revised``, ``confirmed`` (the
    words are final) or ``dropped`` (there were no words)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundHappened:
    """The engine finished a round of a reply."""

    reply: str
    epoch: int
    at_s: float
    round: object
    """The engine's own record (``voiceagent.decoding.rounds.Round``), or a remote engine's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechHappened:
    """Sound was made of a commit."""

    at_s: float
    speech: Speech


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """Something failed and was dealt with; ``line`` says what, for a person."""

    at_s: float
    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolHappened:
    """A tool call passed the gate and ran, or was refused."""

    at_s: float
    reply: str
    name: str
    outcome: str
    """``ran``, ``refused`` or ``failed``."""


Happening: TypeAlias = (
    LedgerEvent | TurnHappened | RoundHappened | SpeechHappened | Trouble | ToolHappened
)
Listener: TypeAlias = Callable[[Happening], None]
