"""G.711, the sound of telephone lines (ITU-T G.711), by the standard library's own tables."""

import audioop
from typing import Final

import numpy as np

from voiceagent.sound.pcm import Int16

RATE_HZ: Final = 8000
_WIDTH_BYTES: Final = 2


def decode_mulaw(sound: bytes) -> Int16:
    """Samples (n,) of ``n`` bytes of mu-law (RTP payload type 0, PCMU)."""
    return np.frombuffer(audioop.ulaw2lin(sound, _WIDTH_BYTES), dtype=np.int16)


def encode_mulaw(pcm: Int16) -> bytes:
    """One byte for each sample of ``pcm`` (n,)."""
    return audioop.lin2ulaw(pcm.tobytes(), _WIDTH_BYTES)


def decode_alaw(sound: bytes) -> Int16:
    """Samples (n,) of ``n`` bytes of A-law (RTP payload type 8, PCMA)."""
    return np.frombuffer(audioop.alaw2lin(sound, _WIDTH_BYTES), dtype=np.int16)


def encode_alaw(pcm: Int16) -> bytes:
    """One byte for each sample of ``pcm`` (n,)."""
    return audioop.lin2alaw(pcm.tobytes(), _WIDTH_BYTES)
