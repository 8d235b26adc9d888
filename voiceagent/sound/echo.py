"""The agent's own sound out of the microphone's: an adaptive filter and a gate behind it.

The filter is a partitioned block frequency-domain NLMS with overlap-save (Soo and Pang 1990): it
learns how the loudspeaker reaches the microphone from what is played and what comes in. What it
leaves is silenced while it is no louder than such a rest can be. Until it has learned, whatever
comes in while something is played is silenced: the first second of sound is half-duplex.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from voiceagent.sound.pcm import Float32

BLOCK = 320
"""Samples at a time: 20 ms at 16 kHz."""
PARTITIONS = 12
"""Blocks that the room may delay and reverberate: 240 ms, a sound card's own delay included."""
STEP = 0.5
LEARNED_BLOCKS = 50
"""Blocks with sound, a second, until what the filter says is believed."""
REST = 0.25
"""Share of the echo's power that may be left without being taken for somebody: -6 dB. The filter
leaves -16 dB of it in the mean; a talker as quiet as that is not understood beside it either."""
FADES = 0.7
"""By this share of its power, at most, an echo fades in a block: rooms reverberate."""
QUIET_POWER = 1e-7
"""-70 dBFS: nothing is played."""


class EchoGuard(Protocol):
    """Keeps the agent from hearing itself."""

    def cancel(self, heard: Float32, *, played: Float32) -> Float32:
        """What of ``heard`` is somebody else; (BLOCK,) each, at 16 kHz and in step."""
        ...


class HalfDuplex:
    """Hears nothing while something is played: for rooms that no filter learns."""

    def __init__(self) -> None:
        self._loud_since = PARTITIONS

    def cancel(self, heard: Float32, *, played: Float32) -> Float32:
        """Silence while something is played, and as long as its echo may last."""
        self._loud_since = 0 if _is_loud(played) else self._loud_since + 1
        return heard if self._loud_since >= PARTITIONS else np.zeros(BLOCK, dtype=np.float32)


class EchoCanceller:
    """One microphone and what one loudspeaker plays, in step, block by block."""

    def __init__(self) -> None:
        self._played = np.zeros(2 * BLOCK)
        bins = BLOCK + 1
        self._spectra: NDArray[np.complex128] = np.zeros((PARTITIONS, bins), dtype=np.complex128)
        self._weights: NDArray[np.complex128] = np.zeros((PARTITIONS, bins), dtype=np.complex128)
        self._power = np.full(bins, 1e-6)
        self._learned = 0
        self._echo_power = 0.0
        self._loud_since = PARTITIONS + 1
        """Blocks since something was played: its echo may last as long."""
        self.silenced_blocks = 0

    @property
    def has_learned(self) -> bool:
        """Whether the way from loudspeaker to microphone is known."""
        return self._learned >= LEARNED_BLOCKS

    def cancel(self, heard: Float32, *, played: Float32) -> Float32:
        """What is left of ``heard`` without the echo of ``played``; (BLOCK,) each, at one rate."""
        if self._loud_since > PARTITIONS and not _is_loud(played):
            return heard  # nothing is left in the room, nor in the filter
        self._take(played)
        echo = np.fft.irfft((self._weights * self._spectra).sum(axis=0))[BLOCK:]
        rest = heard - echo
        self._adapt(rest, echo)
        if self._is_rest(rest, echo):
            self.silenced_blocks += 1
            return np.zeros(BLOCK, dtype=np.float32)
        return rest.astype(np.float32)

    def _take(self, played: Float32) -> None:
        self._played = np.concatenate([self._played[BLOCK:], played])
        self._spectra = np.roll(self._spectra, 1, axis=0)
        self._spectra[0] = np.fft.rfft(self._played)
        if _is_loud(played):
            self._loud_since = 0
            self._learned += self._learned < LEARNED_BLOCKS
        else:
            self._loud_since += 1

    def _adapt(self, rest: NDArray[np.float64], echo: NDArray[np.float64]) -> None:
        """Moves the weights against the error; slowly while somebody else speaks as well."""
        power = (np.abs(self._spectra) ** 2).sum(axis=0)
        self._power = np.maximum(0.8 * self._power, power)
        step = STEP
        if self.has_learned:
            explained = float(np.mean(echo**2)) / (float(np.mean(rest**2)) + 1e-12)
            step *= min(1.0, explained)
        error = np.fft.rfft(np.concatenate([np.zeros(BLOCK), rest]))
        gradient = np.conj(self._spectra) * error / (self._power + 1e-3)
        moves = np.fft.irfft(gradient, axis=1)
        moves[:, BLOCK:] = 0.0
        self._weights += step * np.fft.rfft(moves, axis=1)

    def _is_rest(self, rest: NDArray[np.float64], echo: NDArray[np.float64]) -> bool:
        self._echo_power = max(FADES * self._echo_power, float(np.mean(echo**2)))
        if not self.has_learned:
            return True
        return float(np.mean(rest**2)) < REST * self._echo_power + QUIET_POWER


def _is_loud(played: Float32) -> bool:
    return float(np.mean(played.astype(np.float64) ** 2)) > QUIET_POWER
