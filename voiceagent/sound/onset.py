"""Where speech begins and ends in a recording: what every latency is measured with.

Two steps. The level in a window of 4 ms, against the noise floor of the recording itself, finds
the stretches of speech; clicks are no speech, and pauses between words no end. Then each edge is
placed to the sample: where two stretches of noise of different power most probably meet (the
maximum-likelihood change point of a Gaussian variance; Basseville and Nikiforov 1993, section 2.6).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voiceagent.sound.pcm import Float32

WINDOW_S = 0.004
"""Half a period of a low voice: a shorter window follows the wave instead of its level."""
ABOVE_FLOOR_DB = 6.0
"""A window of 4 ms of white noise strays from its mean by 0.8 dB (standard deviation) at 16 kHz
and 1.1 dB at 8 kHz: noise alone stays below this, speech at 10 dB above noise stays over it."""
QUIETEST_DBFS = -60.0
"""Digital silence has no floor; nothing below this level is speech."""
FLOOR_SHARE = 0.10
"""The floor is looked for in the quietest tenth: a recording must hold as much silence."""
LEAST_SPEECH_S = 0.040
"""What is shorter and stands alone is a click: the shortest words have 60 ms."""
LEAST_BURST_S = 0.010
BURST_REACH_S = 0.150
"""A short sound this close to speech belongs to it: the release of a final "t" or "k"."""
BRIDGED_S = 0.030
"""Gaps between the periods and bursts of one sound."""
LEAST_PAUSE_S = 0.350
"""A shorter silence is a pause inside the utterance: closures take 100 ms, commas up to 300."""
_EDGE_S = 0.006

_Run = tuple[int, int]
"""First sample, and the one after the last."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """One stretch of speech."""

    begin_s: float
    end_s: float


def speech_stretches(
    pcm: Float32, *, rate_hz: int, least_pause_s: float = LEAST_PAUSE_S
) -> list[Stretch]:
    """Every stretch of speech in a recording, float32 (n,), in order, the pauses between them at
    least ``least_pause_s`` long."""
    window = max(int(WINDOW_S * rate_hz), 2)
    if len(pcm) < 2 * window:
        return []
    power = pcm.astype(np.float64) ** 2
    smooth = _smoothed(power, window)
    floor = _noise_floor(smooth)
    loud = smooth > floor * 10 ** (ABOVE_FLOOR_DB / 10)
    runs = _without_clicks(_joined(_runs(loud), within=int(BRIDGED_S * rate_hz)), rate_hz=rate_hz)
    stretches = _joined(runs, within=int(least_pause_s * rate_hz))
    placed = [_placed(power, run, floor=floor, rate_hz=rate_hz) for run in stretches]
    return [Stretch(begin / rate_hz, end / rate_hz) for begin, end in placed]


def response_gap(
    mouth: Float32, ear: Float32, rate_hz: int, *, least_pause_s: float = LEAST_PAUSE_S
) -> float | None:
    """Seconds from the user's last sound to the first sound of the reply: the last turn's.

    ``mouth`` and ``ear`` are two channels of one recording, float32 (n,) each. None where nobody
    was answered.
    """
    gaps = response_gaps(mouth, ear, rate_hz, least_pause_s=least_pause_s)
    return gaps[-1] if gaps else None


def response_gaps(
    mouth: Float32, ear: Float32, rate_hz: int, *, least_pause_s: float = LEAST_PAUSE_S
) -> list[float]:
    """The response gap in seconds of every turn of the user that was answered, in order.

    A reply answers the last turn that began before it did; it may begin before that turn has
    ended, and its gap is then negative.
    """
    turns = speech_stretches(mouth, rate_hz=rate_hz, least_pause_s=least_pause_s)
    replies = speech_stretches(ear, rate_hz=rate_hz, least_pause_s=least_pause_s)
    gaps = []
    for i, turn in enumerate(turns):
        until = turns[i + 1].begin_s if i + 1 < len(turns) else np.inf
        answers = [reply for reply in replies if turn.begin_s <= reply.begin_s < until]
        if answers:
            gaps.append(answers[0].begin_s - turn.end_s)
    return gaps


def _smoothed(power: NDArray[np.float64], window: int) -> NDArray[np.float64]:
    """Mean power in a window around each sample; the edges repeat the nearest full window."""
    sums = np.concatenate([[0.0], np.cumsum(power)])
    means = np.maximum(sums[window:] - sums[:-window], 0.0) / window
    before = window // 2
    return np.pad(means, (before, len(power) - len(means) - before), mode="edge")


def _noise_floor(smooth: NDArray[np.float64]) -> float:
    """Mean power of the noise: of all windows that are hardly louder than the quietest tenth."""
    quietest = 10 ** ((QUIETEST_DBFS - ABOVE_FLOOR_DB) / 10)
    tenth = float(np.quantile(smooth, FLOOR_SHARE))
    alike = smooth[smooth <= tenth * 10 ** (ABOVE_FLOOR_DB / 2 / 10)]
    return max(float(alike.mean()), quietest)


def _runs(loud: NDArray[np.bool_]) -> list[_Run]:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], loud, [False]]).astype(np.int8)))
    return [(int(begin), int(end)) for begin, end in edges.reshape(-1, 2)]


def _joined(runs: list[_Run], *, within: int) -> list[_Run]:
    joined: list[_Run] = []
    for begin, end in runs:
        if joined and begin - joined[-1][1] < within:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((begin, end))
    return joined


def _without_clicks(runs: list[_Run], *, rate_hz: int) -> list[_Run]:
    long = [run for run in runs if run[1] - run[0] >= LEAST_SPEECH_S * rate_hz]
    reach = BURST_REACH_S * rate_hz
    return [
        run
        for run in runs
        if run in long
        or (
            run[1] - run[0] >= LEAST_BURST_S * rate_hz
            and any(run[0] - other[1] < reach and other[0] - run[1] < reach for other in long)
        )
    ]


def _placed(power: NDArray[np.float64], run: _Run, *, floor: float, rate_hz: int) -> _Run:
    """Both edges of a run to the sample."""
    reach = int(_EDGE_S * rate_hz)
    begin = _edge(power[max(run[0] - reach, 0) : run[0] + reach], floor=floor)
    mirrored = power[max(run[1] - reach, 0) : run[1] + reach][::-1]
    end = _edge(mirrored, floor=floor)
    last = max(run[1] - reach, 0) + len(mirrored)
    return max(run[0] - reach, 0) + begin, last - end


def _edge(power: NDArray[np.float64], *, floor: float) -> int:
    """The index at which noise of power ``floor`` most probably becomes something louder."""
    count = len(power)
    before = np.concatenate([[0.0], np.cumsum(power)])[:count]
    after = np.maximum(power.sum() - before, 1e-20)
    quiet = np.arange(count)
    rest = count - quiet
    quiet_part = quiet * np.log(floor) + before / floor
    likelihood = -0.5 * (quiet_part + rest * np.log(after / rest) + rest)
    # What follows the edge must be louder than the floor: a lull is no onset.
    likelihood[after / rest <= floor] = -np.inf
    return int(np.argmax(likelihood))
