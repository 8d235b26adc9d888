"""``/v1/talk``: a spoken conversation with a page, or with any client that speaks RTVI."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

import pipecat.processors.frameworks.rtvi.models as rtvi
from aiohttp import WSCloseCode, web

from voiceagent.config import Config
from voiceagent.core.errors import VoiceAgentError
from voiceagent.gateway.fields import BadRequest, integer
from voiceagent.gateway.http_replies import REPLIES
from voiceagent.gateway.limits import Limits
from voiceagent.gateway.messages import parse_earlier
from voiceagent.gateway.metrics import Watch
from voiceagent.gateway.requests import View, parse_view
from voiceagent.gateway.service import Replies
from voiceagent.gateway.talk.outbox import Outbox
from voiceagent.gateway.talk.rtvi import (
    Narrator,
    bot_ready,
    error,
    error_response,
    is_legacy,
    parse_data,
    parse_message,
)
from voiceagent.gateway.talk.transport import PageTransport
from voiceagent.gateway.talk.wire import MAX_MESSAGE_BYTES, Sound, read
from voiceagent.session.assembly import converse_over, make_conversation
from voiceagent.session.clock import WallClock
from voiceagent.session.conversation import Conversation
from voiceagent.session.happenings import Happening, Listener
from voiceagent.session.models import Models
from voiceagent.session.patience import Patience

HEARTBEAT_S = 20.0
"""A peer that answers no ping for so long is gone; nobody else would say so."""
UNVERSIONED = "0.0.0"
"""What a client that names no version of RTVI speaks."""

log = logging.getLogger(__name__)
Listeners = Callable[[], Sequence[Listener]]


class Talks:
    """The spoken conversations of a gateway.

    Args:
        models: shared by all of them.
        config: persona, voice and decoding.
        listeners: makes the listeners of one conversation.
    """

    def __init__(
        self, models: Models, config: Config, *, listeners: Listeners = lambda: []
    ) -> None:
        self.models, self.config, self.listeners = models, config, listeners
        self._stopped: set[asyncio.Event] = set()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Holds one conversation; without an upgrade, says whether there is room for one."""
        replies, view = request.app[REPLIES], _view(request)
        limits = replies.gateway.limits
        socket = web.WebSocketResponse(heartbeat=HEARTBEAT_S, max_msg_size=MAX_MESSAGE_BYTES)
        refusal = self._refusal(replies)
        if not socket.can_prepare(request).ok:
            return web.json_response(
                {"talks": len(self._stopped), "limit": limits.talks, "refusal": refusal}
            )
        await socket.prepare(request)
        stopped = asyncio.Event()
        if refusal is None:
            self._stopped.add(stopped)
            replies.metrics.talks.set(len(self._stopped))
        outbox = Outbox(socket, patience_s=limits.write_s)
        try:
            if refusal is not None:
                replies.metrics.rejected.labels("503").inc()
                return await _refuse(socket, outbox, refusal)
            talk = _Talk(socket, outbox, self, replies=replies, stopped=stopped)
            reports = request.query.get("playout") == "reported"
            await _to_its_end(talk.hold(view, reports=reports), stopped)
        finally:
            self._stopped.discard(stopped)
            replies.metrics.talks.set(len(self._stopped))
            await outbox.close()
            await socket.close()
        return socket

    async def stop(self, app: web.Application) -> None:
        """The server stops: so does every conversation."""
        for stopped in self._stopped:
            stopped.set()

    def _refusal(self, replies: Replies) -> str | None:
        limit = replies.gateway.limits.talks
        if replies.draining:
            return "the server is about to stop"
        if len(self._stopped) >= limit:
            many = "one spoken conversation" if limit == 1 else f"{limit} spoken conversations"
            return (
                f"this server holds {many} at a time, and that is being held: try again when it "
                "is over; typed words are answered meanwhile"
            )
        return None


async def no_talks(request: web.Request) -> web.StreamResponse:
    """A server without models of speech says so."""
    raise web.HTTPNotFound(reason="this server was started without a voice")


async def _to_its_end(holding: Coroutine[Any, Any, None], stopped: asyncio.Event) -> None:
    """A client that goes away cancels its handler; its conversation still ends in good order."""
    task = asyncio.create_task(holding, name="talk")
    try:
        await asyncio.shield(task)
    finally:
        stopped.set()
        await task


async def _refuse(
    socket: web.WebSocketResponse, outbox: Outbox, refusal: str
) -> web.WebSocketResponse:
    """A page does not see why an upgrade is refused: it is told over the socket."""
    outbox.rtvi(error(refusal, fatal=True))
    await outbox.close()
    await socket.close(code=WSCloseCode.TRY_AGAIN_LATER, message=b"no room for a conversation")
    return socket


def _view(request: web.Request) -> View:
    """How our frames are streamed: in the protocol of the query, else as for any voice."""
    asked: dict[str, Any] = {"surface": "voice"}
    if "stream_protocol" in request.query:
        asked["stream_protocol"] = request.query["stream_protocol"]
    asked["retraction"] = request.query.get("retraction") in ("true", "1")
    return parse_view(asked)


