"""A telephone line: one call, whatever carries it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final, Protocol, TypeAlias, cast

from voiceagent.sound.pcm import Int16
from voiceagent.telephony.codecs.base import Codec, WireMessage
from voiceagent.telephony.events import LineError, LineEvent, Started

Transfer: TypeAlias = Callable[[str, str], None]
START_TIMEOUT_S: Final = 10.0
"""A peer that opens a connection and never begins a call holds a place for so long."""


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
        early: what came up to and with the beginning of the call.
        travel_s: from us to the ear, as far as that is known.
        transfer: told the call and whom to hand it to; None where a line cannot.
    """

    def __init__(
        self,
        wire: Wire,
        codec: Codec,
        early: Sequence[LineEvent | LineError],
        *,
        travel_s: float,
        transfer: Transfer | None = None,
    ) -> None:
        self._wire, self._codec = wire, codec
        self._transfer = transfer
        begun = [index for index, event in enumerate(early) if isinstance(event, Started)]
        self._early = early[begun[0] + 1 :]
        self.started = cast(Started, early[begun[0]])
        self.rate_hz, self.acknowledges = codec.rate_hz, codec.acknowledges
        self.travel_s = travel_s

    async def events(self) -> AsyncIterator[LineEvent | LineError]:
        """What came with the beginning, then what the wire brings."""
        for event in self._early:
            yield event
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
        """No message of these lines says so: whoever asks what comes after the call is told."""
        if self._transfer is not None:
            self._transfer(self.started.call, to)
        return self._transfer is not None

    async def hang_up(self) -> None:
        """Says so where there is a word for it, then ends the connection."""
        await self._send(self._codec.hang_up())
        await self._wire.close()

    async def _send(self, message: WireMessage | None) -> bool:
        if message is not None:
            await self._wire.send(message)
        return message is not None


async def open_line(
    wire: Wire, codec: Codec, *, travel_s: float, transfer: Transfer | None = None
) -> CodecLine | None:
    """The call that begins on ``wire``; None if none does in time."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(START_TIMEOUT_S):
            async for message in wire.messages():
                early = read(codec, message)
                if any(isinstance(event, Started) for event in early):
                    return CodecLine(wire, codec, early, travel_s=travel_s, transfer=transfer)
    return None


def read(codec: Codec, message: WireMessage) -> list[LineEvent | LineError]:
    """What a message says; what is wrong with it if it is none."""
    try:
        return list(codec.receive(message))
    except LineError as error:
        return [error]
