"""Outgoing calls against a local stand-in for Twilio's REST interface, and Twilio's own library."""

import base64
import logging
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from phones import call_config
from talk_doubles import models
from twilio.base.exceptions import TwilioException
from twilio.http import HttpClient
from twilio.rest import Client

from voiceagent.config import TwilioAccount
from voiceagent.telephony.calls_route import CALLS_PATH
from voiceagent.telephony.numbers import is_number, may_be_called
from voiceagent.telephony.outgoing import RING_S, NotCalled, TwilioCalls
from voiceagent.telephony.service import Telephony

ACCOUNT = TwilioAccount(sid="AC" + "0" * 32, token="12345678901234567890123456789012")
SID = "CA" + "1" * 32
TO, FROM = "+14155550100", "+14155550111"
DOCUMENT = "<Response><Hangup/></Response>"


class Asked:
    """A stand-in for Twilio: it keeps what it is asked, and answers as it is told."""

    def __init__(self, status: int = 201, body: object = None) -> None:
        self.status, self.body = status, {"sid": SID, "status": "queued"} if body is None else body
        self.requests: list[dict[str, object]] = []

    async def answer(self, request: web.Request) -> web.Response:
        """The only thing it can do."""
        self.requests.append(
            {
                "method": request.method,
                "path": request.path,
                "auth": request.headers["Authorization"],
                "fields": dict(await request.post()),
            }
        )
        if isinstance(self.body, str):
            return web.Response(text=self.body, status=self.status)
        return web.json_response(self.body, status=self.status)


@asynccontextmanager
async def twilio(asked: Asked):
    """The stand-in, and a caller that uses it."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", asked.answer)
    async with TestServer(app) as server:
        yield TwilioCalls(
            ACCOUNT,
            caller_id=FROM,
            document=DOCUMENT,
            max_call_s=600.0,
            api_url=str(server.make_url("")).rstrip("/"),
        )


class Recorder(HttpClient):
    """In place of the network in Twilio's own library: keeps the one request that it makes."""

    def __init__(self):
        super().__init__(logging.getLogger("twilio"), False, None)

    def request(self, method, url, params=None, data=None, headers=None, auth=None, **rest):
        self.made = {"method": method, "path": urlsplit(url).path, "auth": auth, "fields": data}
        raise TwilioException("kept")


async def test_a_call_is_placed_as_twilios_own_library_places_it():
    """The same method, path, credentials and fields."""
    asked = Asked()
    async with twilio(asked) as calls:
        assert await calls.place(TO) == SID
    recorder = Recorder()
    theirs = Client(ACCOUNT.sid, ACCOUNT.token, http_client=recorder)
    with pytest.raises(TwilioException):
        theirs.calls.create(to=TO, from_=FROM, twiml=DOCUMENT, timeout=RING_S, time_limit=600)
    [request] = asked.requests
    credentials = base64.b64encode(":".join(recorder.made["auth"]).encode()).decode()
    expected = {key: str(value) for key, value in recorder.made["fields"].items()}
    assert request == {
        "method": recorder.made["method"].upper(),
        "path": recorder.made["path"],
        "auth": f"Basic {credentials}",
        "fields": expected,
    }


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (400, {"code": 21211, "message": "The number +14155550100 is not valid"}, "error 21211"),
        (401, {"code": 20003}, "status 401"),
        (429, {}, "status 429"),
        (500, "<html>", "status 500"),
        (201, {"sid": "../x"}, "status 201"),
        (201, [], "status 201"),
        (302, {}, "status 302"),
    ],
)
async def test_a_refusal_is_told_without_numbers_or_secrets(status, body, said):
    """Nothing of what Twilio was asked or says comes back but its status and code."""
    async with twilio(Asked(status, body)) as calls:
        with pytest.raises(NotCalled, match=said) as refused:
            await calls.place(TO)
    assert TO not in str(refused.value)
    assert ACCOUNT.token not in str(refused.value)


async def test_a_provider_that_cannot_be_reached_is_named():
    """Within a bounded time."""
    calls = TwilioCalls(
        ACCOUNT, caller_id=FROM, document="", max_call_s=1.0, api_url="http://127.0.0.1:9"
    )
    with pytest.raises(NotCalled, match="cannot be reached"):
        await calls.place(TO)
    with pytest.raises(NotCalled, match="TWILIO_ACCOUNT_SID"):
        TwilioCalls(
            TwilioAccount(sid="", token="x" * 32), caller_id=FROM, document="", max_call_s=1.0
        )


@pytest.mark.parametrize(
    "number", ["", "14155550100", "+0123456", "+1415555010x", "+1" * 20, "+1 415", "+١٢٣٤٥٦٧٨"]
)
async def test_what_is_no_number_is_not_called(number):
    """Least of all something that ends up in another field."""
    assert not is_number(number)
    assert not may_be_called(number, ["+", "+1"])
    async with twilio(asked := Asked()) as calls:
        with pytest.raises(NotCalled):
            await calls.place(number)
    assert asked.requests == []


@pytest.fixture
async def served():
    """Our own server, whose calls are placed by the stand-in."""
    config = call_config(
        public_url="https://phone.example.com", caller_id=FROM, may_call=("+1415",), max_calls=1
    )
    telephony = Telephony(models(hears=[]), config, account=ACCOUNT)
    asked = Asked()
    async with twilio(asked) as calls:
        telephony._outgoing.calls = calls
        app = web.Application()
        app.add_routes(telephony.routes)
        async with TestClient(TestServer(app)) as client:
            yield client, telephony, asked


async def test_a_request_places_a_call_and_keeps_a_seat(served):
    """One call, one seat: the next one is refused, as an incoming one would be."""
    client, telephony, asked = served
    async with client.post(CALLS_PATH, json={"to": TO}) as response:
        assert (response.status, await response.json()) == (201, {"call": SID})
    assert telephony.switchboard.is_full
    async with client.post(CALLS_PATH, json={"to": TO}) as response:
        assert response.status == 503
    assert len(asked.requests) == 1
    assert CALLS_PATH not in telephony.own_doors


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"to": "+4930123456"}', 403),
        (b'{"to": "+1415"}', 403),
        (b'{"to": 3}', 400),
        (b"[]", 400),
        (b"\xff", 400),
    ],
)
async def test_only_allowed_numbers_are_called(served, body, status):
    """A token that was stolen dials no premium number."""
    client, _, asked = served
    async with client.post(CALLS_PATH, data=body) as response:
        assert response.status == status
    assert asked.requests == []


def test_the_document_connects_the_answered_call():
    """What Twilio is told to do is what it does with an incoming call."""
    config = call_config(public_url="https://phone.example.com", caller_id=FROM)
    telephony = Telephony(models(hears=[]), config, account=ACCOUNT)
    document = telephony._outgoing.calls._fields["Twiml"]
    assert "wss://phone.example.com/telephony/media-stream" in document
