"""``voiceagent eval``: what speculation did to the people who watched."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from voiceagent.core.errors import VoiceAgentError

if TYPE_CHECKING:
    from voiceagent.evaluation.churn import ChurnReport
    from voiceagent.evaluation.meaning import MeaningJudge
    from voiceagent.evaluation.severity import SeverityReport

EPILOG = """\
examples:
  voiceagent eval churn trace.jsonl
  voiceagent eval churn --json monday/*.jsonl
  voiceagent eval churn --meaning trace.jsonl

churn    of recorded conversations: what each stream protocol would have shown and taken back.
         Streamed over final text is 1 where nothing was taken back. Below, how bad it was: each
         retraction that changed words, with the rule that calls it an inversion (a yes or no, a
         number, a name, a negation, an antonym, an order) and the distance of the strings; with
         --meaning also that of the meaning, asked of the target model (a second for each).
"""
SHOWN = 10
"""Retractions that are printed, the worst first; the JSON object has them all."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.epilog = EPILOG
    parser.add_argument("question", choices=("churn",), help="what to evaluate")
    parser.add_argument("traces", nargs="+", type=Path, metavar="TRACE", help="written by talk")
    parser.add_argument("--meaning", action="store_true", help="also ask the target model")
    parser.add_argument("--preset", choices=("cpu", "gpu", "tiny"), help="whose target is asked")
    parser.add_argument("--json", action="store_true", help="end with one line that is JSON")


def run(arguments: argparse.Namespace) -> int:
    """Adds up the traces and prints a table."""
    from voiceagent.evaluation.churn import ChurnReport
    from voiceagent.evaluation.severity import SeverityReport

    judge = _load_judge(arguments.preset) if arguments.meaning else None
    report = ChurnReport()
    severity = SeverityReport(meaning=judge.distance if judge else None)
    for path in arguments.traces:
        _add(report, path)
        _add(severity, path)
    _print_table(report)
    _print_severity(severity)
    if arguments.json:
        print(json.dumps(report.to_object() | {"severity": severity.to_object()}))
    return 0


def _load_judge(preset: str | None) -> "MeaningJudge":
    from voiceagent.config import Decoding, cache_directory
    from voiceagent.decoding.loading import load_models, machine_preset
    from voiceagent.evaluation.meaning import MeaningJudge
    from voiceagent.weights.manifest import Manifest
    from voiceagent.weights.store import Store

    files = Manifest.load().preset(preset or machine_preset())
    models = load_models(Decoding(), preset=files, store=Store(cache_directory()))
    return MeaningJudge(models.target, models.tokenizer)


def _add(report: "ChurnReport | SeverityReport", path: Path) -> None:
    from voiceagent.core.trace import TraceError, read

    try:
        with path.open("rb") as lines:
            report.add(record for _, record in read(lines))
    except (TraceError, ValueError) as error:
        raise VoiceAgentError(f"{path}: {error}") from error


def _print_table(report: "ChurnReport") -> None:
    from rich.console import Console
    from rich.table import Table

    acceptance = "-" if report.acceptance is None else f"{report.acceptance:.2f}"
    table = Table(title=f"{report.replies} replies, acceptance {acceptance}")
    table.add_column("protocol")
    for heading in ("streamed", "final", "churn", "erased", "rollbacks", "wrong visible, longest"):
        table.add_column(heading, justify="right")
    for name, figures in report.protocols.items():
        table.add_row(
            name,
            str(figures.streamed),
            str(figures.final),
            "-" if figures.churn is None else f"{figures.churn:.3f}",
            str(figures.erased),
            str(figures.rollbacks),
            f"{figures.wrong_visible_max_s * 1000:.0f} ms",
        )
    Console().print(table)


def _print_severity(report: "SeverityReport") -> None:
    counts = ", ".join(f"{count} {name}" for name, count in report.classes.items())
    print(f"token_push took back: {counts}")
    for each in report.worst[:SHOWN]:
        judged = each.judgement
        why = f" by {judged.rule} ({judged.evidence})" if judged.rule else ""
        print(f"  {judged.severity}{why}: {each.retraction.text!r} became {each.replacement!r}")
        meaning = judged.meaning_distance
        beside = "" if meaning is None else f", of meaning {meaning:.2f}"
        print(
            f"    distance of strings {judged.string_distance:.2f}{beside}, "
            f"visible for {each.retraction.visible_s * 1000:.0f} ms"
        )
