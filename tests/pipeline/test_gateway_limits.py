"""Bounds of ``gateway/limits.py`` that have no other test: each is reached, and says so."""

import asyncio
from typing import Any

import aiohttp
import pytest
from gateway_doubles import (
    ASK,
    ScriptedSource,
    frames_of,
    next_message,
    playing,
    said,
    serving,
    until_end,
)

from voiceagent.gateway.limits import Limits

EAGER = {"turn": "eager", "stream_protocol": "token_push", "retraction": True}


async def test_a_body_and_a_message_have_a_size() -> None:
    """HTTP answers 413; a WebSocket is closed with the code for it."""
    big = {"messages": [{"role": "user", "content": "x" * 3000}]}
    async with serving(playing(*said("Hi.")), limits=Limits(body_bytes=2000)) as client:
        async with client.post("/v1/replies", json=big) as response:
            assert response.status == 413
        async with client.ws_connect("/v1/replies") as socket:
            await socket.send_json({"type": "reply", **big})
            assert (await socket.receive()).type in (
                aiohttp.WSMsgType.CLOSE,
                aiohttp.WSMsgType.CLOSED,
            )
            assert socket.close_code == aiohttp.WSCloseCode.MESSAGE_TOO_BIG
        async with client.post("/v1/replies", json={"messages": ASK}) as response:
            assert response.status == 200


@pytest.mark.parametrize(
    ("limits", "fields", "culprit"),
    [
        (Limits(messages=1), {"messages": ASK * 2}, "messages"),
        (Limits(prompt_chars=3), {"messages": ASK}, "messages"),
        (
            Limits(tools=1),
            {
                "tools": [
                    {"type": "function", "function": {"name": name, "parameters": {}}}
                    for name in ("one", "two")
                ]
            },
            "tools",
        ),
    ],
    ids=["messages", "prompt_chars", "tools"],
)
async def test_a_request_holds_so_much(
    limits: Limits, fields: dict[str, Any], culprit: str
) -> None:
    """One more is a 400 that names the field."""
    async with (
        serving(playing(*said("Hi.")), limits=limits) as client,
        client.post("/v1/replies", json={"messages": ASK, **fields}) as response,
    ):
        assert response.status == 400
        assert (await response.json())["error"]["param"].startswith(culprit)


async def test_a_reply_without_a_reader_is_given_up_after_a_while() -> None:
    """A resumable one too: nobody came back."""
    source = ScriptedSource(lambda request: said("One. ", *["more "] * 1000))
    async with serving(source, limits=Limits(resume_s=0.1)) as client:
        async with client.ws_connect("/v1/replies") as socket:
            await socket.send_json({"type": "reply", "messages": ASK, "resumable": True})
            source.may_go.set()
            await next_message(socket)
            source.may_go.clear()
        assert await asyncio.to_thread(source.generations[0].wait, 20)
        assert source.generations[0].cancelled


async def test_a_reply_takes_so_long_and_no_longer() -> None:
    """However long the engine goes on."""
    source = ScriptedSource(lambda request: said("Never."))
    async with (
        serving(source, limits=Limits(reply_s=0.2)) as client,
        client.post("/v1/replies", json={"messages": ASK}) as response,
    ):
        stream: list[Any] = await frames_of(response)
    assert [frame.code for frame in stream if frame.type == "error"] == ["timeout"]
    assert stream[-1].reason == "error"


async def test_a_turn_that_is_never_confirmed_is_withdrawn() -> None:
    """The reply was written and nobody said that it is wanted."""
    async with (
        serving(playing(*said("Hi.")), limits=Limits(confirm_s=0.1)) as client,
        client.ws_connect("/v1/replies") as socket,
    ):
        await socket.send_json({"type": "reply", "messages": ASK, **EAGER})
        last = (await until_end(socket))[-1]
        assert (last["type"], last["cause"]) == ("void", "superseded")
