"""``voiceagent latency``: how long users wait, measured from recorded sound."""

import argparse
import json
from pathlib import Path

EPILOG = """\
examples:
  voiceagent talk --in questions.flac --out reply.wav --record both.wav
  voiceagent latency both.wav
  voiceagent latency --max-response-gap-p50 700 monday/*.wav

A recording holds the user in the left channel and the agent in the right. The response gap is the
time from the last sound of the user to the first sound of the reply. With a limit, exit status 1
says that it was exceeded. The 95th percentile is withheld below 20 turns.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.epilog = EPILOG
    parser.add_argument(
        "recordings", nargs="+", type=Path, metavar="RECORDING", help="user left, agent right"
    )
    parser.add_argument(
        "--max-response-gap-p50", type=float, metavar="MS", help="fail when the median is above"
    )
    parser.add_argument("--json", action="store_true", help="end with one line that is JSON")


def run(arguments: argparse.Namespace) -> int:
    """Measures, prints, and compares with the limit."""
    from voiceagent.latency.analysis import judge
    from voiceagent.latency.figures import figures_of
    from voiceagent.latency.recordings import read_exchange

    judged = [judge(read_exchange(path)) for path in arguments.recordings]
    for path, each in zip(arguments.recordings, judged, strict=True):
        for reason in each.withheld:
            print(f"{path}: left out, {reason}")
    turns = [turn for each in judged if not each.withheld for turn in each.turns]
    figures = figures_of(turns)
    gap = figures["response_gap"]
    if gap["p50_ms"] is None:
        print("no speech of the user is followed by speech of the agent")
    else:
        print(f"response gap: median {gap['p50_ms']} ms over {gap['turns']} turns")
        tail = gap["withheld"].get("p95_ms")
        print(
            f"95th percentile withheld: {tail}" if tail else f"95th percentile {gap['p95_ms']} ms"
        )
    limit_ms = arguments.max_response_gap_p50
    exceeded = limit_ms is not None and (gap["p50_ms"] is None or gap["p50_ms"] > limit_ms)
    if exceeded:
        print(f"the median is not at or below the limit of {limit_ms:g} ms")
    if arguments.json:
        print(json.dumps(figures | {"limit_exceeded": exceeded}))
    return 1 if exceeded or gap["p50_ms"] is None else 0
