"""``/v1/replies`` over WebSocket: the same frames, and a way for the client to talk back.

A client sends JSON objects with a ``type``: ``reply`` (the fields of a request), ``subscribe``
(``reply``, ``after`` and the fields of a view), ``cancel``, ``heard`` (``to``), ``confirm`` and
``void``, each with the ``reply`` it is about. Each reply on the socket is a stream of its own:
``seq`` counts from 0 for each. ``request`` may be any string and comes back on ``start``.
"""

import asyncio
import json
from collections.abc import Mapping
from contextlib import ExitStack, aclosing, suppress
from typing import Any

from aiohttp import WSCloseCode, WSMsgType, web

from voiceagent.core.codec import CodecError, parse_object
from voiceagent.core.errors import VoiceAgentError
from voiceagent.gateway.errors import describe
from voiceagent.gateway.fields import BadRequest, integer, text
from voiceagent.gateway.http_replies import REPLIES, event_json
from voiceagent.gateway.live import LiveReply
from voiceagent.gateway.metrics import Watch
from voiceagent.gateway.requests import View
from voiceagent.gateway.service import Replies, Unavailable

HEARTBEAT_S = 20.0
"""A peer that answers no ping for so long is gone; nobody else would say so."""
SOCKETS = web.AppKey("sockets", set[web.WebSocketResponse])


async def socket_replies(request: web.Request) -> web.StreamResponse:
    """Serves one WebSocket to its end."""
    replies = request.app[REPLIES]
    if len(request.app[SOCKETS]) >= replies.gateway.limits.connections:
        raise Unavailable("as many sockets are open as may be: try again in a moment")
    socket = web.WebSocketResponse(
        heartbeat=HEARTBEAT_S, max_msg_size=replies.gateway.limits.body_bytes
    )
    await socket.prepare(request)
    request.app[SOCKETS].add(socket)
    try:
        await _Conversation(socket, replies).hold()
    finally:
        request.app[SOCKETS].discard(socket)
    return socket


async def close_sockets(app: web.Application) -> None:
    """The server stops: whoever is still connected is told so."""
    for socket in app[SOCKETS].copy():
        await socket.close(code=WSCloseCode.GOING_AWAY, message=b"the server stops")


