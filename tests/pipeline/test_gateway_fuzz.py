"""Nonsense over a real socket: never a 500, never a stuck server (the long form: bench_gateway)."""

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from gateway_doubles import ASK, playing, said
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from voiceagent.gateway.app import Gateway, make_app
from voiceagent.gateway.openapi import description

FIELDS = sorted(description()["components"]["schemas"]["ReplyRequest"]["properties"])
ROUTES = ["/v1/replies", "/v1/chat/completions"]
REFUSED = {400, 401, 403, 404, 405, 413, 415, 503}
QUICK = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool", "system"]), "content": JSON},
    optional={"tool_calls": JSON},
)


@pytest.fixture(scope="module")
def address() -> Iterator[tuple[str, int]]:
    """A gateway that listens, on a thread with a loop of its own."""
    from aiohttp import web

    loop, listening = asyncio.new_event_loop(), threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))
    gateway = Gateway(source=playing(*said("Hi.")), model="double", max_tokens=8)
    runner = web.AppRunner(make_app(gateway), handler_cancellation=True)

    async def serve() -> None:
        await runner.setup()
        await web.SockSite(runner, listener).start()
        listening.set()

    def run() -> None:
        loop.create_task(serve())
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())

    thread = threading.Thread(target=run)
    thread.start()
    assert listening.wait(30)
    yield listener.getsockname()[:2]
    loop.call_soon_threadsafe(loop.stop)
    thread.join(30)


def answer(address: tuple[str, int], method: str, path: str, **more: Any) -> requests.Response:
    """What the server says; every refusal is in OpenAI's form."""
    host, port = address
    response = requests.request(method, f"http://{host}:{port}{path}", timeout=30, **more)
    assert response.status_code == 200 or response.status_code in REFUSED, response.text
    if response.status_code != 200:
        assert response.json()["error"]["message"]
    return response


@QUICK
@given(path=st.sampled_from(ROUTES), body=st.binary(max_size=200) | JSON.map(json.dumps))
def test_any_bytes(address: tuple[str, int], path: str, body: Any) -> None:
    """A body of anything."""
    data = body.encode(errors="surrogatepass") if isinstance(body, str) else body
    answer(address, "POST", path, data=data)


@QUICK
@given(
    path=st.sampled_from(ROUTES),
    messages=st.just(ASK) | st.lists(MESSAGE, min_size=1, max_size=3),
    fields=st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=4),
)
def test_any_fields(address: tuple[str, int], path: str, messages: Any, fields: Any) -> None:
    """A conversation that may be one, and fields of any kind."""
    body = json.dumps({"messages": messages, **fields}, default=str)
    answer(address, "POST", path, data=body.encode(errors="surrogatepass"))


@QUICK
@given(
    identity=st.text(st.characters(codec="latin-1", exclude_categories=["Cc"]), max_size=40),
    path=st.sampled_from([*ROUTES, "/v1/replies/x", "/v1/replies/x/report", "/v1/models/x"]),
    method=st.sampled_from(["GET", "POST", "PUT", "DELETE"]),
)
def test_any_headers(address: tuple[str, int], identity: str, path: str, method: str) -> None:
    """Last-Event-ID and Idempotency-Key of anything, on any route."""
    names = ("Last-Event-ID", "Idempotency-Key", "Authorization")
    headers = dict.fromkeys(names, identity.strip().encode("latin-1"))
    answer(address, method, path, headers=headers, json={"messages": ASK})


def test_it_still_answers(address: tuple[str, int]) -> None:
    """After all of it."""
    whole = answer(address, "POST", "/v1/replies", json={"messages": ASK, "stream": False})
    assert whole.json()["text"] == "Hi."
