"""Exotel's Voicebot applet: Twilio's messages in snake case, with linear sound.

From Exotel's "WebSocket protocol": 16-bit linear at 8 kHz in base64, about 100 ms a message;
numbers travel as strings.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from voiceagent.sound.pcm import Int16
from voiceagent.telephony.codecs import base
from voiceagent.telephony.codecs.base import MAX_SOUND_MS, WireMessage
from voiceagent.telephony.codecs.stream import StreamCodec
from voiceagent.telephony.events import LineError, LineEvent, Sound, Started

RATES_HZ = (8000, 16_000, 24_000)


class ExotelCodec(StreamCodec):
    """One stream."""

    stream_field: ClassVar[str] = "stream_sid"

    def __init__(self) -> None:
        self.rate_hz = RATES_HZ[0]
        super().__init__()

    def _start(self, fields: Mapping[str, Any]) -> Started:
        start = base.table(fields, "start")
        rate_hz = base.number(base.table(start, "media_format"), "sample_rate")
        if rate_hz not in RATES_HZ:
            raise LineError("sound of a rate that Exotel does not have")
        started = Started(
            call=base.name(start, "call_sid"),
            stream=base.name(start, "stream_sid"),
            parameters=base.parameters(start, "custom_parameters"),
        )
        self.rate_hz = rate_hz
        return started

    def _answer(self, event: str, fields: Mapping[str, Any]) -> list[LineEvent]:
        return [] if event == "clear" else super()._answer(event, fields)

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
        return base.encode_object({"event": "clear", "stream_sid": self.stream})

    def digit(self, digit: str) -> None:
        """Keys cannot be pressed over a stream."""

    def hang_up(self) -> None:
        """Closing the connection ends the applet."""

    def _message(self, event: str, **fields: str) -> str:
        return base.encode_object({"event": event, "stream_sid": self.stream, event: fields})
