"""Wheels from the package index, by pip: it knows the user's indexes, proxies and certificates.

A wheel is fetched, never installed and never built; nothing in it is run or imported.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO

from voiceagent.weights.errors import DiskFull, SourceError
from voiceagent.weights.manifest import WheelPart

POLL_S = 0.2
STOP_TIMEOUT_S = 5.0
# Newer pips go on where a connection broke; older ones ignore the setting.
RESUME_RETRIES = "5"


class PipClient:
    """Downloads wheels into one folder; several threads may call `fetch` at once."""

    def __init__(self, folder: Path, *, environment: Mapping[str, str] | None = None) -> None:
        self._folder = folder
        self._environment = dict(environment or {})
        self._running: set[subprocess.Popen[bytes]] = set()
        self._stopped = False
        self._guard = threading.Lock()

    def wheel_path(self, part: WheelPart) -> Path:
        """Where the wheel of ``part`` lies once it is here."""
        return self._folder / f"{part.package}-{part.version}.whl"

    def fetch(self, part: WheelPart, *, on_bytes: Callable[[int], None]) -> Path:
        """The wheel that holds ``part``, downloaded unless it is here already.

        Raises:
            SourceError: pip failed; the text is its reason.
            DiskFull: there was no room for the wheel.
        """
        wheel = self.wheel_path(part)
        if wheel.is_file():
            return wheel
        workshop = Path(tempfile.mkdtemp(dir=self._folder, prefix="pip-"))
        try:
            self._run_pip(part, workshop, on_bytes)
            (downloaded,) = (workshop / "wheel").glob("*.whl")
            os.replace(downloaded, wheel)
        finally:
            shutil.rmtree(workshop, ignore_errors=True)
        return wheel

    def stop(self) -> None:
        """Ends every running download; none starts any more."""
        with self._guard:
            self._stopped = True
            running = list(self._running)
        for process in running:
            process.terminate()

    def _run_pip(self, part: WheelPart, workshop: Path, on_bytes: Callable[[int], None]) -> None:
        log_path = workshop / "log"
        with log_path.open("wb") as log:
            process = self._start(part, workshop, log)
        try:
            while process.poll() is None:
                _wait(process, POLL_S)
                on_bytes(_bytes_below(workshop))
        finally:
            self._end(process)
        if process.returncode != 0:
            _raise_reason(log_path.read_text(encoding="utf-8", errors="replace"), self._folder)

    def _start(self, part: WheelPart, workshop: Path, log: IO[bytes]) -> subprocess.Popen[bytes]:
        # pip keeps what it has so far in TMPDIR: in the workshop it can be watched and removed.
        own = {"TMPDIR": str(workshop), "PIP_RESUME_RETRIES": RESUME_RETRIES, "PIP_NO_INPUT": "1"}
        with self._guard:
            if self._stopped:
                raise SourceError("stopped")
            process = subprocess.Popen(
                _command(part, workshop / "wheel"),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **self._environment, **own},
            )
            self._running.add(process)
        return process

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        if process.poll() is None:
            process.terminate()
            _wait(process, STOP_TIMEOUT_S)
        if process.poll() is None:
            process.kill()
            process.wait()
        with self._guard:
            self._running.discard(process)


def _command(part: WheelPart, destination: Path) -> list[str]:
    return [
        *(sys.executable, "-m", "pip", "download"),
        *("--quiet", "--disable-pip-version-check", "--no-cache-dir"),
        *("--no-deps", "--only-binary", ":all:"),
        *("--dest", str(destination)),
        f"{part.package}=={part.version}",
    ]


def _wait(process: subprocess.Popen[bytes], timeout_s: float) -> None:
    try:
        process.wait(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        return


def _bytes_below(folder: Path) -> int:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(parent, name)).st_size
            except FileNotFoundError:  # pip moves and removes files meanwhile
                continue
    return total


def _raise_reason(log: str, folder: Path) -> None:
    if "No space left on device" in log or "Disk quota exceeded" in log:
        raise DiskFull(f"no room for a download in {folder}: free some disk space")
    if "No module named pip" in log:
        raise SourceError(f"pip is missing; run: {sys.executable} -m ensurepip")
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    reason = (errors or lines or ["no reason given"])[-1]
    unanswered = " (the index did not answer)" if "Retrying (" in log else ""
    raise SourceError(f"pip: {reason}{unanswered}")
