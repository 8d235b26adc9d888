"""What a synthesizer is: committed text in, sound with word times out."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from voiceagent.core.committer import Commit
from voiceagent.core.errors import VoiceAgentError
from voiceagent.sound.pcm import Int16, to_float32, to_int16
from voiceagent.sound.resample import resample


class SynthesisError(VoiceAgentError):
    """A commit that should be heard and for which no sound came."""


@dataclass(frozen=True, slots=True)
class Word:
    """A stretch of the reply and when it sounds."""

    text: str
    """The reply's own text between ``start`` and ``end`` (``$3.50``, not what is said for it)."""
    start: int
    end: int
    """Positions in the reply, absolute, in code points."""
    begin_sample: int
    end_sample: int
    """Samples from the beginning of the segment's sound."""


@dataclass(frozen=True, slots=True)
class Speech:
    """The sound of one commit."""

    commit: Commit
    pcm: Int16
    """Shape (samples,); empty where the commit makes no sound."""
    rate_hz: int
    words: tuple[Word, ...]
    """In order, without overlap in position or time; words that are spoken as one are one."""

    @property
    def duration_s(self) -> float:
        """Length in seconds, the pause after the segment included."""
        return len(self.pcm) / self.rate_hz

    def at_rate(self, rate_hz: int) -> "Speech":
        """The same speech at another sample rate, word times included."""
        if rate_hz == self.rate_hz:
            return self
        pcm = to_int16(resample(to_float32(self.pcm), from_hz=self.rate_hz, to_hz=rate_hz))
        words = tuple(_rescaled(word, of=self.rate_hz, to=rate_hz) for word in self.words)
        return Speech(commit=self.commit, pcm=pcm, rate_hz=rate_hz, words=words)


class Synthesizer(Protocol):
    """Makes sound of commits, and of nothing else."""

    @property
    def rate_hz(self) -> int:
        """Samples per second of what :meth:`synthesize` returns."""
        ...

    @property
    def least_words(self) -> int:
        """Words of the shortest clause that it should be given first."""
        ...

    def synthesize(self, commit: Commit) -> Speech:
        """The sound of one commit; empty for one that is silent or has no letter or digit.

        Blocks while the model runs; one call at a time.

        Raises:
            SynthesisError: the commit should be heard and no sound came.
            TypeError: anything but a commit was given.
        """
        ...


def no_sound(commit: Commit, *, rate_hz: int) -> Speech:
    """The speech of a commit that is not for the ear."""
    return Speech(commit=commit, pcm=np.zeros(0, dtype=np.int16), rate_hz=rate_hz, words=())


def _rescaled(word: Word, *, of: int, to: int) -> Word:
    return Word(
        text=word.text,
        start=word.start,
        end=word.end,
        begin_sample=word.begin_sample * to // of,
        end_sample=word.end_sample * to // of,
    )
