"""From the release gate to the ear: places, cuts, and how much of a text is out."""

import numpy as np

from voiceagent.core.committer import Commit
from voiceagent.core.reply import Reply
from voiceagent.session.playout import DeafEar, Playout, release_position
from voiceagent.speech.synthesizer import Speech, Word


class CountingEar:
    """An ear that has played as much as it is told."""

    count = 0

    def played_samples(self) -> int:
        return self.count

    def cut(self) -> None:
        """What is behind the count was never played anyway."""


def speech(text: str = "One two.", *, reply: str = "r1", samples: int = 100) -> Speech:
    """A commit's sound: its two words last half of it each."""
    commit: Commit = Reply.scripted(text, reply=reply, now_s=0.0).commits()[0]
    half = samples // 2
    words = (
        Word(text="One", start=0, end=3, begin_sample=0, end_sample=half - 10),
        Word(text="two", start=4, end=7, begin_sample=half, end_sample=samples - 10),
    )
    return Speech(commit=commit, pcm=np.ones(samples, dtype=np.int16), rate_hz=1000, words=words)


def playout() -> tuple[Playout, CountingEar]:
    """At 1 kHz, so that a chunk is 20 samples."""
    ear, out = CountingEar(), Playout(rate_hz=1000)
    out.ear = ear
    return out, ear


def test_sound_is_filled_up_to_whole_chunks() -> None:
    """An output that wants whole chunks neither waits for the rest nor drops it."""
    out, _ = playout()
    pcm = out.begin(speech(samples=101))
    assert (out.chunk_samples, len(pcm), np.count_nonzero(pcm)) == (20, 120, 101)


def test_words_are_heard_as_they_are_played() -> None:
    """Only what the ear has played of what was handed over counts."""
    out, ear = playout()
    out.begin(speech())
    out.hand_over(60)
    ear.count = 40
    assert [heard.to for heard in out.listen()] == [3]
    assert (out.in_flight_samples, out.is_sounding("r1", epoch=0)) == (20, True)
    out.hand_over(40)
    ear.count = 100
    assert [heard.to for heard in out.listen()] == [8]
    assert (out.in_flight_samples, out.is_sounding("r1", epoch=0)) == (0, False)


def test_a_cut_hears_what_was_played_and_forgets_the_rest() -> None:
    """Sound of the next reply is counted from the cut on, not from what was thrown away."""
    out, ear = playout()
    out.begin(speech())
    out.hand_over(100)
    ear.count = 45
    assert [heard.to for heard in out.cut()] == [3]
    assert out.in_flight_samples == 0
    out.begin(speech(reply="r2"))
    out.hand_over(40)
    assert out.listen() == []
    ear.count = 45 + 40
    assert [(heard.reply, heard.to) for heard in out.listen()] == [("r2", 3)]


def test_words_that_have_begun_are_out() -> None:
    """Nothing can be heard that was not released: a word is out with its first sample."""
    spoken = speech()
    positions = [release_position(spoken, samples=samples) for samples in (1, 49, 50, 89, 90)]
    assert positions == [3, 3, 7, 7, 8]


def test_nothing_is_played_before_there_is_an_ear() -> None:
    """The ear of an output that has not started is deaf, and has nothing to cut."""
    out = Playout(rate_hz=1000)
    assert isinstance(out.ear, DeafEar)
    out.begin(speech())
    out.hand_over(40)
    assert (out.listen(), out.cut()) == ([], [])
