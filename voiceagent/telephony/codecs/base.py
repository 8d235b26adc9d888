"""What every codec is, and the reading of fields that nobody has checked before."""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np

from voiceagent.sound.pcm import Int16
from voiceagent.telephony.events import DIGITS, LineError, LineEvent

WireMessage: TypeAlias = str | bytes
"""A text or a binary message; a stream of bytes is binary messages cut anywhere."""
MAX_MESSAGE_BYTES = 1 << 16
"""Providers send 20 to 100 ms of sound (at most 4800 bytes, in base64) a message."""
MAX_SOUND_MS = 1000
"""Of one message: ten times the longest that any provider sends."""
MAX_NAME_CHARS = 256
"""Identifiers have up to 130 characters (Telnyx); marks are named by us."""
MAX_PARAMETERS = 32
MAX_PARAMETER_CHARS = 512
"""Twilio takes 500 characters of name and value together."""
MAX_NUMBER = (1 << 53) - 1
"""The last whole number that JSON carries exactly (RFC 8259, section 6)."""


class Codec(Protocol):
    """One call in one provider's words. It knows its stream once the call has begun."""

    rate_hz: int
    """Of the sound, both ways."""
    acknowledges: ClassVar[bool]
    """Whether marks come back; such a line can also be cleared."""

    def receive(self, message: WireMessage) -> Sequence[LineEvent | LineError]:
        """What a message says; nothing for those that say nothing to a conversation.

        Raises:
            LineError: it is none of this line's, of another stream, or comes too early.
        """
        ...

    def sound(self, pcm: Int16) -> WireMessage:
        """Sound for the caller (samples,)."""
        ...

    def mark(self, name: str) -> WireMessage | None:
        """Asks to be told when everything sent so far was played; None if it cannot be asked."""
        ...

    def clear(self) -> WireMessage | None:
        """Throws away what was not played; None if the far end holds nothing."""
        ...

    def digit(self, digit: str) -> WireMessage | None:
        """Presses a key; None if this line cannot."""
        ...

    def hang_up(self) -> WireMessage | None:
        """Says that the call is over; None where closing the connection says it."""
        ...


# Fields ---------------------------------------------------------------------------------------


def parse_object(message: WireMessage) -> Mapping[str, Any]:
    """A JSON object, whoever sent it."""
    if len(message) > MAX_MESSAGE_BYTES:
        raise LineError(f"a message of {len(message)} bytes; {MAX_MESSAGE_BYTES} are taken")
    try:
        fields = json.loads(message)
    except (ValueError, RecursionError) as error:
        raise LineError(f"not JSON: {type(error).__name__}") from error
    if not isinstance(fields, dict):
        raise LineError("not a JSON object")
    return fields


def table(fields: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """An object in an object."""
    value = fields.get(key)
    if not isinstance(value, dict):
        raise LineError(f"{key} is missing or no object")
    return value


def text(fields: Mapping[str, Any], key: str) -> str:
    """A string."""
    value = fields.get(key)
    if not isinstance(value, str):
        raise LineError(f"{key} is missing or no string")
    return value


def name(fields: Mapping[str, Any], key: str) -> str:
    """A string of a reasonable length that is not empty."""
    value = text(fields, key)
    if not 0 < len(value) <= MAX_NAME_CHARS:
        raise LineError(f"{key} has {len(value)} characters")
    return value


def number(fields: Mapping[str, Any], key: str) -> int | None:
    """A whole number, written as one or as a string, as providers do; None if it is missing."""
    value = fields.get(key)
    if value is None:
        return None
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= 16:
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_NUMBER:
        raise LineError(f"{key} is no whole number")
    return value


def digit(fields: Mapping[str, Any], key: str) -> str:
    """A key of a telephone."""
    value = text(fields, key)
    if value not in DIGITS:
        raise LineError(f"{key} is no key of a telephone")  # which one is the caller's affair
    return value


def parameters(fields: Mapping[str, Any], key: str) -> dict[str, str]:
    """Strings by name, at most so many and so long; anything else there is left out."""
    given = fields.get(key)
    if not isinstance(given, dict):
        return {}
    kept = {
        each: value
        for each, value in given.items()
        if isinstance(value, str) and len(each) + len(value) <= MAX_PARAMETER_CHARS
    }
    return dict(list(kept.items())[:MAX_PARAMETERS])


def payload(fields: Mapping[str, Any], key: str, *, max_bytes: int) -> bytes:
    """Bytes in base64 (RFC 4648, section 4)."""
    try:
        sound = base64.b64decode(text(fields, key), validate=True)
    except (binascii.Error, ValueError) as error:
        raise LineError(f"{key} is no base64") from error
    return sized(sound, max_bytes=max_bytes)


def sized(sound: bytes, *, max_bytes: int) -> bytes:
    """``sound``, if it is no more than a message may hold."""
    if len(sound) > max_bytes:
        raise LineError(f"{len(sound)} bytes of sound in one message; {max_bytes} are taken")
    return sound


def linear(sound: bytes) -> Int16:
    """Samples (n,) of 2 * n bytes, little-endian (audio/l16 as telephone providers send it)."""
    if len(sound) % 2:
        raise LineError("half a sample")
    return np.frombuffer(sound, dtype="<i2").astype(np.int16)


def linear_bytes(pcm: Int16) -> bytes:
    """The reverse of :func:`linear`."""
    return pcm.astype("<i2").tobytes()


def encode_object(fields: Mapping[str, Any]) -> str:
    """One JSON message, without blanks."""
    return json.dumps(fields, separators=(",", ":"))


def base64_text(sound: bytes) -> str:
    """Bytes as base64."""
    return base64.b64encode(sound).decode("ascii")
