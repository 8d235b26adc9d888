"""The door: tokens, tickets, origins, names of this machine, TLS; and how a server stops."""

import asyncio
import logging
import shutil
import ssl
import subprocess
import sys

import aiohttp
import pytest
from gateway_doubles import (
    ASK,
    ScriptedSource,
    final_text,
    frames_of,
    playing,
    said,
    serving,
    until_end,
)

from voiceagent import cli
from voiceagent.config import MIN_TOKEN_CHARS, ConfigError, bearer_token, environment_of_tools
from voiceagent.gateway.access import MAX_TICKETS, TICKET_S, Access, Tickets
from voiceagent.gateway.http_replies import REPLIES
from voiceagent.gateway.limits import Limits

TOKEN = "a-token-of-thirty-two-characters"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
LOCKED = Access(token=TOKEN, origins=("https://shop.example",))


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/replies"),
        ("POST", "/v1/chat/completions"),
        ("GET", "/v1/models"),
        ("GET", "/v1/replies/x"),
        ("GET", "/v1/replies/x/report"),
        ("GET", "/v1/replies"),
        ("POST", "/v1/tickets"),
        ("GET", "/metrics"),
        ("GET", "/v1/tools"),
        ("GET", "/no/such/path"),
    ],
)
@pytest.mark.parametrize("given", [None, "Bearer wrong", f"Basic {TOKEN}", "Bearer ", "Bearer é"])
async def test_without_the_token_nobody_comes_in(method, path, given):
    """401 with a challenge, whatever is behind the door."""
    headers = {} if given is None else {"Authorization": given}
    async with (
        serving(playing(*said("Hi.")), access=LOCKED) as client,
        client.request(method, path, headers=headers) as response,
    ):
        assert response.status == 401
        assert response.headers["WWW-Authenticate"].startswith("Bearer")
        assert (await response.json())["error"]["type"] == "invalid_request_error"


async def test_with_the_token_everything_is_there():
    """And what holds nothing secret is there for everybody."""
    async with serving(playing(*said("Hi.")), access=LOCKED) as client:
        body = {"messages": ASK}
        async with client.post("/v1/replies", json=body, headers=BEARER) as response:
            assert final_text(await frames_of(response)) == "Hi."
        for path in ("/", "/healthz", "/readyz", "/openapi.json", "/page/voiceagent-stream.js"):
            async with client.get(path) as response:
                assert response.status == 200, path


async def test_a_page_buys_a_ticket_for_one_socket():
    """Good once, for WebSockets alone."""
    async with serving(playing(*said("Hi.")), access=LOCKED) as client:
        async with client.post("/v1/tickets", headers=BEARER) as response:
            ticket = (await response.json())["ticket"]
        async with client.get(f"/v1/models?ticket={ticket}") as response:
            assert response.status == 401
        async with client.ws_connect(f"/v1/replies?ticket={ticket}") as socket:
            await socket.send_json({"type": "reply", "messages": ASK})
            assert (await until_end(socket))[-1]["reason"] == "stop"
        for bad in (ticket, "", "x"):
            with pytest.raises(aiohttp.WSServerHandshakeError) as refusal:
                await client.ws_connect(f"/v1/replies?ticket={bad}")
            assert refusal.value.status == 401


def test_tickets_run_out_and_are_bounded():
    """In time and in number."""
    tickets = Tickets()
    late, good = tickets.buy(now_s=0.0), tickets.buy(now_s=1.0)
    assert not tickets.use(late, now_s=TICKET_S)
    assert tickets.use(good, now_s=TICKET_S)
    first, *_ = [tickets.buy(now_s=2.0) for _ in range(MAX_TICKETS + 1)]
    assert not tickets.use(first, now_s=2.0)


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://evil.example", 403),
        ("null", 403),
        ("https://shop.example", 200),
        ("http://{host}", 200),
    ],
)
async def test_pages_of_other_origins_stay_out(origin, status):
    """A browser names the origin; ours and those of the operator are served."""
    async with serving(playing(*said("Hi.")), access=LOCKED) as client:
        host = f"{client.host}:{client.port}"
        headers = {**BEARER, "Origin": origin.format(host=host)}
        async with client.get("/v1/models", headers=headers) as response:
            assert response.status == status


@pytest.mark.parametrize(
    ("host", "status"), [("localhost", 200), ("[::1]:80", 200), ("evil.example", 403), ("", 403)]
)
async def test_without_a_token_only_names_of_this_machine_are_answered(host, status):
    """No name of somebody else's can be pointed at a server that lets everybody in."""
    async with (
        serving(playing(*said("Hi."))) as client,
        client.get("/v1/models", headers={"Host": host}) as response,
    ):
        assert response.status == status


@pytest.mark.parametrize("source", ["file", "environment"])
def test_the_token_comes_from_a_file_or_the_environment(source, tmp_path, monkeypatch):
    """The file wins; programs of tools get neither."""
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\n")
    monkeypatch.setenv("VOICEAGENT_TOKEN", TOKEN if source == "environment" else "x" * 40)
    assert bearer_token(path if source == "file" else None) == TOKEN
    assert "VOICEAGENT_TOKEN" not in environment_of_tools(call_id="1")


@pytest.mark.parametrize("content", ["", "short", "é" * MIN_TOKEN_CHARS, None])
def test_a_token_that_keeps_nobody_out_is_refused(content, tmp_path):
    """With the way to make one; it is never shown."""
    path = tmp_path / "token"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ConfigError) as refusal:
        bearer_token(path)
    assert not content or content not in str(refusal.value)


