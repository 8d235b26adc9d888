"""Writes a reply's log: events go through ledger and committer, calls through the tool gate.

An author runs on the event loop as one task for each request. What a client says in between
(confirm, void, heard, cancel) are plain calls between two events of the engine.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from voiceagent.core.committer import Commit, Kind
from voiceagent.core.errors import VoiceAgentError
from voiceagent.core.events import (
    Draft,
    EndReason,
    Finish,
    Rollback,
    Turn,
    Verify,
    VoidCause,
)
from voiceagent.core.history import Message
from voiceagent.core.reply import Reply
from voiceagent.decoding.generation import EngineEvent, OnEvent, Request
from voiceagent.decoding.record import Round
from voiceagent.gateway.inbox import Post
from voiceagent.gateway.limits import Limits
from voiceagent.gateway.live import Failed, LiveReply, ToolPassed, UsageKnown
from voiceagent.gateway.metrics import Metrics
from voiceagent.gateway.requests import BOUNDARIES
from voiceagent.gateway.usage import count_usage
from voiceagent.session.tool_desk import CallsOfReply

MAX_CALL_ROUNDS = 3
"""Replies that are calls of the server's own tools, one behind the other, before it ends."""

_SOURCE_EVENTS = (Draft, Verify, Rollback, Finish)
_SLACK_S = 1.0
"""A deadline that is moved with every token need not be moved by less: moving it costs a timer."""

_log = logging.getLogger(__name__)


class Writing(Protocol):
    """The handle on a reply that is being decoded."""

    prompt_tokens: int
    reused_tokens: int
    error: str | None

    def cancel(self) -> None:
        """Stops it within one round; harmless when it is over."""


class ReplySource(Protocol):
    """Whatever decodes replies: the local engine, or a remote one."""

    def submit(self, request: Request, *, on_event: OnEvent) -> Writing:
        """Starts a reply; events come on a thread of the source, last a ``Finish``."""


