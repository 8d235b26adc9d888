"""``voiceagent spoken``: what would be said for a text."""

import argparse
import io
import json
import sys
from collections.abc import Iterable
from typing import Any, cast

from voiceagent.commands._standard_input import lines, pieces

_EXAMPLES = """examples:
  voiceagent spoken "It costs \\$3.50 at 10 a.m. in the U.S."
  voiceagent spoken --explain "See [the docs](https://example.com), No. 5."
  voiceagent spoken --whole < reply.md
  printf 'Dr. Smith\\n12 kg\\n' | voiceagent spoken --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the flags."""
    parser.epilog = _EXAMPLES
    parser.add_argument("text", nargs="?", help="the text; standard input, line by line, if absent")
    parser.add_argument("--lang", default="en", help="language of the text (default: en)")
    parser.add_argument(
        "--whole", action="store_true", help="take standard input as one text, not line by line"
    )
    parser.add_argument(
        "--explain", action="store_true", help="show for each spoken word what it was written as"
    )
    parser.add_argument(
        "--json", action="store_true", help="end with one JSON object: spoken text and its words"
    )


def run(arguments: argparse.Namespace) -> int:
    """Prints one line for each text given."""
    from voiceagent.speech.spoken import spoken_form

    segments = []
    for text in _texts(arguments):
        spoken = spoken_form(text, language=arguments.lang)
        print(spoken.text)
        if arguments.explain:
            for word in spoken.words:
                written = text[word.start : word.end]
                print(f"  {word.text:<24} {word.start:>5}-{word.end:<5} {written!r}")
        segments.append(_as_json(text, spoken.text, spoken.words))
    if arguments.json:
        print(json.dumps({"segments": segments}, ensure_ascii=False))
    return 0


def _texts(arguments: argparse.Namespace) -> Iterable[str]:
    if arguments.text is not None:
        return [arguments.text]
    source = cast(io.BufferedIOBase, sys.stdin.buffer)  # read1 is not in typing's BinaryIO
    if arguments.whole:
        return ["".join(pieces(source)).replace("\r\n", "\n")]
    return lines(source)


def _as_json(written: str, spoken: str, words: Iterable[Any]) -> dict[str, Any]:
    return {
        "written": written,
        "spoken": spoken,
        "words": [{"text": word.text, "from": word.start, "to": word.end} for word in words],
    }
