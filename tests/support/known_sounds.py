"""Recordings with known answers: speech-like sounds with noise, clicks, breath and fade-ins around
them, each with the instants at which it begins and ends."""

from dataclasses import dataclass

import numpy as np

from voiceagent.sound.pcm import Float32

RATES_HZ = (8_000, 16_000, 48_000)
LEVEL = 0.1
"""Of a voice, root mean square: -20 dBFS."""


@dataclass(frozen=True, kw_only=True)
class KnownSound:
    """One recording.

    Attributes:
        pcm: (samples,).
        begin_s: of the first sound of the voice.
        end_s: of its last.
    """

    pcm: Float32
    rate_hz: int
    begin_s: float
    end_s: float
    snr_db: float


def voice(seconds: float, rng: np.random.Generator, *, rate_hz: int) -> np.ndarray:
    """Syllables of a voiced sound: harmonics of a gliding tone under a formant-like slope, with a
    little noise, their level swinging as syllables do but never to nothing."""
    times = np.arange(int(seconds * rate_hz)) / rate_hz
    pitch = rng.uniform(90, 250) * (1 + 0.1 * np.sin(2 * np.pi * rng.uniform(0.5, 2) * times))
    phase = 2 * np.pi * np.cumsum(pitch) / rate_hz
    tones = [np.sin(k * phase + rng.uniform(0, 6)) / k for k in range(1, 8)]
    swing = 1 + 0.5 * np.sin(2 * np.pi * rng.uniform(3, 5) * times + rng.uniform(0, 6))
    sound = swing * (np.sum(tones, axis=0) + 0.1 * rng.standard_normal(len(times)))
    return LEVEL * sound / np.sqrt((sound**2).mean())


def known_sound(rng: np.random.Generator, *, snr_db: float) -> KnownSound:
    """One recording of a voice with everything around it that could be taken for one."""
    rate_hz = int(rng.choice(RATES_HZ))
    sound = voice(rng.uniform(0.2, 1.5), rng, rate_hz=rate_hz)
    _fade(sound, seconds=rng.uniform(0, 0.003), rate_hz=rate_hz)
    begin, tail = int(rng.uniform(0.9, 1.4) * rate_hz), int(rng.uniform(0.7, 1.2) * rate_hz)
    pcm = np.concatenate([np.zeros(begin), sound, np.zeros(tail)])
    end = begin + len(sound)
    _breathe(pcm, rng, until=begin - int(rng.uniform(0.06, 0.25) * rate_hz), rate_hz=rate_hz)
    for at in (rng.uniform(0, 0.3) * rate_hz, end + rng.uniform(0.3, 0.5) * rate_hz):
        pcm[int(at) : int(at) + max(1, rate_hz // 1000)] += rng.choice([-0.8, 0.8])
    pcm += LEVEL * 10 ** (-snr_db / 20) * rng.standard_normal(len(pcm))
    return KnownSound(
        pcm=pcm.astype(np.float32),
        rate_hz=rate_hz,
        begin_s=begin / rate_hz,
        end_s=end / rate_hz,
        snr_db=snr_db,
    )


def _fade(sound: np.ndarray, *, seconds: float, rate_hz: int) -> None:
    """The soft beginning of a voice: amplitude from nothing in a straight line, in up to 3 ms.

    In a longer one the first moments are below the noise, and nobody can say when they were.
    """
    length = int(seconds * rate_hz)
    sound[:length] *= np.linspace(0, 1, length)


def _breathe(pcm: np.ndarray, rng: np.random.Generator, *, until: int, rate_hz: int) -> None:
    """A breath drawn before speaking: 22 to 30 dB below the voice, as close microphones have it."""
    length = int(rng.uniform(0.15, 0.35) * rate_hz)
    level = LEVEL * 10 ** (-rng.uniform(22, 30) / 20)
    pcm[until - length : until] += level * np.hanning(length) * rng.standard_normal(length)
