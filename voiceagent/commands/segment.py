"""``voiceagent segment``: the committer alone. Text in, committed segments out."""

import argparse
import io
import json
import re
import sys
from collections.abc import Iterator
from typing import cast

from voiceagent.commands._arguments import quantity
from voiceagent.commands._standard_input import pieces
from voiceagent.core.committer import Commit, Committer, Decision, Policy
from voiceagent.core.errors import VoiceAgentError

POLICIES = {
    "sentence": Policy.sentences,
    "clause": Policy.clauses,
    "structured": Policy.structured,
    "voice": Policy.voice,
    "markdown": Policy.markdown,
    "form": Policy.form,
    "code": Policy.code,
}
EPILOG = """\
kinds:
  sentence     sentences and lines that stand for themselves; a block is one segment
  clause       every clause: the finest partition
  structured   the same as sentence, named for text with Markdown, JSON, code or tags
  voice        what a synthesizer gets: an early first clause, then sentences, clauses while
               less than 1.5 s of sound waits (--buffered-ms), a cut at a blank where no mark comes
  markdown     paragraphs, items, tables, code blocks and formulas
  form         each value inside a JSON object as soon as it is complete
  code         each complete Python or SQL statement inside a code block

output:
  One segment a line, as soon as it is certain. A line break inside a segment is written \\n (or
  \\r), a backslash \\\\; blanks around a segment are left out, and so is a segment of blanks alone.
  With --explain, lines that begin with a tab say what was decided about each mark before it.
  With --json, "segments" has the exact texts, which concatenate to the input: blanks between two
  segments lead the second, blanks after the last one end it.

examples:
  echo "Pi is 3.14. Dr. Smith knows." | voiceagent segment
  voiceagent segment --lang de --kind clause --json < text.txt
  printf '"Pi is 3"\\n"."\\n"14. Yes."\\n' | voiceagent segment --chunks --explain
"""
_ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\x85": "\\x85"})
_ESCAPES |= {0x2028: "\\u2028", 0x2029: "\\u2029", 0x0B: "\\v", 0x0C: "\\f"}
_LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8})*")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.epilog = EPILOG
    parser.add_argument(
        "--lang", type=_language, default="en", metavar="TAG", help="language (default: en)"
    )
    parser.add_argument(
        "--kind", choices=POLICIES, default="sentence", help="where to cut (default: sentence)"
    )
    parser.add_argument(
        "--chunks",
        action="store_true",
        help="the input is one JSON string a line; they are fed one by one",
    )
    parser.add_argument(
        "--buffered-ms",
        type=quantity,
        metavar="MS",
        help="sound that waits to be played, for --kind voice (default: plenty)",
    )
    parser.add_argument(
        "--explain", action="store_true", help="say why each mark was or was not a place to cut"
    )
    parser.add_argument(
        "--json", action="store_true", help='the last line is {"segments": [...], ...}'
    )


def run(arguments: argparse.Namespace) -> int:
    """Runs the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")
    if sys.stdin.isatty():
        print("voiceagent: reading standard input; end with Ctrl-D.", file=sys.stderr)
    source = cast(io.BufferedIOBase, sys.stdin.buffer)  # read1 is not in typing's BinaryIO
    _segment(arguments, _chunks(source) if arguments.chunks else pieces(source))
    return 0


def _segment(arguments: argparse.Namespace, texts: Iterator[str]) -> None:
    committer = Committer(
        reply="segment",
        epoch=0,
        language=arguments.lang,
        policy=POLICIES[arguments.kind](),
        explain=arguments.explain,
    )
    commits: list[Commit] = []
    decisions: list[Decision] = []

    def drain() -> None:
        made = committer.commits(buffered_ms=arguments.buffered_ms)
        why = committer.decisions()
        _show(made, why)
        if arguments.json:
            commits.extend(made)
            decisions.extend(why)

    for text in texts:
        committer.verify(text)
        drain()
    committer.end()
    drain()
    if arguments.json:
        print(json.dumps(_report(arguments, commits, decisions), ensure_ascii=False))
    sys.stdout.flush()


def _show(commits: list[Commit], decisions: list[Decision]) -> None:
    """Prints the segments; before each one, what was decided inside it."""
    explained = 0
    for commit in commits:
        while explained < len(decisions) and decisions[explained].position < commit.end:
            _explain(decisions[explained])
            explained += 1
        text = commit.text.strip()
        if text:
            print(text.translate(_ESCAPES))
    for decision in decisions[explained:]:
        _explain(decision)
    if commits or decisions:
        sys.stdout.flush()  # whoever waits for it, waits for this segment


def _explain(decision: Decision) -> None:
    verdict = "cut " if decision.cut else "kept"
    print(f"\t{decision.position}\t{verdict}\t{json.dumps(decision.mark)}\t{decision.reason}")


def _report(
    arguments: argparse.Namespace, commits: list[Commit], decisions: list[Decision]
) -> dict[str, object]:
    texts = [commit.text for commit in commits]
    if len(texts) > 1 and not texts[-1].strip():
        texts[-2:] = ["".join(texts[-2:])]
    report: dict[str, object] = {
        "segments": texts,
        "language": arguments.lang,
        "kind": arguments.kind,
        "commits": [
            {"start": c.start, "end": c.end, "kind": c.kind, "segment": c.segment} for c in commits
        ],
    }
    if arguments.explain:
        report["decisions"] = [
            {"position": d.position, "mark": d.mark, "cut": d.cut, "reason": d.reason}
            for d in decisions
        ]
    return report


# Reading


def _chunks(source: io.BufferedIOBase) -> Iterator[str]:
    """One JSON string a line; a surrogate pair torn between two chunks is joined."""
    half = ""
    number = 0
    for number, line in enumerate(source, start=1):
        if not line.strip():
            continue
        text = half + _chunk(line, number)
        half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        yield _joined(text[:-1] if half else text, number)
    _joined(half, number)


def _chunk(line: bytes, number: int) -> str:
    try:
        chunk = json.loads(line)
    except ValueError as error:  # also what is no UTF-8
        raise VoiceAgentError(f"line {number} of the input is not JSON: {error}") from error
    except RecursionError as error:
        raise VoiceAgentError(f"line {number} of the input is nested too deeply") from error
    if not isinstance(chunk, str):
        raise VoiceAgentError(f'line {number} of the input is not a JSON string, like "Hello"')
    return chunk


def _joined(text: str, number: int) -> str:
    try:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError as error:
        raise VoiceAgentError(
            f"line {number} of the input ends or begins in half a character"
        ) from error


def _language(tag: str) -> str:
    if not _LANGUAGE_TAG.fullmatch(tag):
        raise argparse.ArgumentTypeError(f"{tag!r} is no language tag; write en, zh or pt-BR")
    return tag
