"""A loudspeaker beside a microphone, for recordings: what is played comes back, quieter."""

from collections import deque

import numpy as np

from voiceagent.session.timeline import EarTimeline
from voiceagent.sound.echo import BLOCK, EchoGuard
from voiceagent.sound.pcm import Float32, Int16, to_float32, to_int16
from voiceagent.sound.resample import Resampler
from voiceagent.speech.turns import RATE_HZ

DELAY_BLOCKS = 3
"""60 ms: a sound card there and back, and two metres of air."""
REVERBERATION = ((0, 1.0), (90, 0.3), (210, -0.2), (400, 0.1))
"""Samples behind the first arrival, and how loud the wall is."""


class Room:
    """Adds the echo of what sounded, and has a guard take it out again.

    Args:
        timeline: what sounded.
        echo_db: how loud the echo is, as against the agent's own sound.
        guard: between the microphone and the agent; None for an agent that hears itself.
    """

    def __init__(self, timeline: EarTimeline, *, echo_db: float, guard: EchoGuard | None) -> None:
        self._timeline = timeline
        self._gain = 10 ** (echo_db / 20)
        self._guard = guard
        self._resampler = Resampler(timeline.rate_hz, RATE_HZ)
        self._blocks = 0
        self._played: Float32 = np.zeros(0, dtype=np.float32)
        self._air: deque[Float32] = deque([np.zeros(BLOCK, np.float32)] * DELAY_BLOCKS)
        self._wall = np.zeros(max(late for late, _ in REVERBERATION))

    def hear(self, said: Int16) -> Int16:
        """What the agent gets of the next 20 ms (BLOCK,) that the user said."""
        played = self._next_played()
        heard = to_float32(said) + self._echo(played)
        if self._guard is not None:
            heard = self._guard.cancel(heard, played=played)
        return to_int16(heard)

    def _next_played(self) -> Float32:
        rate_hz = self._timeline.rate_hz
        begin, end = (
            count * BLOCK * rate_hz // RATE_HZ for count in (self._blocks, self._blocks + 1)
        )
        self._blocks += 1
        sounded = to_float32(self._timeline.between(begin, end))
        held = np.concatenate([self._played, self._resampler.push(sounded)])
        # The resampler's first block is a little short: it stands for the card's own delay.
        held = np.pad(held, (max(0, BLOCK - len(held)), 0)).astype(np.float32)
        played, self._played = held[:BLOCK], held[BLOCK:]
        return played

    def _echo(self, played: Float32) -> Float32:
        self._air.append(played)
        arriving = np.concatenate([self._wall, self._air.popleft()])
        reach = len(self._wall)
        self._wall = arriving[-reach:]
        echo = sum(
            gain * arriving[reach - late : reach - late + BLOCK] for late, gain in REVERBERATION
        )
        return (self._gain * np.asarray(echo)).astype(np.float32)
