"""A bell: everyone who waits is woken each time it rings; nothing is remembered."""

import asyncio


class Bell:
    """Rings on the event loop. Check the condition first, then wait, in a loop."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Future[None]] = set()

    def ring(self) -> None:
        """Wakes everyone who waits now."""
        waiting, self._waiting = self._waiting, set()
        for future in waiting:
            if not future.done():
                future.set_result(None)

    async def wait(self) -> None:
        """Returns at the next ring."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        try:
            await future
        finally:
            self._waiting.discard(future)
