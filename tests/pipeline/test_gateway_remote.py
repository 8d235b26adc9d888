"""A remote engine behind the gateway: the same protocols, with verified text only."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from gateway_doubles import (
    ASK,
    ScriptedSource,
    final_text,
    frames,
    next_message,
    playing,
    said,
    serving,
)

from voiceagent.core.events import EndReason
from voiceagent.decoding.errors import EngineError
from voiceagent.decoding.remote import RemoteEngine

WORDS = ("One. ", "Two is more. ", "👍 Three.")
PUSH = {"stream_protocol": "token_push", "retraction": True}


@asynccontextmanager
async def remote(source: Any) -> AsyncIterator[Any]:
    """A gateway whose engine is another server, which plays ``source``."""
    async with serving(source) as server:
        url = f"http://{server.host}:{server.port}/v1/"
        engine = await asyncio.to_thread(RemoteEngine, url)
        async with serving(engine) as client:
            yield client


@pytest.mark.parametrize(
    "protocol",
    [PUSH, {"stream_protocol": "accept_then_flush"}, {"stream_protocol": "boundary_commit"}],
)
async def test_every_protocol_gives_the_text_and_nothing_is_taken_back(
    protocol: dict[str, Any],
) -> None:
    """Whatever the far server drafted, what it sends counts."""
    source = playing(*said(*WORDS, wrong="Nope"))
    async with remote(source) as client:
        stream = await frames(client, **protocol, stop=["END"], seed=3, temperature=0.5)
    assert final_text(stream) == "".join(WORDS)
    end: Any = stream[-1]
    assert (end.reason, end.statistics["churn"]) == (EndReason.STOP, 1.0)
    assert end.usage["prompt_tokens"] == 7
    asked = source.requests[0]
    assert (asked.stop, asked.sampling.seed, asked.sampling.temperature) == (("END",), 3, 0.5)


@pytest.mark.parametrize(
    ("leave", "begun"), [("cancel", True), ("go away", True), ("go away", False)]
)
async def test_whoever_leaves_stops_the_far_server(leave: str, begun: bool) -> None:
    """Over the connection that closes, also while the far server has nothing to say."""
    source = ScriptedSource(lambda request: said("One. ", *["more "] * 1000))
    async with remote(source) as client, client.ws_connect("/v1/replies") as socket:
        if begun:
            source.may_go.set()
        await socket.send_json({"type": "reply", "messages": ASK})
        await until_there(lambda: bool(source.generations))
        if begun:
            start = await next_message(socket)
            await next_message(socket)
            source.may_go.clear()
        if leave == "cancel":
            await socket.send_json({"type": "cancel", "reply": start["reply"]})
        else:
            await socket.close()
        await until_there(lambda: source.generations[0].cancelled)


async def until_there(condition: Callable[[], bool]) -> None:
    """Looks again and again: the other side is a thread."""
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110  # a thread sets no event of asyncio's
            await asyncio.sleep(0.001)


@pytest.mark.parametrize("reason", [EndReason.LENGTH, EndReason.ERROR])
async def test_how_the_far_reply_ended_is_told(reason: EndReason) -> None:
    """A length is a length; a failure there is a failure here, with the text so far."""
    async with remote(playing(*said("One. ", "Two", reason=reason))) as client:
        stream = await frames(client)
    assert final_text(stream) == "One. Two"
    assert stream[-1].reason is reason  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "fields", [{"logprobs": True}, {"response_format": {"type": "json_object"}}]
)
async def test_what_it_cannot_do_is_refused(fields: dict[str, Any]) -> None:
    """Before anything is sent; calls are still judged by the gate."""
    async with remote(playing(*said("Hi."))) as client:
        body = {"messages": ASK, **fields}
        async with client.post("/v1/chat/completions", json=body) as response:
            assert response.status == 400


async def test_a_server_that_is_not_there_is_told_at_the_start() -> None:
    """With its address."""
    with pytest.raises(EngineError, match="no engine answers at"):
        await asyncio.to_thread(RemoteEngine, "http://127.0.0.1:9/v1")
