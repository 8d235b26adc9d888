"""Agents are programs of their own: started, waited for, listened to, ended."""

import contextlib
import queue
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence

from voiceagent.core.errors import VoiceAgentError

START_TIMEOUT_S = 180.0
END_TIMEOUT_S = 60.0
KEPT_LINES = 20
"""Of the output of a program that does not start: what is shown of it."""


class ProgramError(VoiceAgentError):
    """A program could not be started; the message has its last lines."""


class Program:
    """A program that runs."""

    def __init__(self, name: str, popen: "subprocess.Popen[str]") -> None:
        self._name = name
        self._popen = popen
        self._lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def wait_for(self, ready: str) -> None:
        """Waits for a line that holds ``ready``.

        Raises:
            ProgramError: it ended, or said no such thing in time.
        """
        told: list[str] = []
        while True:
            try:
                line = self._lines.get(timeout=START_TIMEOUT_S)
            except queue.Empty:
                line = None
            if line is None:
                tail = " | ".join(told[-KEPT_LINES:]) or "it said nothing"
                raise ProgramError(f"{self._name} did not start: {tail}")
            told.append(line.strip())
            if ready in line:
                return

    def lines(self) -> list[str]:
        """What it has said since this was last asked."""
        said = []
        with contextlib.suppress(queue.Empty):
            while (line := self._lines.get_nowait()) is not None:
                said.append(line.strip())
        return said

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self._popen.poll() is not None

    def end(self) -> None:
        """Ctrl-C, and if that does not help, worse."""
        if self._popen.poll() is None:
            self._popen.send_signal(signal.SIGINT)
        try:
            self._popen.wait(timeout=END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()

    def _read(self) -> None:
        """Keeps its output from blocking it."""
        assert self._popen.stdout is not None
        for line in self._popen.stdout:
            self._lines.put(line)
        self._lines.put(None)


@contextlib.contextmanager
def running(
    command: Sequence[str], *, environment: Mapping[str, str], name: str, ready: str
) -> Iterator[Program]:
    """A program, from the line that holds ``ready`` until Ctrl-C.

    Raises:
        ProgramError: it cannot be found, or does not start.
    """
    try:
        popen = subprocess.Popen(
            list(command),
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
    except OSError as error:
        raise ProgramError(f"{name} cannot be started: {error}") from error
    program = Program(name, popen)
    try:
        if ready:
            program.wait_for(ready)
        yield program
    finally:
        program.end()
