"""The aiohttp application: routes behind the door, and how it stops."""

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path

from aiohttp import web

from voiceagent import __version__
from voiceagent.core.errors import VoiceAgentError
from voiceagent.gateway.access import (
    ACCESS,
    OWN_DOORS,
    TICKETS,
    Access,
    Tickets,
    keep_out,
    sell_ticket,
)
from voiceagent.gateway.completions import post_completion
from voiceagent.gateway.errors import (
    Handler,
    describe,
    errors_as_json,
    keep_requests_out_of_logs,
)
from voiceagent.gateway.http_replies import REPLIES, get_reply, get_report, post_reply
from voiceagent.gateway.metrics import CONTENT_TYPE
from voiceagent.gateway.openapi import openapi_page
from voiceagent.gateway.service import Gateway, Replies
from voiceagent.gateway.sockets import SOCKETS, close_sockets, socket_replies
from voiceagent.gateway.talk.route import Talks, no_talks

__all__ = ["Access", "Gateway", "make_app"]

PAGE = Path(__file__).parent / "page"
_PAGE_HEADERS = {
    # The page is all ours: nothing from elsewhere runs in it, and nobody frames it.
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; "
    "connect-src 'self' ws: wss:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def make_app(
    gateway: Gateway,
    *,
    access: Access | None = None,
    talks: Talks | None = None,
    routes: Sequence[web.RouteDef] = (),
    own_doors: Iterable[str] = (),
) -> web.Application:
    """Builds the application; nothing is started.

    Args:
        gateway: what answers.
        access: who may come in; by default everybody on this machine.
        talks: holds spoken conversations; None where there are no models for them.
        routes: further ones behind the same door (telephony).
        own_doors: paths of those that check for themselves who may come in.
    """
    keep_requests_out_of_logs()
    app = web.Application(
        client_max_size=gateway.limits.body_bytes,
        middlewares=[errors_as_json, _count_refusals, keep_out],
    )
    app[REPLIES], app[ACCESS], app[TICKETS] = Replies(gateway), access or Access(), Tickets()
    app[OWN_DOORS] = frozenset(own_doors)
    app.add_routes(
        [
            web.get("/", _page),
            web.get("/page/{name}", _page_file),
            web.get("/healthz", _health),
            web.get("/readyz", _ready),
            web.get("/metrics", _metrics),
            web.get("/openapi.json", openapi_page),
            web.get("/v1/models", _models),
            web.get("/v1/models/{model}", _model),
            web.get("/v1/tools", _tools),
            web.post("/v1/tickets", sell_ticket),
            web.get("/v1/replies", socket_replies),
            web.post("/v1/replies", post_reply),
            web.get("/v1/replies/{reply}", get_reply),
            web.get("/v1/replies/{reply}/report", get_report),
            web.post("/v1/chat/completions", post_completion),
            web.get("/v1/talk", no_talks if talks is None else talks.answer),
            *routes,
        ]
    )
    app[SOCKETS] = set()
    if talks is not None:
        app.on_shutdown.append(talks.stop)
    app.on_shutdown.extend([_drain, close_sockets])
    return app


async def _drain(app: web.Application) -> None:
    """Told to stop: nothing new begins, what was promised is finished if it does not take long."""
    replies = app[REPLIES]
    await replies.drain(within_s=replies.gateway.limits.drain_s)


# Small routes ---------------------------------------------------------------------------------


async def _page(request: web.Request) -> web.FileResponse:
    return web.FileResponse(PAGE / "index.html", headers=_PAGE_HEADERS)


async def _page_file(request: web.Request) -> web.FileResponse:
    name = request.match_info["name"]
    known = {path.name for path in PAGE.iterdir() if path.is_file()}
    if name not in known:
        raise web.HTTPNotFound(reason="there is no such file")
    return web.FileResponse(PAGE / name, headers=_PAGE_HEADERS)


async def _health(request: web.Request) -> web.Response:
    return web.json_response({"status": "ok", "version": __version__})


async def _ready(request: web.Request) -> web.Response:
    draining = request.app[REPLIES].draining
    status = "draining" if draining else "ready"
    return web.json_response({"status": status}, status=503 if draining else 200)


async def _metrics(request: web.Request) -> web.Response:
    metrics = request.app[REPLIES].metrics
    metrics.tell_rounds()
    body = await asyncio.to_thread(metrics.exposition)
    return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE})


async def _models(request: web.Request) -> web.Response:
    return web.json_response({"object": "list", "data": [_model_card(request)]})


async def _model(request: web.Request) -> web.Response:
    card = _model_card(request)
    if request.match_info["model"] != card["id"]:
        raise web.HTTPNotFound(reason="there is no such model")
    return web.json_response(card)


def _model_card(request: web.Request) -> dict[str, object]:
    name = request.app[REPLIES].gateway.model
    return {"id": name, "object": "model", "created": 0, "owned_by": "voiceagent"}


async def _tools(request: web.Request) -> web.Response:
    """The manifest of the server's own tools."""
    return web.json_response({"tools": request.app[REPLIES].gateway.registry.manifest()})


@web.middleware
async def _count_refusals(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refusals by status, for the metrics; what they are becomes an answer further out."""
    rejected = request.app[REPLIES].metrics.rejected
    try:
        return await handler(request)
    except VoiceAgentError as error:
        rejected.labels(str(describe(error)[0])).inc()
        raise
    except web.HTTPException as error:
        if error.status >= 400:
            rejected.labels(str(error.status)).inc()
        raise
