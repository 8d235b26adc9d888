"""The program: the command line, and Ctrl-C from the first import to the last thread."""

import signal
import sys

STOPPED = 130


def run() -> int:
    """Runs the command line; Ctrl-C is one line at any moment, also while modules are imported.

    ``kill`` is taken for Ctrl-C: what is half done is cleared away.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        from voiceagent.cli import main

        status = main()
    except KeyboardInterrupt:
        sys.stderr.write("voiceagent: stopped.\n")
        status = STOPPED
    if status == STOPPED:
        # Already ending: a second signal has nothing to add but a traceback.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
    return status


if __name__ == "__main__":
    sys.exit(run())
