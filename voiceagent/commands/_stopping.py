"""Ctrl-C and ``kill`` during a conversation: broken off in order, however often they come."""

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Self

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_SHOW_CURSOR = "\x1b[?25h"
STATUS = 130
AT_ONCE = 3
"""The signal of this number ends the process there and then: something hangs."""


class Stopping:
    """The first signal breaks off, further ones wait for that; the third ends the process.

    Attributes:
        on_stop: called on the first signal, in the main thread; while it is None the signal
            raises KeyboardInterrupt.
        leave_nothing: called before the process is ended at once.
    """

    def __init__(self) -> None:
        self.on_stop: Callable[[], object] | None = None
        self.leave_nothing: Callable[[], None] = _do_nothing
        self._signals = 0
        self._before = [signal.getsignal(number) for number in _SIGNALS]

    def __enter__(self) -> Self:
        for number in _SIGNALS:
            signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *exception: object) -> None:
        for number, handler in zip(_SIGNALS, self._before, strict=True):
            signal.signal(number, handler)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._signals += 1
        if self._signals >= AT_ONCE:
            self._end_at_once()
        if self._signals > 1:
            return
        if self.on_stop is None:
            raise KeyboardInterrupt
        self.on_stop()

    def _end_at_once(self) -> None:
        with suppress(OSError):
            self.leave_nothing()
        if sys.stdout.isatty():
            os.write(sys.stdout.fileno(), _SHOW_CURSOR.encode())
        os.write(2, b"voiceagent: stopped.\n")
        os._exit(STATUS)


def _do_nothing() -> None:
    pass
