"""Sources of model files on the loopback: a hub and a package index that can be told to fail."""

import base64
import contextlib
import hashlib
import io
import os
import threading
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from voiceagent.weights.digest import OnBytes, ignore_bytes
from voiceagent.weights.errors import SourceError
from voiceagent.weights.manifest import File, HubSource, Source, WheelPart, WheelSource

REVISION = "0" * 40


def content(size: int, *, seed: int = 0) -> bytes:
    """Bytes that do not compress and differ by seed."""
    blocks = (hashlib.sha256(f"{seed} {i}".encode()).digest() for i in range(size // 32 + 1))
    return b"".join(blocks)[:size]


def model_file(
    data: bytes, *sources: Source, name: str = "model.gguf", role: str = "target"
) -> File:
    """A manifest entry for ``data``."""
    return File(
        role=role,
        name=name,
        bytes=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
        licence="Apache-2.0",
        sources=sources,
    )


def unpinned_file(source: HubSource, *, name: str = "config.json") -> File:
    """A manifest entry whose digest is recorded at the first fetch."""
    return File(
        role="target",
        name=name,
        bytes=None,
        sha256=None,
        licence="Apache-2.0",
        sources=(source,),
        preset="gpu",
    )


def hub_source(path: str = "model.gguf") -> HubSource:
    """A file of the fake hub."""
    return HubSource(repository="team/model", revision=REVISION, path=path)


def wheel_source(parts: int, *, package: str = "model-part{n}") -> WheelSource:
    """``parts`` wheels with one member each."""
    numbers = range(1, parts + 1)
    return WheelSource(parts=tuple(wheel_part(n, package=package) for n in numbers))


def wheel_part(n: int, *, package: str = "model-part{n}") -> WheelPart:
    """Part ``n``."""
    return WheelPart(package=package.format(n=n), version="1.0", member=f"data/part{n:02}.bin")


def make_wheel(part: WheelPart, members: Mapping[str, bytes]) -> bytes:
    """A wheel that pip accepts."""
    info = f"{part.package.replace('-', '_')}-{part.version}.dist-info"
    files = {
        **members,
        f"{info}/METADATA": (
            f"Metadata-Version: 2.1\nName: {part.package}\nVersion: {part.version}\n"
        ).encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},{_record_digest(data)},{len(data)}\n" for name, data in files.items())
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
        archive.writestr(f"{info}/RECORD", f"{record}{info}/RECORD,,\n")
    return out.getvalue()


def _record_digest(data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
    return "sha256=" + digest.rstrip(b"=").decode()


Fault = Callable[["_Handler", bytes], None]
"""Answers one request in a way of its own."""


def status(code: int) -> Fault:
    """Answers with nothing but a status."""
    return lambda handler, _body: handler.send_error(code)


def break_after(size: int) -> Fault:
    """Closes the connection after ``size`` bytes of the body."""
    return lambda handler, body: handler.answer(body, cut_at=size)


def corrupted(handler: "_Handler", body: bytes) -> None:
    """Flips the bits of a byte in the middle."""
    middle = len(body) // 2
    handler.answer(body[:middle] + bytes([body[middle] ^ 0xFF]) + body[middle + 1 :])


def truncated(handler: "_Handler", body: bytes) -> None:
    """Sends half of it as though that were all."""
    handler.answer(body[: len(body) // 2])


def ignoring_range(handler: "_Handler", body: bytes) -> None:
    """Sends everything whatever was asked for."""
    handler.answer(body, honour_range=False)


def hold(size: int, *, reached: threading.Event, go_on: threading.Event) -> Fault:
    """Sends ``size`` bytes, says so, and sends nothing more until it is told to."""

    def answer(handler: "_Handler", body: bytes) -> None:
        handler.answer(body, cut_at=size)
        reached.set()
        go_on.wait(60)

    return answer


class Sources:
    """What the server has: ``files`` by path, and a queue of faults for each path."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.faults: dict[str, list[Fault]] = defaultdict(list)
        self.requests: list[tuple[str, str | None]] = []
        self.sha256_etags = True
        self.url = ""

    @property
    def hub_url(self) -> str:
        """The hub's address."""
        return f"{self.url}/hub"

    @property
    def pip_environment(self) -> dict[str, str]:
        """Makes pip use this index and nothing else."""
        return {
            "PIP_INDEX_URL": f"{self.url}/simple",
            "PIP_EXTRA_INDEX_URL": "",
            "PIP_FIND_LINKS": "",
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_RETRIES": "0",
            "no_proxy": "127.0.0.1",
        }

    def add_hub(self, source: HubSource, data: bytes) -> str:
        """Publishes a file; returns its path on the server."""
        path = f"/hub/{source.repository}/resolve/{source.revision}/{source.path}"
        self.files[path] = data
        return path

    def add_wheel(self, part: WheelPart, members: Mapping[str, bytes]) -> str:
        """Publishes a wheel; returns its path on the server."""
        name = f"{part.package.replace('-', '_')}-{part.version}-py3-none-any.whl"
        path = f"/files/{part.package}/{name}"
        self.files[path] = make_wheel(part, members)
        self.files[f"/simple/{part.package}/"] = f'<a href="{path}">{name}</a>'.encode()
        return path

    def add_wheels(self, source: WheelSource, data: bytes) -> list[str]:
        """Publishes ``data`` cut into the parts of ``source``."""
        size = -(-len(data) // len(source.parts))
        return [
            self.add_wheel(part, {part.member: data[n * size : (n + 1) * size]})
            for n, part in enumerate(source.parts)
        ]

    def asked_for(self, path: str) -> list[str | None]:
        """The Range of each request for ``path``."""
        return [asked for where, asked in self.requests if where == path]


class _Handler(BaseHTTPRequestHandler):
    sources: Sources

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.end_headers()

    def do_GET(self) -> None:
        self.sources.requests.append((self.path, self.headers["Range"]))
        body = self.sources.files.get(self.path)
        if body is None:
            self.send_error(404)
        elif faults := self.sources.faults[self.path]:
            faults.pop(0)(self, body)
        else:
            self.answer(body)

    def answer(self, body: bytes, *, cut_at: int | None = None, honour_range: bool = True) -> None:
        begin = self._begin() if honour_range else 0
        if begin and begin >= len(body):
            self.send_error(416)
            return
        self.send_response(206 if begin else 200)
        self.send_header("Content-Type", "text/html" if "/simple/" in self.path else "octet/stream")
        self.send_header("Content-Length", str(len(body) - begin))
        if self.sources.sha256_etags:
            published = self.sources.files[self.path]
            self.send_header("ETag", f'"{hashlib.sha256(published).hexdigest()}"')
        self.end_headers()
        rest = body[begin:]
        self.close_connection = True
        with contextlib.suppress(ConnectionError):  # the client had heard enough
            self.wfile.write(rest if cut_at is None else rest[:cut_at])
            self.wfile.flush()

    def _begin(self) -> int:
        asked = self.headers["Range"]
        return 0 if asked is None else int(asked.removeprefix("bytes=").removesuffix("-"))

    def finish(self) -> None:
        with contextlib.suppress(ConnectionError):  # the client had heard enough
            super().finish()

    def log_message(self, *_: object) -> None:
        return


@contextmanager
def serving() -> Iterator[Sources]:
    """A running server; it ends with the block."""
    sources = Sources()
    handler = type("Handler", (_Handler,), {"sources": sources})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        sources.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield sources
        finally:
            server.shutdown()
            thread.join()


class ShelfClient:
    """A `PipClient` that takes its wheels from memory: for what does not depend on pip."""

    def __init__(self, folder: Path, wheels: Mapping[str, list[bytes | Exception]]) -> None:
        self._folder = folder
        self._wheels = wheels
        self.fetched: list[str] = []

    def fetch(self, part: WheelPart, *, on_bytes: OnBytes = ignore_bytes) -> Path:
        """Takes the next answer for the package; the last one is given again and again."""
        wheel = self._folder / f"{part.package}-{part.version}.whl"
        if wheel.is_file():
            return wheel
        self.fetched.append(part.package)
        answers = self._wheels.get(part.package)
        if not answers:
            raise SourceError(f"no {part.package}")
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, BaseException):
            raise answer
        wheel.write_bytes(answer)
        on_bytes(len(answer))
        return wheel

    def stop(self) -> None:
        """Nothing runs."""
