"""What the recognizer hears in the recordings of the manifest, ours and people's."""

import re
from collections.abc import Iterable

import jiwer
import pytest
from recordings import Fixture, available, fixtures, human_recordings

from voiceagent.config import cache_directory
from voiceagent.sound.files import Sound
from voiceagent.speech.recognizer import Transcript, WhisperRecognizer
from voiceagent.weights.manifest import Manifest
from voiceagent.weights.store import Store

MAX_ERROR_RATE = 0.10
NUMBERS = dict(
    zip(
        "0 1 2 3 4 5 6 7 8 9 10".split(),
        ("zero one two three four five six seven eight nine ten".split()),
        strict=True,
    )
)

SPOKEN = [fixture for fixture in fixtures() if fixture.kind in ("question", "statement", "command")]
UNSPOKEN = [fixture for fixture in fixtures() if not fixture.text]


@pytest.fixture(scope="module")
def recognizer() -> WhisperRecognizer:
    """The recognizer of the cpu preset, from the cache of models."""
    store = Store(cache_directory())
    return WhisperRecognizer(store.folder(Manifest.load().preset("cpu").files["recognizer"]))


def words(text: str) -> str:
    """A text as the words that are heard: no case, no marks, numbers spelled out."""
    plain = re.sub(r"[^\w' ]", "", text.lower().replace("-", " "))
    plain = re.sub(r"\bmr\b", "mister", plain)
    return " ".join(NUMBERS.get(word, word) for word in plain.split())


def hear(recognizer: WhisperRecognizer, sound: Sound) -> Transcript:
    """What is recognized in a whole recording."""
    return recognizer.recognize(sound.pcm, sound.rate_hz, "en")


def error_rate(pairs: Iterable[tuple[str, str]]) -> float:
    """Word errors of all the pairs of reference and transcript, over all reference words."""
    said, heard = zip(*((words(said), words(heard)) for said, heard in pairs), strict=True)
    return float(jiwer.wer(list(said), list(heard)))


@pytest.mark.parametrize("fixture", SPOKEN, ids=lambda each: each.id)
def test_our_own_recordings_are_understood(recognizer: WhisperRecognizer, fixture: Fixture) -> None:
    """Every utterance of our own is recognized with at most one word in ten wrong."""
    transcript = hear(recognizer, fixture.sound())
    assert transcript.confident
    assert error_rate([(fixture.text, transcript.text)]) <= MAX_ERROR_RATE, transcript.text


@pytest.mark.parametrize("fixture", UNSPOKEN, ids=lambda each: each.id)
def test_nothing_is_made_of_sound_without_speech(
    recognizer: WhisperRecognizer, fixture: Fixture
) -> None:
    """Silence, noise and music yield no words that could be taken for a user's."""
    assert not hear(recognizer, fixture.sound()).confident


def test_people_are_understood(recognizer: WhisperRecognizer) -> None:
    """Over all recordings of people, of 7 to 32 words and telephone and studio sound, at most one
    word in ten is wrong."""
    pairs = [
        (recording.text, hear(recognizer, available(recording)).text)
        for recording in human_recordings()
    ]
    assert len(pairs) >= 10
    assert error_rate(pairs) <= MAX_ERROR_RATE, pairs
