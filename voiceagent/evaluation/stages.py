"""The five stages as tables: what goes in, what comes out, who controls it, and what it took.

Read forwards they say where the time goes; read backwards, from a slow or wrong reply, they name
the round that caused it (`voiceagent.evaluation.explain`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from voiceagent.evaluation.statistics import mean, percentile, ratio, rounded

Fields = Mapping[str, Any]
"""A round as `voiceagent.decoding.record.Round.as_record` gives it."""


def read_round(fields: Fields) -> Fields:
    """The same from a trace: those of conversations name some fields otherwise.

    ``index`` is ``round`` there, ``times`` in seconds are ``times_ms``, and what was rejected
    follows from what was drafted, accepted and dropped.
    """
    times_s = fields.get("times") or {}
    times_ms = {name.removesuffix("_s"): 1000 * float(each) for name, each in times_s.items()}
    kept = fields["accepted"] + fields.get("dropped", 0)
    return {
        "round": fields.get("index"),
        "times_ms": times_ms,
        "rejected": fields["drafted"][kept:],
        **fields,
    }


@dataclass(frozen=True, kw_only=True)
class Stage:
    """What is true of a stage in every reply."""

    name: str
    input: str
    output: str
    state: str
    control: str
    test: str
    owner: str


STAGES = (
    Stage(
        name="draft",
        input="tokens so far, K",
        output="at most K guessed tokens, each with the draft's probability",
        state="the draft's cache; text is shown as provisional where the protocol allows it",
        control="K from the controller, 0 included; unknown tokens end the block",
        test="tests/unit/test_controller.py, tests/model/test_drafters.py",
        owner="voiceagent/decoding/rounds.py draft, drafters/, controller.py",
    ),
    Stage(
        name="score",
        input="the last token and the block",
        output="the target's logits at each position, one pass",
        state="the target's cache grows by the block",
        control="the block has to fit into the cache; replies share the pass",
        test="tests/model/test_passes.py, tests/model/test_near_tie.py",
        owner="voiceagent/decoding/rounds.py score, model/",
    ),
    Stage(
        name="accept",
        input="logits, guesses",
        output="the length of the valid prefix",
        state="none",
        control="coupled or rejection rule; the lossy one is refused",
        test="tests/property/test_exactness_tokens.py, tests/property/test_exactness_chi_square.py",
        owner="voiceagent/decoding/acceptance.py",
    ),
    Stage(
        name="resample",
        input="the logits behind the valid prefix",
        output="the target's own token: recovered, bonus or plain",
        state="none",
        control="nothing but the target chooses it",
        test="tests/property/test_exactness_enumeration.py",
        owner="voiceagent/decoding/rounds.py resample, sampling.py",
    ),
    Stage(
        name="advance",
        input="accepted tokens and the target's own",
        output="verified text; provisional text behind it is taken back",
        state="both caches cut to the accepted length; the ledger's verified mark grows",
        control="verify gate (stop strings), then commit gate",
        test="tests/unit/test_verify_gate.py, tests/property/test_ledger_machine.py",
        owner="voiceagent/decoding/rounds.py advance, verify_gate.py",
    ),
)


def stage_tables(rounds: Sequence[Fields]) -> list[dict[str, Any]]:
    """One table for each stage, with what these rounds say about it."""
    measured = {
        "draft": _draft(rounds),
        "score": _score(rounds),
        "accept": _accept(rounds),
        "resample": _resample(rounds),
        "advance": _advance(rounds),
    }
    total_ms = sum(sum(_times(each).values()) for each in rounds)
    tables = []
    for stage in STAGES:
        times_ms = [_times(each)[stage.name] for each in rounds]
        tables.append(
            asdict(stage)
            | {
                "time_ms": {
                    "total": rounded(sum(times_ms), 1),
                    "mean": rounded(mean(times_ms), 3),
                    "p95": rounded(percentile(times_ms, 0.95), 3),
                    "share": rounded(ratio(sum(times_ms), total_ms)),
                }
            }
            | measured[stage.name]
        )
    return tables


def _times(fields: Fields) -> Mapping[str, float]:
    times = fields.get("times_ms") or {}
    return {stage.name: float(times.get(stage.name, 0.0)) for stage in STAGES}


def _draft(rounds: Sequence[Fields]) -> dict[str, Any]:
    drafted = sum(len(each["drafted"]) for each in rounds)
    known = [p for each in rounds for p in each.get("draft_probabilities", ()) if p is not None]
    return {
        "uncertainty": {"mean_draft_probability": rounded(mean(known))},
        "rejected_alternatives": "those of the draft's own vocabulary are not kept",
        "resources": {
            "drafted_tokens": drafted,
            "rounds_without_a_draft": sum(not each["drafted"] for each in rounds),
        },
    }


def _score(rounds: Sequence[Fields]) -> dict[str, Any]:
    rows = sum(each.get("fed", 1) + len(each["drafted"]) for each in rounds)
    return {
        "uncertainty": {"rows_for_nothing": sum(len(each.get("rejected", ())) for each in rounds)},
        "rejected_alternatives": "none: every position of the block is scored",
        "resources": {
            "passes": len(rounds),
            "rows": rows,
            "shared_passes": sum(each.get("sharing", 1) > 1 for each in rounds),
        },
    }


def _accept(rounds: Sequence[Fields]) -> dict[str, Any]:
    known = [float(p) for each in rounds for p in each.get("target_probabilities", ())]
    rejected = sum(len(each.get("rejected", ())) for each in rounds)
    drafted = [each for each in rounds if each["drafted"]]
    whole = sum(each["accepted"] == len(each["drafted"]) for each in drafted)
    return {
        "uncertainty": {"mean_target_probability": rounded(mean(known))},
        "rejected_alternatives": f"{rejected} guessed tokens",
        "resources": {
            "accepted": sum(each["accepted"] for each in rounds),
            "windows_accepted_whole": rounded(ratio(whole, len(drafted))),
        },
    }


def _resample(rounds: Sequence[Fields]) -> dict[str, Any]:
    outcomes = [str(each.get("outcome", "?")) for each in rounds]
    return {
        "uncertainty": {},
        "rejected_alternatives": "the first guess behind the valid prefix, replaced",
        "resources": {name: outcomes.count(name) for name in sorted(set(outcomes))},
    }


def _advance(rounds: Sequence[Fields]) -> dict[str, Any]:
    return {
        "uncertainty": {},
        "rejected_alternatives": "provisional text behind the verified mark",
        "resources": {"emitted": sum(len(each["emitted"]) for each in rounds)},
    }
