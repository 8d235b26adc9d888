"""The program: the command line, Ctrl-C from the first import on, and an end of its own."""

import atexit
import contextlib
import os
import signal
import sys
import threading

STOPPED = 130


def run() -> int:
    """Runs the command line; Ctrl-C is one line at any moment, also while modules are imported.

    ``kill`` is taken for Ctrl-C: what is half done is cleared away.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    end = _End()
    # The first one registered is the last one called: whatever else wants to clear up has done so.
    atexit.register(end)
    try:
        from voiceagent.cli import main

        end.status = main()
    except KeyboardInterrupt:
        sys.stderr.write("voiceagent: stopped.\n")
        end.status = STOPPED
    if end.status == STOPPED:
        # Already ending: a second signal has nothing to add but a traceback.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
    return end.status


class _End:
    """Leaves at once where a thread that nobody waits for is still at work.

    Such a thread may be inside a C++ library. When it comes back to an interpreter that is being
    taken down, Python ends the thread there, and the library's frames turn that into an abort of
    the whole process (https://github.com/python/cpython/issues/87135).
    """

    status: int | None = None
    """None: the program ends in an error of its own, or with a usage message."""

    def __call__(self) -> None:
        if self.status is None or not any(each.daemon for each in threading.enumerate()):
            return
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(self.status)


if __name__ == "__main__":
    sys.exit(run())