class _Conversation:
    """One WebSocket: what its client asks for, and the replies it follows."""

    def __init__(self, socket: web.WebSocketResponse, replies: Replies) -> None:
        self._socket, self._replies = socket, replies
        self._following: dict[str, asyncio.Task[None]] = {}

    async def hold(self) -> None:
        try:
            async for message in self._socket:
                if message.type is WSMsgType.TEXT:
                    await self._take(message.data)
                elif message.type is WSMsgType.BINARY:
                    await self._refuse(BadRequest("message", "messages are JSON text"), {})
        finally:
            following = list(self._following.values())
            for task in following:
                task.cancel()
            await asyncio.gather(*following, return_exceptions=True)

    async def _take(self, line: str) -> None:
        fields: Mapping[str, Any] = {}
        try:
            limit = self._replies.gateway.limits.body_bytes
            fields = parse_object(line, max_bytes=limit)
            await self._do(fields)
        except CodecError as error:
            await self._refuse(BadRequest("message", f"not a message: {error}"), fields)
        except VoiceAgentError as error:
            await self._refuse(error, fields)

    async def _do(self, fields: Mapping[str, Any]) -> None:
        match fields.get("type"):
            case "reply":
                await self._open(fields)
            case "subscribe":
                self._subscribe(fields)
            case "cancel" | "heard" | "confirm" | "void":
                self._say(fields)
            case _:
                raise BadRequest(
                    "type", "type must be reply, subscribe, cancel, heard, confirm or void"
                )

    async def _open(self, fields: Mapping[str, Any]) -> None:
        self._check_room()
        wanted = self._replies.parse(fields, append_only=False)
        live = await self._replies.open(wanted, body=dict(fields))
        self._follow(live, wanted.view, after=-1, request=fields.get("request"))

    def _subscribe(self, fields: Mapping[str, Any]) -> None:
        live = self._find(fields)
        if live.name not in self._following:
            self._check_room()
        after = integer(fields, "after", low=-1, high=2**53, default=-1)
        named = fields.keys() & {"stream_protocol", "surface", "retraction"}
        view = self._replies.parse_view(fields) if named else live.view
        self._follow(
            live, view, after=-1 if after is None else after, request=fields.get("request")
        )

    def _say(self, fields: Mapping[str, Any]) -> None:
        """What is said to a reply that is over says nothing new."""
        live = self._find(fields)
        author = self._replies.author(live.name)
        kind = fields["type"]
        if kind == "heard":
            to = integer(fields, "to", low=0, high=2**53, default=None)
            if to is None:
                raise BadRequest("to", "to must be a position")
            if author is not None:
                author.hear(to)
        elif author is not None:
            {"cancel": author.cancel, "confirm": author.confirm, "void": author.void}[kind]()

    def _find(self, fields: Mapping[str, Any]) -> LiveReply:
        name = text(fields, "reply")
        live = self._replies.find(name)
        if live is None:
            raise BadRequest("reply", "no such reply is kept (any more)", code="not_found")
        return live

    def _check_room(self) -> None:
        limit = self._replies.gateway.limits.replies_per_socket
        if len(self._following) >= limit:
            raise BadRequest("type", f"this socket follows {limit} replies already")

    # Frames out ---------------------------------------------------------------------------------

    def _follow(self, live: LiveReply, view: View, *, after: int, request: object) -> None:
        """Begins a stream; one of the same reply that this socket follows already gives way.

        It counts as a reader from now on: a task that is cancelled before it first runs would never
        say that the reply is deserted.
        """
        reading = ExitStack()
        watch = reading.enter_context(self._replies.reading(live, view))
        last = self._following.pop(live.name, None)
        sending = self._send_all(live, view, watch, after=after, request=request)
        task = asyncio.create_task(sending)
        self._following[live.name] = task
        task.add_done_callback(lambda done: self._forget(live.name, done))
        task.add_done_callback(lambda done: reading.close())
        if last is not None:
            last.cancel()

    def _forget(self, name: str, task: asyncio.Task[None]) -> None:
        if self._following.get(name) is task:
            del self._following[name]

    async def _send_all(
        self, live: LiveReply, view: View, watch: Watch, *, after: int, request: object
    ) -> None:
        extra = f',"request":{json.dumps(request)}}}' if isinstance(request, str) else "}"
        with suppress(ConnectionError):
            async with aclosing(live.read(view, after=after)) as lists:
                async for frames in lists:
                    watch.show(frames)
                    for frame in frames:
                        line = event_json(frame, view)
                        await self._send(line[:-1] + extra if frame.type == "start" else line)

    async def _send(self, line: str) -> None:
        """One message, to a client that has to keep reading."""
        patience_s = self._replies.gateway.limits.write_s
        try:
            async with asyncio.timeout(patience_s):
                await self._socket.send_str(line)
        except TimeoutError:
            self._replies.metrics.rejected.labels("slow_reader").inc()
            closing = self._socket.close(
                code=WSCloseCode.POLICY_VIOLATION, message=b"slow reader: nothing was taken"
            )
            with suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await closing
            raise ConnectionResetError("slow reader") from None

    async def _refuse(self, error: VoiceAgentError, fields: Mapping[str, Any]) -> None:
        """An error that belongs to no stream: it has no ``seq``."""
        status, body = describe(error)
        self._replies.metrics.rejected.labels(str(status)).inc()
        line = {**body["error"], "type": "error", "status": status}
        line["code"] = line["code"] or ("bad_request" if status < 500 else "unavailable")
        if isinstance(fields.get("request"), str):
            line["request"] = fields["request"]
        if isinstance(fields.get("reply"), str):
            line["reply"] = fields["reply"]
        with suppress(ConnectionError):
            await self._send(json.dumps(line, ensure_ascii=False))
