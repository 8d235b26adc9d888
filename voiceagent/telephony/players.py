"""How sound gets to the far end of a line, and how far it was heard: two kinds of ear.

A line that buffers and acknowledges is given sound ahead of time and cleared when it has to fall
silent. A line that does neither is given a piece every 20 ms, silence included, and falls silent by
being given no more.
"""

import asyncio
import contextlib
from collections import deque
from typing import Final, Protocol

import numpy as np

from voiceagent.session.clock import Clock
from voiceagent.session.playout import CHUNK_MS
from voiceagent.sound.pcm import Int16
from voiceagent.telephony.far_end import FarEnd, Sounded
from voiceagent.telephony.line import Line

SEND_TIMEOUT_S: Final = 5.0
"""A peer that reads nothing for so long is gone."""
LEAD_MS: Final = 200
"""Sound that waits at a far end which can be cleared, or with us for its 20 ms: a cut still reaches
it, and a busy event loop is not heard."""
LATE_S: Final = 0.2
"""A pacer that was kept from its work for longer begins anew instead of catching up in a burst."""


class Player(Protocol):
    """An ear (``session.playout.Ear``) that has to be fed."""

    lead_ms: int
    """How much may be on its way to it."""
    gone: asyncio.Event
    """Set when the far end takes nothing more."""

    def begin(self) -> None:
        """Starts its work."""
        ...

    async def play(self, pcm: Int16) -> bool:
        """Waits for room; false for sound that was cut while it waited."""
        ...

    def marked(self, name: str) -> None:
        """A mark came back."""
        ...

    def played_samples(self) -> int: ...
    def travelling_samples(self) -> int:
        """Of the samples that are due by the clock, those that were not heard yet."""
        ...

    def cut(self) -> None: ...
    def hold(self) -> None: ...
    def let_go(self) -> None: ...
    def drain_sounded(self) -> list[Sounded]:
        """What was heard since the last call."""
        ...

    async def end(self) -> None:
        """Stops its work."""
        ...


class BufferedPlayer:
    """Feeds a line that buffers, marks and clears."""

    lead_ms = LEAD_MS

    def __init__(self, line: Line, clock: Clock) -> None:
        self._line, self._clock = line, clock
        self._far_end = FarEnd(rate_hz=line.rate_hz, acknowledges=True, travel_s=line.travel_s)
        self._outbox: deque[Int16 | str | None] = deque()
        """Sound, marks, and None for a clear, in order."""
        self._posted = asyncio.Event()
        self._held: list[Int16] | None = None
        self._cuts = 0
        self._sending: asyncio.Task[None] | None = None
        self.gone = asyncio.Event()

    def begin(self) -> None:
        """Starts to send."""
        self._sending = asyncio.create_task(self._send_all(), name="line")

    async def play(self, pcm: Int16) -> bool:
        """Sends ``pcm`` when the far end has room for it."""
        cuts = self._cuts
        await self._clock.sleep_until(self._far_end.accepts_at_s)
        if cuts != self._cuts:
            return False
        if self._held is not None:
            self._held.append(pcm)
        else:
            self._post(pcm)
        return True

    def marked(self, name: str) -> None:
        """A mark came back."""
        self._far_end.marked(name, now_s=self._clock.now_s())

    def played_samples(self) -> int:
        """How many of the samples given were heard, as far as it is known."""
        now_s = self._clock.now_s()
        if self._far_end.overdue_s(now_s) > SEND_TIMEOUT_S:
            self.gone.set()
        return self._far_end.played_samples(now_s)

    def travelling_samples(self) -> int:
        """Sent and due, but not known to be heard."""
        now_s = self._clock.now_s()
        return self._far_end.paced_samples(now_s) - self._far_end.played_samples(now_s)

    def cut(self) -> None:
        """Silence at the far end; what was not heard never will be."""
        self._take_back()
        self._held = None
        self._cuts += 1

    def hold(self) -> None:
        """Silence at the far end; what was not heard is kept."""
        if self._held is None:
            self._held = self._take_back()

    def let_go(self) -> None:
        """Sends again from the first sample that was not heard."""
        held, self._held = self._held, None
        for pcm in held or ():
            self._post(pcm)

    def drain_sounded(self) -> list[Sounded]:
        """What was heard since the last call."""
        return self._far_end.drain_sounded()

    async def end(self) -> None:
        """Sends nothing more."""
        self._far_end.clear(now_s=self._clock.now_s())
        await _cancelled(self._sending)

    def _take_back(self) -> list[Int16]:
        unheard = self._far_end.clear(now_s=self._clock.now_s())
        self._outbox.clear()
        self._outbox.append(None)
        self._posted.set()
        return [pcm for pcm in unheard if len(pcm)]

    def _post(self, pcm: Int16) -> None:
        self._outbox.append(pcm)
        self._outbox.append(self._far_end.send(pcm, now_s=self._clock.now_s()))
        self._posted.set()

    async def _send_all(self) -> None:
        try:
            while True:
                while self._outbox:
                    async with asyncio.timeout(SEND_TIMEOUT_S):
                        await self._send(self._outbox.popleft())
                self._posted.clear()
                await self._posted.wait()
        except TimeoutError:
            self.gone.set()

    async def _send(self, posted: Int16 | str | None) -> None:
        if posted is None:
            await self._line.clear()
        elif isinstance(posted, str):
            await self._line.mark(posted)
        else:
            await self._line.sound(posted)


