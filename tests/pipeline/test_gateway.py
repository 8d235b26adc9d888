"""The gateway with the tiny preset behind it, spoken to over a real socket."""

import asyncio
import json
import socket

import pytest
from aiohttp.test_utils import TestClient, TestServer

from voiceagent import cli
from voiceagent.config import Decoding, cache_directory
from voiceagent.core.client import Client
from voiceagent.core.frames import RollbackFrame, from_json
from voiceagent.decoding.engine import Engine
from voiceagent.gateway.app import Gateway, make_app
from voiceagent.gateway.limits import DEFAULT_LIMITS
from voiceagent.weights.manifest import Manifest
from voiceagent.weights.store import Store

ASK = [{"role": "user", "content": "Count from one to nine, then count from one to nine again."}]
TOKENS = 48


@pytest.fixture(scope="module")
def engine():
    """The tiny preset, with n-grams as drafter and a window that makes it guess wrong."""
    config = Decoding(drafter="ngram", window=4, max_tokens=TOKENS)
    preset = Manifest.load().preset("tiny")
    with Engine.load(config, preset=preset, store=Store(cache_directory())) as engine:
        yield engine


@pytest.fixture
async def client(engine):
    """A client of a server that is really listening."""
    app = make_app(Gateway(source=engine, model="tiny", max_tokens=TOKENS))
    async with TestClient(TestServer(app)) as client:
        yield client


async def events(client, path, body):
    """The data of every server-sent event of one answer."""
    async with client.post(path, json=body) as response:
        assert response.status == 200, await response.text()
        text = await response.text()
    return [line[6:] for line in text.splitlines() if line.startswith("data: ")]


async def frames(client, **fields):
    """The frames of one reply."""
    data = await events(client, "/v1/replies", {"messages": ASK} | fields)
    return [from_json(line) for line in data]


def final_text(stream):
    """What a client that applies the frames is left with."""
    client = Client()
    for frame in stream:
        client.apply(frame)
    return client.text


async def test_three_protocols_leave_the_same_text(client):
    """Token push takes text back, the gated protocols never do, and all end with the same text."""
    pushed = await frames(client, stream_protocol="token_push", retraction=True)
    flushed = await frames(client, stream_protocol="accept_then_flush")
    committed = await frames(client, stream_protocol="boundary_commit", surface="voice")
    assert any(isinstance(frame, RollbackFrame) for frame in pushed)
    assert not any(isinstance(frame, RollbackFrame) for frame in flushed + committed)
    assert final_text(pushed) == final_text(flushed) == final_text(committed) != ""
    assert flushed[-1].statistics["churn"] == committed[-1].statistics["churn"] == 1.0
    assert pushed[-1].statistics["churn"] > 1.0


async def test_many_clients_at_once_each_get_their_own_text(client):
    """Twelve at the same time, in all protocols: every stream is legal, complete and correct."""
    topics = ("rivers", "tea", "chess", "bees")
    protocols = ("token_push", "accept_then_flush", "boundary_commit")

    async def one(topic, protocol):
        ask = [{"role": "user", "content": f"Say something about {topic}."}]
        fields = {"stream_protocol": protocol, "retraction": True, "max_tokens": 16}
        stream = await frames(client, messages=ask, **fields)
        assert stream[-1].reason.is_complete
        return final_text(stream)

    texts = await asyncio.gather(*(one(topic, each) for topic in topics for each in protocols))
    assert len(set(texts)) == len(topics)
    for at in range(0, len(texts), len(protocols)):
        assert len(set(texts[at : at + len(protocols)])) == 1


async def test_the_answer_names_its_protocol(client):
    """A client can see what it got without reading the stream."""
    async with client.post(
        "/v1/replies", json={"messages": ASK, "surface": "markdown", "max_tokens": 2}
    ) as response:
        assert response.headers["X-Stream-Protocol"] == "boundary_commit"
        await response.read()


async def test_openai_stream_and_whole_agree(client):
    """Both forms of OpenAI's interface give the same text and say how it ended."""
    chunks = await events(client, "/v1/chat/completions", {"messages": ASK, "stream": True})
    assert chunks[-1] == "[DONE]"
    choices = [json.loads(chunk)["choices"][0] for chunk in chunks[:-1]]
    streamed = "".join(choice["delta"].get("content", "") for choice in choices)
    async with client.post("/v1/chat/completions", json={"messages": ASK}) as response:
        whole = (await response.json())["choices"][0]
    assert streamed == whole["message"]["content"] != ""
    assert choices[-1]["finish_reason"] == whole["finish_reason"]


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"{", 400),
        (b"\xff\xfe", 400),
        (b"[]", 400),
        (
            b'{"messages": [{"role": "user", "content": "hi"}], "stream_protocol": "token_push"}',
            400,
        ),
        (b" " * (DEFAULT_LIMITS.body_bytes + 1), 413),
    ],
)
async def test_bad_requests_are_refused_in_openai_form(client, data, status):
    """Whatever is wrong with a body, the answer is a JSON error and never a 500."""
    headers = {"Content-Type": "application/json"}
    async with client.post("/v1/replies", data=data, headers=headers) as response:
        assert response.status == status
        assert (await response.json())["error"]["message"]


async def test_a_conversation_that_does_not_fit_is_refused_before_anything_is_sent(client):
    """An overflow of the context is an answer of its own, not a broken stream."""
    long = [{"role": "user", "content": "word " * 20_000}]
    async with client.post("/v1/replies", json={"messages": long}) as response:
        assert response.status == 400
        assert "context" in (await response.json())["error"]["message"]


async def test_a_client_that_leaves_cancels_its_reply(client, engine, monkeypatch):
    """A disconnect reaches the engine, which has time for others again."""
    generations = []
    submit = engine.submit

    def remember(request, *, on_event):
        generations.append(submit(request, on_event=on_event))
        return generations[-1]

    monkeypatch.setattr(engine, "submit", remember)
    response = await client.post("/v1/replies", json={"messages": ASK})
    await response.content.readline()
    response.close()
    finished = await asyncio.to_thread(generations[0].wait, 30)
    assert finished
    assert generations[0].reason is not None


def test_a_port_that_is_taken_is_told_before_anything_is_loaded(capsys, monkeypatch):
    """One line with the way out, and no model was touched."""
    monkeypatch.setattr("voiceagent.commands.serve._application", None)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert cli.main(["serve", "--port", str(port)]) == 1
    wanted = f"voiceagent: port {port} is in use: choose another with --port\n"
    assert capsys.readouterr().err == wanted


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--port", "x", "'x' is not a whole number"),
        ("--port", "65536", "65536 is not a port (0 to 65535)"),
        ("--undeclared-until", "soon", "'soon' is not a date (YYYY-MM-DD)"),
    ],
)
def test_where_it_cannot_listen_is_wrong_usage(capsys, option, value, message):
    """Exit status 2 and what was wrong."""
    with pytest.raises(SystemExit) as exit_:
        cli.main(["serve", option, value])
    assert exit_.value.code == 2
    assert f"argument {option}: {message}" in capsys.readouterr().err
