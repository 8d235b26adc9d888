"""Recordings on disk: any common sound file in, 16-bit wav out."""

import contextlib
import os
import tempfile
import wave
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile  # type: ignore[import-untyped]
from numpy.typing import NDArray

from voiceagent.core.errors import VoiceAgentError
from voiceagent.sound.pcm import Float32, Int16, to_int16

MAX_DURATION_S = 3600
"""An hour of 48 kHz mono is 690 MB as float32: more is a mistake, or an attack on memory."""
MIN_RATE_HZ = 2_000
MAX_RATE_HZ = 384_000
"""The rates that sound files really have; a header beyond them is a damaged header."""
MAX_CHANNELS = 64
_BLOCK_FRAMES = 1 << 18
_WAV_MAX_BYTES = (1 << 32) - 1024
"""A wav header counts its bytes in 32 bits."""


_CANCELLED = 0.05
"""A mean with less than this of the loudest channel's power has lost it: two equal voices keep all,
one voice beside a silent channel a quarter."""


class SoundFileError(VoiceAgentError):
    """A recording that cannot be read or written; the message names the file and the reason."""


@dataclass(frozen=True, slots=True)
class Sound:
    """One recording, mixed down to one channel."""

    pcm: Float32
    """Shape (samples,), in [-1, 1] unless the file itself is louder."""
    rate_hz: int

    @property
    def duration_s(self) -> float:
        """Length in seconds."""
        return len(self.pcm) / self.rate_hz


def read_sound(path: Path | str) -> Sound:
    """Reads a wav, flac, ogg or other sound file of any rate; channels are averaged.

    Where they cancel out (a balanced line recorded as stereo is one wave and its mirror), the
    loudest one is taken alone.

    Raises:
        SoundFileError: missing, empty, not a sound file, longer than ``MAX_DURATION_S``, or it
            holds samples that are no numbers.
    """
    channels = read_channels(path)
    return Sound(pcm=_mixed_down(channels.pcm), rate_hz=channels.rate_hz)


def _mixed_down(pcm: Float32) -> Float32:
    mixed: Float32 = pcm.mean(axis=1, dtype=np.float32)
    power = np.square(pcm).mean(axis=0)
    if np.square(mixed).mean() < _CANCELLED * power.max():
        return np.ascontiguousarray(pcm[:, power.argmax()])
    return mixed


@dataclass(frozen=True, slots=True)
class Channels:
    """One recording with its channels apart."""

    pcm: Float32
    """Shape (samples, channels)."""
    rate_hz: int


def read_channels(path: Path | str) -> Channels:
    """Like :func:`read_sound`, with the channels kept apart.

    Raises:
        SoundFileError: as for :func:`read_sound`.
    """
    path = Path(path)
    _check_readable(path)
    try:
        with soundfile.SoundFile(path) as file:
            _check_header(path, file)
            pcm = _read_frames(path, file)
            rate_hz = int(file.samplerate)
    except soundfile.LibsndfileError as error:
        raise SoundFileError(
            f"{path} is not a sound file that can be read ({_reason(error)}); "
            "give a wav, flac or ogg file"
        ) from error
    if not len(pcm):
        raise SoundFileError(f"{path} holds no sound: its length is 0 samples")
    if not np.isfinite(pcm).all():
        raise SoundFileError(f"{path} is damaged: some of its samples are not numbers")
    return Channels(pcm=pcm, rate_hz=rate_hz)


def write_wav(path: Path | str, pcm: Float32 | Int16, rate_hz: int) -> None:
    """Writes a 16-bit wav, whole or not at all.

    ``pcm`` has shape (samples,) or (samples, channels), float32 (clipped to [-1, 1]) or int16.
    The file appears under its name only when it is complete, and only its owner can read it: it may
    hold what people said.

    Raises:
        SoundFileError: the folder is missing or not writable, or the disk is full.
        ValueError: ``pcm`` has another shape or type, or is not finite.
    """
    path = Path(path)
    samples = _as_int16(pcm)
    if samples.nbytes > _WAV_MAX_BYTES:
        raise SoundFileError(
            f"{path}: {samples.nbytes} bytes of sound do not fit a wav file (4 GB)"
        )
    try:
        with _replacing(path) as temporary, wave.open(str(temporary), "wb") as file:
            file.setnchannels(samples.shape[1])
            file.setsampwidth(2)
            file.setframerate(rate_hz)
            file.writeframes(samples.astype("<i2").tobytes())
    except OSError as error:
        raise SoundFileError(f"cannot write {path}: {error.strerror or error}") from error


@contextlib.contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """A temporary file beside ``path`` that takes its place if all goes well, and vanishes if not.

    Whatever ends the block, Ctrl-C included, no half-written file stays.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _as_int16(pcm: Float32 | Int16) -> Int16:
    if pcm.ndim not in (1, 2):
        raise ValueError(f"expected (samples,) or (samples, channels), got shape {pcm.shape}")
    columns: NDArray[np.generic] = pcm.reshape(len(pcm), -1) if len(pcm) else pcm.reshape(0, 1)
    if columns.dtype == np.int16:
        return columns.astype(np.int16, copy=False)
    if columns.dtype != np.float32 or not np.isfinite(columns).all():
        raise ValueError(f"expected finite float32 or int16 samples, got {columns.dtype}")
    return to_int16(columns.astype(np.float32, copy=False))


def _check_readable(path: Path) -> None:
    try:
        size = path.stat().st_size
        if path.is_dir():
            raise SoundFileError(f"{path} is a folder; give a sound file")
        if not path.is_file():
            raise SoundFileError(f"{path} is a device or a pipe, not a file; give a sound file")
        with path.open("rb"):
            pass
    except OSError as error:
        raise SoundFileError(f"cannot read {path}: {error.strerror or error}") from error
    if size == 0:
        raise SoundFileError(f"{path} is empty (0 bytes)")


def _check_header(path: Path, file: soundfile.SoundFile) -> None:
    if not MIN_RATE_HZ <= file.samplerate <= MAX_RATE_HZ:
        raise SoundFileError(
            f"{path} claims {file.samplerate} samples per second; "
            f"{MIN_RATE_HZ} to {MAX_RATE_HZ} can be read"
        )
    if file.channels > MAX_CHANNELS:
        raise SoundFileError(f"{path} claims {file.channels} channels; at most {MAX_CHANNELS}")


def _read_frames(path: Path, file: soundfile.SoundFile) -> Float32:
    """All frames, block by block: a streamed header does not know its own length."""
    limit = MAX_DURATION_S * file.samplerate
    blocks: list[Float32] = []
    total = 0
    while True:
        block = file.read(_BLOCK_FRAMES, dtype="float32", always_2d=True)
        total += len(block)
        if total > limit:
            raise SoundFileError(
                f"{path} is longer than {MAX_DURATION_S} s, the most that is read; cut it"
            )
        blocks.append(block)
        if len(block) < _BLOCK_FRAMES:
            return np.concatenate(blocks)


def _reason(error: soundfile.LibsndfileError) -> str:
    return str(error.error_string).rstrip(". ").lower()
