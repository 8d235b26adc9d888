"""Files of Hugging Face repositories, over HTTP, resumed where a download broke off."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import requests

from voiceagent.weights.digest import git_blob_sha1_of
from voiceagent.weights.errors import SourceError
from voiceagent.weights.manifest import HubSource

# A reachable hub answers within a fraction of a second. One that is not must not hold up the next
# source: name resolution alone can hang far longer than the connection's own time limit.
PROBE_TIMEOUT_S = 5.0
CONNECT_TIMEOUT_S = 10.0
READ_TIMEOUT_S = 60.0
# A break loses what was not yet written: at most this much.
TRANSFER_CHUNK_BYTES = 1 << 16
# In a row, without an advance between them: who advances may be broken off as often as it takes.
MAX_FRUITLESS_TRIES = 4
MIN_ADVANCE_BYTES = 1 << 20
FIRST_PAUSE_S = 1.0

OnTransfer = Callable[[int, int | None], None]
"""Called with the bytes that are here and the bytes that there will be, if that is known."""


class _Broken(Exception):
    """The transfer ended early and may be resumed."""


class Hub:
    """Downloads from one hub. The hub is asked once per run whether it can be reached."""

    def __init__(
        self,
        endpoint: str,
        *,
        pause: Callable[[float], None] = time.sleep,
        require_space: Callable[[int], None] = lambda _bytes: None,
    ) -> None:
        self._endpoint = endpoint.rstrip("/")
        self._pause = pause
        self._require_space = require_space
        self._session = requests.Session()
        # Compressed transfers can't be resumed by byte position.
        self._session.headers["Accept-Encoding"] = "identity"
        self._unreachable: str | None = None
        self._probed = False

    def download(
        self, source: HubSource, into: Path, *, expected_bytes: int | None, on_bytes: OnTransfer
    ) -> str | None:
        """Fetches ``source`` into ``into``, which may hold the beginning of it.

        Returns:
            The checksum that the hub names: a SHA-256, a git blob's SHA-1, or None.

        Raises:
            SourceError: the hub can't be reached, has no such file, or keeps breaking off.
        """
        self._require_reachable()
        url = f"{self._endpoint}/{source.repository}/resolve/{source.revision}/{source.path}"
        fruitless = 0
        while True:
            before = _size(into)
            try:
                return self._transfer(url, into, expected_bytes, on_bytes)
            except _Broken as broken:
                advanced = _size(into) >= before + MIN_ADVANCE_BYTES
                fruitless = 1 if advanced else fruitless + 1
                if fruitless >= MAX_FRUITLESS_TRIES:
                    raise SourceError(str(broken)) from broken
                self._pause(FIRST_PAUSE_S * 2 ** (fruitless - 1))

    def _transfer(
        self, url: str, into: Path, expected_bytes: int | None, on_bytes: OnTransfer
    ) -> str | None:
        begin = _size(into)
        headers = {"Range": f"bytes={begin}-"} if begin else {}
        with self._get(url, headers) as response:
            if response.status_code == requests.codes.requested_range_not_satisfiable:
                return self._start_over(into, begin, expected_bytes, response)
            _require_success(response)
            if response.status_code != requests.codes.partial_content:
                begin = 0
            total_bytes = _total_bytes(response, begin)
            _require_size(total_bytes, expected_bytes, into)
            self._require_space((total_bytes or 0) - begin)
            _append(response, into, begin, lambda done: on_bytes(done, total_bytes))
            if total_bytes is not None and _size(into) < total_bytes:
                raise _Broken("the connection was closed early")
            return _checksum(response)

    def _start_over(
        self, into: Path, begin: int, expected_bytes: int | None, response: requests.Response
    ) -> str | None:
        """Nothing follows what is here: it is either all of it or not a beginning of it."""
        if begin == expected_bytes:
            return _checksum(response)
        into.unlink(missing_ok=True)
        raise _Broken("the hub refused to resume")

    @contextmanager
    def _get(self, url: str, headers: dict[str, str]) -> Iterator[requests.Response]:
        timeouts = (CONNECT_TIMEOUT_S, READ_TIMEOUT_S)
        try:
            response = self._session.get(url, headers=headers, stream=True, timeout=timeouts)
        except requests.RequestException as error:
            raise _Broken(_plain(error)) from error
        with response:
            yield response

    def _require_reachable(self) -> None:
        if not self._probed:
            self._unreachable = self._probe()
            self._probed = True
        if self._unreachable is not None:
            raise SourceError(f"not reachable ({self._unreachable})")

    def _probe(self) -> str | None:
        """Why the hub can't be reached, or None. Any answer counts."""
        answers: list[str | None] = []

        def ask() -> None:
            try:
                self._session.head(self._endpoint, timeout=PROBE_TIMEOUT_S).close()
                answers.append(None)
            except requests.RequestException as error:
                answers.append(_plain(error))

        # A daemon: it may hang in name resolution, and nobody has to wait for it at exit.
        asking = threading.Thread(target=ask, name="hub-probe", daemon=True)
        asking.start()
        asking.join(PROBE_TIMEOUT_S)
        return answers[0] if answers else f"no answer within {PROBE_TIMEOUT_S:g} s"


def matches_checksum(path: Path, sha256: str, checksum: str | None) -> bool:
    """Whether a file is what the hub says it is; nothing to say counts as agreement."""
    if checksum is None:
        return True
    return checksum == (sha256 if len(checksum) == len(sha256) else git_blob_sha1_of(path))


def _append(
    response: requests.Response, into: Path, begin: int, on_bytes: Callable[[int], None]
) -> None:
    with into.open("r+b" if begin else "wb") as stream:
        stream.seek(begin)
        stream.truncate()
        chunks = response.iter_content(TRANSFER_CHUNK_BYTES)
        while chunk := _next_chunk(chunks):
            stream.write(chunk)
            on_bytes(stream.tell())


def _next_chunk(chunks: Iterator[bytes]) -> bytes | None:
    try:
        return next(chunks, None)
    except (requests.RequestException, OSError) as error:
        raise _Broken(_plain(error)) from error


def _require_success(response: requests.Response) -> None:
    status = f"{response.status_code} {response.reason}"
    if response.status_code >= 500 or response.status_code == requests.codes.too_many_requests:
        raise _Broken(status)
    if not response.ok:
        raise SourceError(status)


def _total_bytes(response: requests.Response, begin: int) -> int | None:
    length = response.headers.get("Content-Length")
    return None if length is None else begin + int(length)


def _require_size(total_bytes: int | None, expected_bytes: int | None, into: Path) -> None:
    if None not in (total_bytes, expected_bytes) and total_bytes != expected_bytes:
        into.unlink(missing_ok=True)
        raise SourceError(f"it has {total_bytes} bytes there, expected {expected_bytes}")


def _checksum(response: requests.Response) -> str | None:
    """The hub names large files by SHA-256 before it redirects, small ones as git does."""
    for step in (*response.history, response):
        for header in ("X-Linked-Etag", "ETag"):
            name = step.headers.get(header, "").removeprefix("W/").strip('"')
            if len(name) in (40, 64):
                return name
    return None


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _plain(error: Exception) -> str:
    """The innermost reason: the outer ones repeat addresses and object names."""
    reason: BaseException = error
    while (inner := reason.__cause__ or reason.__context__) is not None:
        reason = inner
    if isinstance(error, requests.Timeout):
        return "no answer in time"
    return getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
