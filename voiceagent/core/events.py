"""The facts of a reply: what a source of text says, and what its ledger records.

Source events are orders to a ledger; ledger events are what came of them, each with the reply, the
epoch and the time. Positions are Unicode code points, absolute in the reply's text.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from voiceagent.core.kinds import Kind


class Turn(StrEnum):
    """Whether the user's turn that a reply answers is certain to have ended."""

    EAGER = "eager"
    CONFIRMED = "confirmed"


class Author(StrEnum):
    """Who wrote a reply."""

    MODEL = "model"
    SCRIPT = "script"


class RollbackCause(StrEnum):
    """Why provisional text was taken back."""

    DRAFT_REJECTED = "draft_rejected"
    STOP = "stop"
    INTERRUPTED = "interrupted"


class VoidCause(StrEnum):
    """Why a whole epoch was withdrawn."""

    TURN_REVISED = "turn_revised"
    SUPERSEDED = "superseded"


class EndReason(StrEnum):
    """Why a source has no more text, or why a reply is over."""

    STOP = "stop"
    LENGTH = "length"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"
    ERROR = "error"

    @property
    def is_complete(self) -> bool:
        """Whether the source said all it had to say (or was allowed to)."""
        return self in (EndReason.STOP, EndReason.LENGTH)


# What a source of text says ------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Append provisional text at ``drafted``."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verify:
    """The text up to ``to`` counts: the target accepted or emitted it."""

    to: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollback:
    """Take provisional text back, down to ``to``; never below ``verified``."""

    to: int
    cause: RollbackCause = RollbackCause.DRAFT_REJECTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """No more text. What is still provisional is taken back."""

    reason: EndReason = EndReason.STOP


SourceEvent: TypeAlias = Draft | Verify | Rollback | Finish


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What a source makes of the words that it answers, told before its first text; no ledger
    takes it."""

    probability: float
    """In [0, 1], that they end where they do."""


# What a ledger records -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What every ledger event carries."""

    reply: str
    epoch: int
    at_s: float
    """Seconds on the session's clock."""

    @classmethod
    def event_name(cls) -> str:
        """The name on the trace: ``RolledBack`` is ``rolled_back``."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Started(Recorded):
    """The ledger was opened."""

    turn: Turn
    author: Author


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafted(Recorded):
    """Provisional ``text`` was appended at position ``at``."""

    at: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified(Recorded):
    """``verified`` grew to ``to``."""

    to: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RolledBack(Recorded):
    """``drafted`` fell to ``to``."""

    to: int
    cause: RollbackCause


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed(Recorded):
    """The span ``start`` to ``end`` was handed to a consumer that cannot take it back."""

    start: int
    end: int
    kind: Kind
    segment: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesized(Recorded):
    """Sound exists for ``start`` to ``to`` (or the span is silent)."""

    start: int
    to: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmed(Recorded):
    """The user's turn is certain to have ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Voided(Recorded):
    """The whole epoch was withdrawn."""

    cause: VoidCause


@dataclass(frozen=True, slots=True, kw_only=True)
class Paused(Recorded):
    """Playout stands still; nothing may be released."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed(Recorded):
    """Playout goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Released(Recorded):
    """Sound up to ``to`` was handed to the output."""

    to: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Flushed(Recorded):
    """The output dropped what nobody had heard: ``released`` fell to ``to``."""

    to: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard(Recorded):
    """The user has heard the text up to ``to``."""

    to: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished(Recorded):
    """The source has no more text."""

    reason: EndReason


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended(Recorded):
    """The reply is over; what counts of its text ends ``at``."""

    at: int
    reason: EndReason


LedgerEvent: TypeAlias = (
    Started
    | Drafted
    | Verified
    | RolledBack
    | Committed
    | Synthesized
    | Confirmed
    | Voided
    | Paused
    | Resumed
    | Released
    | Flushed
    | Heard
    | Finished
    | Ended
)
