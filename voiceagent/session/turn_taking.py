"""Who has the floor: the user's turns, and what their sound does to a reply.

Pure: what was noticed goes in, decisions are drained. Times are milliseconds of the user's sound,
so that a recording always yields the same turns, however quickly it is read.

A turn is one or more utterances (stretches of speech as the VAD cuts them). It ends when the user
is silent, everything said is recognized, and either the end-of-turn model calls it complete or
the silence is long enough. Speech during a reply pauses it; words that are no backchannel, or
enough speech, interrupt it; otherwise it resumes.
"""

from dataclasses import dataclass, field
from typing import TypeAlias

from voiceagent.session.backchannel import is_backchannel


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When sound becomes a decision."""

    silence_ends_turn_ms: int = 1200
    """Silence that ends a turn which the end-of-turn model takes for unfinished. smart-turn's own
    default is 3000 and it scored a complete sentence 0.015: waiting that long reads as deafness.
    A second's pause in mid-sentence stays a pause."""
    judge_again_ms: int = 300
    """Silence after which the end-of-turn model is asked once more: it is surer when it hears the
    silence itself (0.08 after 0.2 s and 0.86 after 0.5 s of it, for one finished question)."""
    speech_interrupts_ms: int = 700
    """Speech over a reply that interrupts it, whatever the words turn out to be."""


@dataclass(frozen=True, slots=True)
class Began:
    """A turn began: the user can be heard."""


@dataclass(frozen=True, slots=True)
class Pause:
    """The user can be heard over the reply: hold it."""


@dataclass(frozen=True, slots=True)
class Resume:
    """It was nothing, or a backchannel: go on where the reply was held."""


@dataclass(frozen=True, slots=True)
class Interrupt:
    """The user has taken the floor: the reply is over."""


@dataclass(frozen=True, slots=True)
class Judge:
    """The user is silent: ask the end-of-turn model, and say what it said with ``judged``."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The turn is over, with these words."""

    text: str


@dataclass(frozen=True, slots=True)
class Dropped:
    """The turn is over and had no words."""

    cause: str


Decision: TypeAlias = Began | Pause | Resume | Interrupt | Judge | Ended | Dropped


@dataclass(slots=True)
class TurnTaking:
    """The state of the floor. Feed it, then drain ``decisions()``."""

    limits: Limits = field(default_factory=Limits)
    language: str = "en"
    _speaking: bool = False
    _open: bool = False
    _over_reply: bool = False
    _onset_ms: int = 0
    _silent_since_ms: int = 0
    _complete: bool = False
    _judged_again: bool = False
    _pending: int = 0
    _unheard: str = "nothing"
    _pieces: list[str] = field(default_factory=list)
    _decisions: list[Decision] = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        """Whether a turn has begun and not ended."""
        return self._open

    @property
    def is_deciding(self) -> bool:
        """Whether the user is silent and a recognition is still awaited."""
        return self._open and not self._speaking and self._pending > 0

    def onset(self, *, at_ms: int, agent_has_floor: bool) -> None:
        """The user began to make sound."""
        self._speaking, self._complete, self._onset_ms = True, False, at_ms
        if not self._open:
            self._open = True
            self._decisions.append(Began())
        if agent_has_floor and not self._over_reply:
            self._over_reply = True
            self._decisions.append(Pause())

    def offset(self, *, at_ms: int) -> None:
        """The user fell silent; one ``heard`` or ``unheard`` is owed for what was said."""
        self._speaking, self._silent_since_ms, self._judged_again = False, at_ms, False
        self._pending += 1
        self._decisions.append(Judge())

    def judged(self, *, complete: bool) -> None:
        """The end-of-turn model has judged the latest silence."""
        if self._open and not self._speaking:
            self._complete = self._complete or complete
            self._decide()

    def heard(self, text: str) -> None:
        """The words of one utterance."""
        self._pending = max(0, self._pending - 1)
        if self._over_reply:
            if is_backchannel(text, language=self.language) and not self._pieces:
                return self._settle_overlap()
            self._take_floor()
        self._pieces.append(text)
        self._decide()

    def unheard(self, cause: str) -> None:
        """One utterance had no words: noise, or nothing the recognizer could make out."""
        self._pending = max(0, self._pending - 1)
        self._unheard = cause
        if self._over_reply and not self._pieces:
            return self._settle_overlap()
        self._decide()

    def passed(self, *, at_ms: int) -> None:
        """Sound up to ``at_ms`` has come in."""
        if self._speaking:
            spoken_ms = at_ms - self._onset_ms
            if self._over_reply and spoken_ms >= self.limits.speech_interrupts_ms:
                self._take_floor()
        elif self._open and not self._complete:
            self._notice_silence(at_ms - self._silent_since_ms)

    def decisions(self) -> list[Decision]:
        """What follows from what was fed, in order; drained."""
        drained, self._decisions = self._decisions, []
        return drained

    def _notice_silence(self, silent_ms: int) -> None:
        if silent_ms >= self.limits.silence_ends_turn_ms:
            self._complete = True
            self._decide()
        elif silent_ms >= self.limits.judge_again_ms and not self._judged_again:
            self._judged_again = True
            self._decisions.append(Judge())

    def _take_floor(self) -> None:
        self._over_reply = False
        self._decisions.append(Interrupt())

    def _settle_overlap(self) -> None:
        """A sound over the reply turned out to be no turn."""
        if self._speaking or self._pending:
            return
        self._over_reply, self._open = False, False
        self._decisions.append(Resume())

    def _decide(self) -> None:
        if not self._open or self._speaking or self._pending:
            return
        if not self._pieces:
            self._close(Dropped(self._unheard))
        elif self._complete:
            self._close(Ended(" ".join(self._pieces)))

    def _close(self, decision: Decision) -> None:
        self._open, self._complete, self._unheard, self._pieces = False, False, "nothing", []
        self._decisions.append(decision)
