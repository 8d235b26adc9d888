"""The recordings, their manifest and their recipes agree."""

import hashlib
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import soundfile
from recordings import FOLDER, Fixture, Recording, available, fixtures, human_recordings

ROOT = FOLDER.parent
MAX_BYTES = 300_000
KINDS = {"question", "statement", "backchannel", "command", "silence", "music", "noise"}


def made() -> dict[str, dict[str, object]]:
    """The record that the script wrote: digest, size and length by id."""
    record = tomllib.loads((FOLDER / "made.toml").read_text(encoding="utf-8"))
    return {entry["id"]: entry for entry in record["made"]}


def test_the_folder_holds_what_the_manifest_lists() -> None:
    """No recording is unlisted, and none that is listed is missing."""
    listed = {fixture.path.name for fixture in fixtures()}
    present = {path.name for path in FOLDER.iterdir()} - {"manifest.toml", "made.toml", "README.md"}
    assert present == listed


def test_the_set_has_what_a_conversation_meets() -> None:
    """At least 16 utterances in several voices, and what is no utterance at all."""
    spoken = [fixture for fixture in fixtures() if fixture.text]
    voices = {fixture.recipe["voice"] for fixture in spoken}
    engines = {voice.split(":")[0] for voice in voices}
    assert len(spoken) >= 16
    assert len(voices) >= 6
    assert len(engines) >= 3
    assert {fixture.kind for fixture in fixtures()} == KINDS


@pytest.mark.parametrize("fixture", fixtures(), ids=lambda each: each.id)
def test_each_recording_is_as_recorded(fixture: Fixture) -> None:
    """A recording is small, free, and byte for byte what the script made."""
    content = fixture.path.read_bytes()
    entry = made()[fixture.id]
    assert len(content) == entry["bytes"] <= MAX_BYTES
    assert hashlib.sha256(content).hexdigest() == entry["sha256"]
    assert fixture.recipe["licence"] == "CC0-1.0"
    assert fixture.answered in {"yes", "no", "any"}


@pytest.mark.parametrize("fixture", fixtures(), ids=lambda each: each.id)
def test_each_recording_has_the_form_its_recipe_names(fixture: Fixture) -> None:
    """Rate, channels and length of the file are those of the manifest and the record."""
    info = soundfile.info(fixture.path)
    assert info.samplerate == fixture.recipe["rate_hz"]
    assert info.channels == fixture.recipe.get("channels", 1)
    assert info.duration == pytest.approx(made()[fixture.id]["seconds"], abs=1e-3)


def test_a_recording_can_be_made_again(tmp_path: Path) -> None:
    """The script makes the same sound again from the manifest alone."""
    chosen = ["days-in-a-week", "telephone-band", "noise-alone", "music"]
    missing = [program for program in ("espeak-ng", "flite") if shutil.which(program) is None]
    if missing:
        pytest.skip(f"without {' and '.join(missing)} nothing can be spoken again")
    command = [sys.executable, str(ROOT / "scripts" / "make_audio_fixtures"), "--check"]
    result = subprocess.run(
        [*command, *(f"--only={name}" for name in chosen)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert len(result.stdout.splitlines()) == len(chosen)


def test_people_are_listed_with_source_and_licence() -> None:
    """At least 12 recordings of people, each with package, version, digest, words and licence."""
    recordings = human_recordings()
    assert len(recordings) >= 12
    assert len({recording.package for recording in recordings}) >= 2
    for recording in recordings:
        assert recording.text
        assert recording.licence in {"CC-BY-SA-3.0", "BSD-2-Clause"}
        assert len(recording.sha256) == 64
    ids = [each.id for each in (*fixtures(), *recordings)]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("recording", human_recordings(), ids=lambda each: each.id)
def test_people_can_be_heard(recording: Recording) -> None:
    """Each listed recording is to be had, and has the listed length and rate."""
    sound = available(recording)
    assert sound.rate_hz == recording.rate_hz
    assert sound.duration_s == pytest.approx(recording.seconds, abs=0.01)
