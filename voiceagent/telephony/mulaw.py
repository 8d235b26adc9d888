"""G.711 mu-law, the sound of telephone lines, by the standard library's own tables."""

import audioop
from typing import Final

import numpy as np

from voiceagent.sound.pcm import Int16

_WIDTH_BYTES: Final = 2


def decode(mulaw: bytes) -> Int16:
    """Samples (n,) of ``n`` bytes."""
    return np.frombuffer(audioop.ulaw2lin(mulaw, _WIDTH_BYTES), dtype=np.int16)


def encode(pcm: Int16) -> bytes:
    """One byte for each sample of ``pcm`` (n,)."""
    return audioop.lin2ulaw(pcm.tobytes(), _WIDTH_BYTES)
