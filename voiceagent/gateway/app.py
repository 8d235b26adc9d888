"""The aiohttp application: routes, errors in OpenAI's form, server-sent events."""

import json
import time
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from voiceagent import __version__
from voiceagent.core.frames import AppendFrame, EndFrame, Frame
from voiceagent.decoding.errors import ContextOverflow, EngineError
from voiceagent.gateway.replies import ReplySource, frames_of
from voiceagent.gateway.requests import (
    MAX_BODY_BYTES,
    BadRequest,
    ReplyRequest,
    parse_request,
)


@dataclass(frozen=True, kw_only=True)
class Gateway:
    """What the routes need.

    Attributes:
        source: decodes replies.
        model: the name that ``/v1/models`` lists.
        max_tokens: the most tokens of one reply.
    """

    source: ReplySource
    model: str
    max_tokens: int


_UNFINISHED = "the engine could not finish this reply"
_GATEWAY = web.AppKey("gateway", Gateway)


def make_app(gateway: Gateway) -> web.Application:
    """Builds the application; nothing is started."""
    app = web.Application(client_max_size=MAX_BODY_BYTES, middlewares=[_errors_as_json])
    app[_GATEWAY] = gateway
    app.add_routes(
        [
            web.get("/healthz", _health),
            web.get("/v1/models", _models),
            web.post("/v1/replies", _replies),
            web.post("/v1/chat/completions", _chat_completions),
        ]
    )
    return app


# Routes ---------------------------------------------------------------------------------------


async def _health(request: web.Request) -> web.Response:
    return web.json_response({"status": "ok", "version": __version__})


async def _models(request: web.Request) -> web.Response:
    model = {"id": request.app[_GATEWAY].model, "object": "model", "owned_by": "voiceagent"}
    return web.json_response({"object": "list", "data": [model]})


async def _replies(request: web.Request) -> web.StreamResponse:
    """Frames of docs/stream-protocol.md, one per server-sent event."""
    wanted = parse_request(await _json_body(request), append_only=False)
    frames = _frames(request, wanted)
    async with aclosing(frames):
        first = await anext(frames)  # a refusal of the engine comes before any byte of the answer
        response = await _open_events(request, wanted)
        await _send(response, first.to_json(), identity=first.seq)
        async for frame in frames:
            await _send(response, frame.to_json(), identity=frame.seq)
    await response.write_eof()
    return response


async def _chat_completions(request: web.Request) -> web.StreamResponse:
    wanted = parse_request(await _json_body(request), append_only=True)
    frames = _frames(request, wanted)
    completion = _Completion(model=request.app[_GATEWAY].model)
    async with aclosing(frames):
        first = await anext(frames)
        if not wanted.stream:
            whole = await completion.whole(frames)
            return web.json_response(whole, headers=_protocol_header(wanted))
        response = await _open_events(request, wanted)
        await _send(response, completion.chunk(first))
        async for frame in frames:
            if isinstance(frame, AppendFrame | EndFrame):
                await _send(response, completion.chunk(frame))
    await _send(response, "[DONE]")
    await response.write_eof()
    return response


def _frames(request: web.Request, wanted: ReplyRequest) -> AsyncGenerator[Frame, None]:
    gateway = request.app[_GATEWAY]
    return frames_of(
        wanted,
        reply_id=f"reply-{uuid.uuid4().hex}",
        source=gateway.source,
        max_tokens=gateway.max_tokens,
    )


# OpenAI's shapes ------------------------------------------------------------------------------


class _Completion:
    """One reply in the shape of OpenAI's chat completions."""

    def __init__(self, *, model: str) -> None:
        self._head = {
            "id": f"chatcmpl-{uuid.uuid4().hex}",
            "created": int(time.time()),
            "model": model,
        }

    def chunk(self, frame: Frame) -> str:
        """One frame as the data of one event."""
        if isinstance(frame, EndFrame) and not frame.reason.is_complete:
            return json.dumps(_error_body(500, _UNFINISHED))
        delta: dict[str, str] = {"role": "assistant"}
        finish = None
        if isinstance(frame, AppendFrame):
            delta = {"content": frame.text}
        elif isinstance(frame, EndFrame):
            delta, finish = {}, frame.reason.value
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return json.dumps(
            {**self._head, "object": "chat.completion.chunk", "choices": [choice]},
            ensure_ascii=False,
        )

    async def whole(self, frames: AsyncGenerator[Frame, None]) -> dict[str, Any]:
        """All frames as one answer."""
        text, finish = "", ""
        async for frame in frames:
            if isinstance(frame, AppendFrame):
                text += frame.text
            elif isinstance(frame, EndFrame):
                if not frame.reason.is_complete:
                    raise web.HTTPInternalServerError(reason=_UNFINISHED)
                finish = frame.reason.value  # stop and length are OpenAI's words too
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": finish}
        return {**self._head, "object": "chat.completion", "choices": [choice]}


# Plumbing -------------------------------------------------------------------------------------


async def _json_body(request: web.Request) -> object:
    try:
        return await request.json()
    except ValueError as error:  # JSON and UTF-8 errors alike
        raise BadRequest("body", f"the body is not JSON: {error}") from error


async def _open_events(request: web.Request, wanted: ReplyRequest) -> web.StreamResponse:
    response = web.StreamResponse(
        headers={
            "Content-Type": "text/event-stream",
            "Cache-Control": "no-store",
            **_protocol_header(wanted),
        }
    )
    await response.prepare(request)
    return response


def _protocol_header(wanted: ReplyRequest) -> dict[str, str]:
    """The answer names the protocol it used."""
    return {"X-Stream-Protocol": wanted.protocol.value}


async def _send(response: web.StreamResponse, data: str, *, identity: int | None = None) -> None:
    head = "" if identity is None else f"id: {identity}\n"
    await response.write(f"{head}data: {data}\n\n".encode())


@web.middleware
async def _errors_as_json(request: web.Request, handler: Any) -> web.StreamResponse:
    try:
        response: web.StreamResponse = await handler(request)
        return response
    except BadRequest as error:
        return _error(400, str(error), field=error.field)
    except ContextOverflow as error:
        return _error(400, str(error), field="messages")
    except EngineError as error:
        return _error(503, str(error))
    except web.HTTPException as error:
        return _error(error.status, error.reason)


def _error(status: int, message: str, *, field: str | None = None) -> web.Response:
    return web.json_response(_error_body(status, message, field=field), status=status)


def _error_body(status: int, message: str, *, field: str | None = None) -> dict[str, Any]:
    kind = "invalid_request_error" if status < 500 else "server_error"
    return {"error": {"message": message, "type": kind, "param": field, "code": None}}
