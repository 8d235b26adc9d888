"""What the providers have in common that took Twilio's media streams for a model.

JSON messages with an ``event``: ``start`` names the stream, every later message names it again,
``media``, ``dtmf`` and ``stop`` carry what their names say. Names of fields, forms of sound and
what comes back of a mark are each provider's own.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from voiceagent.telephony.codecs import base
from voiceagent.telephony.codecs.base import WireMessage
from voiceagent.telephony.events import Digit, LineError, LineEvent, Marked, Started, Stopped


class StreamCodec(ABC):
    """One stream."""

    acknowledges: ClassVar[bool] = True
    stream_field: ClassVar[str]
    """Where a message names its stream."""

    def __init__(self) -> None:
        self.stream = ""

    def receive(self, message: WireMessage) -> list[LineEvent]:
        """One message of the provider's.

        Raises:
            LineError: it is none, or not of this stream.
        """
        fields = base.parse_object(message)
        event = base.text(fields, "event")
        if event == "connected":
            return []
        if event == "start":
            return [self._begin(fields)]
        if base.name(fields, self.stream_field) != self.stream:
            raise LineError(f"{event[:16]!r} of a stream that is not this call's")
        match event:
            case "media":
                return self._media(base.table(fields, "media"))
            case "dtmf":
                return [Digit(base.digit(base.table(fields, "dtmf"), "digit"))]
            case "stop":
                return [Stopped()]
        return self._answer(event, fields)

    def _begin(self, fields: Mapping[str, Any]) -> Started:
        if self.stream:
            raise LineError("a call begins once")
        started = self._start(fields)
        self.stream = started.stream
        return started

    @abstractmethod
    def _start(self, fields: Mapping[str, Any]) -> Started:
        """The stream that ``start`` announces, if its sound is of a form that is spoken here."""

    @abstractmethod
    def _media(self, media: Mapping[str, Any]) -> list[LineEvent]:
        """A piece of the caller's sound; none of our own, sent back on request."""

    def _answer(self, event: str, fields: Mapping[str, Any]) -> list[LineEvent]:
        """What comes back of our own messages."""
        if event != "mark":
            raise LineError(f"{event[:16]!r} is no event of a media stream")
        return [Marked(base.name(base.table(fields, "mark"), "name"))]
