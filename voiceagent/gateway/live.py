"""A reply as it happens: one log that any number of readers read, each with its own protocol.

The log holds facts, not frames. Frames are a pure function of the log and the protocol, so a
reader that joins late, speaks another protocol or comes back after a broken connection needs
nothing kept for it: the log is told again, and what the reader has already is left out.
"""

import itertools
import time
import uuid
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from voiceagent.core.churn import ChurnMeter
from voiceagent.core.client import Client
from voiceagent.core.events import LedgerEvent
from voiceagent.core.frames import EndFrame, ErrorFrame, Frame, StartFrame, ToolFrame
from voiceagent.core.severity import Assessment, assess
from voiceagent.core.streams import Stream, StreamProtocol
from voiceagent.decoding.record import Round
from voiceagent.gateway.limits import Limits
from voiceagent.gateway.requests import View
from voiceagent.session.bell import Bell


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageKnown:
    """Token counts of a reply, said before it ends."""

    reply: str
    usage: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPassed:
    """A call has passed the tool gate."""

    reply: str
    call_id: str
    name: str
    arguments: Mapping[str, Any]
    at_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """Something went wrong with a reply."""

    reply: str
    code: str
    message: str
    at_s: float


AT_ONCE = 64
"""Facts that become one list of frames: a late reader takes a long reply in pieces."""

Entry: TypeAlias = LedgerEvent | UsageKnown | ToolPassed | Failed


def tell(entry: Entry, stream: Stream) -> None:
    """Tells a stream one entry of a log."""
    match entry:
        case UsageKnown():
            stream.report_usage(entry.usage, reply=entry.reply)
        case ToolPassed():
            stream.call_tool(
                entry.name,
                entry.arguments,
                call_id=entry.call_id,
                reply=entry.reply,
                at_s=entry.at_s,
            )
        case Failed():
            stream.fail(entry.code, entry.message, reply=entry.reply, at_s=entry.at_s)
        case _:
            stream.feed(entry)


def calls_alone() -> Callable[[Iterable[Frame]], list[Frame]]:
    """What a tool runner sees of a stream: no text, and calls that have passed the gate."""
    count = itertools.count()

    def narrow(frames: Iterable[Frame]) -> list[Frame]:
        seen = (StartFrame, ToolFrame, ErrorFrame, EndFrame)
        kept = [replace(frame, seq=next(count)) for frame in frames if isinstance(frame, seen)]
        return [
            replace(frame, at=0, statistics={}) if isinstance(frame, EndFrame) else frame
            for frame in kept
        ]

    return narrow


class LiveReply:
    """What was asked for once: a reply, and those that follow from its tool calls.

    Attributes:
        name: identifies it, and is the name of its first reply.
        view: how its first reader is streamed to.
        rounds: the engine's records, for probabilities and figures.
        on_deserted: called when the last reader goes before the end.
    """

    def __init__(self, view: View) -> None:
        self.name = f"reply-{uuid.uuid4().hex}"
        self.view = view
        self.rounds: list[Round] = []
        self.over = False
        self.over_at_s = 0.0
        self.readers = 0
        self.on_deserted: Callable[[], None] = do_nothing
        self._log: list[Entry] = []
        self._grew = Bell()

    def add(self, *entries: Entry) -> None:
        """Writes the next facts down and wakes the readers, once for all of them."""
        if entries:
            self._log.extend(entries)
            self._wake()

    def close(self) -> None:
        """There is nothing more to come."""
        self.over, self.over_at_s = True, time.monotonic()
        self._wake()

    @contextmanager
    def attended(self) -> Iterator[None]:
        """While it is entered, somebody reads; when the last one goes, it may be deserted."""
        self.readers += 1
        try:
            yield
        finally:
            self.readers -= 1
            if not self.readers and not self.over:
                self.on_deserted()

    async def read(self, view: View, *, after: int = -1) -> AsyncGenerator[list[Frame], None]:
        """Every frame of one stream behind ``after`` (a ``seq``), to the end.

        They come in lists: what is there at once can be sent at once.
        """
        stream, told = Stream(view.protocol), 0
        narrowed = calls_alone() if view.surface == "tool" else list[Frame]
        while True:
            for entry in self._log[told : told + AT_ONCE]:
                tell(entry, stream)
                told += 1
            if frames := [frame for frame in narrowed(stream.frames()) if frame.seq > after]:
                yield frames
            if told < len(self._log):
                continue  # there is more, or it came meanwhile
            if self.over:
                return
            await self._grew.wait()

    def assessments(self, protocol: StreamProtocol) -> list[Assessment]:
        """What a stream of ``protocol`` has taken back so far, and how bad each of it was."""
        stream, meter, client = Stream(protocol), ChurnMeter(), Client()
        for entry in self._log[:]:  # may run beside the event loop, which writes on
            tell(entry, stream)
            for frame in stream.frames():
                assert not isinstance(entry, UsageKnown), "counts are no frame"
                meter.feed(frame, at_s=entry.at_s)
                client.apply(frame)
        texts = {name: view.text for name, view in client.views.items()}
        return assess(meter.retractions(), final=texts)

    def _wake(self) -> None:
        self._grew.ring()


class Kept:
    """Replies under way, and for a while those that are over; so many, and so long."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._replies: dict[str, LiveReply] = {}

    def keep(self, live: LiveReply) -> None:
        """Makes a reply findable."""
        self._forget()
        self._replies[live.name] = live

    def find(self, name: str) -> LiveReply | None:
        """The reply of that name, if it is still kept."""
        self._forget()
        return self._replies.get(name)

    @property
    def under_way(self) -> list[LiveReply]:
        """Those that are not over."""
        return [live for live in self._replies.values() if not live.over]

    def _forget(self) -> None:
        oldest_s = time.monotonic() - self._limits.kept_s
        over = [live for live in self._replies.values() if live.over]
        too_many = max(0, len(over) - self._limits.kept_replies + 1)
        for number, live in enumerate(over):
            if number < too_many or live.over_at_s < oldest_s:
                del self._replies[live.name]


def do_nothing() -> None:
    """What a reply that is over does when its last reader goes."""
