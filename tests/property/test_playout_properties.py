"""The playout clock under any order of queueing, playing, flushing and late reports."""

from dataclasses import dataclass

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from voiceagent.sound.playout import HEARD_SHARE, PlayoutClock


@dataclass(frozen=True)
class Timed:
    start: int
    end: int
    begin_sample: int
    end_sample: int


@dataclass
class Segment:
    start: int
    end: int
    base: int
    samples: int
    words: list[Timed]
    dropped: bool = False
    """Flushed before the output came to it."""


class Playout(RuleBasedStateMachine):
    """Beside the clock, a list that says of every single sample what became of it."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = PlayoutClock()
        self.fates: list[str] = []
        self.segments: list[Segment] = []
        self.text = 0
        self.position = 0

    @rule(
        lengths=st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9)), max_size=5),
        pause=st.integers(0, 9),
        again=st.booleans(),
    )
    def queue(self, lengths: list[tuple[int, int]], pause: int, again: bool) -> None:
        """New text, or (where nothing is pending) the text from the heard position on again."""
        if again and "pending" not in self.fates:
            self.text = self.clock.position(reply="r", epoch=0)
        start, at, words = self.text, 0, []
        for samples, characters in lengths:
            words.append(Timed(self.text, self.text + characters, at, at + samples))
            self.text += characters + 1
            at += samples
        segment = Segment(start, self.text, len(self.fates), at + pause, words)
        self.segments.append(segment)
        self.fates += ["pending"] * segment.samples
        self.clock.queue(
            reply="r", epoch=0, start=start, end=self.text, samples=segment.samples, words=words
        )

    @rule(samples=st.integers(0, 60))
    def play(self, samples: int) -> None:
        """A count of samples is played, perhaps more than there are."""
        self._mark_played(self._at() + samples)
        self.clock.play(samples)

    @rule(back=st.integers(-40, 200))
    def report(self, back: int) -> None:
        """A report of any place: old, repeated, flushed, new, or beyond the end."""
        place = max(self._at() - back, 0)
        self._mark_played(place)
        self.clock.play_to(place)

    @rule()
    def flush(self) -> None:
        """What is pending is thrown away."""
        at = self._at()
        for segment in self.segments:
            segment.dropped |= segment.base > at or (segment.base == at and segment.samples > 0)
        dropped = self.fates.count("pending")
        self.fates = ["flushed" if fate == "pending" else fate for fate in self.fates]
        assert self.clock.flush() == dropped

    @invariant()
    def samples_are_conserved(self) -> None:
        """queued = played + flushed + pending, each of them what the list says."""
        clock = self.clock
        assert clock.queued == clock.played + clock.flushed + clock.pending == len(self.fates)
        assert clock.played == self.fates.count("played")
        assert clock.flushed == self.fates.count("flushed")

    @invariant()
    def the_position_is_what_was_played(self) -> None:
        """The position follows from the samples that were played, and from nothing else."""
        position = self.clock.position(reply="r", epoch=0)
        assert position == self._heard()
        news = [heard.to for heard in self.clock.drain()]
        assert news == sorted(set(news))
        assert not news or (news[0] > self.position and news[-1] == position)
        assert position >= self.position
        self.position = position

    def _heard(self) -> int:
        heard = 0
        for segment in self.segments:
            reached = segment.base <= self._at() and not segment.dropped
            if reached and segment.start <= heard:
                heard = max(heard, self._heard_of(segment))
        return heard

    def _heard_of(self, segment: Segment) -> int:
        fates = self.fates[segment.base : segment.base + segment.samples]
        if fates and fates[0] != "played":
            return segment.start
        spoken = segment.words[-1].end_sample if segment.words else segment.samples
        if fates.count("played") >= spoken:
            return segment.end
        heard = segment.start
        for word in segment.words:
            sound = fates[word.begin_sample : word.end_sample]
            begun = fates[: word.begin_sample].count("played") == word.begin_sample
            if not begun or sound.count("played") < HEARD_SHARE * len(sound):
                break
            heard = word.end
        return heard

    def _at(self) -> int:
        return next((i for i, fate in enumerate(self.fates) if fate == "pending"), len(self.fates))

    def _mark_played(self, until: int) -> None:
        for i in range(self._at(), min(until, len(self.fates))):
            self.fates[i] = "played"


TestPlayout = Playout.TestCase
TestPlayout.settings = settings(max_examples=100, stateful_step_count=25, deadline=None)
