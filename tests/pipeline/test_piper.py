"""The real voice: commits in, even sound with the time of each word out."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from voiceagent.config import Voice, cache_directory
from voiceagent.core.committer import Commit, Committer, Policy
from voiceagent.sound.pcm import to_float32
from voiceagent.speech.piper import JOE_MEDIUM, PiperSynthesizer
from voiceagent.speech.spoken import spoken_form
from voiceagent.speech.synthesizer import SynthesisError
from voiceagent.weights.manifest import Manifest
from voiceagent.weights.store import Store

STEADY = Voice(noise_scale=0.0, noise_width=0.0)


def voice_files() -> tuple[Path, Path]:
    """The voice and its settings."""
    store = Store(cache_directory())
    paths = [store.path(file) for file in Manifest.load().preset("cpu").files["voice"]]
    (onnx,) = [path for path in paths if path.suffix == ".onnx"]
    (settings,) = [path for path in paths if path.suffix == ".json"]
    return onnx, settings


@pytest.fixture(scope="module")
def voice() -> PiperSynthesizer:
    """The default voice without its randomness."""
    return PiperSynthesizer(*voice_files(), STEADY, threads=1)


def commits(*texts: str) -> list[Commit]:
    """What the committer makes of texts that follow each other."""
    committer = Committer(reply="r", epoch=0, policy=Policy.sentences())
    for text in texts:
        committer.verify(text)
    committer.end()
    return committer.commits()


def commit(text: str) -> Commit:
    (only,) = commits(text)
    return only


def test_speech_has_word_times(voice: PiperSynthesizer) -> None:
    """Each word has its place in the reply and its time in the sound, in order, within bounds."""
    text = "I have one of the best jobs in the world, to be sure."
    speech = voice.synthesize(commit(text))
    assert speech.rate_hz == voice.rate_hz == 22_050
    assert [word.text for word in speech.words] == [
        *("I", "have", "one", "of the", "best", "jobs", "in the", "world,", "to be", "sure."),
    ]
    for word in speech.words:
        assert text[word.start : word.end] == word.text
    edges = [edge for word in speech.words for edge in (word.begin_sample, word.end_sample)]
    assert edges == sorted(edges)
    assert 0 <= edges[0] < edges[-1] <= len(speech.pcm)


def test_positions_are_absolute_in_the_reply(voice: PiperSynthesizer) -> None:
    """The second segment's words are counted from the beginning of the reply."""
    text = "Hello there. It costs **$3.50** today."
    _, second = commits(text)
    words = voice.synthesize(second).words
    assert [text[word.start : word.end] for word in words] == ["It", "costs", "$3.50", "today."]


