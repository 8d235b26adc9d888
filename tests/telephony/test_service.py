"""The lines that a server holds beside its HTTP routes, from its configuration."""

import asyncio
import random
import socket
import sys

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from baresip_phone import BaresipPhone, free_port
from phones import AudioSocketPhone, MediaStreamPhone, call_config
from talk_doubles import models

from voiceagent.config import ConfigError, Sip, Telephony, load_config
from voiceagent.core.errors import VoiceAgentError
from voiceagent.telephony.provider_routes import PROVIDERS
from voiceagent.telephony.service import Telephony as Lines

KEY = "a-key-of-more-than-sixteen-characters"


def application(config) -> web.Application:
    """A server with the lines of a configuration."""
    app = web.Application()
    app.cleanup_ctx.append(Lines(models(hears=[]), config, account=None).listen)
    return app


async def test_audiosocket_and_sip_are_answered_as_long_as_the_server_runs(tmp_path):
    """Both greet; when the server stops, nothing listens any more and nobody is held."""
    port, sip_port = free_port(), free_port()
    config = call_config(
        greeting="Hello there.",
        audiosocket_port=port,
        sip=Sip(user="bob", listen=f"127.0.0.1:{sip_port}", rtp_ports="21200-21300"),
    )
    sip_phone = BaresipPhone(tmp_path / "phone")
    sip_phone.says(AudioSocketPhone.silence(60.0))
    async with (
        TestClient(TestServer(application(config))),
        sip_phone.calling(f"sip:bob@127.0.0.1:{sip_port}"),
    ):
        await sip_phone.until_established()
        async with AudioSocketPhone.calling(port) as phone:
            await phone.until(lambda: phone.sounding() > 10)
    with pytest.raises(ConnectionRefusedError):
        async with AudioSocketPhone.calling(port):
            pass


async def test_a_port_that_is_taken_stops_the_start():
    """With one line that names what is wrong."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        config = call_config(audiosocket_port=holder.getsockname()[1])
        with pytest.raises(VoiceAgentError, match="AudioSocket"):
            async with TestClient(TestServer(application(config))):
                pass


async def test_sip_without_its_extra_names_the_extra(monkeypatch):
    """Nobody has to guess what to install."""
    monkeypatch.setitem(sys.modules, "voiceagent.telephony.sip", None)
    with pytest.raises(VoiceAgentError, match=r"voiceagent\[sip\]"):
        async with TestClient(TestServer(application(call_config(sip=Sip(user="bob"))))):
            pass


def test_the_configuration_has_a_table_for_the_telephone(tmp_path):
    """Every key of it can be written down, the user agent's among them."""
    path = tmp_path / "phone.toml"
    path.write_text(
        '[telephony]\npublic_url = "https://phone.example.com"\nmay_call = ["+4930"]\n'
        'max_call_s = 600\n[telephony.sip]\nuser = "agent"\ncodecs = ["pcma"]\n'
    )
    telephony = load_config(path).telephony
    assert telephony == Telephony(
        public_url="https://phone.example.com",
        may_call=("+4930",),
        max_call_s=600.0,
        sip=Sip(user="agent", codecs=("pcma",)),
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("public_url", "http://phone.example.com"), ("public_url", "https://a.example/")),
        *(("max_calls", 0), ("max_call_s", 0.0), ("idle_s", float("inf"))),
        ("audiosocket_port", 70_000),
    ],
)
def test_what_no_call_could_be_answered_with_is_refused(key, value):
    """By the name of the key."""
    with pytest.raises(ConfigError, match=rf"telephony\.{key}"):
        Telephony(**{key: value})


ALL_LINES = ["/telephony/media-stream", *(f"/telephony/{name}?key={KEY}" for name in PROVIDERS)]


@pytest.mark.parametrize("path", ALL_LINES)
async def test_noise_on_a_live_socket_harms_nobody(path):
    """Whatever comes, before a call has begun: the connection ends in order, the seat is free, and
    the call beside it goes on."""
    chance = random.Random(path)
    lines = Lines(models(hears=[]), call_config(max_calls=2), account=None, key=KEY)
    app = web.Application()
    app.add_routes(lines.routes)
    async with TestClient(TestServer(app)) as client, MediaStreamPhone.calling(client) as phone:
        async with client.ws_connect(path) as socket:
            for _ in range(200):
                noise = chance.randbytes(chance.randrange(600))
                if chance.random() < 0.5:
                    await socket.send_bytes(noise)
                else:
                    await socket.send_str(noise.decode("latin-1"))
        while lines.switchboard.calls > 1:
            await lines.switchboard.changed.wait()
        assert not phone.closed.is_set()


async def test_noise_on_a_live_audiosocket_harms_nobody():
    """Bytes of any kind, in a call and before it; the call beside them is greeted."""
    chance, port = random.Random(0), free_port()
    config = call_config(greeting="Hello there.", audiosocket_port=port)
    async with TestClient(TestServer(application(config))):
        for begins in (False, True):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            if begins:
                writer.write(b"\x01\x00\x10" + bytes(16))
            for _ in range(100):
                writer.write(chance.randbytes(chance.randrange(400)))
            await writer.drain()
            writer.close()
        async with AudioSocketPhone.calling(port) as phone:
            await phone.until(lambda: phone.sounding() > 10)
