"""A second voice: espeak-ng speaks the languages that Piper's voice does not."""

import ctypes.util
from collections.abc import Iterator

import numpy as np
import pytest

from voiceagent.config import Config, Persona, Voice, cache_directory
from voiceagent.core.committer import Commit, Committer, Policy
from voiceagent.session.cores import Shares
from voiceagent.session.models import _load_voice
from voiceagent.sound.pcm import to_float32
from voiceagent.speech import espeak
from voiceagent.speech.espeak import ESPEAK, EspeakSynthesizer
from voiceagent.speech.piper import PiperSynthesizer
from voiceagent.speech.synthesizer import Speech, SynthesisError
from voiceagent.weights.manifest import Manifest
from voiceagent.weights.store import Store

GERMAN = "Am 3. Mai um 14:30 Uhr kostet es 3,50 €. Schön, nicht wahr?"
SHORT_AND_LONG = {
    "de": "Ja. Ich verstehe. Das ist eine gute Frage. Das Wetter ist heute schön, denke ich.",
    "fr": "Oui. Je vois. C'est une bonne question. Il fait beau aujourd'hui, je crois.",
    "es": "Sí. Ya veo. Es una buena pregunta. Hoy hace buen tiempo, creo.",
    "zh": "是。我明白了。这是个好问题。我觉得今天天气不错，你说呢？",
    "hi": "हाँ। यह एक अच्छा सवाल है।",
}


def commits(text: str, *, language: str) -> list[Commit]:
    committer = Committer(reply="r", epoch=0, language=language, policy=Policy.sentences())
    committer.verify(text)
    committer.end()
    return committer.commits()


def speak(text: str, *, language: str, voice: Voice | None = None) -> list[Speech]:
    synthesizer = EspeakSynthesizer(voice or Voice(), language=language)
    return [synthesizer.synthesize(commit) for commit in commits(text, language=language)]


def words(speech: Speech) -> Iterator[tuple[str, int, int]]:
    for word in speech.words:
        yield word.text, word.begin_sample, word.end_sample


def level(speech: Speech) -> float:
    """Root mean square; the library's noise is another one each time."""
    return float(np.sqrt((to_float32(speech.pcm) ** 2).mean()))


def test_each_word_has_its_place_and_its_time() -> None:
    """In order, within the sound; what is said for an amount lies on the amount."""
    first, second = speak(GERMAN, language="de-AT")
    assert [word.text for word in first.words] == [
        *("Am", "3. Mai", "um", "14:30 Uhr", "kostet", "es", "3,50 €."),
    ]
    assert [word.text for word in second.words] == ["Schön,", "nicht", "wahr?"]
    for speech in (first, second):
        for word in speech.words:
            assert GERMAN[word.start : word.end] == word.text
        edges = [edge for _, begin, end in words(speech) for edge in (begin, end)]
        assert edges == sorted(edges)
        assert edges[-1] <= len(speech.pcm)


def test_scripts_without_blanks_are_timed_character_by_character() -> None:
    """So that a barge-in is known to the word there too."""
    (speech,) = speak("今天天气不错。", language="zh")
    assert len(speech.words) >= 4
    assert "".join(word.text for word in speech.words) == "今天天气不错。"
    assert all(end > begin for _, begin, end in words(speech))


@pytest.mark.parametrize("language", SHORT_AND_LONG)
def test_segments_are_equally_loud(language: str) -> None:
    """Within what the profile states, short ones and long ones."""
    levels = []
    for speech in speak(SHORT_AND_LONG[language], language=language):
        pcm = to_float32(speech.pcm)
        assert np.abs(pcm).max() < 1.0
        loud = pcm[np.abs(pcm) > 0.01]
        levels.append(10 * np.log10((loud**2).mean()))
    assert len(levels) > 1
    assert max(levels) - min(levels) < ESPEAK.evenness_db


def test_pauses_are_those_of_the_profile() -> None:
    """Silence around the words goes, and the stated pause follows a sentence, none the last one."""
    first, last = speak("Ja. Gut", language="de")
    pause = first.rate_hz * ESPEAK.sentence_pause_ms // 1000
    assert not first.pcm[-pause:].any()
    assert first.pcm[-pause - first.rate_hz // 50 : -pause].any()
    assert last.pcm[-last.rate_hz // 25 :].any()


def test_pace_and_loudness_are_configured() -> None:
    """A longer length scale is slower; the gain is a factor."""
    (plain,) = speak("Guten Morgen", language="de")
    (slow,) = speak("Guten Morgen", language="de", voice=Voice(length_scale=1.5))
    (soft,) = speak("Guten Morgen", language="de", voice=Voice(gain=0.5))
    assert len(slow.pcm) > 1.2 * len(plain.pcm)
    assert level(soft) == pytest.approx(level(plain) / 2, rel=0.1)


def test_voices_do_not_disturb_one_another() -> None:
    """The library has one state for all: each segment is made in its own voice and pace."""
    german = EspeakSynthesizer(Voice(), language="de")
    other = EspeakSynthesizer(Voice(name="fr+f3", length_scale=2.0), language="fr")
    (commit,) = commits("Restaurant", language="de")
    before = len(german.synthesize(commit).pcm)
    assert len(other.synthesize(commit).pcm) > 1.2 * before
    assert len(german.synthesize(commit).pcm) == pytest.approx(before, rel=0.01)


@pytest.mark.parametrize("text", ["...", "🎉", "```\ncode\n```"])
def test_what_has_nothing_to_say_makes_no_sound(text: str) -> None:
    """Nor has it words."""
    (speech,) = speak(text, language="de")
    assert (len(speech.pcm), speech.words) == (0, ())


def test_only_commits_are_spoken() -> None:
    """A string has no proof that it was verified."""
    with pytest.raises(TypeError, match="takes a Commit, got str"):
        EspeakSynthesizer(Voice(), language="de").synthesize("Hallo")  # type: ignore[arg-type]


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A language without a voice, and a machine without the library."""
    with pytest.raises(SynthesisError, match="has no voice 'xx'"):
        EspeakSynthesizer(Voice(), language="xx")
    espeak._library.cache_clear()
    monkeypatch.setattr(ctypes.util, "find_library", lambda name: None)
    with pytest.raises(SynthesisError, match="apt-get install libespeak-ng1"):
        EspeakSynthesizer(Voice(), language="de")


@pytest.mark.parametrize(
    ("language", "voice", "expected"),
    [
        ("en", Voice(), PiperSynthesizer),
        ("de", Voice(), EspeakSynthesizer),
        ("en-GB", Voice(engine="espeak"), EspeakSynthesizer),
        ("de", Voice(engine="piper"), PiperSynthesizer),
    ],
)
def test_the_language_chooses_the_voice_unless_one_is_named(
    language: str, voice: Voice, expected: type
) -> None:
    """As the configuration says."""
    store, preset = Store(cache_directory()), Manifest.load().preset("cpu")
    config = Config(persona=Persona(language=language), voice=voice)
    shares = Shares(engine=1, recognizer=1, synthesizer=1)
    assert isinstance(_load_voice(config, preset, store, shares=shares), expected)
