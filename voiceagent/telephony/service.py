"""All lines of one server, as ``voiceagent serve --telephony`` has them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from aiohttp import web

from voiceagent.config import Config, TwilioAccount, sip_password
from voiceagent.core.errors import VoiceAgentError
from voiceagent.session.models import Models
from voiceagent.telephony.audiosocket import AudioSocketServer
from voiceagent.telephony.calls_route import CallsRoute
from voiceagent.telephony.outgoing import TwilioCalls
from voiceagent.telephony.provider_routes import ProviderRoutes
from voiceagent.telephony.switchboard import Switchboard
from voiceagent.telephony.twilio_routes import TwilioRoutes, door_of

if TYPE_CHECKING:
    from voiceagent.telephony.sip import SipServer


class Telephony:
    """Answers calls over what the configuration names.

    Args:
        models: shared by all calls.
        config: with the tools that calls have (``call_tools.with_call_tools``).
        account: Twilio's; without one its stream is behind the server's own door.
        key: what the other providers have to show; without one they have no routes.

    Raises:
        ConfigError: there is an account and no public URL.
        NotCalled: there is a number to call from, and no account to pay for it.
    """

    def __init__(
        self,
        models: Models,
        config: Config,
        *,
        account: TwilioAccount | None,
        key: str | None = None,
    ) -> None:
        self._config = config
        self.switchboard = Switchboard(models, config)
        door = door_of(account, public_url=config.telephony.public_url)
        self._twilio = TwilioRoutes(self.switchboard, door=door)
        self._outgoing = CallsRoute(self.switchboard)
        if account is not None and door is not None and config.telephony.caller_id:
            self._outgoing.calls = TwilioCalls(
                account,
                caller_id=config.telephony.caller_id,
                document=door.answer,
                max_call_s=config.telephony.max_call_s,
            )
        self._others = ProviderRoutes(self.switchboard, key=key)

    @property
    def routes(self) -> Sequence[web.RouteDef]:
        """For the HTTP server."""
        return [
            *self._twilio.routes(),
            *self._others.routes(),
            *self._outgoing.routes(),
        ]

    @property
    def own_doors(self) -> frozenset[str]:
        """Paths of those that check for themselves who may come in."""
        return self._twilio.own_doors | self._others.own_doors

    async def listen(self, app: web.Application) -> AsyncIterator[None]:
        """Holds the lines that come over no HTTP for as long as the server runs.

        Raises:
            VoiceAgentError: a port is taken, or not for this user.
        """
        async with AsyncExitStack() as stack:
            if self._config.telephony.audiosocket_port:
                stack.push_async_callback((await self._answer_audiosocket()).close)
            if self._config.telephony.sip.user:
                stack.push_async_callback((await self._answer_sip()).close)
            yield

    async def _answer_audiosocket(self) -> AudioSocketServer:
        telephony, server = self._config.telephony, AudioSocketServer(self.switchboard)
        try:
            await server.listen(telephony.audiosocket_host, telephony.audiosocket_port)
        except OSError as error:
            raise VoiceAgentError(f"cannot answer AudioSocket calls: {error}") from error
        return server

    async def _answer_sip(self) -> "SipServer":
        try:
            from voiceagent.telephony.sip import SipServer
        except ImportError as error:
            raise VoiceAgentError("SIP needs its extra: pip install 'voiceagent[sip]'") from error
        server = SipServer(self.switchboard)
        await server.listen(self._config.telephony.sip, password=sip_password())
        self._outgoing.calls = self._outgoing.calls or server
        return server