def test_sound_begins_and_ends_at_the_words(voice: PiperSynthesizer) -> None:
    """Leading silence is trimmed to a few milliseconds, and the pause after is the stated one."""
    first, _ = commits("Paris is nice. It is.")
    speech = voice.synthesize(first)
    loud = np.flatnonzero(np.abs(to_float32(speech.pcm)) > 0.01)
    assert loud[0] / speech.rate_hz < 0.06
    assert speech.words[0].begin_sample / speech.rate_hz < 0.06
    pause = speech.rate_hz * JOE_MEDIUM.sentence_pause_ms // 1000
    assert not speech.pcm[-pause:].any()
    assert speech.pcm[-pause - speech.rate_hz // 50 :].any()


def test_segments_are_equally_loud(voice: PiperSynthesizer) -> None:
    """A short segment is as loud as a long one: the gain belongs to the voice, not the segment."""
    texts = ["Yes.", "I see.", "That is a good question.", "The weather is fine today, I think."]
    levels = []
    for text in texts:
        pcm = to_float32(voice.synthesize(commit(text)).pcm)
        loud = pcm[np.abs(pcm) > 0.01]
        levels.append(10 * np.log10((loud**2).mean()))
        assert np.abs(pcm).max() < 1.0
    assert max(levels) - min(levels) < JOE_MEDIUM.evenness_db


def test_without_noise_the_sound_is_the_same_again(voice: PiperSynthesizer) -> None:
    """With both noises at 0 the same commit gives the same samples."""
    one, other = (voice.synthesize(commit("The same words.")) for _ in range(2))
    assert np.array_equal(one.pcm, other.pcm)


@pytest.mark.parametrize("text", ["...", "🎉", "---", "*"])
def test_a_segment_without_letters_makes_no_sound(
    voice: PiperSynthesizer, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing to say: no sound, no words, and the model is not asked."""
    monkeypatch.setattr(voice, "_sound", None)
    speech = voice.synthesize(commit(text))
    assert len(speech.pcm) == 0
    assert speech.words == ()


def test_silent_commits_make_no_sound(voice: PiperSynthesizer) -> None:
    """Text that is not for the ear passes without sound."""
    made = [voice.synthesize(one) for one in commits("<think>Let me see.</think>Yes.")]
    silent = [speech for speech in made if speech.commit.kind == "silent"]
    assert silent
    assert all(len(speech.pcm) == 0 for speech in silent)
    assert sum(len(speech.pcm) for speech in made) > 0


def test_only_commits_are_spoken(voice: PiperSynthesizer) -> None:
    """A string, or anything that only looks like a commit, is refused."""
    not_a_commit: Any = "Hello."
    with pytest.raises(TypeError, match="takes a Commit, got str"):
        voice.synthesize(not_a_commit)


def nothing(*_: object, **__: object) -> list[Any]:
    """A voice that yields nothing."""
    return []


def failure(*_: object, **__: object) -> list[Any]:
    raise RuntimeError("out of memory")


@pytest.mark.parametrize(
    ("broken", "reason"), [(nothing, "made no sound"), (failure, "out of memory")]
)
def test_a_voice_that_fails(
    voice: PiperSynthesizer,
    monkeypatch: pytest.MonkeyPatch,
    broken: Callable[..., list[Any]],
    reason: str,
) -> None:
    """No sound where there should be some is an error that names the text."""
    monkeypatch.setattr(voice._voice, "synthesize", broken)
    with pytest.raises(SynthesisError, match=reason):
        voice.synthesize(commit("Hello there."))


def test_a_phoneme_that_the_voice_does_not_know(
    voice: PiperSynthesizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One unknown phoneme is left out; the words keep their times, to the end of the sound."""
    known = dict(voice._voice.config.phoneme_id_map)
    del known["æ"]
    monkeypatch.setattr(voice._voice.config, "phoneme_id_map", known)
    speech = voice.synthesize(commit("The cat sat there."))
    assert [word.text for word in speech.words] == ["The", "cat", "sat", "there."]
    spoken = len(speech.pcm) - speech.rate_hz * JOE_MEDIUM.sentence_pause_ms // 1000
    assert 0.6 * spoken < speech.words[-1].end_sample <= spoken


def test_a_voice_without_durations(
    voice: PiperSynthesizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that gives no phoneme times is refused: nobody would know what was heard."""
    run = voice._voice.phoneme_ids_to_audio

    def without(ids: Any, options: Any, **_: Any) -> Any:
        return run(ids, options, include_alignments=True)[0], None

    monkeypatch.setattr(voice._voice, "phoneme_ids_to_audio", without)
    with pytest.raises(SynthesisError, match="no duration output"):
        voice.synthesize(commit("Hello there."))


def test_another_rate(voice: PiperSynthesizer) -> None:
    """Speech at another rate keeps its duration, and its words their times."""
    speech = voice.synthesize(commit("Hello there, my friend."))
    other = speech.at_rate(16_000)
    assert other.duration_s == pytest.approx(speech.duration_s, abs=0.001)
    for word, same in zip(speech.words, other.words, strict=True):
        assert same.begin_sample / 16_000 == pytest.approx(
            word.begin_sample / speech.rate_hz, abs=0.001
        )
    assert speech.at_rate(speech.rate_hz) is speech


@pytest.mark.parametrize("content", [b"", b"not a model" * 100])
def test_a_file_that_is_no_voice(tmp_path: Path, content: bytes) -> None:
    """An empty or foreign file is one clear error."""
    broken = tmp_path / "voice.onnx"
    broken.write_bytes(content)
    with pytest.raises(SynthesisError, match="is not a Piper voice"):
        PiperSynthesizer(broken, voice_files()[1], STEADY)


def test_a_missing_voice(tmp_path: Path) -> None:
    """A missing file is named."""
    with pytest.raises(SynthesisError, match="cannot read the voice"):
        PiperSynthesizer(tmp_path / "gone.onnx", tmp_path / "gone.json", STEADY)


@pytest.mark.parametrize(
    "written",
    [
        "Dr. Smith met Mrs. Jones and Prof. Green at St. Mary's.",
        "J. K. Rowling wrote it.",
        "See No. 5, p. 5 and Fig. 2.",
        "The U.S. Army is there.",
        "At 10 a.m. Monday we leave.",
        "On Jan. 5 we leave.",
        "Well... maybe.",
        "ok…fine",
        "one—two",
        "It costs $3.50.",
        "1. First thing",
        "Mix it, e.g. with milk, etc.",
        "It ended on 12/05/2024.",
        "Say **hello** to [Bob](http://example.com/a.b).",
        "Version 2.0.1 of file.py, i.e. the last one.",
    ],
)
def test_one_segment_is_one_sentence_to_the_voice(voice: PiperSynthesizer, written: str) -> None:
    """The voice finds no sentence end inside what was committed as one."""
    assert len(voice.phonemes(spoken_form(written).text)) == 1


@pytest.mark.parametrize(
    ("written", "same_as"),
    [
        ("Well... maybe.", "Well, maybe."),
        ("one—two", "one, two"),
        ("It costs $3.50.", "It costs three dollars fifty cents."),
        ("Dr. Smith", "Doctor Smith"),
        ("J. K. Rowling", "JK Rowling"),
        ("No. 5", "number five"),
        ("at 10 a.m. Monday", "at ten AM Monday"),
        ("Good! 🎉", "Good!"),
        ("**Yes**", "Yes"),
    ],
)
def test_it_sounds_as_it_should(voice: PiperSynthesizer, written: str, same_as: str) -> None:
    """The phonemes are those of the words that a reader would say."""
    assert voice.phonemes(spoken_form(written).text) == voice.phonemes(same_as)
