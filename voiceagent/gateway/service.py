"""The gateway's work, without HTTP: requests become live replies, found again by name."""

import asyncio
import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from email.utils import format_datetime
from typing import Any

from voiceagent.core.errors import VoiceAgentError
from voiceagent.decoding.engine import Engine
from voiceagent.decoding.generation import Request
from voiceagent.decoding.sampling import Sampling
from voiceagent.gateway.author import Author, ReplySource
from voiceagent.gateway.fields import BadRequest
from voiceagent.gateway.grammars import grammar_of
from voiceagent.gateway.inbox import Post
from voiceagent.gateway.limits import DEFAULT_LIMITS, Limits
from voiceagent.gateway.live import Kept, LiveReply, do_nothing
from voiceagent.gateway.metrics import Metrics, Watch
from voiceagent.gateway.requests import ReplyRequest, View, parse_request, parse_view
from voiceagent.session.tool_desk import CallsOfReply, Desk
from voiceagent.session.tool_registry import Registry
from voiceagent.session.tools import ToolGate

MAX_KEYS = 1024
"""Idempotency keys that are remembered; the oldest is forgotten first."""


class Unavailable(VoiceAgentError):
    """Not now: the server is full, or about to stop."""


@dataclass(frozen=True, kw_only=True)
class Gateway:
    """What the routes need.

    Attributes:
        source: decodes replies.
        model: the name that ``/v1/models`` lists.
        max_tokens: the most tokens of one reply.
        registry: the server's own tools.
        limits: what one client may take.
        undeclared_until: the last day on which clients that do not say how they want to be
            streamed are served; None for ever.
    """

    source: ReplySource
    model: str
    max_tokens: int
    registry: Registry = field(default_factory=Registry)
    limits: Limits = DEFAULT_LIMITS
    undeclared_until: date | None = None


