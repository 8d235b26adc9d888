"""A run as one JSON object (``report.schema.json``), and what can be read from one again."""

import json
import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from statistics import median
from typing import Any

import jsonschema
import numpy as np

from voiceagent import __version__
from voiceagent.core.errors import VoiceAgentError
from voiceagent.latency.analysis import Comparison, Judged, TurnValues, compare_runs
from voiceagent.latency.comparison import CONFIDENCE, Difference
from voiceagent.latency.director import Words
from voiceagent.latency.exchange import Exchange
from voiceagent.latency.figures import figures_of
from voiceagent.latency.measures import Turn
from voiceagent.latency.run import AgentRun, Played, observed_of
from voiceagent.latency.texts import Texts, texts_of, word_errors
from voiceagent.latency.waterfall import STAGES, Waterfall

VERSION = 1
MAX_REPORT_BYTES = 1 << 26
DIGITAL_SILENCE = 0.5 / 32768
PUT_IN_S = 0.02
"""A block of sound that was not there in time."""
MARGIN_S = 0.2
"""Of sound around a reply that is recognized again."""


class ReportError(VoiceAgentError):
    """A file that is no report of this program."""


def schema() -> dict[str, Any]:
    """The published schema of a report."""
    file = resources.files("voiceagent.latency").joinpath("report.schema.json")
    return dict(json.loads(file.read_text(encoding="utf-8")))


def report_of(
    runs: Sequence[AgentRun],
    *,
    title: str,
    seed: int,
    about: dict[str, Any] | None = None,
    words: Words | None = None,
) -> dict[str, Any]:
    """The report of a run; every agent after the first is compared with the first.

    With ``words``, a recognizer, every reply is recognized again from the sound at the ear.
    """
    agents = [_agent(run, words) for run in runs]
    return {
        "type": "voiceagent.latency",
        "version": VERSION,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "title": title,
        "seed": seed,
        "about": {"voiceagent": __version__, **_machine(), **(about or {})},
        "agents": agents,
        "comparisons": [
            comparison(agents[0], other, names=(agents[0]["name"], other["name"]))
            for other in agents[1:]
        ],
    }


def read_report(path: Path) -> dict[str, Any]:
    """A report from its file.

    Raises:
        ReportError: it cannot be read, or is none.
    """
    try:
        if path.stat().st_size > MAX_REPORT_BYTES:
            raise ReportError(f"{path} is too large to be a report")
        report = json.loads(path.read_text(encoding="utf-8"))
        jsonschema.validate(report, schema())
    except (OSError, ValueError) as error:
        raise ReportError(f"cannot read {path}: {error}") from error
    except jsonschema.ValidationError as error:
        where = "/".join(map(str, error.absolute_path)) or "its top"
        raise ReportError(f"{path} is no report: {error.message} at {where}") from error
    return dict(report)


def comparison(
    first: dict[str, Any], second: dict[str, Any], *, names: tuple[str, str]
) -> dict[str, Any]:
    """The second agent of a report against the first (objects of ``agents``), as an object."""
    found = compare_runs(values_of(first), values_of(second))
    return {
        "first": names[0],
        "second": names[1],
        "confidence": CONFIDENCE,
        "verdict": str(found.verdict),
        "culprit": found.culprit,
        "response_gap": _difference(found.response_gap),
        "stages": _stages(found),
    }


def values_of(agent: dict[str, Any]) -> list[TurnValues]:
    """What an agent of a report is compared by."""
    return [
        TurnValues(
            fixture=f"{turn['scenario']}/{turn['fixture']}",
            response_gap_ms=turn["response_gap_ms"],
            stages_ms=(turn["waterfall"] or {}).get("stages_ms", {}),
        )
        for turn in agent["turns"]
        if turn["response_gap_ms"] is not None and not turn["withheld"]
    ]


def _stages(found: Comparison) -> dict[str, Any]:
    return {name: _difference(difference) for name, difference in found.stages.items()}


def _difference(difference: Difference) -> dict[str, Any]:
    return {
        "pairs": difference.pairs,
        "median_ms": difference.median_ms,
        "low_ms": difference.low_ms,
        "high_ms": difference.high_ms,
        "verdict": str(difference.verdict),
    }


def _agent(run: AgentRun, words: Words | None) -> dict[str, Any]:
    counted = [
        turn for each in run.played if not each.judged.withheld for turn in each.judged.turns
    ]
    turns = [turn for each in run.played for turn in _turns(run, each, words)]
    return {
        "name": run.name,
        "figures": figures_of(counted)
        | {
            "heard_error": _median_of(turns, "heard_error_ms"),
            "words_understood_wrong": _word_error(turns, "words"),
            "words_spoken_wrong": _word_error(turns, "spoken_words"),
            "observer_minus_sound": _observer(turns),
        },
        "stages": _typical_stages(run),
        "turns": turns,
        "troubles": [
            f"{each.scenario}: {reason}" for each in run.played for reason in each.judged.withheld
        ],
    }


