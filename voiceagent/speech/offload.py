"""Blocking work on a thread of its own, with a bounded wait.

A daemon thread for each piece of work, not a pool: work that never returns must neither hold up
the next conversation nor the end of the program (a pool's threads are joined at exit).
"""

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

from voiceagent.core.errors import VoiceAgentError

Result = TypeVar("Result")


class WorkTimeout(VoiceAgentError):
    """Work that took longer than it may; the message names it."""


class Lane:
    """One piece of work at a time; work that overran blocks its lane until it returns."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._free = threading.Semaphore(1)

    async def run(self, work: Callable[[], Result], *, timeout_s: float) -> Result:
        """Runs ``work`` and returns its result, or raises what it raised.

        Raises:
            WorkTimeout: it, or work before it that overran, is still running after ``timeout_s``.
        """
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[Result] = loop.create_future()

        def settle(result: Result | None, error: BaseException | None) -> None:
            if outcome.done():  # nobody waits any more
                return
            if error is not None:
                outcome.set_exception(error)
            else:
                outcome.set_result(result)  # type: ignore[arg-type]  # None only beside an error

        def run() -> None:
            if not self._free.acquire(timeout=timeout_s):
                return
            result, error = None, None
            try:
                result = work()
            except BaseException as raised:  # noqa: BLE001  # handed to the waiter, whatever it is
                error = raised
            finally:
                self._free.release()
            if not loop.is_closed():
                loop.call_soon_threadsafe(settle, result, error)

        threading.Thread(target=run, name=self._name, daemon=True).start()
        try:
            async with asyncio.timeout(timeout_s):
                return await outcome
        except TimeoutError:
            raise WorkTimeout(f"{self._name}: no result after {timeout_s:g} s") from None
