"""``voiceagent eval churn``: of recorded traces, or swept over K, temperature and surface."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voiceagent.core.errors import VoiceAgentError

if TYPE_CHECKING:
    from voiceagent.core.trace import Record
    from voiceagent.evaluation.churn import ChurnReport
    from voiceagent.evaluation.meaning import MeaningJudge
    from voiceagent.evaluation.severity import SeverityReport
    from voiceagent.evaluation.sweep import Limits

EPILOG = """\
Without traces: a sweep over K = 1 to 8 and temperatures 0 and 0.7, each decoded once; all surfaces
and protocols are derived from those recordings, with the closed form beside the measurement, the
recommended K of each surface, and what is usual today.

With traces (or stream logs of any engine, docs/evaluation.md): what each stream protocol would have
shown and taken back. Streamed over final text is 1 where nothing was taken back. Below, how bad it
was: each retraction that changed words, with the rule that calls it an inversion (a yes or no, a
number, a name, a negation, an antonym, an order) and the distance of the strings; with --meaning
also that of the meaning, asked of the target model (a second for each).
"""
SHOWN = 10
"""Retractions that are printed, the worst first; the JSON object has them all."""


def add_arguments(parser: argparse.ArgumentParser, *, question: str) -> None:
    """Declares the options."""
    parser.epilog = EPILOG
    parser.add_argument("traces", nargs="*", type=Path, metavar="TRACE", help="written by talk")
    parser.add_argument("--meaning", action="store_true", help="also ask the target model")
    parser.add_argument("--preset", choices=("cpu", "gpu", "tiny"), help="whose models are used")
    parser.add_argument("--json", action="store_true", help="end with one line that is JSON")
    parser.add_argument("--html", type=Path, metavar="FILE", help="of a sweep: writes the page")
    parser.add_argument("--drafter", help="of a sweep: another than the preset's")
    parser.add_argument("--windows", default="1,2,3,4,5,6,7,8", help="of a sweep: values of K")
    parser.add_argument("--temperatures", default="0,0.7", help="of a sweep")
    parser.add_argument("--prompts", type=int, default=3, help="of a sweep: of each population")
    parser.add_argument("--max-tokens", type=int, default=40, help="of a sweep: of each reply")
    parser.add_argument("--thresholds", type=Path, help="what the chat's people put up with")


def run(arguments: argparse.Namespace) -> int:
    """Sweeps, or adds up the traces; prints a table."""
    return _add_up(arguments) if arguments.traces else _sweep(arguments)


def _sweep(arguments: argparse.Namespace) -> int:
    from voiceagent.session.cores import share_cores

    share_cores()  # as a conversation waits for its threads, before torch is loaded

    from voiceagent.config import Decoding
    from voiceagent.evaluation.opening import open_lab
    from voiceagent.evaluation.prompts import PromptSet
    from voiceagent.evaluation.sweep import sweep

    config = Decoding()
    lab, preset = open_lab(arguments.preset, config=config, max_tokens=arguments.max_tokens)
    prompts = PromptSet.load().first(arguments.prompts)
    with lab:
        report = sweep(
            lab,
            prompts.prompts,
            drafter=arguments.drafter or lab.usual_drafter,
            limits=_limits(arguments.thresholds),
            windows=[int(each) for each in arguments.windows.split(",")],
            temperatures=[float(each) for each in arguments.temperatures.split(",")],
            progress=lambda line: print(line, file=sys.stderr, flush=True),
        )
    report["preset"], report["prompts_digest"] = preset.name, prompts.digest
    if arguments.html is not None:
        from voiceagent.evaluation.churn_page import churn_page

        arguments.html.write_text(churn_page(report), encoding="utf-8")
    _print_sweep(report)
    if arguments.json:
        print(json.dumps(report, ensure_ascii=False))
    return 0


def _limits(path: Path | None) -> "Limits":
    from voiceagent.evaluation.sweep import Limits
    from voiceagent.evaluation.thresholds import Thresholds

    if path is None:
        return Limits()
    surfaces = Thresholds.load(path).surfaces
    if "chat" not in surfaces:
        return Limits()
    chat = surfaces["chat"]
    return Limits(churn_max=chat.churn_max, inversions_per_1000_max=chat.inversions_per_1000_max)


def _print_sweep(report: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    title = f"chat under token push, drafter {report['drafter']}: churn in tokens and in text"
    table = Table(title=title, padding=(0, 1, 0, 0))
    for heading in (
        *("T", "K", "speed-up", "accepted", "tokens", "closed form", "text"),
        *("inversions per 1000", "longest wrong ms", "misspoken ms"),
    ):
        table.add_column(heading, justify="right")
    for row in report["settings"]:
        chat, tokens = row["surfaces"]["chat/token_push"], row["tokens"]
        cells: list[float | None] = [row["temperature"], row["window"], row["speedup"]]
        cells += [tokens["acceptance"], tokens["churn"], tokens["churn_closed_form"]]
        cells += [chat["churn"], chat["inversions_per_1000"], chat["wrong_visible_max_ms"]]
        cells += [row["usual_practice"]["misspoken_ms_per_reply"]]
        table.add_row(*("-" if each is None else f"{each:.4g}" for each in cells))
    Console().print(table)
    for name, found in report["recommended"].items():
        print(f"{name}: K = {found['window']} in {found['protocol']} ({found['why']})")


def _add_up(arguments: argparse.Namespace) -> int:
    """Adds up the traces and prints a table."""
    from voiceagent.evaluation.churn import ChurnReport
    from voiceagent.evaluation.severity import SeverityReport

    judge = _load_judge(arguments.preset) if arguments.meaning else None
    report = ChurnReport()
    severity = SeverityReport(meaning=judge.distance if judge else None)
    records: list[Record] = []
    for path in arguments.traces:
        own = _read(path)
        report.add(own)
        severity.add(own)
        records += own
    _print_table(report)
    _print_severity(severity)
    surfaces, usual = _on_surfaces(records)
    _print_surfaces(surfaces, usual)
    if arguments.json:
        beside = {"surfaces": surfaces, "usual_practice": usual}
        print(json.dumps(report.to_object() | {"severity": severity.to_object()} | beside))
    return 0


def _on_surfaces(records: list["Record"]) -> tuple[dict[str, Any], dict[str, Any]]:
    from voiceagent.evaluation.logs import ms_per_character, replies_of
    from voiceagent.evaluation.sweep import surfaces_shown, usual_practice

    said = replies_of(records)
    usual = usual_practice(said, ms_per_character=ms_per_character(records))
    return surfaces_shown(said, tokens=None), usual


def _print_surfaces(surfaces: dict[str, Any], usual: dict[str, Any]) -> None:
    print("each surface in its own protocol:")
    for name, found in surfaces.items():
        if found["default"]:
            churn = "-" if found["churn"] is None else f"{found['churn']:.3f}"
            first = "-" if found["first_commit_ms"] is None else f"{found['first_commit_ms']:.0f}"
            print(f"  {name}: churn {churn}, first commit after {first} ms in the median")
    print(
        f"as is usual today: {usual['wrong_text_left_standing']} wrong characters left standing in "
        f"{usual['replies_marred']} of {usual['replies']} replies, {usual['misspoken_ms']:.0f} ms "
        f"misspoken, {usual['inversions_said']} inversions said"
    )


def _load_judge(preset: str | None) -> "MeaningJudge":
    from voiceagent.config import Decoding, cache_directory
    from voiceagent.decoding.loading import load_models, machine_preset
    from voiceagent.evaluation.meaning import MeaningJudge
    from voiceagent.weights.manifest import Manifest
    from voiceagent.weights.store import Store

    files = Manifest.load().preset(preset or machine_preset())
    models = load_models(Decoding(), preset=files, store=Store(cache_directory()))
    return MeaningJudge(models.target, models.tokenizer)


def _read(path: Path) -> list["Record"]:
    from voiceagent.evaluation.logs import records_of

    try:
        return records_of(path)
    except ValueError as error:
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
