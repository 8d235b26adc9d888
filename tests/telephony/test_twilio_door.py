"""Twilio's own door: signed requests come in without the server's token, and nothing else does."""

import asyncio
import xml.etree.ElementTree as ET

import aiohttp
import pytest
from aiohttp.test_utils import TestClient, TestServer
from gateway_doubles import playing, said
from phones import call_config
from talk_doubles import models
from twilio.request_validator import RequestValidator

from voiceagent.config import ConfigError, TwilioAccount
from voiceagent.gateway.access import Access
from voiceagent.gateway.app import Gateway, make_app
from voiceagent.telephony.service import Telephony
from voiceagent.telephony.twilio_routes import STREAM_PATH, THEN_PATH, VOICE_PATH, door_of

ACCOUNT = TwilioAccount(sid="AC1", token="12345678901234567890123456789012")
PUBLIC = "https://phone.example.com"
FORM = {"CallSid": "CA1", "From": "+14155550100"}


def signed(url: str, form: dict[str, str] | None = None) -> dict[str, str]:
    """The header that Twilio sends, by its own library; the name is that of a proxy's far side."""
    signature = RequestValidator(ACCOUNT.token).compute_signature(url, form or {})
    return {"X-Twilio-Signature": signature, "Host": "phone.example.com"}


@pytest.fixture
async def served():
    """The whole server, with a token and an account."""
    config = call_config(public_url=PUBLIC, max_calls=2)
    telephony = Telephony(models(hears=[]), config, account=ACCOUNT)
    app = make_app(
        Gateway(source=playing(*said("Hi.")), model="tiny", max_tokens=8),
        access=Access(token="a-token-of-thirty-two-characters"),
        routes=telephony.routes,
        own_doors=telephony.own_doors,
    )
    async with TestClient(TestServer(app)) as client:
        yield client, telephony


async def ask(client: TestClient, path: str) -> ET.Element:
    """A signed request for a document."""
    headers = signed(PUBLIC + path, FORM)
    async with client.post(path, data=FORM, headers=headers) as response:
        assert response.status == 200
        assert response.content_type == "application/xml"
        return ET.fromstring(await response.text())


async def test_a_signed_call_is_connected_to_the_public_address(served):
    """Whatever name the request came under: behind a proxy it is another."""
    client, _ = served
    answer = await ask(client, VOICE_PATH)
    assert answer.find("Connect").get("action") == PUBLIC + THEN_PATH
    assert answer.find("Connect/Stream").get("url") == "wss://phone.example.com" + STREAM_PATH


async def test_a_call_that_finds_no_seat_is_refused_before_it_is_answered(served):
    """Seats are promised with the answer, so that no stream is turned away a second later."""
    client, _ = served
    answers = [await ask(client, VOICE_PATH) for _ in range(3)]
    assert [answer[0].tag for answer in answers] == ["Connect", "Connect", "Reject"]


async def test_a_caller_on_the_way_to_a_human_is_dialled_once(served):
    """What Twilio asks when the stream has ended; for every other call it hangs up."""
    client, telephony = served
    telephony._twilio.transfer("CA1", "+14155550199")
    assert (await ask(client, THEN_PATH)).findtext("Dial") == "+14155550199"
    assert (await ask(client, THEN_PATH))[0].tag == "Hangup"


async def test_a_signed_stream_is_taken_and_an_unsigned_one_is_not(served):
    """Over its wss address, without a token; another scheme, path or nobody's signature is 403."""
    client, telephony = served
    right = "wss://phone.example.com" + STREAM_PATH
    async with client.ws_connect(STREAM_PATH, headers=signed(right)):
        assert telephony.switchboard.calls == 1
    wrong = [signed(PUBLIC + STREAM_PATH), signed(right + "/"), {}, {"X-Twilio-Signature": "é"}]
    for headers in wrong:
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await client.ws_connect(STREAM_PATH, headers=headers)
        assert refused.value.status == 403


@pytest.mark.parametrize("path", [VOICE_PATH, THEN_PATH])
async def test_an_unsigned_request_gets_no_document(served, path):
    """Nor does one whose form was changed on the way."""
    client, _ = served
    headers = [{}, signed(PUBLIC + path, FORM | {"From": "+1"}), signed(PUBLIC + path)]
    for each in headers:
        async with client.post(path, data=FORM, headers=each) as response:
            assert response.status == 403


async def test_the_rest_of_the_server_still_wants_its_token(served):
    """A signature opens the telephone's doors alone."""
    client, _ = served
    headers = signed(PUBLIC + "/v1/models")
    async with client.get("/v1/models", headers=headers) as response:
        assert response.status == 401


async def test_without_an_account_the_stream_is_behind_the_common_door():
    """And there is nothing to ask for documents."""
    telephony = Telephony(models(hears=[]), call_config(), account=None)
    assert [route.path for route in telephony.routes] == [STREAM_PATH]
    assert telephony.own_doors == frozenset()


def test_an_account_needs_the_address_that_is_signed():
    """And never shows its token."""
    with pytest.raises(ConfigError, match=r"telephony\.public_url"):
        door_of(ACCOUNT, public_url="")
    assert ACCOUNT.token not in repr(ACCOUNT)


async def test_a_full_server_refuses_a_stream(served):
    """With 503; when a call ends, the next is taken."""
    client, telephony = served
    headers = signed("wss://phone.example.com" + STREAM_PATH)
    async with (
        client.ws_connect(STREAM_PATH, headers=headers),
        client.ws_connect(STREAM_PATH, headers=headers),
    ):
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await client.ws_connect(STREAM_PATH, headers=headers)
        assert refused.value.status == 503
    async with asyncio.timeout(10):
        while telephony.switchboard.calls:
            await telephony.switchboard.changed.wait()