class Replies:
    """Opens, keeps and finds replies."""

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        self.draining = False
        self.metrics = Metrics()
        if isinstance(gateway.source, Engine) and gateway.source.on_trial:
            self.metrics.follow_trial(gateway.source.comparison, gateway.source.canary)
        self._streams = self._waiting = 0
        self._places = asyncio.Semaphore(gateway.limits.at_engine)
        self._kept = Kept(gateway.limits)
        self._post = Post()
        self._desk = Desk(gateway.registry)
        self._authors: dict[str, Author] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._keys: OrderedDict[str, tuple[str, str]] = OrderedDict()

    def parse(self, body: object, *, append_only: bool) -> ReplyRequest:
        """The request in a decoded body.

        Raises:
            BadRequest: it cannot be used.
        """
        gateway = self.gateway
        request = parse_request(
            body, append_only=append_only, limits=gateway.limits, registry=gateway.registry
        )
        last = gateway.undeclared_until
        if last is not None and not request.declared and datetime.now(UTC).date() > last:
            raise BadRequest(
                "stream_protocol",
                f"since {last} this server only serves clients that declare how they are streamed "
                "to: add stream_protocol (accept_then_flush is what you had before)",
                code="undeclared_client",
            )
        return request

    def parse_view(self, body: object) -> View:
        """How one more subscriber of a reply is streamed to; see :meth:`parse`."""
        if not isinstance(body, Mapping):
            raise BadRequest("body", "the body must be a JSON object")
        return parse_view(body)

    def announcement(self, request: ReplyRequest) -> dict[str, str]:
        """What an undeclared client is told while it is still served (RFC 8594)."""
        last = self.gateway.undeclared_until
        if last is None or request.declared:
            return {}
        end = datetime.combine(last, time.max, tzinfo=UTC)
        return {"Sunset": format_datetime(end, usegmt=True)}

    async def open(
        self, request: ReplyRequest, *, body: object, key: str | None = None
    ) -> LiveReply:
        """Starts a reply, or finds the one that the same idempotency key has started.

        Raises:
            Unavailable: the server is full, or about to stop.
            BadRequest: the key was used for another body.
            EngineError: the engine refuses the request.
        """
        if self.draining:
            raise Unavailable("the server is about to stop")
        self._check_room()
        if key is not None and (known := self._known(key, body)) is not None:
            return known
        live = LiveReply(request.view)
        author = self._author(request, live, scope=key or live.name)
        await self._take_place()
        try:
            await author.begin()
        except BaseException:
            self._places.release()
            raise
        self._kept.keep(live)
        if key is not None:
            self._remember(key, body, live)
        self._authors[live.name] = author
        live.on_deserted = lambda: self._on_deserted(live, author, request.resumable)
        task = asyncio.create_task(author.write(), name=live.name)
        self._tasks[live.name] = task
        self.metrics.replies.set(len(self._tasks))
        task.add_done_callback(lambda done: self._retire(live))
        return live

    async def _take_place(self) -> None:
        """Waits for a place at the engine, in order; a client that goes away gives its turn up."""
        limits = self.gateway.limits
        if self._waiting >= limits.waiting:
            raise Unavailable(f"{limits.waiting} requests are waiting already")
        self._waiting += 1
        self.metrics.waiting.inc()
        try:
            async with asyncio.timeout(limits.wait_s):
                await self._places.acquire()
        except TimeoutError:
            raise Unavailable(f"there was no place within {limits.wait_s:g} s") from None
        finally:
            self._waiting -= 1
            self.metrics.waiting.dec()

    @contextmanager
    def reading(self, live: LiveReply, view: View) -> Iterator[Watch]:
        """A place for one more reader, and what it is shown is measured.

        Raises:
            Unavailable: as many streams are open as may be.
        """
        with live.attended():
            self._check_room()
            self._streams += 1
            try:
                with Watch(self.metrics, view) as watch:
                    yield watch
            finally:
                self._streams -= 1

    def _check_room(self) -> None:
        limit = self.gateway.limits.connections
        if self._streams >= limit:
            raise Unavailable(f"{limit} streams are open already: try again in a moment")

    def find(self, name: str) -> LiveReply | None:
        """The reply of that name, if it is still kept."""
        return self._kept.find(name)

    def author(self, name: str) -> Author | None:
        """Who writes the reply of that name; None when it is over or was never there."""
        return self._authors.get(name)

    @property
    def under_way(self) -> int:
        """Replies that are being written."""
        return len(self._tasks)

    async def drain(self, *, within_s: float) -> None:
        """Refuses new replies and waits for those under way; then ends the rest."""
        self.draining = True
        if self._tasks:
            await asyncio.wait(list(self._tasks.values()), timeout=within_s)
        for author in list(self._authors.values()):
            author.cancel()
        if self._tasks:
            await asyncio.wait(list(self._tasks.values()), timeout=within_s)

    def _author(self, request: ReplyRequest, live: LiveReply, *, scope: str) -> Author:
        gateway = self.gateway
        calls = CallsOfReply(
            ToolGate(request.tools.usable), self._desk, runs=request.tools.runs, scope=scope
        )
        return Author(
            live,
            engine_request(
                request,
                max_tokens=gateway.max_tokens,
                takes_grammar=getattr(gateway.source, "takes_grammar", True),
            ),
            source=gateway.source,
            boundary=request.view.boundary,
            turn=request.turn,
            hears=request.hears,
            calls=calls,
            limits=gateway.limits,
            metrics=self.metrics,
            post=self._post,
        )

    def _on_deserted(self, live: LiveReply, author: Author, resumable: bool) -> None:
        """Nobody reads it any more: decoding stops, at once or when nobody has come back."""
        if not resumable:
            author.cancel()
            return

        def give_up() -> None:
            if not live.readers:
                author.cancel()

        asyncio.get_running_loop().call_later(self.gateway.limits.resume_s, give_up)

    def _retire(self, live: LiveReply) -> None:
        live.on_deserted = do_nothing  # nothing of the author is kept with the log
        self._places.release()
        self._authors.pop(live.name, None)
        self._tasks.pop(live.name, None)
        self.metrics.replies.set(len(self._tasks))

    def _known(self, key: str, body: object) -> LiveReply | None:
        digest, name = self._keys.get(key, ("", ""))
        live = self._kept.find(name)
        if live is not None and digest != _digest(body):
            raise BadRequest("Idempotency-Key", "the key was used for another request")
        return live

    def _remember(self, key: str, body: object, live: LiveReply) -> None:
        self._keys[key] = (_digest(body), live.name)
        while len(self._keys) > MAX_KEYS:
            self._keys.popitem(last=False)


def engine_request(
    request: ReplyRequest, *, max_tokens: int, takes_grammar: bool = True
) -> Request:
    """The request in the engine's words.

    An engine that takes no grammar may still be asked for calls, which the gate then judges alone;
    asked for text that has to fit, it refuses.
    """
    changes: dict[str, Any] = {}
    bound = request.schema is not None or request.tools.must_call
    if bound or takes_grammar:
        changes["grammar"] = grammar_of(request.tools, schema=request.schema)
    if request.top_logprobs is not None:
        changes["top_logprobs"] = request.top_logprobs
    wanted = max_tokens if request.max_tokens is None else request.max_tokens
    return Request(
        messages=request.messages,
        sampling=Sampling(**request.sampling),
        max_tokens=min(wanted, max_tokens),
        stop=request.stop,
        window=request.view.window,
        **changes,
    )


def _digest(body: object) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
