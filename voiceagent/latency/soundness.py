"""What a recording supports: a figure it does not support is withheld, with the reason.

Thresholds are named here and nowhere else.
"""

from dataclasses import dataclass

import numpy as np

from voiceagent.latency.exchange import Exchange
from voiceagent.sound.onset import speech_stretches
from voiceagent.sound.pcm import Float32

CLIPPED_FROM = 0.999
CLIPPED_RUN = 3
"""So many samples in a row at full scale are no peak but a clipped one."""
CLIPPED_SHARE = 0.001
"""Of the speech: below it single peaks are cut, which moves no edge."""
LEAST_SNR_DB = 10.0
"""Edges are validated down to there (sound/onset.py)."""
MOST_DRIFT_PPM = 300.0
"""Two crystals are 50 to 100 ppm apart; more over a conversation is lost or doubled sound. At the
limit a response gap of a second is off by 0.3 ms."""
LATE_S = 0.25
"""The last piece of a recording may come in so late on a busy machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Soundness:
    """What was found out about one recording.

    Attributes:
        reasons: why its figures are withheld; empty where they are not.
    """

    reasons: tuple[str, ...]

    @property
    def is_sound(self) -> bool:
        """Whether figures may be taken from it."""
        return not self.reasons


def soundness(exchange: Exchange) -> Soundness:
    """Judges both channels of ``exchange``, and its clock where the rig has told a second one."""
    reasons = []
    for name, pcm in (("mouth", exchange.mouth), ("ear", exchange.ear)):
        reasons += [f"{name}: {reason}" for reason in _of_channel(pcm, rate_hz=exchange.rate_hz)]
    excess_s = exchange.excess_s
    if abs(excess_s) > LATE_S + MOST_DRIFT_PPM / 1e6 * exchange.duration_s:
        reasons.append(f"drift: the recording is {1000 * excess_s:+.0f} ms longer than it took")
    return Soundness(reasons=tuple(reasons))


def _of_channel(pcm: Float32, *, rate_hz: int) -> list[str]:
    stretches = speech_stretches(pcm, rate_hz=rate_hz)
    if not stretches:
        return []
    spoken = np.concatenate(
        [pcm[int(each.begin_s * rate_hz) : int(each.end_s * rate_hz)] for each in stretches]
    )
    reasons = []
    if (share := clipped_share(spoken)) > CLIPPED_SHARE:
        reasons.append(f"clipped: {100 * share:.1f} % of the speech is at full scale")
    snr_db = _snr_db(pcm, spoken)
    if snr_db < LEAST_SNR_DB:
        reasons.append(f"noise: {snr_db:.0f} dB of signal to noise, {LEAST_SNR_DB:g} are needed")
    return reasons


def clipped_share(pcm: Float32) -> float:
    """Of the samples (n,), how many lie in runs at full scale."""
    if not len(pcm):
        return 0.0
    full = np.concatenate([[0], (np.abs(pcm) >= CLIPPED_FROM).astype(np.int8), [0]])
    begins, ends = np.flatnonzero(np.diff(full) == 1), np.flatnonzero(np.diff(full) == -1)
    lengths = ends - begins
    return float(lengths[lengths >= CLIPPED_RUN].sum()) / len(pcm)


def _snr_db(pcm: Float32, spoken: Float32) -> float:
    """Level of the speech over that of everything else; noise is in the speech too."""
    total, speech = float((pcm**2).sum()), float((spoken**2).sum())
    rest = max(total - speech, 0.0) / max(len(pcm) - len(spoken), 1)
    return float(10 * np.log10(max(speech / len(spoken) - rest, 1e-12) / max(rest, 1e-12)))
