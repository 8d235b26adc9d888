"""The ledger of one reply: six watermarks and three gates.

At all times ``heard <= released <= synthesized <= committed <= verified <= drafted``. Two of them
may fall: ``drafted`` to ``verified`` (a rollback) and ``released`` to ``heard`` (a flush). All else
only grows.

Steps are method calls that return nothing; what came of them is drained with :meth:`Ledger.events`.
A step that would break the order, pass a closed gate or run backwards in time raises
:class:`LedgerError` and changes nothing. A step that moves nothing (a draft of no text, a second
``pause``, a playout report that says what is known) is legal and leaves no event.
"""

from math import inf
from typing import TYPE_CHECKING, NoReturn, TypedDict

from voiceagent.core.errors import VoiceAgentError
from voiceagent.core.events import (
    Author,
    Committed,
    Confirmed,
    Draft,
    Drafted,
    Ended,
    EndReason,
    Finish,
    Finished,
    Flushed,
    Heard,
    LedgerEvent,
    Paused,
    Released,
    Resumed,
    Rollback,
    RollbackCause,
    RolledBack,
    SourceEvent,
    Started,
    Synthesized,
    Turn,
    Verified,
    Verify,
    VoidCause,
    Voided,
)
from voiceagent.core.watermarks import Watermarks

if TYPE_CHECKING:
    from voiceagent.core.committer import Commit

__all__ = [
    "MAX_REPLY_CHARS",
    "Author",
    "Committed",
    "Confirmed",
    "Draft",
    "Drafted",
    "EndReason",
    "Ended",
    "Finish",
    "Finished",
    "Flushed",
    "Heard",
    "Ledger",
    "LedgerError",
    "LedgerEvent",
    "Paused",
    "Released",
    "Resumed",
    "Rollback",
    "RollbackCause",
    "RolledBack",
    "SourceEvent",
    "Started",
    "Synthesized",
    "Turn",
    "Verified",
    "Verify",
    "VoidCause",
    "Voided",
    "Watermarks",
]

MAX_REPLY_CHARS = 1 << 17
"""Code points of one reply. The whole of it fits into one WebSocket message of 1 MiB (the default
limit of common servers) even if every code point is escaped as six bytes of JSON."""


class LedgerError(VoiceAgentError, ValueError):
    """An illegal step; the ledger is as it was before."""


class _Stamp(TypedDict):
    reply: str
    epoch: int
    at_s: float


_FALLING = ("rollback", "flush")


