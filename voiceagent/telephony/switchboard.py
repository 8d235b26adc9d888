"""Answers calls from every line, as many at once as may be."""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace

from voiceagent.config import Config
from voiceagent.core.errors import VoiceAgentError
from voiceagent.session.assembly import make_conversation
from voiceagent.session.bell import Bell
from voiceagent.session.clock import WallClock
from voiceagent.session.happenings import Listener
from voiceagent.session.llm import ReplyService
from voiceagent.session.models import Models
from voiceagent.telephony.call import PhoneCall
from voiceagent.telephony.line import Line

PROMISE_S = 15.0
"""A call that was told to connect its sound comes within a second or two, or not at all."""

MakeListeners = Callable[[str], list[Listener]]


class AllBusy(VoiceAgentError):
    """As many calls are held as may be."""


class Switchboard:
    """Seats for calls.

    Args:
        models: shared by all calls.
        config: with the tools that calls have (``call_tools.with_call_tools``).
        listeners: makes the listeners of one call, by its identifier.
        clock: seconds, for promises.
    """

    def __init__(
        self,
        models: Models,
        config: Config,
        *,
        listeners: MakeListeners = lambda call: [],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.config = config
        self._models = models
        self._listeners = listeners
        self._clock = clock
        self._promises: deque[float] = deque()
        self.calls = 0
        """Being held now."""
        self.changed = Bell()
        """Rings whenever that has changed."""
        # pipecat loads what a service needs when the first one is made: that takes more than a
        # second, in which no call would be heard.
        ReplyService(models.source, make_conversation(config, models, clock=WallClock()))

    @property
    def is_full(self) -> bool:
        """Whether one more call would have to be refused."""
        now_s = self._clock()
        self._promises = deque(each for each in self._promises if each > now_s)
        return self.calls + len(self._promises) >= self.config.telephony.max_calls

    def promise(self, *, for_s: float = PROMISE_S) -> bool:
        """Keeps a seat for a call whose sound is about to come; false if there is none."""
        if self.is_full:
            return False
        self._promises.append(self._clock() + for_s)
        return True

    @contextlib.contextmanager
    def seat(self) -> Iterator[None]:
        """A place for one call, the promised ones first.

        Raises:
            AllBusy: there is none.
        """
        is_full = self.is_full  # which also drops the promises that nobody took up
        if self._promises:
            self._promises.popleft()
        elif is_full:
            raise AllBusy(f"{self.calls} calls are being held already")
        self._count(+1)
        try:
            yield
        finally:
            self._count(-1)

    def _count(self, more: int) -> None:
        self.calls += more
        self.changed.ring()

    async def hold(self, line: Line) -> None:
        """Talks over ``line``, which has a seat, until one side hangs up."""
        listeners = self._listeners(line.started.call)
        # A detector takes a seventh of a second to load: the other calls go on meanwhile.
        vad = await asyncio.to_thread(self._models.vad)
        models = replace(self._models, vad=lambda: vad)
        await PhoneCall(line, models, self.config, listeners=listeners).hold()