class Author:
    """Writes one request's replies into ``live``.

    Args:
        live: the log.
        request: to the source; the messages grow by the results of tools.
        boundary: where commits are cut.
        turn: whether the user's turn is confirmed.
        hears: the client reports what was heard.
        calls: the tool gate of this request.
        limits: how long anything may take.
        metrics: told of every round.
        post: brings the source's events to the event loop.
    """

    def __init__(
        self,
        live: LiveReply,
        request: Request,
        *,
        source: ReplySource,
        boundary: str,
        turn: Turn,
        hears: bool,
        calls: CallsOfReply,
        limits: Limits,
        metrics: Metrics,
        post: Post,
    ) -> None:
        self._live, self._request, self._source = live, request, source
        self._boundary, self._turn, self._hears = boundary, turn, hears
        self._calls, self._limits, self._metrics = calls, limits, metrics
        self._started_s = time.monotonic()
        self._post = post
        self._inbox = post.inbox()
        self._writing: Writing | None = None
        self._reply: Reply | None = None
        self._rounds: list[Round] = []
        self._changed = asyncio.Event()
        self._cancelled = self._waits = self._waiter_is_gone = False
        self._submitting: asyncio.Future[Writing] | None = None
        self._replies = 0

    # What the client says -----------------------------------------------------------------------

    def cancel(self) -> None:
        """The client has had enough: decoding stops within one round."""
        self._cancelled = True
        self._calls.supersede()
        if self._writing is not None:
            self._writing.cancel()
        self._changed.set()

    def hear(self, to: int) -> None:
        """The user has heard (or read) the text up to ``to``, as far as it is committed."""
        reply = self._reply
        if reply is None or not reply.ledger.alive or reply.ledger.turn is not Turn.CONFIRMED:
            return
        ledger, now_s = reply.ledger, self._now_s()
        to = min(to, ledger.committed)
        if to > ledger.heard:
            ledger.synthesize(to, now_s=now_s)
            ledger.release(to, now_s=now_s)
            ledger.hear(to, now_s=now_s)
            self._publish()
        self._changed.set()

    def confirm(self) -> None:
        """The user's turn is certain to have ended: calls may run, gated readers may see."""
        self._turn = Turn.CONFIRMED
        if self._reply is not None and self._reply.ledger.alive:
            self._reply.ledger.confirm(now_s=self._now_s())
            self._publish()
            self._calls.confirm()
        self._changed.set()

    def void(self, cause: VoidCause = VoidCause.TURN_REVISED) -> None:
        """The user went on speaking: the epoch is withdrawn, and no call of it ever runs."""
        if self._reply is None or self._turn is Turn.CONFIRMED or not self._reply.ledger.alive:
            return
        self._reply.ledger.void(cause, now_s=self._now_s())
        self._publish()
        self.cancel()

    # Writing ------------------------------------------------------------------------------------

    async def begin(self) -> None:
        """Hands the request to the source.

        Raises:
            EngineError: the source refuses it; nothing was written.
        """
        try:
            await self._submit(self._request)
        except BaseException:
            self._waiter_is_gone = True
            if self._submitting is not None and self._submitting.done():
                self._take_writing(self._submitting)
            self._begun()
            raise

    async def write(self) -> None:
        """Writes until everything has been said; never raises but for cancellation."""
        try:
            async with asyncio.timeout(self._limits.reply_s):
                await self._write_all()
        except TimeoutError:
            self._fail("timeout", "the reply took too long")
        except VoiceAgentError as error:
            self._fail("engine", str(error))
        except Exception:  # noqa: BLE001  # this reply's alone; its readers are told
            _log.exception("a reply was broken off by an unexpected error")
            self._fail("internal", "something went wrong with this reply")
        finally:
            self._begun()
            self._calls.supersede()
            if self._writing is not None:
                self._writing.cancel()
            self._live.close()

    async def _write_all(self) -> None:
        """One reply, and one more behind every reply that called the server's own tools."""
        for number in range(MAX_CALL_ROUNDS + 1):
            reply = self._open()
            await self._follow(reply)
            await self._settle(reply)
            exchanges = await self._calls.exchanges()
            if not exchanges or self._cancelled or not _is_complete(reply):
                return
            if number < MAX_CALL_ROUNDS:
                await self._submit(self._with(self._calls.results(exchanges)))

    def _with(self, more: tuple[Message, ...]) -> Request:
        self._request = replace(self._request, messages=self._request.messages + more)
        return self._request

    async def _submit(self, request: Request) -> None:
        """Tokenizing a long prompt takes a while: not on the event loop."""
        self._waits = True
        self._metrics.waiting.inc()
        self._inbox = inbox = self._post.inbox()
        submit = self._source.submit
        self._submitting = submitting = asyncio.ensure_future(
            asyncio.to_thread(submit, request, on_event=inbox.put)
        )
        submitting.add_done_callback(self._take_writing)
        self._writing = await asyncio.shield(submitting)  # a thread cannot be called back
        if self._cancelled:
            self._writing.cancel()

    def _take_writing(self, submitting: "asyncio.Future[Writing]") -> None:
        """What was submitted for a client that has gone meanwhile is cancelled."""
        if self._waiter_is_gone and not submitting.exception():
            submitting.result().cancel()

    def _begun(self) -> None:
        """The source has said something: it no longer waits in a queue."""
        if self._waits:
            self._waits = False
            self._metrics.waiting.dec()

    def _open(self) -> Reply:
        name = f"{self._live.name}.{self._replies}" if self._replies else self._live.name
        self._replies += 1
        self._rounds = []
        self._reply = Reply(
            reply=name,
            epoch=0,
            turn=self._turn,
            now_s=self._now_s(),
            policy=BOUNDARIES[self._boundary](),
        )
        self._calls.open(name, confirmed=self._turn is Turn.CONFIRMED, tell=self._tell_call)
        self._publish()
        return self._reply

    async def _follow(self, reply: Reply) -> None:
        """Takes the source's events until its Finish."""
        async with asyncio.timeout(self._limits.silence_s) as silence:
            while reply.ledger.alive and reply.ledger.finished is None:
                events = await self._inbox.take()
                put_off(silence, by_s=self._limits.silence_s)
                for event in events:
                    if reply.ledger.alive:
                        self._see(event, reply)
                self._publish()

    def _see(self, event: EngineEvent, reply: Reply) -> None:
        if isinstance(event, Round):
            self._begun()
            self._rounds.append(event)
            self._live.rounds.append(event)
            self._metrics.see_round(event)
        elif isinstance(event, _SOURCE_EVENTS):
            reply.apply(event, now_s=self._now_s())
            self._take(reply.commits())

    def _take(self, commits: list[Commit]) -> None:
        for commit in commits:
            if commit.kind is Kind.SILENT:
                self._calls.read(commit.text)

    async def _settle(self, reply: Reply) -> None:
        """Waits for what the reply needs to be over: its confirmation, the ear; then ends it."""
        ledger = reply.ledger
        if not ledger.alive or ledger.finished is None:
            return
        reason = ledger.finished
        if reason is EndReason.ERROR:
            message = (self._writing and self._writing.error) or "the engine failed"
            self._tell_failure("engine", message)
        if reason.is_complete:
            await self._until(self._is_confirmed, within_s=self._limits.confirm_s)
            if self._hears:
                await self._until(self._is_heard, within_s=self._limits.reply_s)
        if ledger.alive:
            self._end(reply, reason)

    def _end(self, reply: Reply, reason: EndReason) -> None:
        ledger, now_s = reply.ledger, self._now_s()
        if reason.is_complete and ledger.turn is not Turn.CONFIRMED:
            ledger.void(VoidCause.SUPERSEDED, now_s=now_s)
        else:
            usage = count_usage(self._writing, self._rounds)
            self._live.add(UsageKnown(reply=ledger.reply, usage=usage))
            broken_off = self._hears and not self._is_heard() and ledger.turn is Turn.CONFIRMED
            if broken_off and reason is not EndReason.ERROR:
                reason = EndReason.INTERRUPTED
            ledger.end(reason, now_s=now_s)
        self._publish()

    def _fail(self, code: str, message: str) -> None:
        """Ends whatever is under way as an error; a stream never stops without an end."""
        reply = self._reply
        if reply is None or not reply.ledger.alive:
            reply = self._open()  # the one that would have followed
        self._tell_failure(code, message)
        reply.ledger.end(EndReason.ERROR, now_s=self._now_s())
        self._publish()

    def _is_confirmed(self) -> bool:
        return self._turn is Turn.CONFIRMED

    def _is_heard(self) -> bool:
        reply = self._reply
        return reply is None or reply.ledger.heard == reply.ledger.committed

    async def _until(self, condition: Callable[[], bool], *, within_s: float) -> None:
        try:
            async with asyncio.timeout(within_s):
                while not (condition() or self._cancelled):
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            _log.warning("a reply waited too long for its client")

    # The log ------------------------------------------------------------------------------------

    def _publish(self) -> None:
        if self._reply is not None:
            self._live.add(*self._reply.events())

    def _tell_call(self, call_id: str, name: str, arguments: Any) -> None:
        assert self._reply is not None
        self._live.add(
            ToolPassed(
                reply=self._reply.ledger.reply,
                call_id=call_id,
                name=name,
                arguments=arguments,
                at_s=self._now_s(),
            )
        )

    def _tell_failure(self, code: str, message: str) -> None:
        assert self._reply is not None
        name = self._reply.ledger.reply
        self._live.add(Failed(reply=name, code=code, message=message, at_s=self._now_s()))

    def _now_s(self) -> float:
        return time.monotonic() - self._started_s


def put_off(deadline: asyncio.Timeout, *, by_s: float) -> None:
    """Lets ``deadline`` pass so much later than now, or up to a second earlier than that."""
    to_s, at_s = asyncio.get_running_loop().time() + by_s, deadline.when()
    if at_s is not None and at_s < to_s - min(_SLACK_S, by_s / 2):
        deadline.reschedule(to_s)


def _is_complete(reply: Reply) -> bool:
    return reply.ledger.ended is not None and reply.ledger.ended.is_complete
