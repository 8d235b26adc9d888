"""The lines that a server holds beside its HTTP routes, from its configuration."""

import socket
import sys

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from baresip_phone import BaresipPhone, free_port
from phones import AudioSocketPhone, call_config
from talk_doubles import models

from voiceagent.config import ConfigError, Sip, Telephony, load_config
from voiceagent.core.errors import VoiceAgentError
from voiceagent.telephony.service import Telephony as Lines


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
