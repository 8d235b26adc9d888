"""The real recognizer: words out of human speech, nothing out of noise."""

import re
from pathlib import Path
from typing import Any

import jiwer
import numpy as np
import pytest
from recordings import available, human_recordings

from voiceagent.config import cache_directory
from voiceagent.speech import recognizer as module
from voiceagent.speech.recognizer import (
    FULL_WINDOW_S,
    RATE_HZ,
    Effort,
    RecognitionError,
    WhisperRecognizer,
)
from voiceagent.weights.manifest import Manifest
from voiceagent.weights.store import Store

PEOPLE = {recording.id: recording for recording in human_recordings()}


@pytest.fixture(scope="module")
def recognizer() -> WhisperRecognizer:
    """The model of the cpu preset."""
    files = Manifest.load().preset("cpu").files["recognizer"]
    return WhisperRecognizer(Store(cache_directory()).folder(files), threads=2)


def words(text: str) -> str:
    return " ".join(re.sub(r"[^\w\s]", " ", text.lower()).split())


def noise(level: float, *, seconds: float = 3.0) -> np.ndarray:
    rng = np.random.default_rng(0)
    return (level * rng.standard_normal(int(seconds * RATE_HZ))).astype(np.float32)


NOISES = {
    "silence": np.zeros(2 * RATE_HZ, dtype=np.float32),
    "nothing": np.zeros(0, dtype=np.float32),
    "faint noise": noise(0.001),
    "noise": noise(0.05),
    "long noise": noise(0.02, seconds=20),
    "rumble": np.cumsum(noise(0.001)).astype(np.float32),
    "a tone": (0.3 * np.sin(0.2 * np.arange(3 * RATE_HZ))).astype(np.float32),
    "a click": np.eye(1, 2 * RATE_HZ, RATE_HZ, dtype=np.float32)[0],
}


@pytest.mark.parametrize("name", NOISES)
def test_noise_is_no_speech(recognizer: WhisperRecognizer, name: str) -> None:
    """Silence, noise, tones and clicks give no text and no confidence."""
    result = recognizer.recognize(NOISES[name])
    assert result.text == ""
    assert not result.confident


def test_silence_does_not_run_the_model(
    recognizer: WhisperRecognizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is quieter than the threshold is not even looked at."""
    monkeypatch.setattr(recognizer, "_decode", None)
    assert recognizer.recognize(NOISES["silence"]).no_speech_probability == 1.0


def test_long_utterances_are_heard_to_the_end(recognizer: WhisperRecognizer) -> None:
    """What is longer than the model's window is cut where it is quiet, and nothing is lost."""
    recording = PEOPLE["congratulations"]
    sound = available(recording)
    assert sound.duration_s > FULL_WINDOW_S
    text = words(recognizer.recognize(sound.pcm, sound.rate_hz).text)
    assert text.startswith("congratulations you have successfully installed")
    assert jiwer.wer(words(recording.text), text) <= 0.12


def test_a_thorough_look(recognizer: WhisperRecognizer) -> None:
    """For checks, the full window and a beam give the words as well."""
    sound = available(PEOPLE["hello-world"])
    result = recognizer.recognize(sound.pcm, sound.rate_hz, effort=Effort.THOROUGH)
    assert words(result.text) == "hello world"


@pytest.mark.parametrize(
    ("text", "log_probability", "no_speech", "heard"),
    [
        ("Press star to cancel.", -0.3, 0.7, True),
        ("Press star to cancel.", -0.9, 0.7, False),
        ("Thank you.", -0.4, 0.7, False),
        ("Thank you.", -0.4, 0.5, True),
        ("I'm going to go to the beach.", -1.7, 0.5, False),
    ],
)
def test_what_looks_like_no_speech(
    text: str, log_probability: float, no_speech: float, *, heard: bool
) -> None:
    """Some likely words were said for all that; unlikely or few ones the model made up."""
    decoded = module._Decoded(text, 6, False, log_probability, no_speech)
    transcript = module._judged(decoded)
    assert (transcript.text, transcript.confident) == (text * heard, heard)


def test_a_loop_is_done_again_with_the_full_window(
    recognizer: WhisperRecognizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the short windows go round in circles the full one decides; not for a glance."""
    windows: list[float] = []
    decode = recognizer._decode

    def looping(pcm: np.ndarray, *, window_s: float, **options: Any) -> module._Decoded:
        windows.append(window_s)
        if window_s < FULL_WINDOW_S:
            return module._Decoded("and so " * 9, 20, False, -0.1, 0.0)
        return decode(pcm, window_s=window_s, **options)

    monkeypatch.setattr(recognizer, "_decode", looping)
    sound = available(PEOPLE["goodbye"])
    assert words(recognizer.recognize(sound.pcm, sound.rate_hz).text) == "goodbye"
    assert windows == [*module.SHORT_WINDOWS_S, FULL_WINDOW_S]
    glance = recognizer.recognize(sound.pcm, sound.rate_hz, effort=Effort.GLANCE)
    assert (glance.text, glance.confident) == ("", False)
    assert windows[3:] == [module.SHORT_WINDOWS_S[0]]


def test_a_glance_does_not_wait_for_others(recognizer: WhisperRecognizer) -> None:
    """While somebody's words are read, a glance at another speaker sees nothing."""
    sound = available(PEOPLE["goodbye"])
    with recognizer._in_use:
        glance = recognizer.recognize(sound.pcm, sound.rate_hz, effort=Effort.GLANCE)
    assert not glance.confident


def test_a_loop_that_stays_is_no_text(
    recognizer: WhisperRecognizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where even the full window repeats itself there is nothing to believe."""
    loop = module._Decoded("and so " * 9, 20, False, -0.1, 0.0)
    monkeypatch.setattr(recognizer, "_decode", lambda *_, **__: loop)
    result = recognizer.recognize(NOISES["noise"])
    assert (result.text, result.confident) == ("", False)


@pytest.mark.parametrize(
    ("text", "repeats"),
    [
        ("I said no, no, no.", False),
        ("go go go go go", True),
        (
            "thank you very much. thank you very much. thank you very much. thank you very much",
            True,
        ),
        ("Armstrong was the first on the moon. Armstrong was the first on the moon. Arm", True),
        ("I think so, I think so.", False),
        ("one two three four five six seven eight nine ten", False),
        ("", False),
    ],
)
def test_repetition(text: str, repeats: bool) -> None:
    """The same words four times running are a loop; emphasis and counting are not."""
    assert module._Decoded(text, 5, False, 0.0, 0.0).repeats is repeats


def test_doubtful_text_is_not_confident() -> None:
    """Text of low probability is kept, and marked."""
    doubtful = module._judged(module._Decoded("hello", 1, False, -1.4, 0.1))
    assert (doubtful.text, doubtful.confident) == ("hello", False)


def test_samples_that_are_not_numbers(recognizer: WhisperRecognizer) -> None:
    """NaN is refused rather than recognized."""
    with pytest.raises(RecognitionError, match="not numbers"):
        recognizer.recognize(np.full(100, np.nan, dtype=np.float32))


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    """A folder that lacks a file of the model is named; nothing is downloaded."""
    with pytest.raises(RecognitionError, match=r"model\.bin is missing"):
        WhisperRecognizer(tmp_path)


def test_a_damaged_model(tmp_path: Path) -> None:
    """Files of 0 bytes are one clear error."""
    for name in ("model.bin", "config.json", "tokenizer.json", "vocabulary.json"):
        (tmp_path / name).touch()
    with pytest.raises(RecognitionError, match="cannot load the recognizer"):
        WhisperRecognizer(tmp_path)
