"""A telephone line: one call, whatever carries it."""

from collections.abc import AsyncIterator
from typing import Protocol

from voiceagent.sound.pcm import Int16
from voiceagent.telephony.codecs.base import Codec, WireMessage
from voiceagent.telephony.events import LineError, LineEvent, Started


class Line(Protocol):
    """One call that has begun. What is sent to a line that is gone is lost without an error."""

    rate_hz: int
    """Of the sound, both ways."""
    acknowledges: bool
    """Whether it buffers sound, sends marks back and can be cleared. Else it wants its sound in
    real time, and what it was sent is heard."""
    travel_s: float
    """From us to the ear, as far as that is known before any mark."""
    started: Started

    def events(self) -> AsyncIterator[LineEvent | LineError]:
        """What the far end says, until it has hung up; an error for each message that is none."""
        ...

    async def sound(self, pcm: Int16) -> None:
        """Sends sound (samples,)."""
        ...

    async def mark(self, name: str) -> None:
        """Asks to be told when everything sent so far was played."""
        ...

    async def clear(self) -> None:
        """Throws away what the far end has not played."""
        ...

    async def press(self, digit: str) -> bool:
        """Presses a key; false where the line has none."""
        ...

    async def transfer(self, to: str) -> bool:
        """Hands the caller to somebody else, which ends this call; false where it cannot."""
        ...

    async def hang_up(self) -> None:
        """Ends the call."""
        ...


class Wire(Protocol):
    """A connection that carries messages."""

    def messages(self) -> AsyncIterator[WireMessage]:
        """What comes, until the connection ends."""
        ...

    async def send(self, message: WireMessage) -> None:
        """Sends one message; nothing happens if the connection has ended."""
        ...

    async def close(self) -> None:
        """Ends the connection."""
        ...


class CodecLine:
    """A line that is a codec's messages over a wire.

    Args:
        started: what began the call; the codec has read it already.
        travel_s: from us to the ear, as far as that is known.
    """

    def __init__(self, wire: Wire, codec: Codec, started: Started, *, travel_s: float) -> None:
        self._wire, self._codec = wire, codec
        self.started = started
        self.rate_hz, self.acknowledges = codec.rate_hz, codec.acknowledges
        self.travel_s = travel_s

    async def events(self) -> AsyncIterator[LineEvent | LineError]:
        """Reads the wire."""
        async for message in self._wire.messages():
            for event in read(self._codec, message):
                yield event

    async def sound(self, pcm: Int16) -> None:
        """One message of sound."""
        await self._wire.send(self._codec.sound(pcm))

    async def mark(self, name: str) -> None:
        """One mark."""
        await self._send(self._codec.mark(name))

    async def clear(self) -> None:
        """One clear."""
        await self._send(self._codec.clear())

    async def press(self, digit: str) -> bool:
        """One key."""
        return await self._send(self._codec.digit(digit))

    async def transfer(self, to: str) -> bool:
        """No message of these lines says so; where the caller goes then is asked for otherwise."""
        return False

    async def hang_up(self) -> None:
        """Says so where there is a word for it, then ends the connection."""
        await self._send(self._codec.hang_up())
        await self._wire.close()

    async def _send(self, message: WireMessage | None) -> bool:
        if message is not None:
            await self._wire.send(message)
        return message is not None


def read(codec: Codec, message: WireMessage) -> list[LineEvent | LineError]:
    """What a message says; what is wrong with it if it is none."""
    try:
        return list(codec.receive(message))
    except LineError as error:
        return [error]
