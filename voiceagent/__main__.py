"""The program: the command line, and Ctrl-C from the first import to the last thread."""

import signal
import sys

STOPPED = 130


def run() -> int:
    """Runs the command line; Ctrl-C is one line at any moment, also while modules are imported."""
    try:
        from voiceagent.cli import main

        status = main()
    except KeyboardInterrupt:
        sys.stderr.write("voiceagent: stopped.\n")
        status = STOPPED
    if status == STOPPED:
        # Already ending: a second Ctrl-C has nothing to add but a traceback.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return status


if __name__ == "__main__":
    sys.exit(run())
