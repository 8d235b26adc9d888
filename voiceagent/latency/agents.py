"""Who can be measured. An agent is a small adapter: how it is started, and what it leaves behind.

A peer is one more class with the four members of :class:`Agent`, entered in ``PEERS``.
"""

import contextlib
import json
import shlex
import socket
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from voiceagent.config import cache_directory
from voiceagent.core.errors import VoiceAgentError
from voiceagent.latency.programs import Program, running
from voiceagent.weights.manifest import Manifest
from voiceagent.weights.store import Store

SERVER_TIMEOUT_S = 180.0
THREADS = 2
OBSERVER = "user_to_bot_ms"
"""What a peer prints for each turn that pipecat's own observer measured: ``{"user_to_bot_ms":
…}``."""
SAME_FOR_ALL = {"OMP_WAIT_POLICY": "PASSIVE", "PYTHONUNBUFFERED": "1"}
"""Threads that wait let go of their core: a peer gets the policy that this agent has."""


class AgentError(VoiceAgentError):
    """An agent cannot be had here; the message says what is missing."""


class Agent(Protocol):
    """One agent with a microphone and a speaker."""

    name: str
    trace: Path | None
    """Where its trace is once it has ended; None where it has none."""
    own: Path | None
    """The same for its own recording."""

    def start(self, environment: Mapping[str, str]) -> AbstractContextManager[Program]:
        """Runs it on the sound server of ``environment``, from when it listens until it has ended.

        Raises:
            AgentError, ProgramError: it cannot be started.
        """
        ...


@dataclass(kw_only=True)
class Ours:
    """This agent: ``voiceagent talk --mic``."""

    folder: Path
    options: Sequence[str] = ()
    name: str = "voiceagent"

    def __post_init__(self) -> None:
        self.trace: Path | None = self.folder / f"{self.name}.trace.jsonl"
        self.own: Path | None = self.folder / f"{self.name}.own.wav"

    def start(self, environment: Mapping[str, str]) -> AbstractContextManager[Program]:
        """Starts a conversation that neither greets nor ends by itself."""
        command = [sys.executable, "-m", "voiceagent", "talk", "--mic", "--no-greeting"]
        command += ["--idle", "0", *self.options]
        command += ["--trace", str(self.trace), "--record", str(self.own)]
        return running(
            command, environment={**environment, **SAME_FOR_ALL}, name=self.name, ready="listening"
        )


@dataclass(kw_only=True)
class Command:
    """Any program that talks over the default microphone and speaker of PulseAudio.

    Attributes:
        command: as for a shell.
        ready: what it prints when it listens; empty for a program that says nothing, which gets
            ``patience_s`` instead.
    """

    command: str
    ready: str = ""
    patience_s: float = 5.0
    name: str = "agent"
    trace: Path | None = None
    own: Path | None = None

    @contextlib.contextmanager
    def start(self, environment: Mapping[str, str]) -> Iterator[Program]:
        """Starts the program."""
        words = shlex.split(self.command)
        with running(words, environment=environment, name=self.name, ready=self.ready) as program:
            if not self.ready:
                time.sleep(self.patience_s)  # there is nothing else to go by
            yield program


@dataclass(kw_only=True)
class PipecatStock:
    """A bot of pipecat's own parts on this project's models, its text from llama.cpp's server."""

    max_tokens: int | None = None
    name: str = "pipecat-stock"
    trace: Path | None = None
    own: Path | None = None

    @contextlib.contextmanager
    def start(self, environment: Mapping[str, str]) -> Iterator[Program]:
        """Starts the server, waits until it answers, starts the bot."""
        environment = {**environment, **SAME_FOR_ALL}
        port = _free_port()
        server = [sys.executable, "-m", "llama_cpp.server", "--host", "127.0.0.1"]
        server += ["--port", str(port), "--model", str(_target()), "--n_threads", str(THREADS)]
        server += ["--n_threads_batch", str(THREADS), "--n_ctx", "4096"]
        with running(
            server, environment=environment, name="llama.cpp's server", ready="running on"
        ):
            _wait_for(f"http://127.0.0.1:{port}/v1/models")
            bot = [sys.executable, "-m", "voiceagent.latency.stock_bot"]
            bot += ["--llm", f"http://127.0.0.1:{port}/v1"]
            bot += [] if self.max_tokens is None else ["--max-tokens", str(self.max_tokens)]
            with running(bot, environment=environment, name=self.name, ready="ready") as program:
                yield program


PEERS: dict[str, Callable[[int | None], Agent]] = {
    "pipecat-stock": lambda max_tokens: PipecatStock(max_tokens=max_tokens),
}
"""By name: what makes a peer, given the longest reply in tokens."""


def observed_ms(lines: Sequence[str]) -> list[float]:
    """What the agent's own observer said of its turns, in the lines that it printed."""
    found = []
    for line in lines:
        with contextlib.suppress(ValueError, TypeError, KeyError):
            found.append(float(json.loads(line)[OBSERVER]))
    return found


def _target() -> Path:
    preset = Manifest.load().preset("cpu")
    path = Store(cache_directory()).path(preset.files["target"][0])
    if not path.is_file():
        raise AgentError("the target's file is missing: voiceagent models fetch --preset cpu")
    return path


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(url: str) -> None:
    deadline_s = time.monotonic() + SERVER_TIMEOUT_S
    while True:
        try:
            urllib.request.urlopen(url, timeout=2).close()
        except OSError as error:
            if time.monotonic() > deadline_s:
                raise AgentError(f"{url} does not answer: {error}") from error
            time.sleep(0.2)
        else:
            return
