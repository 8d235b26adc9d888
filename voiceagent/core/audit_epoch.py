"""What one epoch of a reply may do, as an auditor sees it: from the trace alone.

It keeps its own text and watermarks, and names every step that could not have happened. After one
it goes on from what the trace claims.
"""

from collections.abc import Iterator
from enum import StrEnum

from voiceagent.core.audit_rounds import RoundsAudit
from voiceagent.core.events import (
    Author,
    Committed,
    Confirmed,
    Drafted,
    Ended,
    EndReason,
    Finished,
    Flushed,
    Heard,
    LedgerEvent,
    Paused,
    Released,
    Resumed,
    RolledBack,
    Started,
    Synthesized,
    Turn,
    Verified,
    Voided,
)
from voiceagent.core.kinds import Kind
from voiceagent.core.trace import RoundRecord, SpeechRecord


class Lie(StrEnum):
    """What a trace can be caught at."""

    TIME = "time"
    """A record is earlier than the one before."""
    NOT_STARTED = "not_started"
    """An event of an epoch that has not started, or a second start."""
    AFTER_END = "after_end"
    """An event of an epoch that is over."""
    TEXT = "text"
    """Text that does not follow from what was drafted and rolled back."""
    ORDER = "order"
    """A watermark passes another, or falls where it may not."""
    RETRACTED = "retracted"
    """Verified text was taken back."""
    UNVERIFIED = "unverified"
    """A commit of text that was not verified, or with a gap before it."""
    UNCOMMITTED = "uncommitted"
    """Sound of text that was not committed at that time."""
    UNCONFIRMED = "unconfirmed"
    """Released before the user's turn was confirmed, or to a turn that is not on record."""
    PAUSED = "paused"
    """Released while playout was paused."""
    VOIDED = "voided"
    """Released from a withdrawn epoch, or withdrawn after release."""
    UNRELEASED = "unreleased"
    """Heard what was not released, or an interrupted reply that ends elsewhere than heard."""
    TWICE = "twice"
    """Two replies of the model to one turn were released."""
    SPEECH = "speech"
    """Sound that does not lie inside a spoken commit, or says other words."""
    SILENT = "silent"
    """Sound of text that is not for the ear."""
    SOUNDLESS = "soundless"
    """Released text for the ear of which no sound is on record."""
    RATE = "rate"
    """Sound of another rate than the sound before it."""
    ROUND = "round"
    """A round that contradicts itself, or does not follow the one before."""
    UNPROVEN = "unproven"
    """Verified text of a model that its rounds did not emit, or a script that has rounds."""
    CHURN = "churn"
    """A reported figure differs from the derived one."""
    MISSING = "missing"
    """The figures of an epoch that is over are not on record, or twice."""
    INCOMPLETE = "incomplete"
    """The trace ends before an epoch does."""


Finding = tuple[Lie, str]
_MARKUP = frozenset("<>[](){}*_`~#|&\\/^=$@+")


