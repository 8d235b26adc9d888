"""Providers that sign nothing show a key; with it, each is answered in its own words."""

import base64
import json

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from phones import call_config
from talk_doubles import models

from voiceagent.config import MIN_TOKEN_CHARS, ConfigError, environment_of_tools, line_key
from voiceagent.telephony.provider_routes import PROVIDERS
from voiceagent.telephony.service import Telephony

KEY = "a-key-of-more-than-sixteen-characters"
STARTS = {
    "asterisk": {"event": "MEDIA_START", "connection_id": "1", "channel": "c", "format": "slin"},
    "exotel": {
        "event": "start",
        "start": {
            "stream_sid": "s",
            "call_sid": "c",
            "media_format": {"encoding": "audio/x-raw", "sample_rate": "8000"},
        },
    },
    "plivo": {
        "event": "start",
        "start": {
            "streamId": "s",
            "callId": "c",
            "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": 8000},
        },
    },
    "telnyx": {
        "event": "start",
        "stream_id": "s",
        "start": {
            "call_control_id": "c",
            "media_format": {"encoding": "PCMU", "sample_rate": 8000},
        },
    },
    "vonage": {"event": "websocket:connected", "content-type": "audio/l16;rate=8000"},
}


@pytest.fixture
async def client():
    """A server whose providers show the key."""
    config = call_config(greeting="Hello there.")
    telephony = Telephony(models(hears=[]), config, account=None, key=KEY)
    app = web.Application()
    app.add_routes(telephony.routes)
    async with TestClient(TestServer(app)) as client:
        yield client


def basic(password: str) -> str:
    """HTTP's basic authentication."""
    return "Basic " + base64.b64encode(f"exotel:{password}".encode()).decode()


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_each_provider_is_greeted_in_its_own_words(client, provider):
    """Sound, then its mark, over the provider's own route."""
    async with client.ws_connect(f"/telephony/{provider}?key={KEY}") as socket:
        await socket.send_json(STARTS[provider])
        received = [await socket.receive() for _ in range(4)]
    kinds = [each.type for each in received]
    words = [each.data if isinstance(each.data, str) else "" for each in received]
    is_binary = provider in ("asterisk", "vonage")
    assert (aiohttp.WSMsgType.BINARY in kinds) is is_binary
    assert any("0:160" in text for text in words)
    if not is_binary:
        assert any("payload" in json.loads(text).get("media", {}) for text in words)


@pytest.mark.parametrize(
    ("headers", "is_known"),
    [
        ({"Authorization": f"Bearer {KEY}"}, True),
        ({"Authorization": basic(KEY)}, True),
        ({"x-telnyx-streaming-auth-token": KEY}, True),
        ({}, False),
        ({"Authorization": f"Bearer {KEY}x"}, False),
        ({"Authorization": basic("")}, False),
        ({"Authorization": "Basic %%%"}, False),
        ({"Authorization": "Basic /w=="}, False),
        ({"x-telnyx-streaming-auth-token": ""}, False),
    ],
)
async def test_who_shows_no_key_stays_outside(client, headers, is_known):
    """403, whatever else is shown."""
    if is_known:
        async with client.ws_connect("/telephony/telnyx", headers=headers):
            return
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        await client.ws_connect("/telephony/telnyx", headers=headers)
    assert refused.value.status == 403


async def test_without_a_key_there_are_no_such_routes():
    """Nobody can be let in by a key that is not there."""
    telephony = Telephony(models(hears=[]), call_config(), account=None)
    assert len(telephony.routes) == 1


def test_the_key_is_long_and_no_tool_sees_it(monkeypatch):
    """As with every secret."""
    monkeypatch.setenv("VOICEAGENT_LINE_KEY", "x" * (MIN_TOKEN_CHARS - 1))
    with pytest.raises(ConfigError, match="VOICEAGENT_LINE_KEY"):
        line_key()
    monkeypatch.setenv("VOICEAGENT_LINE_KEY", KEY)
    monkeypatch.setenv("VOICEAGENT_SIP_PASSWORD", "s")
    monkeypatch.setenv("TWILIO_AUTH_TOKEN", "t")
    assert line_key() == KEY
    seen = environment_of_tools(call_id="1")
    assert not {"VOICEAGENT_LINE_KEY", "VOICEAGENT_SIP_PASSWORD", "TWILIO_AUTH_TOKEN"} & set(seen)
