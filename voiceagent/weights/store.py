"""The cache of model files: finding them, checking them, keeping what is made from them.

    <cache>/files/<sha256>/<name>     a file, verified before it got this name
    <cache>/derived/...               see `derived`
    <cache>/partial/...               downloads that can be resumed
    <cache>/pins.json                 see `pins`

A whole digest takes seconds for a large model, so it is computed when a file arrives, and the size
and modification time it had then are kept beside it. A later start compares only those.
"""

import contextlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from pathlib import Path

from voiceagent.weights import atomic
from voiceagent.weights.derived import derived
from voiceagent.weights.digest import OnBytes, ignore_bytes, sha256_of
from voiceagent.weights.errors import DamagedWeights, DiskFull, MissingWeights, is_disk_full
from voiceagent.weights.manifest import File
from voiceagent.weights.pins import Pins
from voiceagent.weights.progress import Progress, Silent

_FOLDER_VERSION = 1


class State(StrEnum):
    """What a quick look, without a digest, says about a file."""

    VERIFIED = "verified"
    UNVERIFIED = "unverified"
    """The size is right; the digest was never computed, or the file was touched since."""
    DAMAGED = "damaged"
    MISSING = "missing"


class Store:
    """Model files under one directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.pins = Pins(directory / "pins.json")

    def path(self, file: File) -> Path:
        """Where ``file`` lies. Quick unless it was touched since its digest was last computed.

        Raises:
            MissingWeights: it is not in the cache.
            DamagedWeights: it has another size or digest than the manifest says.
        """
        state = self.state(file)
        if state is State.UNVERIFIED:
            self.verify(file)
        elif state is State.DAMAGED:
            raise self._damaged(file)
        elif state is State.MISSING:
            raise self._missing(file)
        return self._require_place(file)

    def folder(self, files: Sequence[File]) -> Path:
        """A folder in which ``files`` lie side by side under their own names.

        Raises:
            MissingWeights, DamagedWeights: as `path`.
        """
        paths = [self.path(file) for file in files]

        def link(folder: Path) -> None:
            folder.mkdir()
            for path in paths:
                _link(path, folder / path.name)

        keys = [f"{self.digest(file)} {file.name}" for file in files]
        return self.derived(f"{files[0].role}-files", of=keys, version=_FOLDER_VERSION, build=link)

    def derived(
        self, name: str, *, of: Sequence[str], version: int, build: Callable[[Path], None]
    ) -> Path:
        """A cached conversion of the files with digests ``of``: see `derived.derived`."""
        home = self.directory / "derived"
        home.mkdir(parents=True, exist_ok=True)
        return derived(home, name, of=of, version=version, build=build)

    def digest(self, file: File) -> str:
        """The SHA-256 of ``file``: the manifest's, or the one recorded at its first fetch.

        Raises:
            MissingWeights: it has none yet.
        """
        digest = self._known_digest(file)
        if digest is None:
            raise self._missing(file)
        return digest

    def bytes(self, file: File) -> int | None:
        """The size of ``file`` in bytes; None before the first fetch of one without a digest."""
        if file.sha256 is not None:
            return file.bytes
        pin = self.pins.get(file.pin)
        return None if pin is None else pin.bytes

    def state(self, file: File) -> State:
        """What a quick look says; no digest is computed."""
        place = self.place(file)
        if place is None or not place.is_file():
            return State.MISSING
        if place.stat().st_size != self.bytes(file):
            return State.DAMAGED
        verified = _read_mark(place) == _identity(place)
        return State.VERIFIED if verified else State.UNVERIFIED

    def verify(self, file: File, *, on_bytes: OnBytes = ignore_bytes) -> None:
        """Computes the digest again.

        Raises:
            MissingWeights: it is not in the cache.
            DamagedWeights: the size or the digest is wrong.
        """
        if self.state(file) is State.MISSING:
            raise self._missing(file)
        place = self._require_place(file)
        if place.stat().st_size != self.bytes(file):
            raise self._damaged(file)
        identity = _identity(place)
        found = sha256_of(place, on_bytes=on_bytes)
        if found != self.digest(file):
            _mark_path(place).unlink(missing_ok=True)
            raise DamagedWeights(
                f"{file} is damaged: {place} has the digest {found[:12]}..., expected "
                f"{self.digest(file)[:12]}...; {_fetch_hint(file)}"
            )
        _write_mark(place, identity)

    def fetch(self, files: Iterable[File], *, progress: Progress | None = None) -> None:
        """Gets what is missing or damaged. Safe to call from several processes at once.

        Raises:
            FetchError: no source gave a file.
            DiskFull: there is no room.
        """
        from voiceagent.weights.fetch import Fetcher  # its HTTP client loads slowly

        Fetcher(self, progress=progress or Silent()).fetch(files)

    def is_ready(self, file: File) -> bool:
        """Whether ``file`` is here and right; computes the digest where a quick look can't tell."""
        try:
            self.path(file)
        except (MissingWeights, DamagedWeights):
            return False
        return True

    def place(self, file: File) -> Path | None:
        """Where ``file`` lies or will lie; None while its digest is unknown."""
        digest = self._known_digest(file)
        return None if digest is None else self.place_of(digest, file.name)

    def place_of(self, digest: str, name: str) -> Path:
        """Where a file of that digest and name lies or will lie."""
        return self.directory / "files" / digest / name

    def accept(self, partial: Path, *, digest: str, name: str) -> None:
        """Gives a downloaded file, whose digest was just computed, its final name."""
        place = self.place_of(digest, name)
        atomic.move_whole(partial, place)
        _write_mark(place, _identity(place))

    def admit(self, path: Path, *, sha256: str) -> File:
        """Takes in a draft model that no manifest names, by its digest alone.

        Raises:
            MissingWeights: there is no such file.
            DamagedWeights: it has another digest.
            DiskFull: there is no room for a copy.
        """
        if not path.is_file():
            raise MissingWeights(f"no draft model at {path}: name a GGUF file that is there")
        file = File(
            role="draft",
            name=path.name,
            bytes=path.stat().st_size,
            sha256=sha256.lower(),
            licence="",
            sources=(),
        )
        if not self.is_ready(file):
            self._copy(path, file)
        return file

    def _copy(self, path: Path, file: File) -> None:
        found = sha256_of(path)
        if found != file.sha256:
            raise DamagedWeights(f"{path} has the digest {found}, not the one that was given")
        partial = atomic.beside(self._require_place(file))
        try:
            partial.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, partial)
            self.accept(partial, digest=found, name=file.name)
        except OSError as error:
            if is_disk_full(error):
                raise DiskFull(f"no room for {path.name} in {self.directory}") from error
            raise
        finally:
            partial.unlink(missing_ok=True)

    def _known_digest(self, file: File) -> str | None:
        if file.sha256 is not None:
            return file.sha256
        pin = self.pins.get(file.pin)
        return None if pin is None else pin.sha256

    def _require_place(self, file: File) -> Path:
        return self.place_of(self.digest(file), file.name)

    def _missing(self, file: File) -> MissingWeights:
        return MissingWeights(f"{file} is not in {self.directory}; {_fetch_hint(file)}")

    def _damaged(self, file: File) -> DamagedWeights:
        place = self._require_place(file)
        return DamagedWeights(
            f"{file} is damaged: {place} has {place.stat().st_size} bytes, expected "
            f"{self.bytes(file)}; {_fetch_hint(file)}"
        )


def _fetch_hint(file: File) -> str:
    return f"run: voiceagent models fetch --preset {file.preset}"


def _identity(place: Path) -> list[int]:
    stat = place.stat()
    return [stat.st_size, stat.st_mtime_ns]


def _mark_path(place: Path) -> Path:
    return place.with_name(f".{place.name}.verified")


def _read_mark(place: Path) -> object:
    try:
        return json.loads(_mark_path(place).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _write_mark(place: Path, identity: list[int]) -> None:
    # The mark only saves time: in a read-only cache, files are hashed at every start.
    with contextlib.suppress(OSError):
        atomic.write_text(_mark_path(place), json.dumps(identity))


def _link(path: Path, link: Path) -> None:
    """A relative symbolic link: it follows a file that is fetched again, and a moved cache."""
    try:
        link.symlink_to(os.path.relpath(path, link.parent))
    except OSError:
        # Windows gives symbolic links to the privileged only.
        os.link(path, link)
