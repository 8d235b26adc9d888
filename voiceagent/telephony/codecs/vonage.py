"""Vonage's Voice API over a WebSocket: sound as binary messages, everything else as JSON.

From Vonage's "WebSockets": the first message is ``websocket:connected`` with the sound's form
(``audio/l16;rate=16000``) and the headers of the NCCO. Sound goes both ways in pieces of exactly
20 ms. ``notify`` comes back when the sound before it was played; ``clear`` empties the buffer.
"""

import re
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from voiceagent.sound.pcm import Int16
from voiceagent.telephony.codecs import base
from voiceagent.telephony.codecs.base import MAX_SOUND_MS, WireMessage
from voiceagent.telephony.events import Digit, LineError, LineEvent, Marked, Sound, Started

RATES_HZ = (8000, 16_000, 24_000)
_FORM = re.compile(r"audio/l16;\s*rate=(\d{1,6})")
_PIECE_MS = 20


class VonageCodec:
    """One call's WebSocket."""

    acknowledges: ClassVar[bool] = True

    def __init__(self) -> None:
        self.rate_hz = RATES_HZ[1]
        self._has_begun = False

    def receive(self, message: WireMessage) -> list[LineEvent]:
        """One message of Vonage's."""
        if isinstance(message, bytes):
            return [self._sound(message)]
        fields = base.parse_object(message)
        event = base.text(fields, "event")
        if event == "websocket:connected":
            return [self._start(fields)]
        if not self._has_begun:
            raise LineError(f"{event[:24]!r} before the call has begun")
        match event:
            case "websocket:notify":
                return [Marked(base.name(base.table(fields, "payload"), "mark"))]
            case "websocket:dtmf":
                return [Digit(base.digit(fields, "digit"))]
            case "websocket:cleared":
                return []
        raise LineError(f"{event[:24]!r}, which says nothing to a conversation")

    def _start(self, fields: Mapping[str, Any]) -> Started:
        form = _FORM.fullmatch(base.text(fields, "content-type"))
        if self._has_begun:
            raise LineError("a call begins once")
        if form is None or int(form[1]) not in RATES_HZ:
            raise LineError("sound in a form that Vonage does not have")
        self._has_begun, self.rate_hz = True, int(form[1])
        call = base.name(fields, "uuid") if "uuid" in fields else "vonage"
        return Started(call=call, parameters=base.parameters({"headers": fields}, "headers"))

    def _sound(self, sound: bytes) -> Sound:
        if not self._has_begun:
            raise LineError("sound before the call has begun")
        limit = 2 * self.rate_hz * MAX_SOUND_MS // 1000
        return Sound(base.linear(base.sized(sound, max_bytes=limit)))

    def sound(self, pcm: Int16) -> WireMessage:
        """A binary message of whole pieces, filled up with silence."""
        missing = -len(pcm) % (self.rate_hz * _PIECE_MS // 1000)
        return base.linear_bytes(np.pad(pcm, (0, missing)))

    def mark(self, name: str) -> WireMessage:
        """``notify``."""
        return base.encode_object({"action": "notify", "payload": {"mark": name}})

    def clear(self) -> WireMessage:
        """``clear``."""
        return base.encode_object({"action": "clear"})

    def digit(self, digit: str) -> None:
        """Keys are pressed over the REST interface, not here."""

    def hang_up(self) -> None:
        """Closing the connection ends the call's leg."""
