"""Exotel's Voicebot applet: Twilio's messages in snake case, with linear sound.

From Exotel's "WebSocket protocol": 16-bit linear at 8 kHz in base64, about 100 ms a message;
numbers travel as strings.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from voiceagent.sound.pcm import Int16
from voiceagent.telephony.codecs import base
from voiceagent.telephony.codecs.base import MAX_SOUND_MS, WireMessage
from voiceagent.telephony.events import (
    Digit,
    LineError,
    LineEvent,
    Marked,
    Sound,
    Started,
    Stopped,
)

RATES_HZ = (8000, 16_000, 24_000)


class ExotelCodec:
    """One stream."""

    acknowledges: ClassVar[bool] = True

    def __init__(self) -> None:
        self.rate_hz = RATES_HZ[0]
        self._stream = ""

    def receive(self, message: WireMessage) -> list[LineEvent]:
        """One message of Exotel's."""
        fields = base.parse_object(message)
        event = base.text(fields, "event")
        if event == "connected":
            return []
        if event == "start":
            return [self._start(base.table(fields, "start"))]
        if base.name(fields, "stream_sid") != self._stream:
            raise LineError(f"{event[:16]!r} of a stream that is not this call's")
        match event:
            case "media":
                return self._media(base.table(fields, "media"))
            case "mark":
                return [Marked(base.name(base.table(fields, "mark"), "name"))]
            case "dtmf":
                return [Digit(base.digit(base.table(fields, "dtmf"), "digit"))]
            case "clear":
                return []
            case "stop":
                return [Stopped()]
        raise LineError(f"{event[:16]!r} is no event of a stream")

    def _start(self, start: Mapping[str, Any]) -> Started:
        rate_hz = base.number(base.table(start, "media_format"), "sample_rate")
        if self._stream:
            raise LineError("a call begins once")
        if rate_hz not in RATES_HZ:
            raise LineError("sound of a rate that Exotel does not have")
        started = Started(
            call=base.name(start, "call_sid"),
            stream=base.name(start, "stream_sid"),
            parameters=base.parameters(start, "custom_parameters"),
        )
        self._stream, self.rate_hz = started.stream, rate_hz
        return started

    def _media(self, media: Mapping[str, Any]) -> list[LineEvent]:
        limit = 2 * self.rate_hz * MAX_SOUND_MS // 1000
        sound = base.payload(media, "payload", max_bytes=limit)
        return [Sound(base.linear(sound), number=base.number(media, "chunk"))]

    def sound(self, pcm: Int16) -> WireMessage:
        """``media``."""
        return self._message("media", payload=base.base64_text(base.linear_bytes(pcm)))

    def mark(self, name: str) -> WireMessage:
        """``mark``."""
        return self._message("mark", name=name)

    def clear(self) -> WireMessage:
        """``clear``."""
        return base.encode_object({"event": "clear", "stream_sid": self._stream})

    def digit(self, digit: str) -> None:
        """Keys cannot be pressed over a stream."""

    def hang_up(self) -> None:
        """Closing the connection ends the applet."""

    def _message(self, event: str, **fields: str) -> str:
        return base.encode_object({"event": event, "stream_sid": self._stream, event: fields})