def test_an_address_that_others_reach_needs_a_token(capsys, monkeypatch):
    """Before anything is bound or loaded."""
    monkeypatch.delenv("VOICEAGENT_TOKEN", raising=False)
    assert cli.main(["serve", "--host", "0.0.0.0"]) == 1
    assert "0.0.0.0 is not a loopback address: give a token" in capsys.readouterr().err


def test_tls_files_that_cannot_be_used_are_told(capsys, tmp_path):
    """One line, before anything is loaded."""
    nothing = str(tmp_path / "none.pem")
    assert cli.main(["serve", "--certificate", nothing]) == 1
    assert f"{nothing}: no PEM certificate" in capsys.readouterr().err
    assert cli.main(["serve", "--key", nothing]) == 1
    assert "--key needs --certificate" in capsys.readouterr().err


async def test_tls_is_spoken_with_the_certificate_files(tmp_path):
    """The context that serve makes of them, spoken to over a real connection."""
    from voiceagent.commands.serve import _tls

    openssl = shutil.which("openssl")
    assert openssl, "openssl makes the test's certificate"
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", str(key), "-out", str(certificate), "-days", "2"]
    command = [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    whole = [*command, "-nodes", *files, *subject]
    await asyncio.to_thread(subprocess.run, whole, check=True, capture_output=True)
    trusting = ssl.create_default_context(cafile=certificate)
    client = serving(playing(*said("Hi.")), access=LOCKED)
    await client.server.start_server(ssl=_tls(certificate, key))
    url = f"https://127.0.0.1:{client.server.port}/v1/replies"
    async with (
        client,
        aiohttp.ClientSession() as session,
        session.post(url, json={"messages": ASK}, headers=BEARER, ssl=trusting) as response,
    ):
        assert final_text(await frames_of(response)) == "Hi."


async def test_nothing_secret_reaches_the_logs(caplog):
    """Neither the token nor a ticket nor what was said, whatever fails."""
    caplog.set_level(logging.DEBUG)
    source = ScriptedSource(lambda request: 1 / 0)  # fails on its thread: the reply falls silent
    limits = Limits(silence_s=0.05)
    client = serving(source, access=LOCKED, limits=limits)
    await client.server.start_server(access_log=None)  # as serve does
    async with client:
        secret = [{"role": "user", "content": "my secret is 4711"}]
        async with client.post("/v1/tickets", headers=BEARER) as response:
            ticket = (await response.json())["ticket"]
        source.script = lambda request: []
        async with client.post("/v1/replies", json={"messages": secret}, headers=BEARER) as got:
            await got.read()
        async with client.get(f"/v1/models?ticket={ticket}") as response:
            assert response.status == 401
        reader, writer = await asyncio.open_connection(client.host, client.port)
        broken = f"GET / HTTP/1.1\r\nAuthorization: Bearer {TOKEN}\0\r\n\r\n"
        writer.write(broken.encode())
        assert b"400" in await reader.readline()
        writer.close()
    assert TOKEN not in caplog.text
    assert ticket not in caplog.text
    assert "4711" not in caplog.text


# Stopping ---------------------------------------------------------------------------------------


async def test_a_server_that_stops_finishes_what_it_promised():
    """Not ready, nothing new, but the reply under way is read to its end."""
    source = ScriptedSource(lambda request: said("Hi."))
    async with serving(source) as client:
        response = await client.post("/v1/replies", json={"messages": ASK})
        replies = client.app[REPLIES]
        stopping = asyncio.create_task(replies.drain(within_s=20))
        await asyncio.sleep(0)  # it has begun
        assert replies.draining
        async with client.get("/readyz") as ready:
            assert ready.status == 503
        async with client.post("/v1/replies", json={"messages": ASK}) as refused:
            assert refused.status == 503
        source.may_go.set()
        assert final_text(await frames_of(response)) == "Hi."
        await stopping


async def test_what_takes_too_long_is_ended_when_a_server_stops():
    """A bounded wait: the reply ends as cancelled, and its reader is told."""
    source = ScriptedSource(lambda request: said("Hi."))
    async with serving(source) as client:
        response = await client.post("/v1/replies", json={"messages": ASK})
        await client.app[REPLIES].drain(within_s=0.05)
        assert (await frames_of(response))[-1].reason == "cancelled"


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
async def test_sigterm_ends_the_command(tmp_path):
    """The process finishes by itself, in order."""
    program = (
        "import sys; sys.path.insert(0, 'tests/support')\n"
        "from gateway_doubles import playing, said\n"
        "from contextlib import contextmanager\n"
        "from voiceagent.commands import serve\n"
        "@contextmanager\n"
        "def engine(config, arguments): yield playing(*said('Hi.')), 'double', None\n"
        "serve._engine = engine\n"
        "from voiceagent.__main__ import run\n"
        "sys.argv = ['voiceagent', 'serve', '--port', '0']\n"
        "run()\n"
    )
    running = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(60):
        address = (await running.stdout.readline()).decode().split()[-1]
        line = (await running.stdout.readline()).decode()
        url = next(word for word in f"{address} {line}".split() if word.startswith("http"))
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"{url}/v1/replies", json={"messages": ASK}) as response,
        ):
            assert final_text(await frames_of(response)) == "Hi."
        running.terminate()
        assert await running.wait() == 0
