"""One request to another machine, read line by line, which any thread may break off at any time.

A far server stops writing when its connection closes. Closing it has to work while this side waits
for a first byte that may be a minute away, so the socket itself has to be at hand; requests keeps
it to itself.
"""

import http.client
import json
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

MAX_LINE_BYTES = 1 << 20
"""One event of a stream; the gateway's own frames have the same limit."""


class BrokenOff(Exception):
    """The request was broken off from this side."""


class FarRequest:
    """A POST of JSON.

    Args:
        url: http or https.
        headers: beside those of JSON.
        connect_s: how long the far side may take to answer the call.
        silence_s: how long it may then say nothing.
    """

    def __init__(
        self, url: str, *, headers: Mapping[str, str], connect_s: float, silence_s: float
    ) -> None:
        parts = urlsplit(url)
        place, port = parts.hostname or "", parts.port
        self._connection = (
            http.client.HTTPSConnection(
                place, port, timeout=connect_s, context=ssl.create_default_context()
            )
            if parts.scheme == "https"
            else http.client.HTTPConnection(place, port, timeout=connect_s)
        )
        self._path = parts.path + (f"?{parts.query}" if parts.query else "")
        self._headers = {"Content-Type": "application/json", **headers}
        self._silence_s = silence_s
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._is_broken_off = False

    def break_off(self) -> None:
        """Hangs up: whoever reads is woken, and the far side notices."""
        with self._lock:
            self._is_broken_off = True
            self._hang_up()

    def lines(self, body: Mapping[str, Any]) -> Iterator[bytes]:
        """Sends ``body`` and yields the lines of the answer as they come.

        Raises:
            BrokenOff: ``break_off`` was called.
            OSError: the network failed, or nothing came in time.
            http.client.HTTPException: the answer is none, or no success.
        """
        try:
            yield from self._lines(json.dumps(body).encode())
        except (OSError, http.client.HTTPException, ValueError):
            if self._is_broken_off:
                raise BrokenOff from None
            raise
        finally:
            self._connection.close()

    def _lines(self, body: bytes) -> Iterator[bytes]:
        self._connection.connect()
        with self._lock:
            self._socket = self._connection.sock
            if self._is_broken_off:
                self._hang_up()
        self._connection.sock.settimeout(self._silence_s)
        self._connection.request("POST", self._path, body, self._headers)
        with self._connection.getresponse() as response:
            if response.status != http.client.OK:
                raise http.client.HTTPException(f"status {response.status}")
            while line := response.readline(MAX_LINE_BYTES):
                yield line
        if self._is_broken_off:
            raise BrokenOff

    def _hang_up(self) -> None:
        if self._socket is not None:
            with suppress(OSError):  # it may be closed already
                self._socket.shutdown(socket.SHUT_RDWR)
