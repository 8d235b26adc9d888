"""Asterisk's AudioSocket: a stream of frames over TCP, in which Asterisk is the client.

From "AudioSocket" in Asterisk's documentation: one byte of kind, two bytes of length (big-endian),
then so many bytes. The first frame is the call's UUID. Sound is signed linear, little-endian, with
a kind for each rate. There is no way to take sound back and nothing says that it was played, so
that whoever sends has to keep the pace.
"""

import uuid
from collections.abc import Iterator
from enum import IntEnum
from typing import ClassVar

from voiceagent.sound.pcm import Int16
from voiceagent.telephony.codecs import base
from voiceagent.telephony.codecs.base import MAX_SOUND_MS, WireMessage
from voiceagent.telephony.events import (
    DIGITS,
    Digit,
    LineError,
    LineEvent,
    Sound,
    Started,
    Stopped,
)

_HEADER_BYTES = 3


class Kind(IntEnum):
    """Kinds of frames that are not sound."""

    HANG_UP = 0x00
    UUID = 0x01
    DIGIT = 0x03
    ERROR = 0xFF


SOUND_KINDS = {
    **{8_000: 0x10, 12_000: 0x11, 16_000: 0x12, 24_000: 0x13, 32_000: 0x14},
    **{44_100: 0x15, 48_000: 0x16, 96_000: 0x17, 192_000: 0x18},
}
"""By rate, as released; a draft of the documentation had 16 kHz at 0x11."""


class AudioSocketCodec:
    """One connection, which is one call. Bytes may be cut anywhere."""

    acknowledges: ClassVar[bool] = False

    def __init__(self, *, rate_hz: int = 8000) -> None:
        self.rate_hz = rate_hz
        self._received = bytearray()
        self._call = ""

    def receive(self, message: WireMessage) -> list[LineEvent | LineError]:
        """The frames that are complete now; in place of one that says nothing usable, its error."""
        if isinstance(message, str):
            raise LineError("a text on a stream of bytes")
        self._received += message
        events: list[LineEvent | LineError] = []
        for kind, payload in self._frames():
            try:
                events.append(self._event(kind, payload))
            except LineError as error:
                events.append(error)
        return events

    def _frames(self) -> Iterator[tuple[int, bytes]]:
        """Takes whole frames off the front; what is left is at most one frame of 64 KiB."""
        at = 0
        while len(self._received) - at >= _HEADER_BYTES:
            length = int.from_bytes(self._received[at + 1 : at + _HEADER_BYTES], "big")
            end = at + _HEADER_BYTES + length
            if len(self._received) < end:
                break
            yield self._received[at], bytes(self._received[at + _HEADER_BYTES : end])
            at = end
        del self._received[:at]

    def _event(self, kind: int, payload: bytes) -> LineEvent:
        if kind == Kind.UUID:
            return self._start(payload)
        if not self._call:
            raise LineError(f"a frame of kind {kind:#04x} before the call has begun")
        match kind:
            case Kind.HANG_UP:
                return Stopped()
            case Kind.DIGIT:
                return _digit(payload)
            case Kind.ERROR:
                raise LineError(f"Asterisk reports error {payload[:1].hex() or 'of no kind'}")
        if kind != SOUND_KINDS[self.rate_hz]:
            raise LineError(f"kind {kind:#04x} is no sound of {self.rate_hz} Hz")
        sound = base.sized(payload, max_bytes=2 * self.rate_hz * MAX_SOUND_MS // 1000)
        return Sound(base.linear(sound))

    def _start(self, payload: bytes) -> Started:
        if self._call:
            raise LineError("a call begins once")
        if len(payload) != 16:
            raise LineError(f"a UUID of {len(payload)} bytes")
        self._call = str(uuid.UUID(bytes=payload))
        return Started(call=self._call)

    def sound(self, pcm: Int16) -> bytes:
        """A frame of sound."""
        return _frame(SOUND_KINDS[self.rate_hz], base.linear_bytes(pcm))

    def mark(self, name: str) -> None:
        """Nothing says what was played."""

    def clear(self) -> None:
        """Nothing takes sound back."""

    def digit(self, digit: str) -> None:
        """Asterisk takes no keys from an application."""

    def hang_up(self) -> bytes:
        """Ends the call; the dial plan goes on."""
        return _frame(Kind.HANG_UP, b"")


def _digit(payload: bytes) -> Digit:
    digit = payload.decode("latin-1")
    if digit not in DIGITS:
        raise LineError("no key of a telephone")
    return Digit(digit)


def _frame(kind: int, payload: bytes) -> bytes:
    return bytes([kind]) + len(payload).to_bytes(2, "big") + payload
