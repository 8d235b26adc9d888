"""``voiceagent replay``: shows a trace again, or proves its invariants."""

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from voiceagent.commands._arguments import file_path
from voiceagent.commands._destinations import check_destinations, private_file
from voiceagent.core.errors import VoiceAgentError

if TYPE_CHECKING:
    from voiceagent.commands._terminal import Terminal
    from voiceagent.core.audit import Summary
    from voiceagent.core.trace import Record

EXAMPLES = """\
examples:
  voiceagent replay trace.jsonl                  show the conversation again
  voiceagent replay --speed 4 trace.jsonl        four times as fast
  voiceagent replay --audit trace.jsonl          prove it, or say which line lies
  voiceagent replay --audit --json trace.jsonl   the same, with counts as JSON
  voiceagent replay --redact public.jsonl trace.jsonl
                                                 write a copy without words
"""

LONGEST_GAP_S = 3.0
"""Silence in a trace is cut to this: nobody watches a screen on which nothing happens."""
REFRESH_S = 0.05
"""Between two drawings while nothing happens, so that retracted text goes in time."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.epilog = EXAMPLES
    parser.add_argument("trace", type=file_path, help="a trace written by talk or serve")
    parser.add_argument(
        "--audit",
        action="store_true",
        help="prove that nothing unverified was spoken and nothing released early; "
        "exit 1 and name the line where that is not so",
    )
    parser.add_argument(
        "--speed", type=_speed, default=1.0, metavar="X", help="times as fast as it was (default 1)"
    )
    parser.add_argument(
        "--redact",
        type=file_path,
        metavar="OUT",
        help="write a copy without words, for its owner alone",
    )
    parser.add_argument(
        "--json", action="store_true", help="the last line is one JSON object with the summary"
    )


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; 1 if an audit was asked for and the trace lies."""
    if arguments.redact is not None:
        _write_redacted(arguments.trace, arguments.redact)
        summary = _audit(arguments.redact)
        print(f"{arguments.redact}: the same trace without words")
    elif arguments.audit:
        summary = _audit(arguments.trace)
    else:
        summary = _show(arguments.trace, speed=arguments.speed)
    if arguments.audit:
        _print_verdict(summary)
    if arguments.json:
        print(json.dumps(summary.to_object(), ensure_ascii=False))
    return 1 if arguments.audit and summary.violations else 0


def _speed(text: str) -> float:
    speed = float(text)
    if not 0 < speed < float("inf"):
        raise argparse.ArgumentTypeError("the speed is a number above 0")
    return speed


def _records(path: Path) -> "Iterator[tuple[int, Record]]":
    from voiceagent.core.trace import TraceError, read

    with path.open("rb") as lines:
        try:
            yield from read(lines)
        except TraceError as error:
            raise TraceError(f"{path} is not a trace: {error}") from error


def _audit(path: Path) -> "Summary":
    from voiceagent.core.audit import Audit

    auditor = Audit()
    for line, record in _records(path):
        auditor.feed(record, line=line)
    auditor.finish()
    return auditor.summary()


def _print_verdict(summary: "Summary") -> None:
    for violation in summary.violations:
        print(f"voiceagent: {violation}", file=sys.stderr)
    counts = ", ".join(
        [
            _count(summary.records, "record", "records"),
            _count(summary.replies, "reply", "replies"),
            _count(summary.commits, "commit", "commits"),
        ]
    )
    if summary.violations:
        print(f"NOT PROVEN: {len(summary.violations)} of {counts} cannot be true.")
    elif not summary.replies:
        print(f"Nothing to prove: {counts}.")
    else:
        print(
            f"PROVEN over {counts}: no sound was made of text that was not verified, "
            "and nothing was released on an unconfirmed turn."
        )


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


# Showing --------------------------------------------------------------------------------------


def _show(path: Path, *, speed: float) -> "Summary":
    from voiceagent.commands._terminal import open_terminal
    from voiceagent.core.audit import Audit

    auditor = Audit()
    paced = sys.stdout.isatty()
    last_s: float | None = None
    with open_terminal() as terminal:
        for line, record in _records(path):
            auditor.feed(record, line=line)
            at_s = getattr(record, "at_s", last_s)
            if paced and at_s is not None and last_s is not None:
                _wait(terminal, since_s=last_s, until_s=at_s, speed=speed)
            _show_record(terminal, record)
            if at_s is not None:
                terminal.refresh(now_s=at_s)
            last_s = at_s
    return auditor.summary()


def _wait(terminal: "Terminal", *, since_s: float, until_s: float, speed: float) -> None:
    now_s = max(since_s, until_s - LONGEST_GAP_S * speed)
    while now_s < until_s:
        step_s = min(REFRESH_S * speed, until_s - now_s)
        time.sleep(step_s / speed)
        now_s += step_s
        terminal.refresh(now_s=now_s)


def _show_record(terminal: "Terminal", record: "Record") -> None:
    from voiceagent.core.events import Recorded
    from voiceagent.core.trace import TroubleRecord, TurnRecord

    match record:
        case TurnRecord():
            if record.text:
                terminal.user(record.text, final=record.state == "confirmed")
        case TroubleRecord():
            terminal.note(record.line)
        case Recorded():
            terminal.feed(record)
        case _:
            pass  # numbers, which nobody reads as they pass


# Redaction ------------------------------------------------------------------------------------


def _write_redacted(source: Path, target: Path) -> None:
    """Writes the copy beside its place and then moves it there: never a half-written one."""
    from voiceagent.core.redact import redact
    from voiceagent.core.trace import encode

    check_destinations([target])
    if target.exists() and target.samefile(source):
        raise VoiceAgentError(f"{target} is the trace itself; name another file for the copy")
    with private_file(target) as partial, partial.open("w", encoding="utf-8") as out:
        for _, record in _records(source):
            out.write(encode(redact(record)) + "\n")
