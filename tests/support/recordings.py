"""The recordings of ``audio_fixtures/``: our own by id, and people's speech out of Debian packages.

People's recordings are never part of the project. They come from the installed package, or are
fetched with ``apt-get download`` into the cache of models, and count by their digest alone.
"""

import hashlib
import shutil
import subprocess
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from voiceagent.config import cache_directory
from voiceagent.sound.files import Sound, read_sound

FOLDER = Path(__file__).parents[2] / "audio_fixtures"


class MissingRecording(Exception):
    """A person's recording that can be had neither from the system nor from its package."""


@dataclass(frozen=True, kw_only=True)
class Fixture:
    """One recording of our own making."""

    id: str
    path: Path
    kind: str
    text: str
    """What is spoken, without the pauses; empty where nobody speaks."""
    answered: str
    """``yes``, ``no`` or ``any``."""
    expect: tuple[str, ...]
    """Words of which one belongs into a good answer; empty where there is no single right one."""
    recipe: dict[str, Any]

    def sound(self) -> Sound:
        """The recording, mixed down to one channel."""
        return read_sound(self.path)


@dataclass(frozen=True, kw_only=True)
class Recording:
    """One recording of a person, listed by package, file and digest."""

    id: str
    package: str
    version: str
    file: str
    """Path inside the package, without the leading slash."""
    sha256: str
    text: str
    rate_hz: int
    seconds: float
    speaker: str
    licence: str
    encoding: str = ""
    """Empty for a sound file with a header."""

    def path(self) -> Path:
        """Where the recording lies, after fetching its package if need be.

        Raises:
            MissingRecording: it cannot be had here; the message says how to get it.
        """
        for candidate in (Path("/") / self.file, _unpacked(self) / self.file):
            if candidate.is_file() and _digest(candidate) == self.sha256:
                return candidate
        _fetch(self)
        path = _unpacked(self) / self.file
        if not path.is_file() or _digest(path) != self.sha256:
            raise MissingRecording(f"{self.id}: {self.package} holds no such {self.file}")
        return path

    def sound(self) -> Sound:
        """The recording, one channel."""
        path = self.path()
        if not self.encoding:
            return read_sound(path)
        pcm = np.frombuffer(path.read_bytes(), dtype="<i2").astype(np.float32) / 32768
        return Sound(pcm=pcm, rate_hz=self.rate_hz)


@cache
def manifest() -> dict[str, list[dict[str, Any]]]:
    """The parsed manifest."""
    return tomllib.loads((FOLDER / "manifest.toml").read_text(encoding="utf-8"))


def fixtures(*, kind: str | None = None) -> list[Fixture]:
    """Our own recordings, all or of one kind, in the manifest's order."""
    return [_fixture(entry) for entry in manifest()["fixture"] if kind in (None, entry["kind"])]


def fixture(name: str) -> Fixture:
    """One recording of our own by its id."""
    return next(each for each in fixtures() if each.id == name)


def fixture_path(name: str) -> Path:
    """The file of one recording of our own."""
    return fixture(name).path


def human_recordings() -> list[Recording]:
    """People's recordings. Listing them fetches nothing."""
    return [Recording(**entry) for entry in manifest()["recording"]]


def available(recording: Recording) -> Sound:
    """The sound of a person's recording; where it cannot be had the test is skipped, and says so.

    On CI a skip is a failure (see conftest.py).
    """
    try:
        return recording.sound()
    except MissingRecording as error:
        pytest.skip(str(error))


def _fixture(entry: dict[str, Any]) -> Fixture:
    spoken = [piece for piece in entry.get("pieces", []) if isinstance(piece, str)]
    return Fixture(
        id=entry["id"],
        path=FOLDER / entry["file"],
        kind=entry["kind"],
        text=" ".join(spoken),
        answered=entry["answered"],
        expect=tuple(entry.get("expect", ())),
        recipe=entry,
    )


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _unpacked(recording: Recording) -> Path:
    return cache_directory() / "debian" / f"{recording.package}_{recording.version}"


def _fetch(recording: Recording) -> None:
    wanted = f"{recording.package}={recording.version}"
    advice = f"sudo apt-get install {recording.package}"
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise MissingRecording(f"{recording.id}: needs the Debian package {wanted}")
    folder = _unpacked(recording)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        subprocess.run(
            ["apt-get", "-q", "download", wanted], cwd=folder, check=True, capture_output=True
        )
        for package in folder.glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", package, folder], check=True, capture_output=True)
            package.unlink()
    except subprocess.CalledProcessError as error:
        reason = error.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise MissingRecording(f"{recording.id}: {advice} ({' '.join(reason)})") from error
