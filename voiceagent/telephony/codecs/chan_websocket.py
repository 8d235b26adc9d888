"""Asterisk's chan_websocket with JSON control messages (the dial string's ``f(json)``).

From "WebSocket" in Asterisk's documentation (20.16, 21.11, 22.6, 23.0 and newer): sound is binary,
control is text. Asterisk keeps the pace, takes pieces of any length, and makes the silence.
``MARK_MEDIA`` comes back as ``MEDIA_MARK_PROCESSED``; ``FLUSH_MEDIA`` empties the queue.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from voiceagent.sound.pcm import Int16
from voiceagent.telephony import g711
from voiceagent.telephony.codecs import base
from voiceagent.telephony.codecs.base import MAX_SOUND_MS, WireMessage
from voiceagent.telephony.events import Digit, LineError, LineEvent, Marked, Sound, Started

FORMATS = {
    "ulaw": (8000, g711.decode_mulaw, g711.encode_mulaw),
    "alaw": (8000, g711.decode_alaw, g711.encode_alaw),
    "slin": (8000, base.linear, base.linear_bytes),
    "slin16": (16_000, base.linear, base.linear_bytes),
    "slin24": (24_000, base.linear, base.linear_bytes),
}


class ChanWebsocketCodec:
    """One channel."""

    acknowledges: ClassVar[bool] = True

    def __init__(self) -> None:
        self.rate_hz, self._decode, self._encode = FORMATS["ulaw"]
        self._has_begun = False

    def receive(self, message: WireMessage) -> list[LineEvent]:
        """One message of Asterisk's."""
        if isinstance(message, bytes):
            return [self._sound(message)]
        fields = base.parse_object(message)
        event = base.text(fields, "event")
        if event == "MEDIA_START":
            return [self._start(fields)]
        if not self._has_begun:
            raise LineError(f"{event[:24]!r} before the call has begun")
        match event:
            case "MEDIA_MARK_PROCESSED":
                return [Marked(base.name(fields, "correlation_id"))]
            case "DTMF_END":
                return [Digit(base.digit(fields, "digit"))]
        # MEDIA_XOFF among them: a queue of 200 ms never gets near its high water of 18 s.
        return []

    def _start(self, fields: Mapping[str, Any]) -> Started:
        if self._has_begun:
            raise LineError("a call begins once")
        form = base.text(fields, "format")
        if form not in FORMATS:
            raise LineError(f"a channel of {form[:16]!r}; known: {', '.join(FORMATS)}")
        started = Started(
            call=base.name(fields, "connection_id"),
            stream=base.name(fields, "channel"),
            parameters=base.parameters(fields, "channel_variables"),
        )
        self.rate_hz, self._decode, self._encode = FORMATS[form]
        self._has_begun = True
        return started

    def _sound(self, sound: bytes) -> Sound:
        if not self._has_begun:
            raise LineError("sound before the call has begun")
        limit = 2 * self.rate_hz * MAX_SOUND_MS // 1000
        return Sound(self._decode(base.sized(sound, max_bytes=limit)))

    def sound(self, pcm: Int16) -> WireMessage:
        """A binary message."""
        return self._encode(pcm)

    def mark(self, name: str) -> WireMessage:
        """``MARK_MEDIA``."""
        return base.encode_object({"command": "MARK_MEDIA", "correlation_id": name})

    def clear(self) -> WireMessage:
        """``FLUSH_MEDIA``."""
        return base.encode_object({"command": "FLUSH_MEDIA"})

    def digit(self, digit: str) -> None:
        """Asterisk takes no keys from an application."""

    def hang_up(self) -> WireMessage:
        """``HANGUP``."""
        return base.encode_object({"command": "HANGUP"})
