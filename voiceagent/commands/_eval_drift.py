"""``voiceagent eval drift``: what people notice of a drafter that suddenly guesses wrongly."""

import argparse
import json
import sys

from voiceagent.commands._arguments import positive_count, probability
from voiceagent.core.errors import VoiceAgentError

EPILOG = """\
In the middle of a conversation the draft model's guesses are spoilt. Measured are the rounds until
the controller falls back (3 at most), whether the alarm goes off, and the time of each reply over
plain decoding (1.10 at most, in the median of the repetitions), with plain replies in between.

exit status: 0 all of it holds, 4 it does not.

examples:
  voiceagent eval drift                             the deployment's own preset
  voiceagent eval drift --acceptance 0.3 --json     a milder drift, and the figures as JSON
"""
_DOES_NOT_HOLD = 4


def add_arguments(parser: argparse.ArgumentParser, *, question: str) -> None:
    """Declares the options."""
    parser.epilog = EPILOG
    parser.add_argument("--preset", choices=("cpu", "gpu", "tiny"), help="whose models are used")
    parser.add_argument("--acceptance", type=probability, default=0.1, help="what the drift leaves")
    parser.add_argument("--replies", type=positive_count, default=6, help="of each conversation")
    parser.add_argument(
        "--conversations", type=positive_count, default=2, help="each with another drift"
    )
    parser.add_argument("--repeats", type=positive_count, default=3, help="of each conversation")
    parser.add_argument("--max-tokens", type=positive_count, default=40, help="of each reply")
    parser.add_argument("--json", action="store_true", help="end with one line that is JSON")


def run(arguments: argparse.Namespace) -> int:
    """Spoils, measures, tells."""
    if arguments.replies < 2:
        raise VoiceAgentError("--replies: a drift in mid-conversation needs 2 replies at least")
    from voiceagent.session.cores import share_cores

    share_cores()  # as a conversation waits for its threads, before torch is loaded

    from voiceagent.config import Decoding
    from voiceagent.evaluation.drifted import inject_drift
    from voiceagent.evaluation.lab import PLAIN
    from voiceagent.evaluation.opening import open_lab
    from voiceagent.evaluation.prompts import PromptSet

    lab, _ = open_lab(arguments.preset, config=Decoding(), max_tokens=arguments.max_tokens)
    with lab:
        print("looks for prompts with long replies", file=sys.stderr)
        prompts = PromptSet.load().quick().of("ordinary")
        runs = [lab.run(each, PLAIN) for each in prompts]
        longest = sorted(runs, key=lambda each: len(each.tokens), reverse=True)
        found = inject_drift(
            lab,
            [each.prompt for each in longest[: arguments.replies]],
            acceptance=arguments.acceptance,
            conversations=arguments.conversations,
            repeats=arguments.repeats,
        )
    over = found["reply_time_over_plain"]
    print(
        f"acceptance {found['acceptance_before']} before, {found['acceptance_after']} after\n"
        f"blocks of one guess or none after {found['fell_back_after_rounds_each']} rounds\n"
        f"alarm after {found['alarm_after_rounds_each']} rounds with guesses\n"
        f"replies over plain: {over['median']} in the median, {over['worst']} at worst "
        f"({over['replies']} replies); drafting took at most "
        f"{found['draft_share_later_replies']['worst']} of a reply after the one that it began in\n"
        f"words unchanged: {found['equal_to_plain']}"
    )
    if arguments.json:
        print(json.dumps(found))
    return 0 if found["holds"] else _DOES_NOT_HOLD
