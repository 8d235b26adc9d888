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
    from voiceagent.latency.gaps import measure

    gaps = measure(arguments.recordings)
    figures = gaps.to_object()
    print("response gaps: " + ", ".join(f"{gap:.0f} ms" for gap in gaps.gaps_ms))
    print(f"median {figures['response_gap_p50_ms']} ms over {figures['turns']} turns")
    if figures["p95_withheld"]:
        print(f"95th percentile withheld: {figures['p95_withheld']}")
    else:
        print(f"95th percentile {figures['response_gap_p95_ms']} ms")
    limit_ms = arguments.max_response_gap_p50
    exceeded = limit_ms is not None and (gaps.p50_ms or 0.0) > limit_ms
    if exceeded:
        print(f"the median is above the limit of {limit_ms:g} ms")
    if arguments.json:
        print(json.dumps(figures | {"limit_exceeded": exceeded}))
    return 1 if exceeded else 0
