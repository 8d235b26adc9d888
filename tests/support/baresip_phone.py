"""Debian's baresip as a telephone: a program of its own, which calls, plays a recording and keeps
what it heard."""

import asyncio
import contextlib
import random
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import soundfile

MODULES = Path("/usr/lib/baresip/modules")


def free_port() -> int:
    """A port that nobody has now, nor the one after it: a user agent takes it for UDP and for TCP,
    and listens for TLS at the next. Not one of those that the system gives to whoever connects: it
    might be gone before it is used."""
    while True:
        port = random.SystemRandom().randrange(6_000, 10_000, 2)
        with contextlib.suppress(OSError), contextlib.ExitStack() as held:
            for number in (port, port + 1):
                for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                    held.enter_context(socket.socket(socket.AF_INET, kind)).bind(
                        ("127.0.0.1", number)
                    )
            return port


class BaresipPhone:
    """A telephone with a recording for a mouth."""

    def __init__(self, folder: Path, *, codec: str = "pcmu") -> None:
        self._folder = folder
        self.port = free_port()
        self._codec = codec
        self.output = ""
        self._news = asyncio.Event()
        self._process: asyncio.subprocess.Process | None = None

    def says(self, pcm: np.ndarray) -> None:
        """Its mouth: ``pcm`` (samples,) at 8 kHz. The call ends with it."""
        self._folder.mkdir(exist_ok=True)
        soundfile.write(self._folder / "mouth.wav", pcm, 8000)

    @asynccontextmanager
    async def calling(self, uri: str) -> "AsyncIterator[BaresipPhone]":
        """Dials; hangs up at the end."""
        self._configure()
        self._process = await asyncio.create_subprocess_exec(
            *("baresip", "-f", str(self._folder), "-e", f"d {uri}", "-t", "60"),
            cwd=self._folder,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        reading = asyncio.create_task(self._read())
        try:
            yield self
        except BaseException:
            sys.stdout.write(f"the telephone printed:\n{self.output}\n")
            raise
        finally:
            if self._process.returncode is None:
                await self.command("q")
            try:
                async with asyncio.timeout(10):
                    await self._process.wait()
            except TimeoutError:
                self._process.kill()
                await self._process.wait()
            await reading

    async def command(self, key: str) -> None:
        """Presses a key of its console: digits during a call, ``x`` holds, ``X`` resumes."""
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(key.encode())
        await self._process.stdin.drain()

    async def until(self, printed: str) -> None:
        """Waits until it has printed that."""
        while printed not in self.output:
            self._news.clear()
            await self._news.wait()

    async def until_established(self) -> None:
        """Waits until its call has been answered."""
        await self.until("established")

    def heard(self) -> np.ndarray:
        """What came out of its loudspeaker (samples,), float32 at 8 kHz."""
        [path] = self._folder.glob("dump-*-dec.wav")
        pcm, rate_hz = soundfile.read(path, dtype="float32")
        assert rate_hz == 8000
        return pcm

    async def _read(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        # Its status line ends with a carriage return: lines would never come.
        while printed := await self._process.stdout.read(4096):
            self.output += printed.decode(errors="replace")
            self._news.set()

    def _configure(self) -> None:
        modules = "stdio", "g711", "aufile", "sndfile", "aubridge", "uuid", "account", "menu"
        (self._folder / "config").write_text(
            "\n".join(
                [
                    f"module_path {MODULES}",
                    f"sip_listen 127.0.0.1:{self.port}",
                    "net_interface 127.0.0.1",
                    f"audio_source aufile,{self._folder}/mouth.wav",
                    "audio_player aubridge,nowhere",
                    f"snd_path {self._folder}",
                    "ausrc_srate 8000",
                    "auplay_srate 8000",
                    *(f"module {name}.so" for name in modules),
                    "",
                ]
            )
        )
        (self._folder / "accounts").write_text(
            f"<sip:alice@127.0.0.1:{self.port};transport=udp>;regint=0;audio_codecs={self._codec}\n"
        )
