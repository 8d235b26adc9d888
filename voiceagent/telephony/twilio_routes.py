"""Calls over Twilio's media streams, as routes of an aiohttp application.

With an auth token every request has to bear Twilio's signature, and the routes have a door of their
own: a provider cannot send the server's bearer token. Without one there is only the stream, behind
the server's own door: for this machine, and for tests.
"""

from collections import OrderedDict
from dataclasses import dataclass

from aiohttp import web

from voiceagent.config import ConfigError, TwilioAccount
from voiceagent.telephony import twilio
from voiceagent.telephony.codecs.twilio import TwilioCodec
from voiceagent.telephony.sockets import hold_over_socket
from voiceagent.telephony.switchboard import Switchboard

STREAM_PATH = "/telephony/media-stream"
VOICE_PATH = "/telephony/twilio/voice"
THEN_PATH = "/telephony/twilio/then"
MAX_TRANSFERS = 256
"""Callers on their way to a human whom Twilio has not asked about yet."""


@dataclass(frozen=True, kw_only=True)
class Door:
    """How Twilio's requests are known.

    Attributes:
        token: signs them.
        public_url: under which Twilio reaches this server; what a request says of itself is of no
            use behind a proxy.
    """

    token: str
    public_url: str

    def url(self, path: str) -> str:
        """Of a request."""
        return self.public_url + path

    @property
    def stream_url(self) -> str:
        """Of the stream."""
        return "wss" + self.url(STREAM_PATH).removeprefix("https")

    @property
    def answer(self) -> str:
        """The document that connects a call to the stream."""
        return twilio.connect(self.stream_url, then_url=self.url(THEN_PATH))


def door_of(account: TwilioAccount | None, *, public_url: str) -> Door | None:
    """None without an account.

    Raises:
        ConfigError: there is an account and no public URL to sign over.
    """
    if account is None:
        return None
    if not public_url:
        raise ConfigError(
            "TWILIO_AUTH_TOKEN needs telephony.public_url, such as https://phone.example.com: "
            "Twilio's signature is made over the address that it knows"
        )
    return Door(token=account.token, public_url=public_url)


class TwilioRoutes:
    """The routes, and the calls that are on their way to somebody else."""

    def __init__(self, switchboard: Switchboard, *, door: Door | None) -> None:
        self._switchboard = switchboard
        self._door = door
        self._transfers: OrderedDict[str, str] = OrderedDict()

    def routes(self) -> list[web.RouteDef]:
        """The stream, and with a door the documents around it."""
        documents = [web.post(VOICE_PATH, self._voice), web.post(THEN_PATH, self._then)]
        return [web.get(STREAM_PATH, self._stream), *(documents if self._door else [])]

    @property
    def own_doors(self) -> frozenset[str]:
        """Paths that check for themselves who may come in."""
        return frozenset([STREAM_PATH, VOICE_PATH, THEN_PATH] if self._door else [])

    def transfer(self, call: str, to: str) -> None:
        """When the stream of ``call`` has ended, the caller goes on to ``to``."""
        self._transfers[call] = to
        while len(self._transfers) > MAX_TRANSFERS:
            self._transfers.popitem(last=False)

    async def _voice(self, request: web.Request) -> web.Response:
        """A call comes in: take it, or refuse it before it is answered."""
        await self._signed_form(request)
        assert self._door is not None
        if not self._switchboard.promise():
            return _document(twilio.refuse())
        return _document(self._door.answer)

    async def _then(self, request: web.Request) -> web.Response:
        """Its stream has ended: what now?"""
        fields = dict(await self._signed_form(request))
        to = self._transfers.pop(fields.get("CallSid", ""), None)
        return _document(twilio.hang_up() if to is None else twilio.transfer(to))

    async def _signed_form(self, request: web.Request) -> list[tuple[str, str]]:
        form = await request.post()
        fields = [(name, value) for name, value in form.items() if isinstance(value, str)]
        assert self._door is not None
        self._check(request, url=self._door.url(request.path_qs), fields=fields)
        return fields

    def _check(
        self, request: web.Request, *, url: str, fields: list[tuple[str, str]] | None = None
    ) -> None:
        assert self._door is not None
        given = request.headers.get(twilio.SIGNATURE_HEADER, "")
        if not twilio.is_signed(given, token=self._door.token, url=url, fields=fields or []):
            raise web.HTTPForbidden(reason="the request does not bear the provider's signature")

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        """One call."""
        if self._door is not None:
            self._check(request, url=self._door.stream_url)
        return await hold_over_socket(
            request, self._switchboard, TwilioCodec(), transfer=self.transfer
        )


def _document(xml: str) -> web.Response:
    return web.Response(text=xml, content_type="application/xml")
