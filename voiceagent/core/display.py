"""What a screen shows of a reply: spans of text by state, retracted text for a moment."""

from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise

from voiceagent.core.events import (
    Author,
    Committed,
    Confirmed,
    Drafted,
    Ended,
    Heard,
    LedgerEvent,
    RolledBack,
    Started,
    Turn,
    Verified,
    Voided,
)

LINGER_S = 0.6
"""How long retracted text stays, struck through: long enough for an eye to catch it (a fixation
takes 0.2 to 0.3 s), short enough not to pile up."""


class SpanState(StrEnum):
    """How a span of text is shown."""

    PROVISIONAL = "provisional"
    VERIFIED = "verified"
    COMMITTED = "committed"
    HEARD = "heard"
    RETRACTED = "retracted"


@dataclass(frozen=True, slots=True)
class Span:
    """A run of text in one state."""

    text: str
    state: SpanState


@dataclass(frozen=True, slots=True)
class _Retracted:
    at: int
    text: str
    until_s: float


@dataclass(slots=True)
class Display:
    """One epoch of one reply, as the ledger's events make it appear.

    Feed it every event of the reply, ``Started`` first, then ask for :meth:`spans`.
    """

    text: str = ""
    verified: int = 0
    committed: int = 0
    heard: int = 0
    turn: Turn = Turn.EAGER
    author: Author = Author.MODEL
    over: bool = False
    """Whether the reply has ended or was withdrawn."""
    _retracted: list[_Retracted] = field(default_factory=list)

    def feed(self, event: LedgerEvent) -> None:
        """Takes the reply's next event."""
        match event:
            case Started():
                self.turn, self.author = event.turn, event.author
            case Confirmed():
                self.turn = Turn.CONFIRMED
            case Drafted():
                self.text += event.text
            case Verified():
                self.verified = event.to
            case RolledBack():
                self._retract(event.to, at_s=event.at_s)
            case Voided():
                self.over = True
                self.verified = self.committed = 0
                self._retract(0, at_s=event.at_s)
            case Committed():
                self.committed = event.end
            case Heard():
                self.heard = event.to
            case Ended():
                self.over = True
            case _:
                pass  # a matter of the sound alone

    def _retract(self, to: int, *, at_s: float) -> None:
        standing = [each for each in self._retracted if each.at < to and each.until_s > at_s]
        gone = _Retracted(at=to, text=self.text[to:], until_s=at_s + LINGER_S)
        self._retracted = [*standing, gone] if gone.text else standing
        self.text = self.text[:to]

    def spans(self, *, now_s: float) -> list[Span]:
        """The text in order; retracted text stands before what replaced it."""
        fresh = [each for each in self._retracted if each.until_s > now_s]
        cuts = sorted({0, len(self.text), *self._edges(), *(each.at for each in fresh)})
        spans = []
        for start, end in [*pairwise(cuts), (cuts[-1], cuts[-1])]:
            struck = (each.text for each in fresh if each.at == start)
            spans += [Span(text, SpanState.RETRACTED) for text in struck]
            if start < end:
                spans.append(Span(self.text[start:end], self._state(start)))
        return spans

    def _edges(self) -> tuple[int, int, int]:
        return self.heard, self.committed, self.verified

    def _state(self, position: int) -> SpanState:
        if position < self.heard:
            return SpanState.HEARD
        if position < self.committed:
            return SpanState.COMMITTED
        if position < self.verified:
            return SpanState.VERIFIED
        return SpanState.PROVISIONAL
