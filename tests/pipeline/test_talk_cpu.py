"""One real turn with the default models: the right answer, spoken as it was committed."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jiwer
import pytest
from recordings import fixture_path

from voiceagent.config import cache_directory
from voiceagent.core.audit import audit
from voiceagent.sound.files import read_sound
from voiceagent.sound.resample import resample
from voiceagent.speech.recognizer import WhisperRecognizer
from voiceagent.weights.manifest import Manifest
from voiceagent.weights.store import Store

SPELLED = jiwer.Compose(
    [
        jiwer.ToLowerCase(),
        jiwer.RemovePunctuation(),
        jiwer.Strip(),
        jiwer.ReduceToListOfListOfWords(),
    ]
)


def talk(*arguments: str, folder: Path) -> dict[str, Any]:
    """Runs the command with the default models; its last line."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "voiceagent", "talk", "--preset", "cpu", "--fast", "--json"),
            *("--no-greeting", "--max-tokens", "60", *arguments),
        ],
        cwd=folder,
        env=os.environ | {"HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    summary: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return summary


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What one run of the command leaves behind; its last line is in ``summary.json``."""
    folder = tmp_path_factory.mktemp("talk")
    # Without noise the voice says the same words in the same way on every run.
    steady = "[voice]\nnoise_scale = 0.0\nnoise_width = 0.0\n"
    (folder / "steady.toml").write_text(steady, encoding="utf-8")
    summary = talk(
        *("--in", str(fixture_path("blue-sky")), "-k", "3", "--config", "steady.toml"),
        *("--out", "reply.wav", "--trace", "trace.jsonl", "--report", "report.html"),
        folder=folder,
    )
    (folder / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    return folder


def test_the_answer_is_right_and_speculated(folder: Path) -> None:
    """A reason that holds, by way of guesses some of which were right and some wrong."""
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert "scatter" in summary["reply_text"]
    assert summary["drafted"] == summary["accepted"] + summary["rejected"]
    assert min(summary["drafted"], summary["accepted"], summary["rejected"]) > 0
    assert "".join(summary["commits"]).strip() == summary["reply_text"]


def test_what_sounds_is_what_was_committed(folder: Path) -> None:
    """The reply, recognized again, has at most a tenth of its words wrong."""
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    store, preset = Store(cache_directory()), Manifest.load().preset("cpu")
    recognizer = WhisperRecognizer(store.folder(preset.files["recognizer"]))
    reply = read_sound(folder / "reply.wav")
    heard = recognizer.recognize(resample(reply.pcm, from_hz=reply.rate_hz, to_hz=16_000))
    assert (
        jiwer.wer(
            "".join(summary["commits"]),
            heard.text,
            reference_transform=SPELLED,
            hypothesis_transform=SPELLED,
        )
        <= 0.1
    )


def test_the_trace_is_proven(folder: Path) -> None:
    """Nothing unverified was spoken, and nothing released early."""
    with (folder / "trace.jsonl").open(encoding="utf-8") as lines:
        assert audit(lines) == []


def test_a_story_of_twenty_seconds_is_one_turn(tmp_path: Path) -> None:
    """Its sentences sound finished, each of them, and so do their words: nobody cuts in."""
    summary = talk(
        "--in", str(fixture_path("twenty-seconds")), "--trace", "trace.jsonl", folder=tmp_path
    )
    (turn,) = summary["turns"]
    assert turn["user_text"].startswith("I am planning a long trip")
    assert turn["user_text"].lower().endswith("which country should we visit first?")
    with (tmp_path / "trace.jsonl").open(encoding="utf-8") as lines:
        assert audit(lines) == []
