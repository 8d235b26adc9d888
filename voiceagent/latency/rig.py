"""A sound server without hardware: a mouth, an ear, and both recorded on one clock.

PulseAudio with one stereo null sink. What is played to ``mouth`` is its left channel and reaches
whoever listens to ``mic``; what an agent plays goes to ``ear``, its right channel. One recording of
the sink therefore holds both sides, and a difference between them is a difference in sound.
"""

import os
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import numpy as np

from voiceagent.core.errors import VoiceAgentError
from voiceagent.latency.tape import Tape
from voiceagent.sound.files import Sound, write_wav
from voiceagent.sound.pcm import to_int16

RATE_HZ = 48_000
START_TIMEOUT_S = 20.0
READY_S = 0.3
"""Of silence before anything happens: the floor of the recording."""
_REMAP = "channels=1 channel_map=mono remix=no"
_WORLD = f"""
.fail
load-module module-null-sink sink_name=world rate={RATE_HZ} channels=2 \
channel_map=front-left,front-right
load-module module-remap-sink sink_name=mouth master=world {_REMAP} master_channel_map=front-left
load-module module-remap-sink sink_name=ear master=world {_REMAP} master_channel_map=front-right
load-module module-remap-source source_name=mic master=world.monitor {_REMAP} \
master_channel_map=front-left
set-default-sink ear
set-default-source mic
load-module module-native-protocol-unix socket={{socket}} auth-anonymous=1
"""
"""Its door is made last: whoever finds it finds everything else."""


class RigError(VoiceAgentError):
    """The sound server cannot be had; the message says what to install."""


class Rig:
    """A running sound server; use it in a ``with`` statement.

    Raises:
        RigError: PulseAudio is missing or does not start.
    """

    def __enter__(self) -> Self:
        if shutil.which("pulseaudio") is None or shutil.which("parec") is None:
            raise RigError(
                "needs PulseAudio (Debian: pulseaudio, pulseaudio-utils, libasound2-plugins)"
            )
        self._folder = tempfile.TemporaryDirectory(prefix="voiceagent-rig-")
        folder = Path(self._folder.name)
        socket = folder / "native"
        script = folder / "world.pa"
        script.write_text(_WORLD.format(socket=socket), encoding="utf-8")
        self.environment = os.environ | {
            "XDG_RUNTIME_DIR": str(folder),
            "HOME": str(folder),
            "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache"),
            "PULSE_SERVER": f"unix:{socket}",
        }
        """Of programs that are to use this server."""
        self._socket, self._script = socket, script
        self.start()
        return self

    def start(self) -> None:
        """Starts the server, again after ``kill``.

        Raises:
            RigError: it does not start.
        """
        self._socket.unlink(missing_ok=True)
        self._server = subprocess.Popen(
            ["pulseaudio", "-n", "-F", str(self._script), "--daemonize=no", "--exit-idle-time=-1"],
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline_s = time.monotonic() + START_TIMEOUT_S
        while not self._socket.exists():
            if self._server.poll() is not None or time.monotonic() > deadline_s:
                self.close()
                raise RigError("PulseAudio does not start")
            time.sleep(0.02)

    def is_used(self) -> bool:
        """Whether somebody plays to the ear and listens to the mouth."""
        listed = subprocess.run(
            ["pactl", "list", "short"], env=self.environment, capture_output=True, check=True
        )
        running = [line.split()[1] for line in listed.stdout.splitlines() if b"RUNNING" in line]
        return {b"ear", b"mic"} <= set(running)

    def kill(self) -> None:
        """Takes the sound card away, without a word to those who use it."""
        self._server.kill()
        self._server.wait(timeout=10)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the server."""
        self._server.terminate()
        self._server.wait(timeout=10)
        self._folder.cleanup()

    rate_hz = RATE_HZ

    def say(self, sound: Sound) -> None:
        """Plays to the agent, and returns when it has been played."""
        path = Path(self._folder.name) / "said.wav"
        write_wav(path, to_int16(sound.pcm), sound.rate_hz)
        subprocess.run(["paplay", "-d", "mouth", str(path)], env=self.environment, check=True)

    def press(self, keys: str) -> None:
        """A sound card has no keys.

        Raises:
            RigError: always.
        """
        raise RigError(f"keys ({keys}) need a telephone: measure with --call")

    def listen(self) -> "BothSides":
        """Records both sides from now on."""
        return BothSides(self.environment)


class BothSides:
    """A recording under way; use it in a ``with`` statement."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._environment = environment
        self._tape = Tape(rate_hz=RATE_HZ)

    def __enter__(self) -> Tape:
        command = ["parec", "-d", "world.monitor", f"--rate={RATE_HZ}", "--channels=2"]
        self._recorder = subprocess.Popen(
            [*command, "--format=s16le", "--raw", "--latency-msec=20"],
            env=self._environment,
            stdout=subprocess.PIPE,
        )
        assert self._recorder.stdout is not None
        self._reading = threading.Thread(target=self._read, args=(self._recorder.stdout,))
        self._reading.start()
        self._tape.wait_until_s(READY_S)
        return self._tape

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._recorder.terminate()
        self._recorder.wait(timeout=10)
        self._reading.join(timeout=10)

    def _read(self, stream: IO[bytes]) -> None:
        while piece := stream.read(RATE_HZ // 50 * 4):
            both = np.frombuffer(piece[: len(piece) // 4 * 4], dtype=np.int16)
            self._tape.write(both.reshape(-1, 2))
