"""Calls from providers that sign nothing: each shows a key that only its configuration has.

Telnyx can send the key in a header of its own, Vonage and Exotel as a bearer token or a password;
all of them can carry it in the address (``?key=``), which their logs then know.
"""

import base64
import binascii
import hmac
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from aiohttp import web

from voiceagent.telephony.codecs.base import Codec
from voiceagent.telephony.codecs.chan_websocket import ChanWebsocketCodec
from voiceagent.telephony.codecs.exotel import ExotelCodec
from voiceagent.telephony.codecs.plivo import PlivoCodec
from voiceagent.telephony.codecs.telnyx import TelnyxCodec
from voiceagent.telephony.codecs.vonage import VonageCodec
from voiceagent.telephony.sockets import hold_over_socket
from voiceagent.telephony.switchboard import Switchboard

PROVIDERS: Final[Mapping[str, Callable[[], Codec]]] = {
    "asterisk": ChanWebsocketCodec,
    "exotel": ExotelCodec,
    "plivo": PlivoCodec,
    "telnyx": TelnyxCodec,
    "vonage": VonageCodec,
}
TELNYX_HEADER: Final = "x-telnyx-streaming-auth-token"


class ProviderRoutes:
    """One route for each provider, or none without a key.

    Args:
        key: what every one of them has to show.
    """

    def __init__(self, switchboard: Switchboard, *, key: str | None) -> None:
        self._switchboard = switchboard
        self._key = key

    def routes(self) -> list[web.RouteDef]:
        """``/telephony/NAME``."""
        if self._key is None:
            return []
        return [web.get(_path(name), self._answer(codec)) for name, codec in PROVIDERS.items()]

    @property
    def own_doors(self) -> frozenset[str]:
        """Paths that check for themselves who may come in."""
        return frozenset(map(_path, PROVIDERS if self._key is not None else ()))

    def _answer(
        self, codec: Callable[[], Codec]
    ) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def answer(request: web.Request) -> web.StreamResponse:
            if not self._is_known(request):
                raise web.HTTPForbidden(reason="this line wants its key")
            return await hold_over_socket(request, self._switchboard, codec())

        return answer

    def _is_known(self, request: web.Request) -> bool:
        wanted = (self._key or "").encode()
        # Every place is looked at, so that the time says nothing about which one was right.
        matches = [
            hmac.compare_digest(each.encode(errors="surrogatepass"), wanted)
            for each in _keys_shown(request)
        ]
        return any(matches)


def _path(provider: str) -> str:
    return f"/telephony/{provider}"


def _keys_shown(request: web.Request) -> list[str]:
    """What a request offers as a key, wherever."""
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    shown = [request.query.get("key", ""), request.headers.get(TELNYX_HEADER, "")]
    if scheme.lower() == "bearer":
        shown.append(given.strip())
    elif scheme.lower() == "basic":
        shown.append(_password(given))
    return shown


def _password(credentials: str) -> str:
    """The password of HTTP's basic authentication (RFC 7617); empty for what is none."""
    try:
        decoded = base64.b64decode(credentials, validate=True).decode()
    except (binascii.Error, ValueError):
        return ""
    return decoded.partition(":")[2]
