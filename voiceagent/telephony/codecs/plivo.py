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
from voiceagent.telephony.events import (
    Digit,
    LineError,
    LineEvent,
    Marked,
    Sound,
    Started,
    Stopped,
)

MULAW, LINEAR = "audio/x-mulaw", "audio/x-l16"
_RATES_HZ = {MULAW: (8000,), LINEAR: (8000, 16_000)}


class PlivoCodec:
    """One stream."""

    acknowledges: ClassVar[bool] = True

    def __init__(self) -> None:
        self.rate_hz = g711.RATE_HZ
        self._stream = ""
        self._encoding = MULAW

    def receive(self, message: WireMessage) -> list[LineEvent]:
        """One message of Plivo's."""
        fields = base.parse_object(message)
        event = base.text(fields, "event")
        if event == "start":
            return [self._start(base.table(fields, "start"))]
        if base.name(fields, "streamId") != self._stream:
            raise LineError(f"{event[:16]!r} of a stream that is not this call's")
        match event:
            case "media":
                return self._media(base.table(fields, "media"))
            case "playedStream":
                return [Marked(base.name(fields, "name"))]
            case "dtmf":
                return [Digit(base.digit(base.table(fields, "dtmf"), "digit"))]
            case "clearedAudio":
                return []
            case "stop":
                return [Stopped()]
        raise LineError(f"{event[:16]!r} is no event of an audio stream")

    def _start(self, start: Mapping[str, Any]) -> Started:
        form = base.table(start, "mediaFormat")
        encoding, rate_hz = form.get("encoding"), base.number(form, "sampleRate")
        if self._stream:
            raise LineError("a call begins once")
        if encoding not in _RATES_HZ or rate_hz not in _RATES_HZ[encoding]:
            raise LineError("sound in a form that cannot be spoken back")
        started = Started(
            call=base.name(start, "callId"),
            stream=base.name(start, "streamId"),
        )
        self._stream, self._encoding, self.rate_hz = started.stream, encoding, int(rate_hz)
        return started

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
        return base.encode_object({"event": "playAudio", "streamId": self._stream, "media": media})

    def mark(self, name: str) -> WireMessage:
        """``checkpoint``."""
        return base.encode_object({"event": "checkpoint", "streamId": self._stream, "name": name})

    def clear(self) -> WireMessage:
        """``clearAudio``."""
        return base.encode_object({"event": "clearAudio", "streamId": self._stream})

    def digit(self, digit: str) -> WireMessage:
        """``sendDTMF``."""
        return base.encode_object({"event": "sendDTMF", "dtmf": digit})

    def hang_up(self) -> None:
        """Closing the connection ends the stream; the XML goes on behind it."""
