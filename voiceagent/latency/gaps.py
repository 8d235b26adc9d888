"""Response gaps of a conversation, from its recording and nothing else.

The recording holds the user in the left channel and the agent in the right, on one clock; onsets
and ends are those of :mod:`voiceagent.sound.onset`, with its stated thresholds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from voiceagent.core.errors import VoiceAgentError
from voiceagent.sound.files import read_channels
from voiceagent.sound.onset import response_gaps

FEWEST_FOR_P95 = 20
"""Below this many turns, a 95th percentile is the maximum under another name."""


class RecordingError(VoiceAgentError):
    """A recording that does not support the figures; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Gaps:
    """What one recording, or several, show.

    Attributes:
        gaps_ms: from the last sound of the user to the first sound of the reply, each turn.
    """

    gaps_ms: tuple[float, ...]

    @property
    def p50_ms(self) -> float | None:
        """The median; None without turns."""
        return median(self.gaps_ms) if self.gaps_ms else None

    @property
    def p95_ms(self) -> float | None:
        """The 95th percentile; None where there are too few turns for one."""
        if len(self.gaps_ms) < FEWEST_FOR_P95:
            return None
        return quantiles(self.gaps_ms, n=20, method="inclusive")[-1]

    def to_object(self) -> dict[str, Any]:
        """As a JSON object; a figure that is withheld is null, with the reason beside it."""
        too_few = None if self.p95_ms is not None else f"fewer than {FEWEST_FOR_P95} turns"
        return {
            "turns": len(self.gaps_ms),
            "response_gaps_ms": [round(gap, 1) for gap in self.gaps_ms],
            "response_gap_p50_ms": _rounded(self.p50_ms),
            "response_gap_p95_ms": _rounded(self.p95_ms),
            "p95_withheld": too_few,
        }


def measure(paths: Sequence[Path]) -> Gaps:
    """The gaps of all recordings together.

    Raises:
        RecordingError: a recording has other than two channels, or holds no answered turn.
        SoundFileError: a file cannot be read.
    """
    return Gaps(gaps_ms=tuple(gap for path in paths for gap in _gaps_of(path)))


def _gaps_of(path: Path) -> list[float]:
    recording = read_channels(path)
    if recording.pcm.shape[1] != 2:
        raise RecordingError(
            f"{path}: {recording.pcm.shape[1]} channel(s); expected two, the user in the left and "
            "the agent in the right, as `voiceagent talk --record` writes them"
        )
    mouth, ear = recording.pcm[:, 0], recording.pcm[:, 1]
    gaps_s = response_gaps(mouth, ear, rate_hz=recording.rate_hz)
    if not gaps_s:
        raise RecordingError(f"{path}: no speech of the user is followed by speech of the agent")
    return [gap_s * 1000 for gap_s in gaps_s]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)
