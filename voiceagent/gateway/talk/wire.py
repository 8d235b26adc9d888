"""What goes over the socket: the frames of pipecat's protobuf serializer, audio and messages alone.

That serializer also takes text and transcriptions from a client, which would let a page put words
into the agent's mouth, and logs what it cannot read. Here its messages are read and written without
it: what is neither sound nor an object of JSON says nothing.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]  # it ships none
from pipecat.frames.protobufs import frames_pb2

from voiceagent.core.codec import CodecError, parse_object
from voiceagent.sound.pcm import Float32, Int16, to_float32

WIRE_HZ = 24_000
"""Of the agent's sound: pipecat's own clients play everything at this rate, whatever it says."""
MAX_MESSAGE_BYTES = 1 << 16
"""From a client: 0.3 s of stereo at 48 kHz in one piece; clients send 10 to 100 ms."""
RATES_HZ = frozenset((8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000))
"""Rates of microphones. A resampler between odd ones is large, and made by whoever asks."""


@dataclass(frozen=True, slots=True)
class Sound:
    """A piece of the user's sound: one channel (samples,), -1 to 1."""

    pcm: Float32
    rate_hz: int


_Frame: Any = frames_pb2.Frame  # type: ignore[attr-defined]  # it is made when it is imported
Received: TypeAlias = Sound | Mapping[str, Any]


def read(data: object) -> Received | None:
    """Sound, or a message as it is; None for what is neither."""
    if not isinstance(data, bytes):
        return None
    frame = _Frame()
    try:
        frame.ParseFromString(data)
    except DecodeError:
        return None
    if frame.HasField("audio"):
        return _sound(frame.audio)
    if frame.HasField("message"):
        return _message(frame.message.data)
    return None


def write_sound(pcm: Int16) -> bytes:
    """A piece of the agent's sound (samples,) at ``WIRE_HZ``."""
    frame = _Frame()
    frame.audio.audio = pcm.tobytes()
    frame.audio.sample_rate, frame.audio.num_channels = WIRE_HZ, 1
    return _bytes(frame)


def write_message(message: Mapping[str, Any]) -> bytes:
    """A message of RTVI's."""
    frame = _Frame()
    frame.message.data = json.dumps(message)
    return _bytes(frame)


def _bytes(frame: Any) -> bytes:
    data: bytes = frame.SerializeToString()
    return data


def _message(line: str) -> Mapping[str, Any] | None:
    try:
        return parse_object(line, max_bytes=MAX_MESSAGE_BYTES)
    except CodecError:
        return None


def _sound(audio: Any) -> Sound | None:
    channels = audio.num_channels
    if audio.sample_rate not in RATES_HZ or channels not in (1, 2):
        return None
    if not audio.audio or len(audio.audio) % (2 * channels):
        return None
    pcm = to_float32(np.frombuffer(audio.audio, dtype=np.int16))
    mono = pcm.reshape(-1, channels).mean(axis=1, dtype=np.float32)
    return Sound(np.ascontiguousarray(mono), audio.sample_rate)
