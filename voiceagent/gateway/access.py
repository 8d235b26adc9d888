"""Who may come in: bearer tokens, tickets for WebSockets, and pages of other origins kept out.

A browser cannot send a bearer header with a WebSocket, and it does send requests that pages of
other origins make. So a page buys a ticket with its token: short-lived, for one connection. Every
request that names an origin has to name ours, and a server without a token answers only to names of
this machine, so that no name of somebody else's can be pointed at it.
"""

import hashlib
import hmac
import ipaddress
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from aiohttp import web

from voiceagent.gateway.errors import Handler

TICKET_S = 30.0
"""A ticket is bought just before the connection that it is for."""
MAX_TICKETS = 256
"""Tickets that wait for their connection; the oldest is dropped for one more."""
OPEN_PATHS = ("/", "/healthz", "/readyz", "/openapi.json")
"""What a load balancer and the page itself have to get without a token: nothing secret."""
OPEN_FOLDERS = ("/page/",)


@dataclass(frozen=True, kw_only=True)
class Access:
    """The rules at the door.

    Attributes:
        token: what ``Authorization: Bearer`` has to say; None lets everybody in, which is for
            loopback addresses alone.
        origins: further origins (``https://shop.example``) whose pages may ask.
    """

    token: str | None = None
    origins: Sequence[str] = ()


ACCESS = web.AppKey("access", Access)
OWN_DOORS = web.AppKey("own_doors", frozenset[str])
"""Paths that check for themselves who may come in: a telephone provider signs its requests, and can
send neither a bearer token nor a name of this machine."""


class Tickets:
    """Short-lived rights to open one WebSocket each."""

    def __init__(self) -> None:
        self._expire_s: dict[str, float] = {}

    def buy(self, *, now_s: float) -> str:
        """A new ticket."""
        if len(self._expire_s) >= MAX_TICKETS:
            del self._expire_s[next(iter(self._expire_s))]
        ticket = secrets.token_urlsafe(32)
        self._expire_s[_digest(ticket)] = now_s + TICKET_S
        return ticket

    def use(self, ticket: str, *, now_s: float) -> bool:
        """Whether it was good; it no longer is."""
        return self._expire_s.pop(_digest(ticket), 0.0) > now_s


TICKETS = web.AppKey("tickets", Tickets)


@web.middleware
async def keep_out(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuses strangers before anything of their request is read."""
    if request.path in request.app[OWN_DOORS]:
        return await handler(request)
    access = request.app[ACCESS]
    _check_host(request, access)
    _check_origin(request, access)
    is_open = request.path in OPEN_PATHS or request.path.startswith(OPEN_FOLDERS)
    if not is_open and not _is_known(request, access):
        raise web.HTTPUnauthorized(
            reason="a bearer token is needed: Authorization: Bearer ...",
            headers={"WWW-Authenticate": 'Bearer realm="voiceagent"'},
        )
    return await handler(request)


async def sell_ticket(request: web.Request) -> web.Response:
    """``POST /v1/tickets``: for one WebSocket, which takes it as its parameter ``ticket``."""
    ticket = request.app[TICKETS].buy(now_s=time.monotonic())
    body = {"ticket": ticket, "expires_in_s": TICKET_S}
    return web.json_response(body, headers={"Cache-Control": "no-store"})


def _is_known(request: web.Request, access: Access) -> bool:
    if access.token is None:
        return True
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer" and _same(given.strip(), access.token):
        return True
    ticket = request.query.get("ticket", "")
    is_socket = request.headers.get("Upgrade", "").lower() == "websocket"
    return is_socket and request.app[TICKETS].use(ticket, now_s=time.monotonic())


def _check_origin(request: web.Request, access: Access) -> None:
    origin = request.headers.get("Origin")
    if origin is None or origin in access.origins:
        return
    if urlsplit(origin).netloc.lower() != request.host.lower():
        raise web.HTTPForbidden(reason="pages of that origin may not ask here")


def _check_host(request: web.Request, access: Access) -> None:
    if access.token is None and not is_loopback(_name_of(request.host)):
        raise web.HTTPForbidden(reason="this server answers to names of this machine only")


def is_loopback(host: str) -> bool:
    """Whether a host name or address can only mean this machine."""
    try:
        return host.lower() == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _name_of(host: str) -> str:
    """The host without its port; brackets of an IPv6 address dropped."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _same(given: str, wanted: str) -> bool:
    """Compares in constant time, whatever characters there are."""
    return hmac.compare_digest(_digest(given), _digest(wanted))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
