"""Real load: requests arrive when they arrive, whether or not earlier ones are done.

Arrivals are open-loop: exponential gaps whose mean is the think time over the number of sessions,
lengths log-normal; both from a stated seed, the same for every setting. Latencies count from the
planned arrival, so that a queue is not left out (the "coordinated omission" of closed loops).
"""

import os
import random
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from voiceagent.core.errors import VoiceAgentError
from voiceagent.core.events import (
    Committed,
    Draft,
    Drafted,
    EndReason,
    SourceEvent,
    Verified,
    Verify,
)
from voiceagent.decoding.generation import EngineEvent, Generation
from voiceagent.decoding.record import Round
from voiceagent.evaluation.answers import grade
from voiceagent.evaluation.lab import Lab, Setting
from voiceagent.evaluation.prompts import Prompt
from voiceagent.evaluation.shown import ledger_events
from voiceagent.evaluation.statistics import middle, percentile, ratio, rounded

PATIENCE_S = 120.0
"""A reply that takes longer has failed."""
_LENGTH_MEDIAN, _LENGTH_SIGMA = 24, 0.5
_SHORTEST, _LONGEST = 8, 64


@dataclass(frozen=True, kw_only=True)
class Arrival:
    """A request and when it comes."""

    at_s: float
    prompt: Prompt
    max_tokens: int


def plan_arrivals(
    prompts: Sequence[Prompt], *, sessions: int, requests: int, think_s: float, seed: int
) -> list[Arrival]:
    """A schedule of ``requests`` from ``sessions`` people who think for ``think_s`` on average."""
    luck = random.Random(seed)
    at_s, plan = 0.0, []
    for number in range(requests):
        length = round(_LENGTH_MEDIAN * luck.lognormvariate(0, _LENGTH_SIGMA))
        plan.append(
            Arrival(
                at_s=at_s,
                prompt=prompts[number % len(prompts)],
                max_tokens=min(max(length, _SHORTEST), _LONGEST),
            )
        )
        at_s += luck.expovariate(sessions / think_s)
    return plan


@dataclass
class _Served:
    """One request under way."""

    arrival: Arrival
    events: list[tuple[float, SourceEvent]] = field(default_factory=list)
    tokens: int = 0
    generation: Generation | None = None
    refused: str | None = None

    def failed(self) -> bool:
        reason = None if self.generation is None else self.generation.reason
        return reason not in (EndReason.STOP, EndReason.LENGTH)


def run_load(lab: Lab, setting: Setting, arrivals: Sequence[Arrival]) -> dict[str, Any]:
    """Serves a schedule and says how long people waited."""
    assert lab.engine, "it is warmed up before the clock starts"
    started_s, cpu_s = perf_counter(), time.process_time()
    served = [_Served(arrival) for arrival in arrivals]
    for number, each in enumerate(served):
        time.sleep(max(each.arrival.at_s - (perf_counter() - started_s), 0))
        _send(lab, setting, each, number=number, started_s=started_s)
    for each in served:
        if each.generation is not None and not each.generation.wait(PATIENCE_S):
            each.generation.cancel()
            each.generation.wait()
    wall_s = perf_counter() - started_s
    used = (time.process_time() - cpu_s) / (wall_s * (os.cpu_count() or 1))
    return _figures(served, wall_s=wall_s, utilisation=used, cpu_s=time.process_time() - cpu_s)


def _send(lab: Lab, setting: Setting, served: _Served, *, number: int, started_s: float) -> None:
    arrival = served.arrival
    # A beginning of its own: no cache has seen the prompt.
    request = lab.request(
        arrival.prompt,
        setting,
        engine=lab.engine,
        salt=f"{number} {setting.name} {started_s:.3f}. ",
        max_tokens=arrival.max_tokens,
    )
    lock = threading.Lock()

    def note(event: EngineEvent) -> None:
        with lock:
            if isinstance(event, Round):
                served.tokens += len(event.emitted)
            elif isinstance(event, SourceEvent):
                served.events.append((perf_counter() - started_s - arrival.at_s, event))

    try:
        served.generation = lab.engine.submit(request, on_event=note)
    except VoiceAgentError as error:
        served.refused = str(error)


def _figures(
    served: Sequence[_Served], *, wall_s: float, utilisation: float, cpu_s: float
) -> dict[str, Any]:
    done = [each for each in served if not each.failed()]
    useful = sum(grade(_text(each), each.arrival.prompt).right for each in done)
    firsts: dict[str, list[float]] = {"provisional": [], "verified": [], "commit": []}
    for each in done:
        for name, at_s in _firsts(each).items():
            firsts[name].append(at_s)
    return {
        "requests": len(served),
        "failures": len(served) - len(done),
        **{f"first_{name}_ms": _spread(times) for name, times in firsts.items()},
        "last_token_ms": _spread([each.events[-1][0] for each in done if each.events]),
        "steady_tokens_per_s": rounded(middle(filter(None, map(_steady, done))), 2),
        "throughput_tokens_per_s": rounded(sum(each.tokens for each in done) / wall_s, 2),
        "utilisation": rounded(utilisation, 3),
        "useful": useful,
        "cpu_s_per_useful_reply": rounded(ratio(cpu_s, useful), 3),
    }


def _text(served: _Served) -> str:
    text, verified = "", 0
    for event in ledger_events(served.events, surface="chat"):
        if isinstance(event, Drafted):
            text = text[: event.at] + event.text
        elif isinstance(event, Verified):
            verified = event.to
    return text[:verified]


def _firsts(served: _Served) -> dict[str, float]:
    found: dict[str, float] = {}
    for at_s, event in served.events:
        if isinstance(event, Draft):
            found.setdefault("provisional", at_s)
        elif isinstance(event, Verify):
            found.setdefault("verified", at_s)
    ledger = ledger_events(served.events, surface=served.arrival.prompt.surface)
    commit = next((each for each in ledger if isinstance(each, Committed)), None)
    return found if commit is None else found | {"commit": commit.at_s}


def _steady(served: _Served) -> float | None:
    first, last = served.events[0][0], served.events[-1][0]
    return (served.tokens - 1) / (last - first) if last > first and served.tokens > 1 else None


def _spread(times_s: Sequence[float]) -> dict[str, float | None]:
    milliseconds = [each * 1000 for each in times_s]
    return {
        "p50": rounded(middle(milliseconds), 1),
        "p95": rounded(percentile(milliseconds, 0.95), 1),
        "max": rounded(max(milliseconds, default=None), 1),
    }
