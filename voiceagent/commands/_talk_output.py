"""What ``talk`` shows and leaves behind."""

import argparse
import contextlib
import dataclasses
import json
import statistics
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voiceagent.commands import _destinations as destinations
from voiceagent.config import Config
from voiceagent.core.errors import VoiceAgentError
from voiceagent.core.events import Recorded

if TYPE_CHECKING:
    from voiceagent.audio.hold import Held
    from voiceagent.commands._terminal import Terminal
    from voiceagent.core.trace import Header
    from voiceagent.session.happenings import Happening
    from voiceagent.session.models import Models

DESTINATIONS = ("out", "record", "trace", "report")


def check_destinations(arguments: argparse.Namespace) -> None:
    """Refuses what cannot be written before anything is loaded.

    Raises:
        VoiceAgentError: a folder is missing, or one file has two purposes.
    """
    wanted = (getattr(arguments, name) for name in DESTINATIONS)
    destinations.check_destinations(wanted, read=(arguments.sound, arguments.config))


@contextlib.contextmanager
def progress() -> Iterator[Callable[[str, int, int], None]]:
    """Shows the loading of models: a bar on a terminal, nothing elsewhere."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    bar = Progress(
        TextColumn("loading {task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    task = bar.add_task("", total=None)

    def on_step(step: str, number: int, of: int) -> None:
        if number == 0:
            bar.stop()
        else:
            bar.update(task, description=step, completed=number - 1, total=of)

    with bar:
        yield on_step


class Screen:
    """A listener that shows the conversation."""

    def __init__(self, terminal: "Terminal") -> None:
        self._terminal = terminal
        self._now_s = 0.0

    def __call__(self, happening: "Happening") -> None:
        """Shows what happened."""
        from voiceagent.session.happenings import ToolHappened, Trouble, TurnHappened

        self._now_s = happening.at_s
        if isinstance(happening, Recorded):
            self._terminal.feed(happening)
        elif isinstance(happening, TurnHappened):
            self._show_turn(happening.text, state=happening.state)
        elif isinstance(happening, Trouble):
            self._terminal.note(f"! {happening.line}")
        elif isinstance(happening, ToolHappened):
            self._terminal.note(f"tool {happening.name}: {happening.outcome}")

    def _show_turn(self, text: str, *, state: str) -> None:
        """The user's words as they are made out; those of a turn that came to nothing go again."""
        if text or state.startswith("dropped"):
            self._terminal.user(text, final=state == "confirmed")

    def refresh(self) -> None:
        """Draws again."""
        self._terminal.refresh(now_s=self._now_s)


def header(config: Config, models: "Models", preset: str) -> "Header":
    """The first line of a trace."""
    from voiceagent.core.trace import Header

    digests: dict[str, Any] = {}
    for role, digest in models.digests:
        digests.setdefault(role, []).append(digest)
    return Header(
        preset=preset,
        models=digests,
        config=dataclasses.asdict(config),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )


@contextlib.contextmanager
def telling_what_was_written() -> Iterator[list[Path]]:
    """Gives a list for the files that are written; an error ends with what it holds by then."""
    written: list[Path] = []
    try:
        yield written
    except VoiceAgentError as error:
        if not written:
            raise
        names = ", ".join(map(str, written))
        raise VoiceAgentError(f"{error}; already written, and kept: {names}") from error


def write_sound(arguments: argparse.Namespace, held: "Held", written: list[Path]) -> None:
    """Writes the recordings that were asked for; each appears whole or not at all."""
    from voiceagent.sound.files import write_wav

    if arguments.out:
        write_wav(arguments.out, held.ear, held.rate_hz)
        written.append(arguments.out)
    if arguments.record:
        write_wav(arguments.record, held.both(), held.rate_hz)
        written.append(arguments.record)


def finish(arguments: argparse.Namespace, held: "Held") -> int:
    """Writes the report and the last line."""
    summary = held.minutes.summary() | {"duration_s": round(held.duration_s, 3)}
    gaps = [] if arguments.fast else held.gaps_ms()
    summary["response_gaps_ms"] = [round(gap, 1) for gap in gaps]
    summary["response_gap_ms"] = round(statistics.median(gaps), 1) if gaps else None
    summary |= {
        "wav": _name(arguments.out),
        "record": _name(arguments.record),
        "trace": _name(arguments.trace),
        "report": _name(arguments.report),
    }
    if arguments.report:
        _write_report(arguments.report, held, summary)
    for line in held.minutes.troubles:
        print(f"voiceagent: {line}", file=sys.stderr)
    if arguments.json:
        print(json.dumps(summary, ensure_ascii=False))
    else:
        print(_closing_line(summary))
    return 0


def _name(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _closing_line(summary: dict[str, Any]) -> str:
    turns = len(summary["turns"])
    facts = [f"{turns} turn{'' if turns == 1 else 's'}"]
    if summary["response_gap_ms"] is not None:
        facts.append(f"response gap {summary['response_gap_ms']:.0f} ms")
    if summary["drafted"]:
        facts.append(f"{summary['accepted']} of {summary['drafted']} drafted tokens accepted")
    if summary["churn"] is not None:
        facts.append(f"churn {summary['churn']:.2f}")
    return "; ".join(facts) + "."


def _write_report(path: Path, held: "Held", summary: dict[str, Any]) -> None:
    from voiceagent.session.report import report

    gaps = ", ".join(f"{gap:.0f} ms" for gap in summary["response_gaps_ms"])
    figures = {
        "turns": len(summary["turns"]),
        "response gaps, from sound": gaps or "not measured",
        "drafted, accepted, rejected tokens": "{drafted}, {accepted}, {rejected}".format(**summary),
        "churn of the display": "-" if summary["churn"] is None else f"{summary['churn']:.2f}",
        "duration": f"{summary['duration_s']:.1f} s",
    }
    both = held.both()
    page = report(
        held.minutes,
        title="One conversation",
        figures=figures,
        mouth=both[:, 0],
        ear=both[:, 1],
        rate_hz=held.rate_hz,
    )
    with destinations.private_file(path) as partial:  # it holds what was said
        partial.write_text(page, encoding="utf-8")