class PacedPlayer:
    """Feeds a line that plays what it gets as it gets it."""

    lead_ms = LEAD_MS

    def __init__(self, line: Line, clock: Clock) -> None:
        self._line, self._clock = line, clock
        self._far_end = FarEnd(rate_hz=line.rate_hz, acknowledges=False, travel_s=line.travel_s)
        self._silence = np.zeros(line.rate_hz * CHUNK_MS // 1000, dtype=np.int16)
        self._waiting: deque[Int16] = deque()
        self._room = asyncio.Event()
        self._is_held = False
        self._cuts = 0
        self._pacing: asyncio.Task[None] | None = None
        self.gone = asyncio.Event()

    def begin(self) -> None:
        """Starts to send a piece every 20 ms."""
        self._pacing = asyncio.create_task(self._pace(), name="pacer")

    async def play(self, pcm: Int16) -> bool:
        """Queues ``pcm`` when there is room for it."""
        cuts = self._cuts
        while len(self._waiting) * CHUNK_MS >= LEAD_MS and cuts == self._cuts:
            self._room.clear()
            await self._room.wait()
        if cuts != self._cuts:
            return False
        self._waiting.append(pcm)
        return True

    def marked(self, name: str) -> None:
        """Such a line has no marks."""

    def played_samples(self) -> int:
        """How many of the samples sent were heard, by the clock and the way to the ear."""
        return self._far_end.played_samples(self._clock.now_s())

    def travelling_samples(self) -> int:
        """Sent and not heard yet: nobody can take them back."""
        now_s = self._clock.now_s()
        return self._far_end.paced_samples(now_s) - self._far_end.played_samples(now_s)

    def cut(self) -> None:
        """Sends nothing more of what waits; what is on its way will be heard."""
        self._far_end.settle(now_s=self._clock.now_s())
        self._waiting.clear()
        self._is_held = False
        self._cuts += 1
        self._room.set()

    def hold(self) -> None:
        """Sends silence until further notice; what waits is kept."""
        self._is_held = True

    def let_go(self) -> None:
        """Goes on with the first piece that was not sent."""
        self._is_held = False

    def drain_sounded(self) -> list[Sounded]:
        """What was heard since the last call."""
        return self._far_end.drain_sounded()

    async def end(self) -> None:
        """Sends nothing more."""
        self._far_end.clear(now_s=self._clock.now_s())
        await _cancelled(self._pacing)

    async def _pace(self) -> None:
        due_s = self._clock.now_s()
        try:
            while True:
                await self._clock.sleep_until(due_s)
                late_s = self._clock.now_s() - due_s
                async with asyncio.timeout(SEND_TIMEOUT_S):
                    await self._line.sound(self._next(due_s))
                due_s = CHUNK_MS / 1000 + (due_s if late_s < LATE_S else self._clock.now_s())
        except TimeoutError:
            self.gone.set()

    def _next(self, due_s: float) -> Int16:
        if self._is_held or not self._waiting:
            return self._silence
        pcm = self._waiting.popleft()
        self._room.set()
        self._far_end.send(pcm, now_s=due_s)
        return pcm


async def _cancelled(task: "asyncio.Task[None] | None") -> None:
    if task is not None:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
