"""``voiceagent eval explain``: the five stages of a trace, forwards and backwards."""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voiceagent.core.errors import VoiceAgentError

if TYPE_CHECKING:
    from voiceagent.evaluation.explain import Explanation


def add_arguments(parser: argparse.ArgumentParser, *, question: str) -> None:
    """Declares the options."""
    parser.add_argument("trace", type=Path, help="written by talk --trace")
    parser.add_argument("--reply", help="only this reply")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--slow", action="store_true", help="from the slowest round (the default)")
    which.add_argument("--text", help="from the round that emitted this text, or had it refused")
    parser.add_argument("--json", action="store_true", help="end with one line that is JSON")


def run(arguments: argparse.Namespace) -> int:
    """Explains one trace."""
    from voiceagent.core.trace import read
    from voiceagent.evaluation.explain import explain

    try:
        with arguments.trace.open("rb") as lines:
            records = [record for _, record in read(lines)]
    except ValueError as error:
        raise VoiceAgentError(f"{arguments.trace}: {error}") from error
    explanation = explain(records, reply=arguments.reply, text=arguments.text)
    _print(explanation)
    if arguments.json:
        print(json.dumps(explanation.to_object()))
    return 0


def _print(explanation: "Explanation") -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    console.print(f"forwards: {explanation.replies} replies", highlight=False)
    for number, stage in enumerate(explanation.forwards, start=1):
        table = Table(title=f"{number}. {stage['name']}", show_header=False, title_justify="left")
        table.add_column()
        table.add_column(overflow="fold")
        for name, value in stage.items():
            if name != "name":
                table.add_row(name.replace("_", " "), _plain(value))
        console.print(table)
    console.print(f"\nbackwards from {explanation.chosen}", highlight=False, markup=False)
    for step in explanation.backwards:
        time = "" if step["time_ms"] is None else f" ({step['time_ms']:.3g} ms)"
        line = f"  {step['stage']}{time}: {step['says']}  [{step['owner']}]"
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name.replace('_', ' ')} {_plain(each)}" for name, each in value.items())
    return "-" if value is None else str(value)
