"""Sensitivity once more, in real time: a stage of the product's own pipeline takes 50 ms longer.

Models are doubles that take a stated time, so that each stage is known; everything else is what
callers get.
"""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loguru import logger
from pipecat.audio.vad.vad_analyzer import VADParams
from talk_doubles import (
    LoudnessVad,
    ScriptedEndOfTurn,
    ScriptedRecognizer,
    ScriptedSource,
    ToneSynthesizer,
    recording,
)

from voiceagent.audio.hold import Held, Manner, hold
from voiceagent.config import Config, Persona
from voiceagent.core.trace import Header, read
from voiceagent.latency.analysis import Comparison, TurnValues, compare_runs, explain, judge
from voiceagent.latency.comparison import Verdict
from voiceagent.latency.exchange import Exchange
from voiceagent.latency.waterfall import OwnRecording
from voiceagent.session.models import Models
from voiceagent.session.trace_file import TraceFile
from voiceagent.sound.pcm import to_float32

TURNS = 12
LATE_S = 0.05
REPLY = "One two three four."
JUDGED_S = 0.6
"""An end-of-turn model that is slower than everything that happens beside it."""

pytestmark = pytest.mark.long


class LateVad(LoudnessVad):
    """Notices a pause later."""

    def __init__(self) -> None:
        super().__init__()
        self._params = VADParams(start_secs=0.2, stop_secs=0.2 + LATE_S, min_volume=0.0)


class Judge(ScriptedEndOfTurn):
    """Takes its time."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds

    async def is_complete(self, pcm: Any) -> bool:
        await asyncio.sleep(self._seconds)
        return True


class Writer(ScriptedSource):
    """Takes its time before the first word, and before the second."""

    def __init__(self, *, first_s: float, second_s: float) -> None:
        super().__init__([REPLY] * TURNS)
        self._waits_s = (first_s, second_s)

    def write(self, messages: Any, *, on_event: Callable[[Any], None]) -> Any:
        drafts = 0

        def late(event: Any) -> None:
            nonlocal drafts
            if type(event).__name__ == "Draft":
                drafts += 1
                time.sleep(self._waits_s[drafts - 1] if drafts <= 2 else 0)
            on_event(event)

        return super().write(messages, on_event=late)


def agent(late: str = "", *, judged_s: float = 0.0) -> Models:
    """The models of an agent of which one stage may be late."""
    extra = {name: LATE_S * (late == name) for name in STAGES}
    return Models(
        vad=LateVad if late == "vad" else LoudnessVad,
        end_of_turn=Judge(judged_s + extra["end_of_turn"]),
        recognizer=ScriptedRecognizer(["Is it?"] * TURNS, hangs_s=0.12 + extra["recognizer"]),
        source=Writer(first_s=0.06 + extra["first_token"], second_s=0.06 + extra["first_commit"]),
        synthesizer=ToneSynthesizer(hangs_s=0.08 + extra["synthesis"]),
    )


STAGES = ("vad", "recognizer", "end_of_turn", "first_token", "first_commit", "synthesis")
WAVES: list[dict[str, dict[str, Any]]] = [
    {"before": {}, "after": {}, "vad": {"late": "vad"}},
    {"before": {}, "recognizer": {"late": "recognizer"}, "first_token": {"late": "first_token"}},
    {"before": {}, "first_commit": {"late": "first_commit"}, "synthesis": {"late": "synthesis"}},
    {
        "before": {"judged_s": JUDGED_S},
        "end_of_turn": {"late": "end_of_turn", "judged_s": JUDGED_S},
    },
]
"""Conversations that are held side by side, so that what else the machine does concerns them all;
the first one is what the others are compared with."""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Comparison]:
    """What the laboratory says of each, against the first of its wave."""
    logger.disable("pipecat")
    comparisons = {}
    for wave in WAVES:
        folder = tmp_path_factory.mktemp("live")
        held = asyncio.run(_hold_all(wave, folder))
        runs = {name: _values(each, folder / f"{name}.jsonl") for name, each in held.items()}
        before = runs.pop("before")
        comparisons |= {name: compare_runs(before, run) for name, run in runs.items()}
    logger.enable("pipecat")
    return comparisons


async def _hold_all(wave: dict[str, dict[str, Any]], folder: Path) -> dict[str, Held]:
    questions = recording(*[("pause", 0.4), ("voice", 0.6), ("pause", 0.1)] * TURNS)
    config = Config(persona=Persona(greeting=""))

    async def one(name: str, options: dict[str, Any]) -> Held:
        trace = TraceFile(folder / f"{name}.jsonl", header=Header(preset="tiny"))
        held = await hold(
            questions, agent(**options), config, manner=Manner(greets=False), listeners=[trace]
        )
        trace.close()
        return held

    held = await asyncio.gather(*(one(name, options) for name, options in wave.items()))
    return dict(zip(wave, held, strict=True))


def _values(held: Held, trace: Path) -> list[TurnValues]:
    mouth, ear = (to_float32(side.copy()) for side in held.both().T)
    judged = [judge(Exchange(mouth=mouth, ear=ear, rate_hz=held.rate_hz))]
    own = OwnRecording(mouth=mouth, ear=ear, rate_hz=held.rate_hz)
    with trace.open("rb") as lines:
        (falls,) = explain(judged, own, [record for _, record in read(lines)])
    return [
        TurnValues(fixture="question", response_gap_ms=gap_ms, stages_ms=fall.stages_ms)
        for turn, fall in zip(judged[0].turns, falls, strict=True)
        if fall is not None and (gap_ms := turn.response_gap_ms) is not None
    ]


@pytest.mark.parametrize("stage", STAGES)
def test_a_late_stage_is_found(found: dict[str, Comparison], stage: str) -> None:
    """Worse, by that stage, and by about as much as it is late."""
    assert found[stage].verdict is Verdict.WORSE
    assert found[stage].culprit == stage
    assert found[stage].response_gap.median_ms == pytest.approx(1000 * LATE_S, abs=25)


def test_equal_agents_are_not_told_apart(found: dict[str, Comparison]) -> None:
    """Nothing was late: no evidence."""
    assert found["after"].verdict is Verdict.NO_EVIDENCE
