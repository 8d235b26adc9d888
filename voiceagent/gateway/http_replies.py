"""``/v1/replies`` over HTTP: frames as server-sent events, and replies read again."""

import asyncio
import json
import re
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

from aiohttp import web

from voiceagent.core.codec import CodecError, parse_object
from voiceagent.core.frames import AppendFrame, EndFrame, Frame, StartFrame, ToolFrame
from voiceagent.gateway.fields import BadRequest
from voiceagent.gateway.live import LiveReply
from voiceagent.gateway.metrics import Watch
from voiceagent.gateway.requests import View, parse_view
from voiceagent.gateway.service import Replies
from voiceagent.gateway.sse import EventStream, SlowReader, event

REPLIES = web.AppKey("replies", Replies)
MAX_KEY_CHARS = 256
_EVENT_ID = re.compile(r"(?:([\w.-]{1,128}):)?(\d{1,15})")


async def post_reply(request: web.Request) -> web.StreamResponse:
    """Starts a reply and streams it; with ``Last-Event-ID`` goes on with one that is kept."""
    replies = request.app[REPLIES]
    body = await json_body(request)
    name, after = _last_event(request)
    if name is not None:
        return await _stream(request, _kept(replies, name), replies.parse_view(body), after=after)
    wanted = replies.parse(body, append_only=False)
    live = await replies.open(wanted, body=body, key=idempotency_key(request))
    told = replies.announcement(wanted)
    if wanted.stream:
        return await _stream(request, live, wanted.view, after=after, told=told)
    with replies.reading(live, wanted.view) as watch:
        whole = await _whole(live, wanted.view, watch)
    return web.json_response(whole, headers=_headers(live, wanted.view) | told)


async def get_reply(request: web.Request) -> web.StreamResponse:
    """Another subscriber of a reply, or the same one again (``Last-Event-ID``).

    The protocol comes from the query: ``stream_protocol``, ``surface`` and ``retraction``.
    """
    live = _kept(request.app[REPLIES], request.match_info["reply"])
    name, after = _last_event(request)
    if name not in (None, live.name):
        raise BadRequest("Last-Event-ID", "the event belongs to another reply")
    return await _stream(request, live, _view_of_query(request, live), after=after)


async def get_report(request: web.Request) -> web.Response:
    """What the engine did in each round of a kept reply, and what a protocol took back of it."""
    live = _kept(request.app[REPLIES], request.match_info["reply"])
    view = _view_of_query(request, live)
    judged = await asyncio.to_thread(live.assessments, view.protocol)  # milliseconds each
    retractions = [
        {
            "at": each.retraction.at,
            "text": each.retraction.text,
            "replacement": each.replacement,
            "severity": each.judgement.severity.value,
            "visible_s": round(each.retraction.visible_s, 6),
        }
        for each in judged
    ]
    rounds = [each.as_record() for each in live.rounds]
    return web.json_response({"rounds": rounds, "retractions": retractions})


def _view_of_query(request: web.Request, live: LiveReply) -> View:
    query: dict[str, Any] = dict(request.query)
    if "retraction" in query:
        query["retraction"] = query["retraction"] in ("true", "1")
    return parse_view(query) if query.keys() & {"stream_protocol", "surface"} else live.view


async def json_body(request: web.Request) -> object:
    """The decoded body.

    Raises:
        BadRequest: it is no JSON object.
    """
    limits = request.app[REPLIES].gateway.limits
    try:
        async with asyncio.timeout(limits.body_s):
            raw = await request.read()
    except TimeoutError:
        raise web.HTTPRequestTimeout(reason="the body did not come") from None
    try:
        return parse_object(raw, max_bytes=limits.body_bytes)
    except CodecError as error:
        raise BadRequest("body", f"the body cannot be used: {error}") from error


def idempotency_key(request: web.Request) -> str | None:
    """The client's own name for what it asks, so that asking twice is asking once."""
    key = request.headers.get("Idempotency-Key")
    if key is not None and not 1 <= len(key) <= MAX_KEY_CHARS:
        raise BadRequest("Idempotency-Key", f"1 to {MAX_KEY_CHARS} characters are taken")
    return key


def event_json(frame: Frame, view: View) -> str:
    """A frame on the wire; ``start`` says beside it what was used."""
    line = frame.to_json()
    if not isinstance(frame, StartFrame):
        return line
    return f"{line[:-1]},{json.dumps(view.as_fields(), separators=(',', ':'))[1:]}"


async def _stream(
    request: web.Request,
    live: LiveReply,
    view: View,
    *,
    after: int,
    told: Mapping[str, str] | None = None,
) -> web.StreamResponse:
    replies = request.app[REPLIES]
    patience_s = replies.gateway.limits.write_s
    with replies.reading(live, view) as watch:
        async with aclosing(live.read(view, after=after)) as lists:
            events = await EventStream.open(
                request, headers={**_headers(live, view), **(told or {})}, patience_s=patience_s
            )
            try:
                async for frames in lists:
                    watch.show(frames)
                    await events.send(*(_event(live, view, frame) for frame in frames))
            except SlowReader:
                replies.metrics.rejected.labels("slow_reader").inc()
    return await events.close()


async def _whole(live: LiveReply, view: View, watch: Watch) -> dict[str, Any]:
    """Everything at once, for a client that does not stream."""
    text, calls, end = "", [], None
    async with aclosing(live.read(view)) as lists:
        frames = [frame async for each in lists for frame in each]
    watch.show(frames)
    for frame in frames:
        match frame:
            case AppendFrame():
                text += frame.text
            case ToolFrame():
                calls.append(_call(frame))
            case EndFrame():
                end = frame
    return {
        "reply": live.name,
        "stream_protocol": view.protocol.value,
        **view.as_fields(),
        "text": text,
        "tools": calls,
        "reason": end.reason.value if end else None,
        "usage": dict(end.usage) if end else {},
        "statistics": dict(end.statistics) if end else {},
    }


def _event(live: LiveReply, view: View, frame: Frame) -> str:
    return event(event_json(frame, view), identity=f"{live.name}:{frame.seq}")


def _call(frame: ToolFrame) -> dict[str, Any]:
    arguments = dict(frame.arguments)
    return {"call_id": frame.call_id, "name": frame.name, "arguments": arguments}


def _headers(live: LiveReply, view: View) -> dict[str, str]:
    return {"X-Reply": live.name, **view.as_headers()}


def _kept(replies: Replies, name: str) -> LiveReply:
    live = replies.find(name)
    if live is None:
        raise web.HTTPNotFound(reason="no such reply is kept (any more)")
    return live


def _last_event(request: web.Request) -> tuple[str | None, int]:
    """The reply and the ``seq`` of the last event that the client has."""
    given = request.headers.get("Last-Event-ID", "")
    if not given:
        return None, -1
    match = _EVENT_ID.fullmatch(given)
    if match is None:
        raise BadRequest("Last-Event-ID", "not an event of this server")
    return match[1], int(match[2])
