"""The messages of a media-stream WebSocket (Twilio's, one JSON object each), as a pure codec.

Facts from Twilio's "Media Streams - WebSocket Messages": 8 kHz mono mu-law in base64; the first
message is ``connected``, then ``start`` names the stream; ``media``, ``dtmf``, ``mark`` and
``stop`` follow and carry the same stream. To the caller go ``media``, ``mark`` and ``clear``.
A message that is not one of these is a MediaStreamError and never anything else.
"""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from voiceagent.core.errors import VoiceAgentError

RATE_HZ = 8000
MAX_MESSAGE_BYTES = 1 << 16
"""Twilio sends 20 ms (160 bytes) a message; this is 200 times that, in base64."""
MAX_NAME_CHARS = 256
"""Identifiers have 34 characters; marks are named by us."""
DIGITS = frozenset("0123456789*#ABCD")


class MediaStreamError(VoiceAgentError, ValueError):
    """Not a message of a media stream."""


@dataclass(frozen=True, slots=True)
class Started:
    """The call's sound begins."""

    stream: str
    call: str


@dataclass(frozen=True, slots=True)
class Media:
    """Sound of the caller: mu-law, 8 kHz."""

    stream: str
    mulaw: bytes


@dataclass(frozen=True, slots=True)
class Marked:
    """Sound up to a mark of ours was played, or thrown away by a ``clear``."""

    stream: str
    name: str


@dataclass(frozen=True, slots=True)
class Digit:
    """A key was pressed."""

    stream: str
    digit: str


@dataclass(frozen=True, slots=True)
class Stopped:
    """The call is over."""

    stream: str


Message: TypeAlias = Started | Media | Marked | Digit | Stopped


def decode(text: str | bytes) -> Message | None:
    """One message of the line; None for those that say nothing to a conversation.

    Raises:
        MediaStreamError: not JSON, too large, or a field is missing or wrong.
    """
    fields = _parse(text)
    event = _text(fields, "event")
    if event == "start":
        start = _table(fields, "start")
        return Started(stream=_name(start, "streamSid"), call=_name(start, "callSid"))
    if event in ("connected", "unknown"):
        return None
    stream = _name(fields, "streamSid")
    match event:
        case "media":
            media = _table(fields, "media")
            if media.get("track", "inbound") != "inbound":
                return None  # our own voice, sent back on request
            return Media(stream=stream, mulaw=_payload(media))
        case "mark":
            return Marked(stream=stream, name=_name(_table(fields, "mark"), "name"))
        case "dtmf":
            return Digit(stream=stream, digit=_digit(_table(fields, "dtmf")))
        case "stop":
            return Stopped(stream=stream)
    raise MediaStreamError(f"event {event[:32]!r} is none of a media stream's")


def encode_media(stream: str, mulaw: bytes) -> str:
    """Sound for the caller: mu-law, 8 kHz."""
    payload = base64.b64encode(mulaw).decode("ascii")
    return json.dumps({"event": "media", "streamSid": stream, "media": {"payload": payload}})


def encode_mark(stream: str, name: str) -> str:
    """Asks to be told when everything sent so far has been played."""
    return json.dumps({"event": "mark", "streamSid": stream, "mark": {"name": name}})


def encode_clear(stream: str) -> str:
    """Throws away what was sent and has not been played."""
    return json.dumps({"event": "clear", "streamSid": stream})


def _parse(text: str | bytes) -> Mapping[str, Any]:
    if len(text) > MAX_MESSAGE_BYTES:
        raise MediaStreamError(f"a message of {len(text)} bytes; {MAX_MESSAGE_BYTES} are taken")
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MediaStreamError(f"not JSON: {error}") from error
    if not isinstance(fields, dict):
        raise MediaStreamError("not a JSON object")
    return fields


def _table(fields: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = fields.get(key)
    if not isinstance(value, dict):
        raise MediaStreamError(f"{key} is missing or no object")
    return value


def _text(fields: Mapping[str, Any], key: str) -> str:
    value = fields.get(key)
    if not isinstance(value, str):
        raise MediaStreamError(f"{key} is missing or no string")
    return value


def _name(fields: Mapping[str, Any], key: str) -> str:
    value = _text(fields, key)
    if not 0 < len(value) <= MAX_NAME_CHARS:
        raise MediaStreamError(f"{key} has {len(value)} characters")
    return value


def _payload(media: Mapping[str, Any]) -> bytes:
    try:
        return base64.b64decode(_text(media, "payload"), validate=True)
    except (binascii.Error, ValueError) as error:
        raise MediaStreamError(f"payload is no base64: {error}") from error


def _digit(dtmf: Mapping[str, Any]) -> str:
    digit = _text(dtmf, "digit")
    if digit not in DIGITS:
        raise MediaStreamError(f"{digit[:8]!r} is no key of a telephone")
    return digit
