"""Twilio's media streams, bidirectional (``<Connect><Stream>``).

From "Media Streams - WebSocket Messages": ``connected``, then ``start`` names the stream; ``media``
(8 kHz mu-law in base64, counted by ``chunk`` from 1 on), ``dtmf``, ``mark`` and ``stop`` carry it.
Numbers travel as strings. To the caller go ``media``, ``mark`` and ``clear``.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from voiceagent.sound.pcm import Int16
from voiceagent.telephony import g711
from voiceagent.telephony.codecs import base
from voiceagent.telephony.codecs.base import MAX_SOUND_MS, WireMessage
from voiceagent.telephony.codecs.stream import StreamCodec
from voiceagent.telephony.events import LineError, LineEvent, Sound, Started


class TwilioCodec(StreamCodec):
    """One stream."""

    stream_field: ClassVar[str] = "streamSid"
    rate_hz = g711.RATE_HZ

    def _start(self, fields: Mapping[str, Any]) -> Started:
        start = base.table(fields, "start")
        form = base.table(start, "mediaFormat")
        if (form.get("encoding"), form.get("sampleRate")) != ("audio/x-mulaw", self.rate_hz):
            raise LineError("sound that is no mu-law of 8 kHz")
        return Started(
            call=base.name(start, "callSid"),
            stream=base.name(start, "streamSid"),
            parameters=base.parameters(start, "customParameters"),
        )

    def _media(self, media: Mapping[str, Any]) -> list[LineEvent]:
        if media.get("track", "inbound") != "inbound":
            return []  # our own voice, sent back on request
        sound = base.payload(media, "payload", max_bytes=self.rate_hz * MAX_SOUND_MS // 1000)
        return [Sound(g711.decode_mulaw(sound), number=base.number(media, "chunk"))]

    def sound(self, pcm: Int16) -> WireMessage:
        """``media``."""
        return self._message("media", payload=base.base64_text(g711.encode_mulaw(pcm)))

    def mark(self, name: str) -> WireMessage:
        """``mark``: comes back when the sound before it was played, or cleared."""
        return self._message("mark", name=name)

    def clear(self) -> WireMessage:
        """``clear``."""
        return base.encode_object({"event": "clear", "streamSid": self.stream})

    def digit(self, digit: str) -> None:
        """Keys cannot be pressed over a media stream."""

    def hang_up(self) -> None:
        """A stream ends with its connection; what comes then is in the answer document."""

    def _message(self, event: str, **fields: str) -> str:
        return base.encode_object({"event": event, "streamSid": self.stream, event: fields})
