"""``voiceagent eval speculation`` and ``eval compare``."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voiceagent.commands._arguments import file_path, positive_count, quantity
from voiceagent.core.errors import VoiceAgentError

if TYPE_CHECKING:
    from voiceagent.config import Decoding
    from voiceagent.evaluation.lab import Lab
    from voiceagent.evaluation.prompts import PromptSet
    from voiceagent.evaluation.schedule import Schedule
    from voiceagent.evaluation.speculation import Plan

Lineage = dict[str, Any]
EPILOG = """\
exit status: 0 adopt, 3 adopt on these surfaces only, 4 do not adopt; 1 or 2: no verdict.

Thresholds are written down first and have no defaults: copy
voiceagent/evaluation/data/thresholds.toml and decide each of them.
"""
_QUICK_TOKENS = 40
_QUICK_MINUTES = 24.0


def add_arguments(parser: argparse.ArgumentParser, *, question: str) -> None:
    """Declares the options."""
    if question == "compare":
        parser.add_argument(
            "reports", nargs=2, type=file_path, metavar="REPORT", help="two JSON files"
        )
        parser.add_argument("--json", action="store_true", help="end with one line that is JSON")
        return
    parser.epilog = EPILOG
    parser.add_argument("--thresholds", type=file_path, help="TOML; required")
    parser.add_argument("--preset", choices=("cpu", "gpu", "tiny"), help="whose models are judged")
    parser.add_argument("--candidate", help="DRAFTER:K or DRAFTER:auto; the deployment's own")
    parser.add_argument("--prompt-file", type=file_path, help="a deployment's own prompts (JSONL)")
    parser.add_argument(
        "--draft-file", type=file_path, metavar="GGUF", help="judges a new draft model"
    )
    parser.add_argument("--draft-sha256", metavar="DIGEST", help="of that file; it is checked")
    parser.add_argument("--full", action="store_true", help="all prompts, not the frozen subset")
    parser.add_argument(
        "--minutes",
        type=quantity,
        help=f"plans what fits; {_QUICK_MINUTES:g} without --full, with it no limit",
    )
    parser.add_argument(
        "--prompts", type=positive_count, metavar="N", help="of each population, at most"
    )
    parser.add_argument(
        "--max-tokens", type=positive_count, default=_QUICK_TOKENS, help="of each reply"
    )
    parser.add_argument("--threads", type=positive_count, help="processor threads of the engine")
    parser.add_argument("--sessions", default="1,2,4,8", help="levels of load")
    parser.add_argument("--requests", type=positive_count, default=10, help="at each level of load")
    parser.add_argument(
        "--think-s", type=quantity, default=6.0, help="between a session's requests"
    )
    parser.add_argument("--reproduce", type=file_path, metavar="REPORT", help="runs its plan again")
    parser.add_argument(
        "--report", type=file_path, metavar="FILE", help="writes the report as JSON"
    )
    parser.add_argument("--html", type=file_path, metavar="FILE", help="writes the page")
    parser.add_argument("--json", action="store_true", help="end with one line that is JSON")


def run(arguments: argparse.Namespace) -> int:
    """Judges, or compares."""
    return _compare(arguments) if arguments.question == "compare" else _judge(arguments)


def _judge(arguments: argparse.Namespace) -> int:
    if arguments.thresholds is None:
        raise VoiceAgentError(
            "no verdict without --thresholds: write down first what speculation has to be worth "
            "(voiceagent/evaluation/data/thresholds.toml is an example)"
        )
    from dataclasses import asdict

    from voiceagent.session.cores import share_cores

    share_cores()  # as a conversation waits for its threads, before torch is loaded

    from voiceagent.evaluation.lineage import lineage
    from voiceagent.evaluation.opening import open_lab
    from voiceagent.evaluation.speculation import evaluate
    from voiceagent.evaluation.tables import summary
    from voiceagent.evaluation.thresholds import Thresholds

    thresholds = Thresholds.load(arguments.thresholds)
    before = None if arguments.reproduce is None else _read(arguments.reproduce)["lineage"]
    lab, preset = open_lab(
        arguments.preset, config=_config(arguments, before), max_tokens=arguments.max_tokens
    )
    prompts = _prompts(arguments, before)
    with lab:
        plan = _plan(arguments, lab, prompts) if before is None else _plan_again(before, lab)
        schedule = None if before is not None else _schedule(arguments, lab, prompts, plan)
        plan = plan if schedule is None else schedule.plan
        report, verdict = evaluate(lab, prompts, plan, thresholds, progress=_say)
        report["schedule"] = None if schedule is None else schedule.to_object()
        report["lineage"] = lineage(
            preset=preset,
            tokenizer=lab.tokenizer,
            config=asdict(lab.config),
            plan=asdict(plan)
            | {"ids": [each.id for each in prompts.prompts], "max_tokens": lab.max_tokens},
            prompts=prompts.digest,
            thresholds=thresholds.digest,
        )
    _write(arguments, report)
    print("\n".join(summary(report)))
    if arguments.json:
        print(json.dumps(report, ensure_ascii=False))
    return verdict.exit_status


def _config(arguments: argparse.Namespace, before: Lineage | None) -> "Decoding":
    from voiceagent.config import Decoding

    if before is not None:
        return Decoding(**before["configuration"])
    file = arguments.draft_file
    return Decoding(
        threads=arguments.threads or Decoding().threads,
        trial_file=None if file is None else str(file),
        trial_file_sha256=arguments.draft_sha256,
    )


def _prompts(arguments: argparse.Namespace, before: Lineage | None) -> "PromptSet":
    from voiceagent.evaluation.prompts import PromptSet

    file = arguments.prompt_file
    prompts = PromptSet.load() if file is None else PromptSet.of_file(file)
    if before is not None:
        return prompts.named(before["plan"]["ids"])
    prompts = prompts if arguments.full or file is not None else prompts.quick()
    return prompts if arguments.prompts is None else prompts.first(arguments.prompts)


def _plan_again(before: Lineage, lab: "Lab") -> "Plan":
    """The plan of an earlier report; what it ran with stands in the lab too."""
    from voiceagent.evaluation.lab import Setting
    from voiceagent.evaluation.speculation import Plan

    values = dict(before["plan"])
    del values["ids"]
    lab.max_tokens = values.pop("max_tokens")
    values["candidate"] = Setting(**values["candidate"])
    values["others"] = tuple(Setting(**each) for each in values["others"])
    values["sessions"] = tuple(values["sessions"])
    return Plan(**values)


def _plan(arguments: argparse.Namespace, lab: "Lab", prompts: "PromptSet") -> "Plan":
    from voiceagent.evaluation.lab import Setting
    from voiceagent.evaluation.speculation import Plan, default_settings

    drafter = lab.usual_drafter if arguments.draft_file is None else "file"
    candidate = Setting.parse(arguments.candidate or f"{drafter}:auto")
    return Plan(
        candidate=candidate,
        others=default_settings(lab, longest=8 if arguments.full else 6),
        others_step=2 if arguments.full else 4,
        sessions=tuple(int(each) for each in arguments.sessions.split(",") if each),
        requests=arguments.requests,
        think_s=arguments.think_s,
        drift_replies=min(8, len(prompts.prompts)),
        sabotage_prompts=min(48 if arguments.full else 16, len(prompts.prompts)),
        variant_prompts=min(6, len(prompts.prompts)),
    )


def _schedule(
    arguments: argparse.Namespace, lab: "Lab", prompts: "PromptSet", plan: "Plan"
) -> "Schedule | None":
    """What fits into the minutes; None where there is no limit."""
    from voiceagent.evaluation.schedule import fit, measure_pace

    minutes = arguments.minutes
    if minutes is None:
        minutes = None if arguments.full else _QUICK_MINUTES
    if minutes is None:
        return None
    schedule = fit(plan, prompts, measure_pace(lab, prompts, plan), budget_s=60 * minutes)
    _say(schedule.told())
    return schedule


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _write(arguments: argparse.Namespace, report: dict[str, Any]) -> None:
    if arguments.report is not None:
        text = json.dumps(report, indent=1, ensure_ascii=False)
        arguments.report.write_text(text + "\n", encoding="utf-8")
    if arguments.html is not None:
        from voiceagent.evaluation.page import speculation_page

        arguments.html.write_text(speculation_page(report), encoding="utf-8")


def _compare(arguments: argparse.Namespace) -> int:
    from voiceagent.evaluation.lineage import differences

    one, other = (_read(path) for path in arguments.reports)
    why = differences(one["lineage"], other["lineage"])
    figures = {
        path: values
        for path, values in differences(_figures(one), _figures(other)).items()
        if path.rpartition(".")[2] in _TOLD
    }
    print("why they may differ:" if why else "the same lineage: what differs is chance and load")
    for path, (before, after) in why.items():
        print(f"  {path}: {before} -> {after}")
    print("what differs:" if figures else "no figure differs")
    for path, (before, after) in figures.items():
        print(f"  {path}: {before} -> {after}")
    if arguments.json:
        print(json.dumps({"lineage": why, "figures": figures}))
    return 0


_TOLD = (
    "answer",
    "speedup_median",
    "speedup_p95",
    "tokens_per_round",
    "tokens_per_s",
    "acceptance",
    "right",
    "churn",
    "first_commit_ratio",
    "cost_ratio",
    "unexplained",
)
"""Figures that a comparison names; the others are in the files."""


def _figures(report: dict[str, Any]) -> dict[str, Any]:
    return {
        "verdict": report["verdict"],
        "settings": {name: found["all"] for name, found in report["settings"].items()},
        "surfaces": report["surfaces"],
        "exactness": report["exactness"],
    }


def _read(path: Path) -> dict[str, Any]:
    from voiceagent.evaluation.speculation import SCHEMA

    try:
        report = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise VoiceAgentError(f"cannot read the report {path}: {error}") from error
    if not isinstance(report, dict) or report.get("schema") != SCHEMA:
        raise VoiceAgentError(f"{path} is no report of the form {SCHEMA}")
    return report
