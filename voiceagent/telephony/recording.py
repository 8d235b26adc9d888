"""A stereo recording of a call: the caller left, the agent right, on one clock.

Off unless a folder is configured. Of the agent there is only what was played: sound that was sent
and cleared before anybody heard it is not part of the call.
"""

import os
from pathlib import Path

import numpy as np
import soundfile  # type: ignore[import-untyped]

from voiceagent.sound.files import SoundFileError
from voiceagent.sound.pcm import Int16

BEHIND_S = 3.0
"""Sound is written so much later than it was: until then it is known when it was played."""


class Recording:
    """Takes both sides as they become known; writes as the call goes on, in constant memory.

    Raises:
        SoundFileError: the file cannot be written.
    """

    def __init__(self, path: Path, *, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._written = 0
        self._sides = np.zeros((0, 2), dtype=np.int16)
        """What is not written yet, from sample ``_written`` on."""
        self._caller_end = 0
        try:
            # Nobody but the owner may listen.
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            self._file = soundfile.SoundFile(
                handle, "w", samplerate=rate_hz, channels=2, subtype="PCM_16", format="WAV"
            )
        except (OSError, soundfile.LibsndfileError) as error:
            raise SoundFileError(f"cannot record to {path}: {error}") from error

    def caller(self, pcm: Int16, *, now_s: float) -> None:
        """Sound of the caller that ends now, behind what came before it."""
        begin = max(self._caller_end, int(now_s * self._rate_hz) - len(pcm))
        self._caller_end = begin + len(pcm)
        self._put(0, pcm, begin)

    def agent(self, pcm: Int16, *, begin_s: float) -> None:
        """Sound of the agent that was played from ``begin_s`` on."""
        self._put(1, pcm, round(begin_s * self._rate_hz))

    def advance(self, *, now_s: float) -> None:
        """Writes what nothing can be added to any more."""
        self._write(until=int((now_s - BEHIND_S) * self._rate_hz))

    def close(self) -> None:
        """Writes the rest."""
        self._write(until=self._written + len(self._sides))
        self._file.close()

    def _put(self, side: int, pcm: Int16, begin: int) -> None:
        at = begin - self._written
        if at < 0:
            pcm, at = pcm[-at:], 0
        missing = at + len(pcm) - len(self._sides)
        if missing > 0:
            self._sides = np.pad(self._sides, ((0, missing), (0, 0)))
        self._sides[at : at + len(pcm), side] = pcm

    def _write(self, *, until: int) -> None:
        length = min(until - self._written, len(self._sides))
        if length > 0:
            self._file.write(self._sides[:length])
            self._sides = self._sides[length:]
            self._written += length
