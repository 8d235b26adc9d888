"""``voiceagent eval``: whether speculation pays here, and what it does to those who watch."""

import argparse

from voiceagent.commands import _eval_churn, _eval_drift, _eval_speculation, _eval_trace

EPILOG = """\
examples:
  voiceagent eval speculation --thresholds thresholds.toml --report report.json --html report.html
  voiceagent eval speculation --thresholds thresholds.toml --full --candidate best:auto
  voiceagent eval compare monday.json friday.json
  voiceagent eval churn trace.jsonl
  voiceagent eval churn --meaning --json monday/*.jsonl
  voiceagent eval churn --html churn.html
  voiceagent eval drift
  voiceagent eval explain trace.jsonl --slow

docs/evaluation.md explains every figure and the files that these commands read.
"""
_QUESTIONS = {
    "speculation": (_eval_speculation, "adopt (0), adopt on some surfaces (3), or not (4)"),
    "churn": (_eval_churn, "what each protocol shows and takes back: a sweep, or recorded traces"),
    "drift": (_eval_drift, "what people notice of a drafter that suddenly guesses wrongly"),
    "explain": (
        _eval_trace,
        "the five stages of a trace; the round behind a slow or wrong reply",
    ),
    "compare": (_eval_speculation, "why two reports differ"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of each question."""
    parser.epilog = EPILOG
    questions = parser.add_subparsers(dest="question", metavar="QUESTION", required=True)
    for name, (module, text) in _QUESTIONS.items():
        own = questions.add_parser(
            name,
            help=text,
            description=text[0].upper() + text[1:] + ".",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(own, question=name)


def run(arguments: argparse.Namespace) -> int:
    """Answers one question."""
    module, _ = _QUESTIONS[arguments.question]
    status: int = module.run(arguments)
    return status
