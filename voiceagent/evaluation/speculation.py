"""The evaluation that can say no: runs what a verdict needs and puts the report together.

One decoding pass for each setting and prompt; nearly all figures derive from those recordings. What
needs runs of its own (load, drift, sabotage, fewer cores, less memory) is kept small.
"""

import os
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from voiceagent.core.errors import VoiceAgentError
from voiceagent.evaluation.drifted import inject_drift
from voiceagent.evaluation.lab import ALONE, PLAIN, Lab, Setting
from voiceagent.evaluation.load import plan_arrivals, run_load
from voiceagent.evaluation.measure import (
    Pair,
    Runs,
    by_group,
    calibration,
    figures,
    surface_figures,
)
from voiceagent.evaluation.prompts import POPULATIONS, Prompt, PromptSet
from voiceagent.evaluation.questions import decision_and_questions
from voiceagent.evaluation.stages import stage_tables
from voiceagent.evaluation.statistics import ratio, rounded
from voiceagent.evaluation.tables import ablation, failed_replies, settings, usual_practice
from voiceagent.evaluation.thresholds import Thresholds
from voiceagent.evaluation.verdict import Evidence, Verdict, decide

SCHEMA = "voiceagent/eval/speculation/1"
Progress = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How much is run.

    Attributes:
        candidate: the setting that is judged.
        others: settings beside it, on a part of the prompts.
        others_step: they take every so many-th prompt of a population.
        sessions: levels of load.
        requests: at each level.
        think_s: mean time between two requests of one session.
        drift_replies: in the conversation whose drafter is spoilt.
        sabotage_prompts: decoded with the lossy rule; 0 leaves it out.
        variant_prompts: decoded with half the cores, and with little memory.
        seed: of arrivals and lengths.
    """

    candidate: Setting
    others: tuple[Setting, ...]
    others_step: int = 4
    sessions: tuple[int, ...] = (1, 2, 4, 8)
    requests: int = 10
    think_s: float = 6.0
    drift_replies: int = 8
    sabotage_prompts: int = 16
    variant_prompts: int = 6
    seed: int = 20


def default_settings(lab: Lab, *, longest: int = 6) -> tuple[Setting, ...]:
    """N-grams, and where there is a draft model it at several K, chosen freely, and both."""
    settings = [Setting.parse("ngram:auto"), Setting.parse("ngram:4")]
    if lab.draft is not None:
        windows = [k for k in (1, 2, 3, 4, 6, 8) if k <= longest]
        settings += [Setting.parse(f"model:{k}") for k in windows]
        settings += [Setting.parse("model:auto"), Setting.parse("best:auto")]
        settings.append(
            Setting(
                name="model:3 rejection, T 0.7",
                drafter="model",
                window=3,
                acceptance="rejection",
                temperature=0.7,
            )
        )
    return tuple(settings)


def evaluate(
    lab: Lab,
    prompts: PromptSet,
    plan: Plan,
    thresholds: Thresholds,
    *,
    progress: Progress = lambda line: None,
) -> tuple[dict[str, Any], Verdict]:
    """Runs everything; returns the report without its lineage, and the verdict.

    Raises:
        EngineError: the candidate's drafter is unknown here.
    """
    lab.run(prompts.prompts[0], plan.candidate)  # an unknown drafter is no failure of a reply
    began_s, load_before = time.time(), os.getloadavg()
    runs, failures = _decode_all(lab, prompts, plan, progress)
    found = {
        "exactness": _exactness(lab, runs, [plan.candidate, *_beside(plan)], thresholds),
        "sabotage": _sabotage(lab, prompts, plan, thresholds, progress),
        "variants": _variants(lab, prompts, plan, progress),
        "load": _load(lab, prompts, plan, progress),
        "drift": _drift(lab, runs, plan, progress),
    }
    evidence = _evidence(lab, runs, plan, found, failures)
    verdict = decide(evidence, thresholds)
    report = {
        "schema": SCHEMA,
        **decision_and_questions(thresholds, verdict, candidate=plan.candidate.name),
        "verdict": verdict.to_object(),
        "thresholds": asdict(thresholds),
        **_derived(lab, runs, plan, prompts.every(plan.others_step)),
        **found,
        "surfaces": dict(evidence.surfaces),
        "memory": {
            "added_mb": rounded(lab.memory_of(plan.candidate), 1),
            "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
        },
        "took_s": round(time.time() - began_s, 1),
        "load_average": {"before": load_before, "after": os.getloadavg()},
    }
    return report, verdict


def _derived(lab: Lab, runs: Runs, plan: Plan, part: PromptSet) -> dict[str, Any]:
    """What follows from the recorded replies alone."""
    name = plan.candidate.name
    rounds = [each for run in runs.of(name) for each in run.rounds]
    return {
        "settings": settings(runs, [*main_settings(lab, plan), *_beside(plan)], part),
        "ablation": ablation(runs, [PLAIN, plan.candidate, *_beside(plan)], part),
        "populations": {each: figures(runs.pairs(name, population=each)) for each in POPULATIONS},
        "groups": by_group(runs, name),
        "failed_replies": failed_replies(runs, plan.candidate),
        "calibration": calibration(rounds),
        "usual_practice": usual_practice(runs, plan.candidate),
        "stages": stage_tables([each.as_record() for each in rounds]),
    }


def _beside(plan: Plan) -> list[Setting]:
    return [each for each in plan.others if each.name != plan.candidate.name]


def _decode_all(lab: Lab, prompts: PromptSet, plan: Plan, progress: Progress) -> tuple[Runs, int]:
    """Every prompt under what it is decoded with, in the same minute; and how many failed."""
    runs, failures = Runs(), 0
    main, part = main_settings(lab, plan), prompts.every(plan.others_step)
    for number, prompt in enumerate(prompts.prompts, start=1):
        chosen = [*main, *_beside(plan)] if prompt in part.prompts else main
        failures += _decode(lab, prompt, chosen, runs, number, progress)
        progress(f"{number}/{len(prompts.prompts)} prompts")
    return runs, failures


def main_settings(lab: Lab, plan: Plan) -> list[Setting]:
    """What every prompt is decoded with: plain, the smaller model alone, the candidate."""
    alone = [ALONE] if lab.draft is not None else []
    return [PLAIN, *alone, plan.candidate]


def _decode(
    lab: Lab,
    prompt: Prompt,
    chosen: Sequence[Setting],
    runs: Runs,
    number: int,
    progress: Progress,
) -> int:
    """A prompt under every setting in turn, in an order that moves on; returns the failures."""
    at, failures = number % len(chosen), 0
    for setting in (*chosen[at:], *chosen[:at]):
        try:
            runs.add(lab.run(prompt, setting))
        except VoiceAgentError as error:
            failures += 1
            progress(f"{prompt.id} under {setting.name} failed: {error}")
    return failures


# Exactness and sabotage ----------------------------------------------------------------------


def _exactness(
    lab: Lab, runs: Runs, settings: Sequence[Setting], thresholds: Thresholds
) -> dict[str, Any]:
    """Whether each greedy setting says token for token what plain decoding says."""
    found: dict[str, Any] = {}
    for setting in settings:
        if setting.temperature == 0 and not setting.alone:
            found[setting.name] = compare(lab, runs.pairs(setting.name), thresholds)
    return found


def compare(lab: Lab, pairs: Sequence[Pair], thresholds: Thresholds) -> dict[str, Any]:
    """Counts replies that differ, and tells near ties from differences nobody can explain."""
    different = [(pair, at) for pair in pairs if (at := pair.differs_at) is not None]
    gaps = [(pair, at, lab.gap(pair.plain.prompt, at)) for pair, at in different]
    unexplained = [each for each in gaps if each[2] > thresholds.gap_max]
    return {
        "replies": len(pairs),
        "equal": len(pairs) - len(different),
        "near_ties": len(different) - len(unexplained),
        "unexplained": len(unexplained),
        "examples": [
            {"prompt": pair.plain.prompt.id, "token": at, "gap": rounded(gap)}
            for pair, at, gap in unexplained[:10]
        ],
    }


def _sabotage(
    lab: Lab, prompts: PromptSet, plan: Plan, thresholds: Thresholds, progress: Progress
) -> dict[str, Any]:
    """The same drafter under a rule that changes the output: the checks have to see it."""
    chosen = prompts.every(max(len(prompts.prompts) // max(plan.sabotage_prompts, 1), 1)).prompts
    if not plan.sabotage_prompts:
        return {"ran": False}
    progress("sabotage: the lossy rule")
    window = plan.candidate.window or 4
    lossy = replace(plan.candidate, name="lossy", acceptance="lossy", window=window)
    runs = Runs(lab.run(each, setting) for each in chosen for setting in (PLAIN, lossy))
    pairs = runs.pairs(lossy.name)
    found = compare(lab, pairs, thresholds)
    quality = figures(pairs)["quality"]
    return {
        "ran": True,
        "caught": found["unexplained"] > thresholds.unexplained_differences_max,
        "exactness": found,
        "quality": quality,
        "drafted": sum(len(each.drafted) for pair in pairs for each in pair.other.rounds),
    }


# Changed assumptions of the machine ----------------------------------------------------------


def _variants(lab: Lab, prompts: PromptSet, plan: Plan, progress: Progress) -> dict[str, Any]:
    """Half the cores, and a context that is too small for some prompts."""
    chosen = [each for each in prompts.prompts if not each.before][
        :: max(len(prompts.prompts) // max(plan.variant_prompts, 1), 1)
    ][: plan.variant_prompts]
    if not chosen:
        return {}
    progress("variants: half the cores, little memory")
    half = lab.variant("half the cores", threads=max(lab.config.threads // 2, 1))
    runs = Runs(
        lab.run(each, setting, engine=half)
        for each in chosen
        for setting in (PLAIN, plan.candidate)
    )
    found = figures(runs.pairs(plan.candidate.name))
    return {
        "half_the_cores": {
            "threads": max(lab.config.threads // 2, 1),
            "prompts": len(chosen),
            "speedup_median": found["engine"]["speedup_median"],
            "tokens_per_s": found["engine"]["tokens_per_s"],
            "equal_to_plain": found["quality"]["equal_to_plain"],
        },
        "little_memory": _little_memory(lab, prompts, plan),
    }


def _little_memory(lab: Lab, prompts: PromptSet, plan: Plan) -> dict[str, Any]:
    """A context that holds the short prompts and not the long ones: refused, never wrong."""
    ordered = sorted(prompts.prompts, key=lambda each: sum(map(len, (*each.before, each.user))))
    chosen = [*ordered[:2], *ordered[-2:]]
    lengths = [lab.engine.count_tokens(each.messages()) for each in chosen]
    room = min(lengths) + lab.max_tokens
    engine = lab.variant("little memory", context_tokens=room, cache_tokens=room)
    served = refused = 0
    for prompt in chosen:
        try:
            lab.run(prompt, plan.candidate, engine=engine)
            served += 1
        except VoiceAgentError:
            refused += 1
    return {"context_tokens": room, "served": served, "refused": refused}


# Load and drift ------------------------------------------------------------------------------


def _load(lab: Lab, prompts: PromptSet, plan: Plan, progress: Progress) -> dict[str, Any]:
    levels: dict[str, Any] = {}
    for sessions in plan.sessions:
        arrivals = plan_arrivals(
            prompts.every(max(plan.others_step, 1)).prompts,
            sessions=sessions,
            requests=plan.requests,
            think_s=plan.think_s,
            seed=plan.seed + sessions,
        )
        progress(f"load: {sessions} sessions")
        levels[str(sessions)] = {
            setting.name: run_load(lab, setting, arrivals) for setting in (PLAIN, plan.candidate)
        }
    return {
        "distribution": {
            "arrivals": f"open loop, exponential gaps, mean {plan.think_s:g} s over the sessions",
            "lengths": "log-normal, median 24 tokens, sigma 0.5, cut to 8 and 64",
            "requests": plan.requests,
            "seed": plan.seed,
        },
        "sessions": levels,
    }


def _drift(lab: Lab, runs: Runs, plan: Plan, progress: Progress) -> dict[str, Any]:
    """On the prompts with the longest replies: a drift needs room to be seen."""
    if not plan.drift_replies:
        return {}
    progress("drift: the drafter is spoilt in the middle of a conversation")
    longest = sorted(runs.of(PLAIN.name), key=lambda run: len(run.tokens), reverse=True)
    return inject_drift(lab, [run.prompt for run in longest[: plan.drift_replies]])


# The report ----------------------------------------------------------------------------------


def _evidence(
    lab: Lab,
    runs: Runs,
    plan: Plan,
    found: dict[str, Any],
    failures: int,
) -> Evidence:
    name = plan.candidate.name
    levels = list(found["load"]["sessions"].values())
    highest = levels[-1] if levels else {}
    p95 = {which: each["last_token_ms"]["p95"] for which, each in highest.items()}
    return Evidence(
        chosen=figures(runs.pairs(name, held_out=False)),
        held_out=figures(runs.pairs(name, held_out=True)),
        everything=figures(runs.pairs(name)),
        unexplained=found["exactness"][name]["unexplained"],
        memory_added_mb=lab.memory_of(plan.candidate),
        load_p95_ratio=rounded(ratio(p95.get(name), p95.get(PLAIN.name))),
        failures=failures + sum(level[name]["failures"] for level in levels),
        surfaces={
            surface: {
                "speed": figures(runs.pairs(name, surface=surface)),
                "shown": surface_figures(runs.pairs(name), surface=surface),
            }
            for surface in ("chat", "markdown", "voice", "form", "code", "tool")
        },
    )