def _turns(run: AgentRun, played: Played, words: Words | None) -> list[dict[str, Any]]:
    observed = observed_of(played)
    cues = played.judged.exchange.cues
    rows = []
    for i, turn in enumerate(played.judged.turns):
        waterfall = played.waterfalls[i]
        texts = texts_of(run.records, waterfall)
        said = cues[i].text if i < len(cues) else ""
        spoken = _spoken(played.judged.exchange, turn, words)
        rows.append(
            {
                "scenario": played.scenario,
                "recording": played.recording.name,
                **_measured(turn),
                "withheld": list(played.judged.withheld),
                "said": said,
                "words": word_errors(said, texts.understood) if texts and said else None,
                "texts": texts.to_object() if texts else None,
                "spoken": spoken,
                "spoken_words": word_errors(texts.heard, spoken) if texts and spoken else None,
                "heard_error_ms": _heard_error_ms(played.judged, i, texts),
                "observer_ms": observed[i],
                "waterfall": _waterfall(waterfall),
            }
        )
    return rows


def _spoken(exchange: Exchange, turn: Turn, words: Words | None) -> str | None:
    """What is heard in the reply's sound."""
    if words is None or turn.reply_begin_s is None or turn.reply_end_s is None:
        return None
    first, last = (
        int(at_s * exchange.rate_hz)
        for at_s in (max(0.0, turn.reply_begin_s - MARGIN_S), turn.reply_end_s + MARGIN_S)
    )
    return words(exchange.ear[first:last], exchange.rate_hz).strip()


def _measured(turn: Turn) -> dict[str, Any]:
    return {
        "fixture": turn.fixture,
        "kind": str(turn.kind),
        "begin_s": _rounded(turn.begin_s),
        "end_s": _rounded(turn.end_s),
        "reply_begin_s": _rounded(turn.reply_begin_s),
        "reply_end_s": _rounded(turn.reply_end_s),
        "response_gap_ms": turn.response_gap_ms,
        "stop_ms": turn.stop_ms,
        "hold_ms": turn.hold_ms,
        "talk_over_ms": turn.talk_over_ms,
        "is_cut_in": turn.is_cut_in,
        "is_missed": turn.is_missed,
        "is_false_start": turn.is_false_start,
        "stalls_ms": list(turn.stalls_ms),
    }


def _waterfall(waterfall: Waterfall | None) -> dict[str, Any] | None:
    if waterfall is None:
        return None
    return {"stages_ms": waterfall.stages_ms, "residual_ms": waterfall.residual_ms}


def _heard_error_ms(judged: Judged, i: int, texts: Texts | None) -> float | None:
    """What the agent believes was heard of a reply, minus what was; None where it was held."""
    turn = judged.turns[i]
    was_held = i + 1 < len(judged.turns) and judged.turns[i + 1].hold_ms is not None
    if texts is None or texts.believed_ms is None or was_held:
        return None
    if turn.reply_begin_s is None or turn.reply_end_s is None:
        return None
    audible_ms = 1000 * audible_s(judged.exchange, turn.reply_begin_s, turn.reply_end_s)
    return round(texts.believed_ms - audible_ms, 1)


def audible_s(exchange: Exchange, begin_s: float, end_s: float) -> float:
    """How much sound there is between two moments at the ear: silence that was put in because more
    of the reply was not there yet is digital, the pauses of a voice are not."""
    ear = exchange.ear[int(begin_s * exchange.rate_hz) : int(end_s * exchange.rate_hz)]
    quiet = np.concatenate([[0], (np.abs(ear) < DIGITAL_SILENCE).astype(np.int8), [0]])
    begins, ends = np.flatnonzero(np.diff(quiet) == 1), np.flatnonzero(np.diff(quiet) == -1)
    lengths = ends - begins
    put_in = int(lengths[lengths >= PUT_IN_S * exchange.rate_hz].sum())
    return (len(ear) - put_in) / exchange.rate_hz


def _typical_stages(run: AgentRun) -> dict[str, float]:
    """The median of each stage over all turns that have a waterfall."""
    falls = [fall for each in run.played for fall in each.waterfalls if fall is not None]
    if not falls:
        return {}
    stages = {
        name: round(median(fall.stages_ms.get(name, 0.0) for fall in falls), 1) for name in STAGES
    }
    return stages | {"residual": round(median(fall.residual_ms for fall in falls), 1)}


def _median_of(turns: list[dict[str, Any]], name: str) -> dict[str, Any]:
    values = [turn[name] for turn in turns if turn[name] is not None and not turn["withheld"]]
    return {
        "turns": len(values),
        "p50_ms": round(median(values), 1) if values else None,
        "farthest_ms": max(values, key=abs, default=None),
    }


def _observer(turns: list[dict[str, Any]]) -> dict[str, Any]:
    """How much of the wait the agent's own observer leaves out."""
    left_out = [
        turn["observer_ms"] - turn["response_gap_ms"]
        for turn in turns
        if turn["observer_ms"] is not None and turn["response_gap_ms"] is not None
    ]
    return {"turns": len(left_out), "p50_ms": round(median(left_out), 1) if left_out else None}


def _word_error(turns: list[dict[str, Any]], name: str) -> dict[str, Any]:
    words = [turn[name] for turn in turns if turn[name] is not None]
    errors, spoken = sum(each["errors"] for each in words), sum(each["spoken"] for each in words)
    return {
        "errors": errors,
        "spoken": spoken,
        "rate": round(errors / spoken, 4) if spoken else None,
    }


def _machine() -> dict[str, Any]:
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "python": platform.python_version(),
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "load": None if load is None else round(load, 2),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
