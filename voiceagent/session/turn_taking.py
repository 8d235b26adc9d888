"""Who has the floor: the user's turns, and what their sound does to a reply.

Pure: what was noticed goes in, decisions are drained. Times are milliseconds of the user's sound,
so that a recording always yields the same turns, however quickly it is read.

A turn is one or more utterances (stretches of speech as the VAD cuts them). At its first pause its
words are recognized and a reply is prepared; how long the silence has to last until the turn is
over depends on what the sound says (the end-of-turn model) and on what the words say (how probable
it is that they end there). If the user goes on, the prepared reply waits until it is known whether
the words have changed: a cough leaves it alone, more words withdraw it.

Speech during a reply pauses it; words that are no backchannel, or enough speech, interrupt it;
otherwise it resumes.
"""

import re
from dataclasses import dataclass, field
from typing import TypeAlias

from voiceagent.session.backchannel import is_backchannel, is_listening_noise


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When sound becomes a decision. Silences count from the last sound."""

    judge_after_ms: tuple[int, ...] = (300, 600, 900)
    """Silences after which the end-of-turn model is asked, until it says yes: it is surer when it
    hears the silence itself (0.30 after 0.2 s and 0.74 after 0.5 s of it, for one finished
    question), and each time it takes 60 ms of a core from the reply that is being prepared."""
    finished_words_ms: int = 600
    """Silence that ends a turn of finished words which do not sound finished, or sound finished and
    ask nothing: who tells a story breathes for 400 ms between its sentences. And silence after
    which a sound without words is no turn."""
    silence_ends_turn_ms: int = 1400
    """Silence that ends any turn. smart-turn's own default is 3000 and it scored a complete
    sentence 0.015: waiting that long reads as deafness. A second's pause, and the 200 ms until
    speech behind it is noticed, stay a pause."""
    speech_interrupts_ms: int = 700
    """Speech over a reply that interrupts it, whatever the words turn out to be; and speech that
    withdraws a prepared one."""
    same_speech_ms: int = 250
    """A shorter silence does not begin speech anew: a stop consonant is silent for 100."""
    most_prepared: int = 3
    """Replies prepared for one turn: a hesitant speaker does not keep the engine busy for ever."""
    unfinished_below: float = 0.04
    finished_from: float = 0.3
    """How probable it must be that words end where they do. On 50 texts every broken-off one but
    "um" and "because it was raining" lay below 0.04, every question above 0.3."""


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
class Prepare:
    """The turn may be over: prepare a reply to these words, and say with ``read`` how finished
    they are."""

    text: str


@dataclass(frozen=True, slots=True)
class Revise:
    """The turn was not over, or its words have changed: withdraw what was prepared."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The turn is over, with these words; what was prepared and not revised answers them."""

    text: str


@dataclass(frozen=True, slots=True)
class Dropped:
    """The turn is over and had no words."""

    cause: str


Decision: TypeAlias = (
    Began | Pause | Resume | Interrupt | Judge | Prepare | Revise | Ended | Dropped
)


