"""Plivo's audio streams, bidirectional (``<Stream bidirectional="true">``).

From Plivo's "Stream Event Protocol": ``start`` names stream and call and the form of the sound,
which is linear by default and mu-law if the XML asks for it; both are spoken back as they come.
Marks are ``checkpoint`` and come back as ``playedStream``, those of a cleared queue do not.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from voiceagent.sound.pcm import Int16
from voiceagent.telephony import g711
from voiceagent.telephony.codecs import base
from voiceagent.telephony.codecs.base import MAX_SOUND_MS, WireMessage
from voiceagent.telephony.codecs.stream import StreamCodec
from voiceagent.telephony.events import LineError, LineEvent, Marked, Sound, Started

MULAW, LINEAR = "audio/x-mulaw", "audio/x-l16"
_RATES_HZ = {MULAW: (8000,), LINEAR: (8000, 16_000)}


class PlivoCodec(StreamCodec):
    """One stream."""

    stream_field: ClassVar[str] = "streamId"

    def __init__(self) -> None:
        self.rate_hz = g711.RATE_HZ
        super().__init__()
        self._encoding = MULAW

    def _start(self, fields: Mapping[str, Any]) -> Started:
        start = base.table(fields, "start")
        form = base.table(start, "mediaFormat")
        encoding, rate_hz = form.get("encoding"), base.number(form, "sampleRate")
        if encoding not in _RATES_HZ or rate_hz not in _RATES_HZ[encoding]:
            raise LineError("sound in a form that cannot be spoken back")
        started = Started(
            call=base.name(start, "callId"),
            stream=base.name(start, "streamId"),
        )
        self._encoding, self.rate_hz = encoding, int(rate_hz)
        return started

    def _answer(self, event: str, fields: Mapping[str, Any]) -> list[LineEvent]:
        if event == "clearedAudio":
            return []
        if event != "playedStream":
            raise LineError(f"{event[:16]!r} is no event of an audio stream")
        return [Marked(base.name(fields, "name"))]

    def _media(self, media: Mapping[str, Any]) -> list[LineEvent]:
        if media.get("track", "inbound") != "inbound":
            return []
        limit = 2 * self.rate_hz * MAX_SOUND_MS // 1000
        sound = base.payload(media, "payload", max_bytes=limit)
        is_mulaw = self._encoding == MULAW
        pcm = g711.decode_mulaw(sound) if is_mulaw else base.linear(sound)
        return [Sound(pcm, number=base.number(media, "chunk"))]

    def sound(self, pcm: Int16) -> WireMessage:
        """``playAudio``."""
        is_mulaw = self._encoding == MULAW
        sound = g711.encode_mulaw(pcm) if is_mulaw else base.linear_bytes(pcm)
        media = {
            "contentType": self._encoding,
            "sampleRate": self.rate_hz,
            "payload": base.base64_text(sound),
        }
        return base.encode_object({"event": "playAudio", "streamId": self.stream, "media": media})

    def mark(self, name: str) -> WireMessage:
        """``checkpoint``."""
        return base.encode_object({"event": "checkpoint", "streamId": self.stream, "name": name})

    def clear(self) -> WireMessage:
        """``clearAudio``."""
        return base.encode_object({"event": "clearAudio", "streamId": self.stream})

    def digit(self, digit: str) -> WireMessage:
        """``sendDTMF``."""
        return base.encode_object({"event": "sendDTMF", "dtmf": digit})

    def hang_up(self) -> None:
        """Closing the connection ends the stream; the XML goes on behind it."""
