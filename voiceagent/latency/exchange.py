"""One exchange with an agent: the recording of both sides, and what was meant to happen.

The recording is the evidence: mouth and ear are two channels of one clock. Cues say what the rig
played and what it expected; where they are missing (a recording from elsewhere) every stretch of
speech at the mouth counts as a turn that wants an answer.
"""

from dataclasses import dataclass
from enum import StrEnum

from voiceagent.sound.pcm import Float32


class CueKind(StrEnum):
    """What the rig played."""

    TURN = "turn"
    """Words that are to be answered."""
    INTERRUPTION = "interruption"
    """Words over a reply that are to end it."""
    BACKCHANNEL = "backchannel"
    """A sign of listening over a reply, which is to go on."""
    NOISE = "noise"
    """No words: nothing is to follow."""
    SILENCE = "silence"
    """Nothing is played, and nothing is to follow."""
    KEYS = "keys"
    """Keys of a telephone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cue:
    """One thing that was played.

    Attributes:
        fixture: what; recordings of the same name are compared with each other.
        kind: what is to follow.
        from_s: when the playing was begun, on the recording's clock; its sound comes later.
        until_s: when it was over, its way through the rig included.
        text: the words in it.
    """

    fixture: str
    kind: CueKind
    from_s: float
    until_s: float
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """One recording with its cues.

    Attributes:
        mouth: what the user said (samples,).
        ear: what the user heard (samples,), on the same clock.
        elapsed_s: how long the recording took by another clock; None where nobody looked.
    """

    mouth: Float32
    ear: Float32
    rate_hz: int
    cues: tuple[Cue, ...] = ()
    elapsed_s: float | None = None

    @property
    def duration_s(self) -> float:
        """Its length."""
        return len(self.mouth) / self.rate_hz

    @property
    def excess_s(self) -> float:
        """How much longer the recording is than the time it took; 0 where that is not known."""
        return 0.0 if self.elapsed_s is None else self.duration_s - self.elapsed_s
