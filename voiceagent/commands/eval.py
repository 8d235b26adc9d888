"""``voiceagent eval``: what speculation did to the people who watched."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from voiceagent.core.errors import VoiceAgentError

if TYPE_CHECKING:
    from voiceagent.evaluation.churn import ChurnReport

EPILOG = """\
examples:
  voiceagent eval churn trace.jsonl
  voiceagent eval churn --json monday/*.jsonl

churn    of recorded conversations: what each stream protocol would have shown and taken back.
         Streamed over final text is 1 where nothing was taken back.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.epilog = EPILOG
    parser.add_argument("question", choices=("churn",), help="what to evaluate")
    parser.add_argument("traces", nargs="+", type=Path, metavar="TRACE", help="written by talk")
    parser.add_argument("--json", action="store_true", help="end with one line that is JSON")


def run(arguments: argparse.Namespace) -> int:
    """Adds up the traces and prints a table."""
    from voiceagent.evaluation.churn import ChurnReport

    report = ChurnReport()
    for path in arguments.traces:
        _add(report, path)
    _print_table(report)
    if arguments.json:
        print(json.dumps(report.to_object()))
    return 0


def _add(report: "ChurnReport", path: Path) -> None:
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
