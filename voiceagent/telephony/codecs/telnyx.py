"""Telnyx's media streaming (``stream_bidirectional_mode=rtp``), with PCMU or PCMA.

From Telnyx's "Stream call media over WebSocket": like Twilio's messages in other names; the stream
stands beside ``start``, not in it. "Media frame order is not guaranteed": pieces are counted by
``chunk``. A clear returns the marks that it has thrown away, too.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from voiceagent.sound.pcm import Int16
from voiceagent.telephony import g711
from voiceagent.telephony.codecs import base
from voiceagent.telephony.codecs.base import MAX_SOUND_MS, WireMessage
from voiceagent.telephony.codecs.stream import StreamCodec
from voiceagent.telephony.events import LineError, LineEvent, Sound, Started

_LAWS = {
    "PCMU": (g711.decode_mulaw, g711.encode_mulaw),
    "PCMA": (g711.decode_alaw, g711.encode_alaw),
}


class TelnyxCodec(StreamCodec):
    """One stream."""

    stream_field: ClassVar[str] = "stream_id"
    rate_hz = g711.RATE_HZ

    def __init__(self) -> None:
        super().__init__()
        self._decode, self._encode = _LAWS["PCMU"]

    def _start(self, fields: Mapping[str, Any]) -> Started:
        start = base.table(fields, "start")
        form = base.table(start, "media_format")
        encoding = form.get("encoding")
        if encoding not in _LAWS or base.number(form, "sample_rate") != self.rate_hz:
            raise LineError("sound that is neither PCMU nor PCMA of 8 kHz")
        started = Started(
            call=base.name(start, "call_control_id"),
            stream=base.name(fields, "stream_id"),
            parameters=base.parameters(start, "custom_parameters"),
        )
        self._decode, self._encode = _LAWS[encoding]
        return started

    def _media(self, media: Mapping[str, Any]) -> list[LineEvent]:
        if media.get("track", "inbound") != "inbound":
            return []
        sound = base.payload(media, "payload", max_bytes=self.rate_hz * MAX_SOUND_MS // 1000)
        return [Sound(self._decode(sound), number=base.number(media, "chunk"))]

    def sound(self, pcm: Int16) -> WireMessage:
        """``media``."""
        payload = base.base64_text(self._encode(pcm))
        return base.encode_object({"event": "media", "media": {"payload": payload}})

    def mark(self, name: str) -> WireMessage:
        """``mark``."""
        return base.encode_object({"event": "mark", "mark": {"name": name}})

    def clear(self) -> WireMessage:
        """``clear``."""
        return base.encode_object({"event": "clear"})

    def digit(self, digit: str) -> None:
        """Keys are pressed over Call Control, not here."""

    def hang_up(self) -> None:
        """Closing the connection ends the stream; TeXML goes on behind it."""
