"""The command line: parses, dispatches to one module of ``commands``, turns errors into one line.

Exit status: 0 on success, 2 on wrong usage, 130 on Ctrl-C, 1 otherwise (``eval speculation`` also
answers with it: 3 and 4). With ``--json`` the last
line on standard output is one JSON object.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from voiceagent import __version__
from voiceagent.core.errors import VoiceAgentError

# One module of voiceagent.commands each; every module has
#   add_arguments(parser: argparse.ArgumentParser) -> None
#   run(arguments: argparse.Namespace) -> int
COMMANDS = {
    "talk": "hold one spoken conversation, from a file or the microphone",
    "serve": "serve replies over HTTP and WebSocket, and answer calls",
    "decode": "run the decoding engine alone and show its figures",
    "segment": "run the committer alone: text in, committed segments out",
    "spoken": "say how a written text is spoken",
    "latency": "measure from sound how long users wait, and where the time goes",
    "eval": "whether speculation pays, and what it does to the people who watch",
    "replay": "show a trace again, or prove its invariants",
    "models": "list, fetch and verify model files",
    "doctor": "what this machine has, what is missing, how to get it",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status."""
    try:
        return _run(list(sys.argv[1:] if argv is None else argv))
    except VoiceAgentError as error:
        return _fail(str(error))
    except KeyboardInterrupt:
        print("voiceagent: stopped.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader went away (`voiceagent ... | head`): nobody is left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _fail(_describe(error))


def _run(arguments_given: Sequence[str]) -> int:
    parser = _parser(chosen=_first_word(arguments_given))
    arguments = parser.parse_args(arguments_given)
    if arguments.command is None:
        parser.print_help()
        return 2
    return int(_module(arguments.command).run(arguments))


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, like everything else here."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def _parser(*, chosen: str | None) -> argparse.ArgumentParser:
    """The parser; only the chosen command's module is imported, so that ``--help`` is quick."""
    parser = _Parser(
        prog="voiceagent",
        description="A voice agent that never says what the model took back.",
        epilog="Start with: voiceagent models fetch, then: voiceagent talk --in "
        "audio_fixtures/blue-sky.wav --out reply.wav",
    )
    parser.add_argument("--version", action="version", version=f"voiceagent {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, summary in COMMANDS.items():
        subparser = subparsers.add_parser(
            name,
            help=summary,
            description=summary[0].upper() + summary[1:] + ".",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name == chosen:
            _module(name).add_arguments(subparser)
    return parser


def _module(command: str):  # type: ignore[no-untyped-def]  # a module is structurally typed
    return importlib.import_module(f"voiceagent.commands.{command}")


def _first_word(arguments: Sequence[str]) -> str | None:
    return next((word for word in arguments if not word.startswith("-")), None)


def _fail(message: str) -> int:
    print(f"voiceagent: {' '.join(message.split())}", file=sys.stderr)
    return 1


def _describe(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error}"
