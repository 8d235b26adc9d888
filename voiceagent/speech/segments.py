"""What every voice does to its segments, so that they sound like one speaker in one breath."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from voiceagent.core.committer import Commit, Kind
from voiceagent.sound.pcm import Float32, Int16, to_int16
from voiceagent.speech.spoken import Spoken, spoken_form
from voiceagent.speech.synthesizer import Speech, SynthesisError, Word, no_sound

Span = tuple[int, int, int, int]
"""Source start and end, first and last sample."""
_FRAME_S = 0.005
_MARGIN_S = 0.010
"""Kept before and after what is loud enough: the onset of an "f" or "h" is quiet."""


@dataclass(frozen=True, kw_only=True)
class VoiceProfile:
    """What one voice needs."""

    gain: float
    """Fixed for the voice: scaling every segment to its own peak makes the level jump."""
    sentence_pause_ms: int
    clause_pause_ms: int
    """Silence after a segment that ends a sentence, or a clause."""
    least_words: int
    """A first clause of fewer words waits for more, unless it ends a sentence or is long."""
    threshold_dbfs: float
    """Quieter than this (root mean square of 5 ms) is silence around the words."""
    evenness_db: float
    """The most by which the levels (root mean square of what sounds) of two segments differ."""

    def pause_after(self, commit: Commit, *, rate_hz: int) -> Int16:
        """The silence that follows a segment."""
        pause_ms = self.sentence_pause_ms
        if commit.kind is Kind.CLAUSE:
            # One that was cut at a blank goes on in the same breath.
            marked = not commit.text.rstrip()[-1:].isalnum()
            pause_ms = self.clause_pause_ms if marked else 0
        elif commit.kind is Kind.END:
            # Nothing follows: a pause would only delay the end of the turn.
            pause_ms = 0
        return np.zeros(rate_hz * pause_ms // 1000, dtype=np.int16)

    def loud_part(self, pcm: Float32, *, rate_hz: int) -> tuple[int, int]:
        """The samples from the first to the last that are no silence, with a margin around them."""
        frame = int(rate_hz * _FRAME_S)
        frames = pcm[: len(pcm) // frame * frame].reshape(-1, frame)
        levels = np.sqrt((frames.astype(np.float64) ** 2).mean(axis=1))
        loud = np.flatnonzero(levels > 10 ** (self.threshold_dbfs / 20))
        if not len(loud):
            return 0, 0
        margin = int(rate_hz * _MARGIN_S)
        begin = int(loud[0]) * frame - margin
        end = (int(loud[-1]) + 1) * frame + margin
        return max(begin, 0), min(end, len(pcm))


class ProfiledVoice(ABC):
    """A :class:`~voiceagent.speech.synthesizer.Synthesizer` around one library; what its segments
    have in common is done here.

    Args:
        language: BCP 47 tag of what is said.
        profile: what the voice needs.
    """

    def __init__(self, *, language: str, profile: VoiceProfile) -> None:
        self._language = language
        self._profile = profile

    @property
    @abstractmethod
    def rate_hz(self) -> int:
        """Samples per second of the voice."""

    @abstractmethod
    def _say(self, commit: Commit, spoken: Spoken) -> tuple[Float32, Sequence[Span]]:
        """Samples with the gain applied, and where the pieces of the commit's text sound in them.

        Raises:
            SynthesisError: the library failed.
        """

    @property
    def least_words(self) -> int:
        """Words of the shortest clause that it should be given first."""
        return self._profile.least_words

    def synthesize(self, commit: Commit) -> Speech:
        """The sound of one commit: see :class:`~voiceagent.speech.synthesizer.Synthesizer`."""
        if not isinstance(commit, Commit):
            raise TypeError(f"a synthesizer takes a Commit, got {type(commit).__name__}")
        if commit.kind is Kind.SILENT:
            return no_sound(commit, rate_hz=self.rate_hz)
        spoken = spoken_form(commit.text, language=self._language)
        if spoken.silent:
            return no_sound(commit, rate_hz=self.rate_hz)
        sound, spans = self._say(commit, spoken)
        begin, end = self._profile.loud_part(sound, rate_hz=self.rate_hz)
        if begin == end or not spans:
            raise SynthesisError(f"the voice made no sound of {commit.text!r}")
        pause = self._profile.pause_after(commit, rate_hz=self.rate_hz)
        return Speech(
            commit=commit,
            pcm=np.concatenate([to_int16(sound[begin:end]), pause]),
            rate_hz=self.rate_hz,
            words=tuple(_word(commit, span, begin=begin, end=end) for span in merged(spans)),
        )


def _word(commit: Commit, span: Span, *, begin: int, end: int) -> Word:
    """A span of the whole sound as a word of the part that is kept."""
    start, stop, first, last = span
    return Word(
        text=commit.text[start:stop],
        start=commit.start + start,
        end=commit.start + stop,
        begin_sample=min(max(first, begin), end) - begin,
        end_sample=min(max(last, begin), end) - begin,
    )


def merged(spans: Iterable[Span]) -> list[Span]:
    """Spans that overlap in the source become one: "five dollars" speaks for "$5"."""
    whole: list[Span] = []
    for start, end, first, last in spans:
        if whole and start < whole[-1][1]:
            before = whole.pop()
            start, end = before[0], max(end, before[1])
            first = before[2]
        whole.append((start, end, first, last))
    return whole