class EpochAudit:
    """One epoch of one reply, as far as the trace has told."""

    def __init__(self, started: Started) -> None:
        self.reply = started.reply
        self.epoch = started.epoch
        self.author = started.author
        self.was_released = False
        self.over: Ended | Voided | None = None
        self.is_asked_for = False
        """Whether a confirmed turn is on record that this epoch answers."""
        self._turn = started.turn
        self._paused = self._doubted = False
        self._rounds = RoundsAudit()
        self._sounded = 0
        self._gaps: list[int] = []
        self._text = ""
        self._commits: list[Committed] = []
        self._verified = self._committed = self._synthesized = self._released = self._heard = 0

    @property
    def heard(self) -> int:
        """Code points that were heard."""
        return self._heard

    @property
    def commit_count(self) -> int:
        """Commits so far."""
        return len(self._commits)

    @property
    def speaks(self) -> bool:
        """Whether anything for the ear was released."""
        return any(
            each.kind is not Kind.SILENT and each.start < self._released for each in self._commits
        )

    def take(self, event: LedgerEvent) -> Iterator[Finding]:
        """Yields what is wrong with the next event, then goes on from what it claims."""
        if self.over is not None:
            released = isinstance(event, Released) and isinstance(self.over, Voided)
            yield Lie.VOIDED if released else Lie.AFTER_END, "the epoch is over"
        in_order = self._in_order
        yield from self._take_proof(event)
        yield from self._take_text(event)
        yield from self._take_sound(event)
        yield from self._take_state(event)
        if in_order and not self._in_order:
            yield Lie.ORDER, f"watermarks out of order: {self._marks}"

    def take_round(self, record: RoundRecord) -> Iterator[Finding]:
        """Yields what is wrong with a round."""
        if self.over is not None:
            yield Lie.AFTER_END, "a round, but the epoch is over"
        if self.author is Author.SCRIPT:
            yield Lie.UNPROVEN, "a round of a reply that no model wrote"
        for detail in self._rounds.take(record.fields):
            yield Lie.ROUND, detail

    def _take_proof(self, event: LedgerEvent) -> Iterator[Finding]:
        """A round is told right behind the text that it verified, so it may lack at an end.

        An end that breaks the reply off may come between the two. What was heard is proven always.
        """
        match event:
            case Drafted() if self.author is Author.SCRIPT and self._text:
                yield Lie.UNPROVEN, "a script that is not written at once"
            case Verified():
                yield from self._prove(self._verified)
            case Finished() | Ended():
                yield from self._prove(self._verified if event.reason.is_complete else self._heard)
            case _:
                pass

    def _prove(self, to: int) -> Iterator[Finding]:
        if self.author is Author.SCRIPT or self._doubted:
            return
        if not self._rounds.proves(self._text[:to]):
            self._doubted = True  # once is enough: nothing behind it can be proven
            yield Lie.UNPROVEN, f"no rounds emitted the text that is verified to {to}"

    @property
    def _marks(self) -> tuple[int, ...]:
        return (
            self._heard,
            self._released,
            self._synthesized,
            self._committed,
            self._verified,
            len(self._text),
        )

    @property
    def _in_order(self) -> bool:
        return list(self._marks) == sorted(self._marks)

    def _take_text(self, event: LedgerEvent) -> Iterator[Finding]:
        match event:
            case Drafted():
                if event.at != len(self._text):
                    yield (
                        Lie.TEXT,
                        f"drafted at {event.at} where the text ends at {len(self._text)}",
                    )
                self._text = self._text[: event.at] + event.text
            case Verified():
                if event.to < self._verified:
                    yield Lie.ORDER, f"verified falls from {self._verified} to {event.to}"
                self._verified = event.to
            case RolledBack():
                if event.to < self._verified:
                    yield Lie.RETRACTED, f"rolled back to {event.to}, verified is {self._verified}"
                if event.to > len(self._text):
                    yield Lie.ORDER, f"rolled back to {event.to}, behind the end of the text"
                self._text = self._text[: event.to]
            case Committed():
                yield from self._take_commit(event)
            case _:
                pass

    def _take_commit(self, event: Committed) -> Iterator[Finding]:
        if event.start != self._committed or event.end <= event.start:
            yield Lie.UNVERIFIED, f"commit from {event.start}, where {self._committed} follows"
        if event.end > self._verified:
            yield Lie.UNVERIFIED, f"commit to {event.end}, verified is {self._verified}"
        if event.text != self._text[event.start : event.end]:
            yield Lie.TEXT, f"committed text is not the text from {event.start} to {event.end}"
        self._committed = event.end
        self._commits.append(event)

    def _take_sound(self, event: LedgerEvent) -> Iterator[Finding]:
        match event:
            case Synthesized():
                if event.start != self._synthesized or event.to <= event.start:
                    yield Lie.ORDER, f"sound from {event.start}, where {self._synthesized} follows"
                if event.to > self._committed:
                    yield Lie.UNCOMMITTED, f"sound to {event.to}, committed is {self._committed}"
                self._synthesized = event.to
            case Released():
                yield from self._take_release(event)
            case Flushed():
                if event.to != self._heard or event.to > self._released:
                    yield Lie.ORDER, f"flushed to {event.to}, heard is {self._heard}"
                self._released = event.to
            case Heard():
                if event.to > self._released:
                    yield Lie.UNRELEASED, f"heard to {event.to}, released is {self._released}"
                if event.to < self._heard:
                    yield Lie.ORDER, f"heard falls from {self._heard} to {event.to}"
                self._heard = event.to
            case _:
                pass

    def _take_release(self, event: Released) -> Iterator[Finding]:
        if self._turn is not Turn.CONFIRMED:
            yield Lie.UNCONFIRMED, "released, but the turn is not confirmed"
        silent_from = min([*self._gaps, self._sounded])
        if self._is_for_the_ear(silent_from, event.to):
            yield Lie.SOUNDLESS, f"released to {event.to}, sound is on record to {silent_from}"
        if self._paused:
            yield Lie.PAUSED, "released while playout is paused"
        if event.to < self._released:
            yield Lie.ORDER, f"released falls from {self._released} to {event.to}"
        self._released = event.to
        self.was_released = True

    def _take_state(self, event: LedgerEvent) -> Iterator[Finding]:
        match event:
            case Confirmed():
                self._turn = Turn.CONFIRMED
            case Paused() | Resumed():
                self._paused = isinstance(event, Paused)
            case Voided():
                if self.was_released or self._turn is Turn.CONFIRMED:
                    yield Lie.VOIDED, "withdrawn, but its turn was confirmed"
                self.over = event
            case Finished():
                if self._verified < len(self._text):
                    yield Lie.TEXT, "the source finished with provisional text left"
            case Ended():
                yield from self._take_end(event)
            case _:
                pass

    def _take_end(self, event: Ended) -> Iterator[Finding]:
        if self._verified < len(self._text):
            yield Lie.TEXT, "the reply ended with provisional text left"
        if self._heard < self._released:
            yield Lie.UNRELEASED, f"ended with sound to {self._released} out and not accounted for"
        interrupted = event.reason is EndReason.INTERRUPTED
        expected = self._heard if interrupted else self._verified
        if event.at != expected:
            yield Lie.UNRELEASED, f"ended at {event.at}, not at {expected}"
        self.over = event

    def _is_for_the_ear(self, start: int, end: int) -> bool:
        """Whether anything between the two was committed to be heard."""
        return any(
            each.kind is not Kind.SILENT and each.start < end and start < each.end
            for each in self._commits
        )

    def take_speech(self, record: SpeechRecord) -> Iterator[Finding]:
        """Yields what is wrong with a piece of sound."""
        yield from self._take_span(record)
        if record.start < self._sounded:
            yield Lie.SPEECH, f"sound of {record.start} to {record.end} is made twice"
        elif self._is_for_the_ear(self._sounded, record.start):
            self._gaps.append(self._sounded)  # a failed voice; nothing behind it may go out
        self._sounded = max(self._sounded, record.end)

    def _take_span(self, record: SpeechRecord) -> Iterator[Finding]:
        at = [each for each in self._commits if each.start <= record.start < each.end]
        if not at or record.end > at[0].end or record.end <= record.start:
            yield Lie.SPEECH, f"sound of {record.start} to {record.end} lies in no commit"
        elif at[0].kind is Kind.SILENT:
            if not record.samples and not record.words:
                return  # it says itself that it is none
            yield Lie.SILENT, f"sound of {record.start} to {record.end}, which is silent"
        if record.text != self._text[record.start : record.end]:
            yield Lie.SPEECH, f"sound of {record.start} to {record.end} has other words"
        if not record.words and _has_words(record):
            yield Lie.SPEECH, f"sound of {record.start} to {record.end} has no words"
        yield from self._take_words(record)

    def _take_words(self, record: SpeechRecord) -> Iterator[Finding]:
        position, sample = record.start, 0
        for word in record.words:
            if not position <= word.start < word.end <= record.end:
                yield Lie.SPEECH, f"word at {word.start} lies outside its sound or out of order"
            if not sample <= word.begin_sample <= word.end_sample <= record.samples:
                yield Lie.SPEECH, f"word at {word.start} has samples outside its sound"
            if word.text != self._text[word.start : word.end]:
                yield Lie.SPEECH, f"word at {word.start} is not the text there"
            position, sample = word.end, word.end_sample


def _has_words(record: SpeechRecord) -> bool:
    """Whether its text has something to say: markup may have none, and then it has no sound."""
    if not any(map(str.isalnum, record.text)):
        return False
    return bool(record.samples) or not any(each in _MARKUP for each in record.text)
