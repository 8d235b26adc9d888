"""Outgoing calls on request: behind the server's own door, for those who hold its token."""

from aiohttp import web

from voiceagent.telephony.codecs import base
from voiceagent.telephony.events import LineError
from voiceagent.telephony.numbers import may_be_called
from voiceagent.telephony.outgoing import RING_S, Calls, NotCalled
from voiceagent.telephony.switchboard import PROMISE_S, Switchboard

CALLS_PATH = "/telephony/calls"


class CallsRoute:
    """``POST /telephony/calls`` with ``{"to": "+14155550100"}``, if any number may be called."""

    def __init__(self, switchboard: Switchboard) -> None:
        self._switchboard = switchboard
        self._may_call = switchboard.config.telephony.may_call
        self.calls: Calls | None = None
        """Who places them; None while nobody does."""

    def routes(self) -> list[web.RouteDef]:
        """The route."""
        return [web.post(CALLS_PATH, self._call)] if self._may_call else []

    async def _call(self, request: web.Request) -> web.Response:
        to = _number_in(await request.read())
        if not may_be_called(to, self._may_call):
            raise web.HTTPForbidden(reason="telephony.may_call does not allow this number")
        if self.calls is None:
            raise web.HTTPServiceUnavailable(reason="there is no line to call over")
        if not self._switchboard.promise(for_s=RING_S + PROMISE_S):
            raise web.HTTPServiceUnavailable(reason="as many calls are held as may be")
        try:
            call = await self.calls.place(to)
        except NotCalled as error:
            raise web.HTTPBadGateway(reason=str(error)) from error
        return web.json_response({"call": call}, status=201)


def _number_in(body: bytes) -> str:
    try:
        return base.text(base.parse_object(body), "to")
    except LineError as error:
        raise web.HTTPBadRequest(reason=str(error)) from error