class _Talk:
    """One conversation, from the client's first message to its end."""

    def __init__(
        self,
        socket: web.WebSocketResponse,
        outbox: Outbox,
        talks: Talks,
        *,
        replies: Replies,
        stopped: asyncio.Event,
    ) -> None:
        self._socket, self._outbox, self._talks = socket, outbox, talks
        self._replies, self._stopped = replies, stopped
        self._limits: Limits = replies.gateway.limits

    async def hold(self, view: View, *, reports: bool) -> None:
        """Talks until either side ends it."""
        ready = await self._client_ready()
        if ready is None:
            return
        request, version = ready
        conversation = make_conversation(self._talks.config, self._talks.models, clock=WallClock())
        transport = PageTransport(
            conversation, outlet=self._outbox, reports=reports, on_lost=self._lose
        )
        with Watch(self._replies.metrics, view) as watch:
            narrator = Narrator(view, legacy=is_legacy(version), shown=watch.show)
            talking = asyncio.create_task(self._converse(conversation, transport, narrator))
            reading = asyncio.create_task(
                self._read(
                    transport, narrator, ready=bot_ready(request=request, client_version=version)
                )
            )
            slow = asyncio.create_task(self._give_up(transport))
            try:
                await talking
            except VoiceAgentError as failure:
                log.error("a conversation was broken off: %s", failure)
                self._outbox.rtvi(error(str(failure), fatal=True))
            finally:
                for task in (talking, reading, slow):
                    task.cancel()
                await asyncio.gather(talking, reading, slow, return_exceptions=True)
                if not reading.cancelled() and (crash := reading.exception()):
                    log.error("what a client sent could not be taken", exc_info=crash)

    async def _converse(
        self, conversation: Conversation, transport: PageTransport, narrator: Narrator
    ) -> None:
        def tell(happening: Happening) -> None:
            for message in narrator.tell(happening):
                self._outbox.rtvi(message)

        await converse_over(
            transport,
            conversation,
            self._talks.models,
            self._talks.config,
            greets=True,
            patience=Patience(idle_s=self._limits.talk_idle_s),
            listeners=[tell, *self._talks.listeners()],
            ended=transport.mouth.ended,
            stopped=self._stopped,
        )

    async def _give_up(self, transport: PageTransport) -> None:
        """A client that takes nothing more is treated as one that has gone."""
        await self._outbox.is_slow.wait()
        self._replies.metrics.rejected.labels("slow_reader").inc()
        self._stopped.set()

    def _lose(self, why: str) -> None:
        """The client has stopped doing its part."""
        if not self._stopped.is_set():
            log.warning("a conversation was ended: %s", why)
            self._outbox.rtvi(error(why, fatal=True))
            self._stopped.set()

    # What the client sends --------------------------------------------------------------------

    async def _client_ready(self) -> tuple[str, str] | None:
        """The message with which RTVI begins, and the client's version; None if none comes."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._limits.talk_ready_s):
                async for received in self._socket:
                    message = _rtvi_message(received.data)
                    if message is not None and message.type == "client-ready":
                        version = (message.data or {}).get("version")
                        return message.id, version if isinstance(version, str) else UNVERSIONED
        return None

    async def _read(
        self, transport: PageTransport, narrator: Narrator, *, ready: dict[str, Any]
    ) -> None:
        """Takes what comes until the client goes; what is not understood never ends anything."""
        try:
            await transport.mouth.ready.wait()
            self._outbox.rtvi(ready)
            async for received in self._socket:
                taken = read(received.data)
                if isinstance(taken, Sound):
                    await transport.mouth.hear(taken)
                elif taken is not None:
                    await self._take(taken, transport, narrator)
                if transport.mouth.ended.is_set():
                    return
        finally:
            self._stopped.set()  # nobody listens to the client any more

    async def _take(
        self, fields: Mapping[str, Any], transport: PageTransport, narrator: Narrator
    ) -> None:
        request = ""
        try:
            message = parse_message(fields)
            request = message.id
            await self._do(message, transport, narrator)
        except BadRequest as refused:
            self._outbox.rtvi(error_response(request, str(refused)))

    async def _do(
        self, message: rtvi.Message, transport: PageTransport, narrator: Narrator
    ) -> None:
        match message.type:
            case "client-message":
                said = parse_data(rtvi.RawClientMessageData, message.data)
                fields = said.d if isinstance(said.d, Mapping) else {}
                await _obey(said.t, fields, transport, limits=self._limits)
            case "send-text":
                typed = parse_data(rtvi.SendTextData, message.data).content.strip()
                if not 0 < len(typed) <= self._limits.typed_chars:
                    raise BadRequest("content", f"1 to {self._limits.typed_chars} characters")
                narrator.typed(typed, request=message.id)
                await transport.mouth.read(typed)
            case "disconnect-bot":
                transport.mouth.ended.set()
            case "client-ready":
                pass
            case _:
                raise BadRequest("type", "this type of message is not supported")


async def _obey(
    kind: str, fields: Mapping[str, Any], transport: PageTransport, *, limits: Limits
) -> None:
    """What clients of ours say beside RTVI."""
    match kind:
        case "playout":
            transport.ear.report(_count(fields, "played"), cuts=_count(fields, "cuts"))
        case "released":
            await transport.mouth.yield_turn()
        case "earlier":
            transport.mouth.recall(parse_earlier(fields.get("messages"), limits=limits))
        case _:
            raise BadRequest("t", "client messages are playout, released and earlier")


def _rtvi_message(data: object) -> rtvi.Message | None:
    """An RTVI message; None for anything else."""
    received = read(data)
    if isinstance(received, Mapping):
        with contextlib.suppress(BadRequest):
            return parse_message(received)
    return None


def _count(fields: Mapping[str, Any], name: str) -> int:
    value = integer(fields, name, low=0, high=2**53, default=0)
    assert value is not None
    return value