@dataclass(slots=True)
class TurnTaking:
    """The state of the floor. Feed it, then drain ``decisions()``."""

    limits: Limits = field(default_factory=Limits)
    language: str = "en"
    utterances: int = 0
    """Utterances that are over, ever; the latest one's number."""
    _now_ms: int = 0
    _speaking: bool = False
    _open: bool = False
    _over_reply: bool = False
    _has_interrupted: bool = False
    _onset_ms: int = 0
    _silent_since_ms: int = 0
    _judgements: int = 0
    _sounds_finished: bool = False
    _has_yielded: bool = False
    """Whether the user has said so by hand that the turn is over."""
    _is_known: bool = False
    """Whether it is known what was said up to the present silence."""
    _words: str = ""
    _cause: str = "nothing"
    """Why there are no words."""
    _prepared: str | None = None
    """The words that a reply is being prepared to."""
    _is_read: bool = False
    """Whether it is known, or never will be, how finished they are."""
    _finished: float | None = None
    _preparations: int = 0
    _decisions: list[Decision] = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        """Whether a turn has begun and not ended."""
        return self._open

    @property
    def is_deciding(self) -> bool:
        """Whether the user is silent and a recognition is still awaited."""
        return self._open and not self._speaking and not self._is_known

    # What is noticed --------------------------------------------------------------------------

    def onset(self, *, at_ms: int, agent_has_floor: bool) -> None:
        """The user began to make sound at ``at_ms``."""
        if not self._open or at_ms - self._silent_since_ms >= self.limits.same_speech_ms:
            self._onset_ms = at_ms
        self._speaking, self._sounds_finished = True, False
        self._has_yielded = False
        if not self._open:
            self._open = True
            self._decisions.append(Began())
        if agent_has_floor and not self._over_reply:
            self._over_reply = True
            self._decisions.append(Pause())

    def offset(self, *, at_ms: int) -> None:
        """The user fell silent at ``at_ms``; ``heard`` or ``unheard`` is owed for the turn."""
        self._speaking, self._silent_since_ms = False, at_ms
        self._judgements, self._is_known = 0, False
        self.utterances += 1

    def judged(self, *, complete: bool) -> None:
        """The end-of-turn model has judged the latest silence."""
        if self._open and not self._speaking:
            self._sounds_finished = self._sounds_finished or complete
            self._decide()

    def heard(self, text: str, *, utterance: int | None = None) -> None:
        """All words of the turn up to the end of that utterance (by default the latest)."""
        if self._is_stale(utterance):
            return
        self._is_known, self._words = not self._speaking, text
        if self._over_reply:
            if is_backchannel(text, language=self.language):
                return self._settle_overlap()
            self._take_floor()
        self._prepare()
        self._decide()

    def unheard(self, cause: str, *, utterance: int | None = None) -> None:
        """The turn so far had no words: noise, or nothing the recognizer could make out."""
        if self._is_stale(utterance):
            return
        self._is_known, self._words, self._cause = not self._speaking, "", cause
        if self._over_reply:
            return self._settle_overlap()
        self._decide()

    def yielded(self) -> None:
        """The user has said by hand that the turn is over (a button was let go)."""
        self._has_yielded = self._open
        self._decide()

    def typed(self, text: str, *, agent_has_floor: bool) -> None:
        """Words that were not spoken, between turns: a turn that needs no judgement."""
        self._decisions.append(Began())
        if agent_has_floor:
            self._decisions.append(Interrupt())
        self._decisions.append(Ended(text))

    def read(self, text: str, *, finished: float | None) -> None:
        """How probable it is that the words end where ``text`` does; None if that is not known."""
        if text == self._prepared:
            self._is_read, self._finished = True, finished
            self._decide()

    def passed(self, *, at_ms: int) -> None:
        """Sound up to ``at_ms`` has come in."""
        self._now_ms = at_ms
        if self._speaking:
            if at_ms - self._onset_ms >= self.limits.speech_interrupts_ms:
                if self._over_reply:
                    self._take_floor()
                self._revise()
        elif self._open:
            self._decide()
            self._look_again()

    def decisions(self) -> list[Decision]:
        """What follows from what was fed, in order; drained."""
        drained, self._decisions = self._decisions, []
        return drained

    # What follows -----------------------------------------------------------------------------

    @property
    def _silent_ms(self) -> int:
        return self._now_ms - self._silent_since_ms

    def _is_stale(self, utterance: int | None) -> bool:
        return not self._open or utterance not in (None, self.utterances)

    def _look_again(self) -> None:
        due = self.limits.judge_after_ms[self._judgements :]
        if self._open and not self._sounds_finished and due and self._silent_ms >= due[0]:
            self._judgements += 1
            self._decisions.append(Judge())

    def _take_floor(self) -> None:
        self._over_reply, self._has_interrupted = False, True
        self._decisions.append(Interrupt())

    def _settle_overlap(self) -> None:
        """A sound over the reply turned out to be no turn."""
        if not self._speaking:
            self._close(Resume())

    def _has_words(self) -> bool:
        return bool(self._words) and not is_listening_noise(self._words, language=self.language)

    def _prepare(self) -> None:
        """Has a reply prepared to the words, unless one is already."""
        if self._speaking or not self._has_words():
            return
        if self._prepared is not None and not _are_alike(self._prepared, self._words):
            self._revise()
        if self._prepared is not None:
            return
        self._finished = None
        self._is_read = self._preparations == self.limits.most_prepared
        if not self._is_read:
            self._prepared = self._words
            self._preparations += 1
            self._decisions.append(Prepare(self._words))

    def _revise(self) -> None:
        if self._prepared is not None:
            self._prepared = None
            self._decisions.append(Revise())

    def _decide(self) -> None:
        if not self._open or self._speaking or not self._is_known or self._over_reply:
            return
        if self._has_words():
            if self._silent_ms >= self._patience_ms():
                self._close(Ended(self._words))
        elif self._silent_ms >= self.limits.finished_words_ms:
            self._revise()
            self._close(Dropped(self._why_dropped()))

    def _why_dropped(self) -> str:
        if self._words:
            return "backchannel"
        # Who has broken a reply off has said something, whatever could be made of it.
        return "unsure" if self._has_interrupted and self._cause == "nothing" else self._cause

    def _patience_ms(self) -> int:
        """How long the silence has to last, by what is known now."""
        limits = self.limits
        if self._has_yielded:
            return 0
        unfinished = self._finished is not None and self._finished < limits.unfinished_below
        if not self._is_read or unfinished:
            return limits.silence_ends_turn_ms
        if self._sounds_finished and _asks(self._prepared or self._words):
            return 0
        if self._sounds_finished:
            return limits.finished_words_ms
        if self._finished is not None and self._finished >= limits.finished_from:
            return limits.finished_words_ms
        return limits.silence_ends_turn_ms

    def _close(self, decision: Decision) -> None:
        self._open, self._over_reply, self._has_interrupted = False, False, False
        self._has_yielded = False
        self._prepared, self._preparations = None, 0
        self._words, self._cause = "", "nothing"
        self._decisions.append(decision)


def _asks(text: str) -> bool:
    """Whether the recognizer heard a question: who asks one waits for the answer."""
    return text.rstrip().endswith(("?", "？", "؟"))


def _are_alike(left: str, right: str) -> bool:
    """Whether two recognitions have the same words, however they are written."""
    return _words_of(left) == _words_of(right)


def _words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
