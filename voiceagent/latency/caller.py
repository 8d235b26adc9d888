"""A caller at the other end of a line: any agent that answers calls.

Both sides run on one clock, that of the caller: every 20 ms one frame of the mouth is sent and one
frame of what has come in is played. So the recording is what a caller says and hears at the place
where the wire ends; what the network of a telephone adds lies behind it.
"""

import asyncio
import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from voiceagent.core.errors import VoiceAgentError
from voiceagent.latency.tape import Tape
from voiceagent.sound.files import Sound
from voiceagent.sound.pcm import Int16, to_int16
from voiceagent.sound.resample import resample

FRAME_S = 0.02
MOST_BUFFERED_S = 120.0
"""More than any reply: what comes beyond it is thrown away, as a network does."""
ANSWER_TIMEOUT_S = 20.0
KEY_S = 0.15
"""Between two keys."""
BEFORE_S = 0.3
"""Of silence before anything happens: the floor of the recording."""


class CallError(VoiceAgentError):
    """The agent cannot be called, or has hung up; the message says which."""


@dataclass
class Far:
    """The far end of a call, without any network: what it holds, plays, and sends back.

    A mark comes back when the sound before it has been played, or has been thrown away by a clear
    (Twilio's "Media Streams - WebSocket Messages").
    """

    rate_hz: int
    returned: list[str] = field(default_factory=list)
    """Names of marks that are to be sent back; drained by whoever sends them."""
    clears: int = 0
    _held: deque[Int16] = field(default_factory=deque)
    _marks: deque[tuple[int, str]] = field(default_factory=deque)
    _received: int = 0
    _played: int = 0

    @property
    def frame(self) -> int:
        """Samples of 20 ms."""
        return round(FRAME_S * self.rate_hz)

    def hear(self, pcm: Int16) -> None:
        """Sound of the agent's (samples,)."""
        if self._received - self._played + len(pcm) <= MOST_BUFFERED_S * self.rate_hz:
            self._held.append(pcm)
            self._received += len(pcm)

    def mark(self, name: str) -> None:
        """Is to come back when everything so far has been played."""
        self._marks.append((self._received, name))
        self._return_marks()

    def clear(self) -> None:
        """Throws away what has not been played."""
        self.clears += 1
        self._held.clear()
        self._played = self._received
        self._return_marks()

    def play(self) -> Int16:
        """The next 20 ms (frame,): silence where there is nothing to play."""
        frame = np.zeros(self.frame, dtype=np.int16)
        at = 0
        while self._held and at < len(frame):
            piece = self._held.popleft()
            taken = piece[: len(frame) - at]
            frame[at : at + len(taken)] = taken
            at += len(taken)
            if len(piece) > len(taken):
                self._held.appendleft(piece[len(taken) :])
        self._played += at
        self._return_marks()
        return frame

    def _return_marks(self) -> None:
        while self._marks and self._marks[0][0] <= self._played:
            self.returned.append(self._marks.popleft()[1])


class Wire(Protocol):
    """What a call goes over; used from one event loop."""

    rate_hz: int
    """Known once it is open."""

    async def open(self) -> None:
        """Calls, and waits until the call is answered.

        Raises:
            CallError: it is not.
        """
        ...

    async def receive(self, far: Far) -> None:
        """Hands what comes in to ``far`` until the agent hangs up."""
        ...

    async def send(self, pcm: Int16, *, returned: list[str]) -> None:
        """Sends 20 ms, and the marks that come back."""
        ...

    async def press(self, key: str) -> None:
        """Presses a key."""
        ...

    async def close(self) -> None:
        """Hangs up."""
        ...


class Caller:
    """One call, held open on a thread of its own; a line for the director.

    Args:
        wire: makes what the call goes over, in the thread's own event loop.
        to: who is called, for messages.
    """

    def __init__(self, wire: Callable[[], Wire], *, to: str) -> None:
        self._make_wire, self._to = wire, to
        self.rate_hz = 0
        self._mouth: deque[Int16] = deque()
        self._keys: deque[str] = deque()
        self._tape: Tape | None = None
        self._idle = threading.Event()
        self._answered = threading.Event()
        self._hung_up = threading.Event()
        self._failure = ""

    def __enter__(self) -> "Caller":
        self._thread = threading.Thread(target=lambda: asyncio.run(self._call()), daemon=True)
        self._thread.start()
        if not self._answered.wait(2 * ANSWER_TIMEOUT_S) or self._failure:
            raise CallError(f"{self._to} does not answer: {self._failure or 'no connection'}")
        return self

    def __exit__(self, *_: object) -> None:
        self._hung_up.set()
        self._thread.join(timeout=ANSWER_TIMEOUT_S)

    @contextlib.contextmanager
    def listen(self) -> Iterator[Tape]:
        """Records both sides."""
        tape = Tape(rate_hz=self.rate_hz)
        self._tape = tape
        try:
            tape.wait_until_s(BEFORE_S)
            yield tape
        finally:
            self._tape = None

    def say(self, sound: Sound) -> None:
        """Speaks into the line, and returns when everything has been sent."""
        frame = round(FRAME_S * self.rate_hz)
        pcm = to_int16(resample(sound.pcm, from_hz=sound.rate_hz, to_hz=self.rate_hz))
        pcm = np.pad(pcm, (0, -len(pcm) % frame))
        self._idle.clear()
        self._mouth.extend(pcm.reshape(-1, frame))
        if not self._idle.wait(ANSWER_TIMEOUT_S + len(pcm) / self.rate_hz) or self._failure:
            raise CallError(f"{self._to}: {self._failure or 'the line stands still'}")

    def press(self, keys: str) -> None:
        """Presses keys one after the other."""
        for key in keys:
            self._keys.append(key)
            time.sleep(KEY_S)

    async def _call(self) -> None:
        wire = self._make_wire()
        try:
            await wire.open()
            self.rate_hz = wire.rate_hz
            far = Far(rate_hz=wire.rate_hz)
            receiving = asyncio.create_task(wire.receive(far))
            self._answered.set()
            await self._speak(wire, far, receiving)
            receiving.cancel()
            await wire.close()
        except (VoiceAgentError, OSError, TimeoutError) as error:
            self._failure = str(error) or type(error).__name__
        finally:
            self._failure = self._failure or ("" if self._hung_up.is_set() else "it has hung up")
            self._answered.set()
            self._idle.set()

    async def _speak(self, wire: Wire, far: Far, receiving: "asyncio.Task[None]") -> None:
        """One frame out and one frame in every 20 ms; a late one is made up for at once."""
        began_s, frames = time.monotonic(), 0
        silence = np.zeros(far.frame, dtype=np.int16)
        while not self._hung_up.is_set() and not receiving.done():
            if not self._mouth:
                self._idle.set()
            said = self._mouth.popleft() if self._mouth else silence
            returned, far.returned = far.returned, []
            await wire.send(said, returned=returned)
            if self._keys:
                await wire.press(self._keys.popleft())
            heard = far.play()
            if (tape := self._tape) is not None:
                tape.write(np.stack([said, heard], axis=1))
            frames += 1
            await asyncio.sleep(max(0.0, began_s + frames * FRAME_S - time.monotonic()))