class Ledger:
    """One epoch of one reply.

    Args:
        reply: identifier of the reply.
        epoch: generation of the reply, from 0; a superseded generation is a new epoch.
        turn: whether the user's turn is confirmed already.
        author: who writes the text.
        now_s: the time, in seconds on the session's clock; no later step may be earlier.

    Every step raises LedgerError where it is illegal, and then changes nothing.
    """

    def __init__(self, *, reply: str, epoch: int, turn: Turn, author: Author, now_s: float) -> None:
        self.reply = reply
        self.epoch = epoch
        self.author = author
        self._turn = turn
        self._marks = Watermarks()
        self._text = ""
        self._paused = False
        self._finished: EndReason | None = None
        self._ended: EndReason | None = None
        self._voided: VoidCause | None = None
        self._now_s = now_s
        self._events: list[LedgerEvent] = []
        self._check_open("start", now_s)
        self._record(Started(turn=turn, author=author, **self._stamp(now_s)))

    # What is so -------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """All text, the provisional tail included."""
        return self._text

    @property
    def marks(self) -> Watermarks:
        """The six watermarks."""
        return self._marks

    @property
    def drafted(self) -> int:
        """Where the text ends."""
        return self._marks.drafted

    @property
    def verified(self) -> int:
        """Where verified text ends."""
        return self._marks.verified

    @property
    def committed(self) -> int:
        """Where committed text ends."""
        return self._marks.committed

    @property
    def synthesized(self) -> int:
        """Where the text that has its sound ends."""
        return self._marks.synthesized

    @property
    def released(self) -> int:
        """Where the text whose sound went to the output ends."""
        return self._marks.released

    @property
    def heard(self) -> int:
        """Where the text that was heard ends."""
        return self._marks.heard

    @property
    def turn(self) -> Turn:
        """Whether the user's turn is confirmed."""
        return self._turn

    @property
    def paused(self) -> bool:
        """Whether playout stands still."""
        return self._paused

    @property
    def finished(self) -> EndReason | None:
        """Why the source has no more text; None while it may have."""
        return self._finished

    @property
    def ended(self) -> EndReason | None:
        """Why the reply is over; None while it is not."""
        return self._ended

    @property
    def voided(self) -> VoidCause | None:
        """Why the epoch was withdrawn; None while it is not."""
        return self._voided

    @property
    def alive(self) -> bool:
        """Whether any further step is possible: neither ended nor voided."""
        return self._ended is None and self._voided is None

    def events(self) -> list[LedgerEvent]:
        """What happened since the last call, in order."""
        events, self._events = self._events, []
        return events

    # The source of text: draft, verify, roll back, finish --------------------------------------

    def apply(self, event: SourceEvent, *, now_s: float) -> None:
        """Takes what the source of text says; nothing may follow a Finish."""
        self._check_open("apply", now_s)
        if self._finished is not None:
            self._refuse("apply", "the source has finished")
        if isinstance(event, Draft):
            self._draft(event.text, now_s=now_s)
        elif isinstance(event, Verify):
            self._verify(event.to, now_s=now_s)
        elif isinstance(event, Rollback):
            self._roll_back(event.to, cause=event.cause, now_s=now_s)
        else:
            self._finish(event.reason, now_s=now_s)

    def _draft(self, text: str, *, now_s: float) -> None:
        at = self.drafted
        if not _is_well_formed(text):
            self._refuse("draft", "the text has half a surrogate pair")
        if at + len(text) > MAX_REPLY_CHARS:
            self._refuse("draft", f"a reply has at most {MAX_REPLY_CHARS} code points")
        if self._move("draft", now_s, drafted=at + len(text)):
            self._text += text
            self._record(Drafted(at=at, text=text, **self._stamp(now_s)))

    def _verify(self, to: int, *, now_s: float) -> None:
        if self._move("verify", now_s, verified=to):
            self._record(Verified(to=to, **self._stamp(now_s)))

    def _roll_back(self, to: int, *, cause: RollbackCause, now_s: float) -> None:
        if to > self.drafted:
            self._refuse("rollback", f"there is no text at {to}")
        if self._move("rollback", now_s, drafted=to):
            self._text = self._text[:to]
            self._record(RolledBack(to=to, cause=cause, **self._stamp(now_s)))

    def _finish(self, reason: EndReason, *, now_s: float) -> None:
        cause = RollbackCause.STOP if reason.is_complete else RollbackCause.INTERRUPTED
        self._roll_back(self.verified, cause=cause, now_s=now_s)
        self._finished = reason
        self._record(Finished(reason=reason, **self._stamp(now_s)))

    # The turn: confirm, void -------------------------------------------------------------------

    def confirm(self, *, now_s: float) -> None:
        """The user's turn is certain to have ended: the release gate may open."""
        self._check_open("confirm", now_s)
        if self._turn is not Turn.CONFIRMED:
            self._turn = Turn.CONFIRMED
            self._record(Confirmed(**self._stamp(now_s)))

    def void(self, cause: VoidCause, *, now_s: float) -> None:
        """Withdraws the whole epoch; only an unconfirmed one, of which nothing was released."""
        self._check_open("void", now_s)
        if self._turn is Turn.CONFIRMED:
            self._refuse("void", "the turn is confirmed; end the reply as interrupted")
        self._voided = cause
        self._record(Voided(cause=cause, **self._stamp(now_s)))

    # Playout: pause, resume --------------------------------------------------------------------

    def pause(self, *, now_s: float) -> None:
        """Closes the release gate, reversibly."""
        self._check_open("pause", now_s)
        if not self._paused:
            self._paused = True
            self._record(Paused(**self._stamp(now_s)))

    def resume(self, *, now_s: float) -> None:
        """Opens the release gate again."""
        self._check_open("resume", now_s)
        if self._paused:
            self._paused = False
            self._record(Resumed(**self._stamp(now_s)))

    # The way to the ear: commit, synthesize, release, hear -------------------------------------

    def commit(self, commit: "Commit", *, now_s: float) -> None:
        """Takes the committer's next commit: contiguous, verified, its text the ledger's own."""
        self._check_open("commit", now_s)
        if (commit.reply, commit.epoch) != (self.reply, self.epoch):
            self._refuse("commit", f"it belongs to {commit.reply} epoch {commit.epoch}")
        if commit.start != self.committed or commit.end <= commit.start:
            self._refuse("commit", f"{commit.start} to {commit.end} does not follow")
        if commit.text != self._text[commit.start : commit.end]:
            self._refuse("commit", "its text is not the reply's")
        self._move("commit", now_s, committed=commit.end)
        self._record(
            Committed(
                start=commit.start,
                end=commit.end,
                kind=commit.kind,
                segment=commit.segment,
                text=commit.text,
                **self._stamp(now_s),
            )
        )

    def synthesize(self, to: int, *, now_s: float) -> None:
        """There is sound up to ``to`` (silent commits are passed over without any)."""
        start = self.synthesized
        if self._move("synthesize", now_s, synthesized=to):
            self._record(Synthesized(start=start, to=to, **self._stamp(now_s)))

    def release(self, to: int, *, now_s: float) -> None:
        """Hands sound up to ``to`` to the output; the turn is confirmed, playout not paused."""
        self._check_open("release", now_s)
        if self._turn is not Turn.CONFIRMED:
            self._refuse("release", "the turn is not confirmed")
        if self._paused:
            self._refuse("release", "playout is paused")
        if self._move("release", now_s, released=to):
            self._record(Released(to=to, **self._stamp(now_s)))

    def flush(self, *, now_s: float) -> None:
        """The output dropped what nobody heard: ``released`` falls to ``heard``."""
        if self._move("flush", now_s, released=self.heard):
            self._record(Flushed(to=self.heard, **self._stamp(now_s)))

    def hear(self, to: int, *, now_s: float) -> None:
        """The user has heard at least up to ``to``; a late report of less says nothing new."""
        if self._move("hear", now_s, heard=max(to, self.heard)):
            self._record(Heard(to=to, **self._stamp(now_s)))

    def end(self, reason: EndReason, *, now_s: float) -> None:
        """The reply is over: all of its sound was heard, or it was broken off.

        A complete end (``stop``, ``length``) needs a source that finished so, everything committed,
        and nothing at the output that is not yet heard. Any other takes provisional text back and
        flushes the output. An interrupted reply ends where it was heard, every other one where its
        verified text ends.
        """
        self._check_open("end", now_s)
        if reason.is_complete:
            self._check_complete(reason)
        elif reason is EndReason.INTERRUPTED and self._turn is not Turn.CONFIRMED:
            self._refuse("end", "nothing of an unconfirmed turn can be interrupted; void it")
        self._roll_back(self.verified, cause=RollbackCause.INTERRUPTED, now_s=now_s)
        self.flush(now_s=now_s)
        self._ended = reason
        at = self.heard if reason is EndReason.INTERRUPTED else self.verified
        self._record(Ended(at=at, reason=reason, **self._stamp(now_s)))

    def _check_complete(self, reason: EndReason) -> None:
        if self._finished is None:
            self._refuse("end", "the source has not finished")
        if self._finished is not reason:
            self._refuse("end", f"the source finished with {self._finished}")
        if self._turn is not Turn.CONFIRMED:
            self._refuse("end", "the turn is not confirmed")
        if self.committed < self.verified:
            self._refuse("end", "verified text is not committed")
        if self.heard < self.released:
            self._refuse("end", "released sound is not heard yet")

    # Checks ------------------------------------------------------------------------------------

    def _check_open(self, step: str, now_s: float) -> None:
        if not self.alive:
            self._refuse(step, f"the reply is over ({self._ended or self._voided})")
        if not self._now_s <= now_s < inf:  # false for NaN too
            self._refuse(step, f"time ran from {self._now_s} to {now_s} s")

    def _move(self, step: str, now_s: float, **marks: int) -> bool:
        """Moves watermarks, if that is legal; returns whether any moved."""
        self._check_open(step, now_s)
        moved = self._marks._replace(**marks)
        falls = any(to < getattr(self._marks, mark) for mark, to in marks.items())
        if falls and step not in _FALLING:
            self._refuse(step, f"only {' and '.join(_FALLING)} take anything back")
        if not moved.in_order:
            self._refuse(step, f"it would make {moved}")
        changed = moved != self._marks
        self._marks = moved
        return changed

    def _refuse(self, step: str, why: str) -> NoReturn:
        raise LedgerError(f"{self.reply} epoch {self.epoch}: {step}: {why} (now {self._marks})")

    def _record(self, event: LedgerEvent) -> None:
        self._now_s = event.at_s
        self._events.append(event)

    def _stamp(self, now_s: float) -> _Stamp:
        return {"reply": self.reply, "epoch": self.epoch, "at_s": now_s}


def _is_well_formed(text: str) -> bool:
    """Whether UTF-8 can carry the text: no frame could hold half a surrogate pair."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)
