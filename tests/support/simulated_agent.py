"""An agent that exists as numbers alone: how long each stage takes is given, and its trace, its own
recording and the rig's follow from that. What the laboratory finds can be held against it."""

from dataclasses import dataclass, field

import numpy as np
from known_sounds import voice

from voiceagent.core.events import Author, Committed, Confirmed, Drafted, Released, Started, Turn
from voiceagent.core.kinds import Kind
from voiceagent.core.trace import Record, SpeechRecord, TurnRecord
from voiceagent.latency.exchange import Cue, CueKind, Exchange
from voiceagent.latency.waterfall import OwnRecording

RATE_HZ = 8_000
BASE_MS = {
    "vad": 200.0,
    "recognizer": 160.0,
    "prefill": 90.0,
    "first_token": 60.0,
    "first_commit": 220.0,
    "synthesis": 90.0,
    "end_of_turn": 25.0,
    "release": 2.0,
    "playout": 55.0,
    "device": 60.0,
}
"""In the order in which a reply goes through them that was prepared on an eager turn."""
SPREAD = 0.08
"""Each duration varies by so much of itself (standard deviation), as measured ones do."""
QUESTION_S, REPLY_S, LEAD_S, TAIL_S = 0.4, 0.4, 0.4, 0.3
MIC_SHARE = 0.5
"""Of the device's delay: the way in; the rest is the way out."""


@dataclass
class SimulatedRun:
    """What is left of a run."""

    exchanges: list[Exchange] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    stages_ms: list[dict[str, float]] = field(default_factory=list)
    mouth: list[np.ndarray] = field(default_factory=list)
    ear: list[np.ndarray] = field(default_factory=list)

    @property
    def own(self) -> OwnRecording:
        """The agent's own recording."""
        mouth, ear = np.concatenate(self.mouth), np.concatenate(self.ear)
        return OwnRecording(
            mouth=mouth.astype(np.float32), ear=ear.astype(np.float32), rate_hz=RATE_HZ
        )


def simulate(turns: int, *, seed: int, delay: tuple[str, float] | None = None) -> SimulatedRun:
    """A run of so many turns; ``delay`` names a stage and the milliseconds it takes longer."""
    run = SimulatedRun()
    durations, sounds = np.random.default_rng(seed), np.random.default_rng(0)
    at_s = 0.0
    for number in range(turns):
        stages = {
            name: base * max(0.3, 1 + SPREAD * durations.standard_normal())
            for name, base in BASE_MS.items()
        }
        if delay is not None:
            stages[delay[0]] += delay[1]
        at_s += _one_turn(run, number, stages, at_s, sounds)
    return run


def _one_turn(
    run: SimulatedRun,
    number: int,
    stages: dict[str, float],
    at_s: float,
    sounds: np.random.Generator,
) -> float:
    question = voice(QUESTION_S, sounds, rate_hz=RATE_HZ)
    answer = voice(REPLY_S, sounds, rate_hz=RATE_HZ)
    mic_s = MIC_SHARE * stages["device"] / 1000
    speaker_s = stages["device"] / 1000 - mic_s
    inside_s = (sum(stages.values()) - stages["device"]) / 1000
    length_s = LEAD_S + QUESTION_S + inside_s + 0.2 + REPLY_S + TAIL_S
    end_s = LEAD_S + QUESTION_S
    begin_s = end_s + mic_s + inside_s
    run.mouth.append(_placed(question, LEAD_S + mic_s, length_s))
    run.ear.append(_placed(answer, begin_s, length_s))
    run.exchanges.append(
        Exchange(
            mouth=_placed(question, LEAD_S, length_s).astype(np.float32),
            ear=_placed(answer, begin_s + speaker_s, length_s).astype(np.float32),
            rate_hz=RATE_HZ,
            cues=(
                Cue(
                    fixture=f"question {number % 8}",
                    kind=CueKind.TURN,
                    from_s=0.1,
                    until_s=end_s + 0.1,
                ),
            ),
        )
    )
    run.stages_ms.append(stages)
    run.records += _records(number, stages, at_s + end_s + mic_s)
    return len(run.mouth[-1]) / RATE_HZ


def _placed(sound: np.ndarray, at_s: float, length_s: float) -> np.ndarray:
    pcm = np.zeros(round(length_s * RATE_HZ))
    pcm[round(at_s * RATE_HZ) :][: len(sound)] = sound
    return pcm


def _records(number: int, stages: dict[str, float], at_s: float) -> list[Record]:
    reached = {}
    for name, stage_ms in stages.items():
        at_s += stage_ms / 1000
        reached[name] = at_s
    who = {"reply": f"r{number}", "epoch": 0}
    return [
        TurnRecord(turn=number, at_s=reached["vad"], text="", state="silent"),
        TurnRecord(turn=number, at_s=reached["recognizer"], text="So?", state="eager"),
        Started(**who, at_s=reached["prefill"], turn=Turn.EAGER, author=Author.MODEL),
        Drafted(**who, at_s=reached["first_token"], at=0, text="Yes."),
        Committed(
            **who,
            at_s=reached["first_commit"],
            start=0,
            end=4,
            kind=Kind.SENTENCE,
            segment=0,
            text="Yes.",
        ),
        SpeechRecord(
            **who,
            at_s=reached["synthesis"],
            start=0,
            end=4,
            text="Yes.",
            samples=3200,
            rate_hz=RATE_HZ,
        ),
        TurnRecord(turn=number, at_s=reached["end_of_turn"], text="So?", state="confirmed"),
        Confirmed(**who, at_s=reached["end_of_turn"]),
        Released(**who, at_s=reached["release"], to=4),
    ]
