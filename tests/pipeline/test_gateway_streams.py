"""Streams over real sockets: several readers, reconnects, cancel, heard, slow readers."""

import asyncio
import json
import socket as sockets
import threading

import pytest
from aiohttp import WSServerHandshakeError
from gateway_doubles import (
    ASK,
    ScriptedSource,
    events_of,
    final_text,
    frames,
    frames_of,
    next_message,
    playing,
    said,
    serving,
    until_end,
)

from voiceagent.core.events import Draft, EndReason, Finish, Verify
from voiceagent.core.frames import RollbackFrame, from_json
from voiceagent.gateway.http_replies import REPLIES
from voiceagent.gateway.limits import Limits

PUSH = {"stream_protocol": "token_push", "retraction": True}
WORDS = ("One. ", "Two is more. ", "Three.")


async def test_a_reply_is_read_by_several_at_once_each_in_its_own_way():
    """A screen and a speaker on the same reply: each gets its protocol, both the same text."""
    source = ScriptedSource(lambda request: said(*WORDS, wrong="Nope"))
    async with serving(source) as client:
        posted = await client.post("/v1/replies", json={"messages": ASK, **PUSH})
        reply = posted.headers["X-Reply"]
        speaker = await client.get(f"/v1/replies/{reply}?stream_protocol=boundary_commit")
        source.may_go.set()
        screen, spoken = await frames_of(posted), await frames_of(speaker)
    assert final_text(screen) == final_text(spoken) == "".join(WORDS)
    assert any(isinstance(frame, RollbackFrame) for frame in screen)
    assert screen[-1].statistics["churn"] > spoken[-1].statistics["churn"] == 1.0
    assert speaker.headers["X-Stream-Protocol"] == "boundary_commit"


@pytest.mark.parametrize("by_post", [True, False])
async def test_a_reader_that_comes_back_loses_and_repeats_nothing(by_post):
    """Last-Event-ID, from every event on: what follows is what would have followed."""
    body = {"messages": ASK, **PUSH}
    async with serving(playing(*said(*WORDS, wrong="Nope"))) as client:
        async with client.post("/v1/replies", json=body) as response:
            reply, whole = response.headers["X-Reply"], await events_of(response)
        for at, (identity, _) in enumerate(whole):
            headers = {"Last-Event-ID": identity}
            if by_post:
                again = client.post("/v1/replies", json=body, headers=headers)
            else:
                again = client.get(f"/v1/replies/{reply}", headers=headers)
            async with again as response:
                assert await events_of(response) == whole[at + 1 :]


async def test_a_resumable_reply_goes_on_without_its_reader():
    """The connection breaks in the middle; the reply is read to its end afterwards."""
    source = ScriptedSource(lambda request: said(*WORDS))
    async with serving(source) as client:
        body = {"messages": ASK, "resumable": True}
        first = await client.post("/v1/replies", json=body)
        reply = first.headers["X-Reply"]
        first.close()
        source.may_go.set()
        async with client.get(f"/v1/replies/{reply}") as response:
            assert final_text(await frames_of(response)) == "".join(WORDS)


@pytest.mark.parametrize("limits", [Limits(kept_replies=1), Limits(kept_s=0.0)])
async def test_what_is_kept_is_bounded(limits):
    """In number and in time: an older reply is gone, and that is said."""
    async with serving(playing(*said("Hi.")), limits=limits) as client:
        names = []
        for _ in range(3):
            async with client.post("/v1/replies", json={"messages": ASK}) as response:
                names.append(response.headers["X-Reply"])
                await response.read()
        async with client.get(f"/v1/replies/{names[0]}") as response:
            assert response.status == 404


async def test_an_idempotency_key_asks_once():
    """The same key is the same reply; with another body it is refused."""
    source = playing(*said("Hi."))
    async with serving(source) as client:
        headers = {"Idempotency-Key": "order-7"}
        streams = []
        for _ in range(2):
            body = {"messages": ASK}
            async with client.post("/v1/replies", json=body, headers=headers) as response:
                streams.append(await events_of(response))
        assert streams[0] == streams[1]
        assert len(source.requests) == 1
        body = {"messages": ASK, "seed": 2}
        async with client.post("/v1/replies", json=body, headers=headers) as response:
            assert response.status == 400


# Over a WebSocket -------------------------------------------------------------------------------


async def test_a_socket_carries_the_same_frames_and_says_what_was_used():
    """``start`` names protocol, surface, boundary, retraction and k, and the client's request."""
    async with serving(playing(*said(*WORDS, wrong="Nope"))) as client:
        over_http = await frames(client, **PUSH)
        async with client.ws_connect("/v1/replies") as socket:
            ask = {"type": "reply", "messages": ASK, "k": 3, "request": "mine", **PUSH}
            await socket.send_json(ask)
            messages = await until_end(socket)
    start = messages[0]
    used = {name: start[name] for name in ("surface", "boundary", "retraction", "k", "request")}
    wanted = {"surface": "chat", "boundary": "sentence", "retraction": True, "k": 3}
    assert used == wanted | {"request": "mine"}
    types = [(frame.type, frame.seq) for frame in over_http]
    assert [(message["type"], message["seq"]) for message in messages] == types
    assert final_text(from_json(json.dumps(message)) for message in messages) == "".join(WORDS)


async def test_cancel_stops_the_source():
    """Within its next event; the stream still ends, and says how."""
    source = ScriptedSource(lambda request: [Draft(text="a"), Verify(to=1), Finish()])
    async with serving(source) as client, client.ws_connect("/v1/replies") as socket:
        await socket.send_json({"type": "reply", "messages": ASK, **PUSH})
        start = await next_message(socket)
        await socket.send_json({"type": "cancel", "reply": start["reply"]})
        messages = await until_end(socket)
    assert messages[-1]["reason"] == "cancelled"
    assert await asyncio.to_thread(source.generations[0].wait, 20)
    assert source.generations[0].reason is EndReason.CANCELLED


async def test_heard_positions_come_back_and_end_the_reply():
    """A client that reports what was heard: the reply is over when all was."""
    async with (
        serving(playing(*said(*WORDS))) as client,
        client.ws_connect("/v1/replies") as socket,
    ):
        await socket.send_json(
            {"type": "reply", "messages": ASK, "hears": True, "surface": "voice"}
        )
        messages = [await next_message(socket)]
        while messages[-1]["type"] != "commit" or messages[-1]["to"] < len("".join(WORDS)):
            messages.append(await next_message(socket))
        reply = messages[0]["reply"]
        for to in (3, 10**6):
            await socket.send_json({"type": "heard", "reply": reply, "to": to})
        messages = await until_end(socket)
    assert [m["to"] for m in messages if m["type"] == "heard"] == [3, len("".join(WORDS))]
    assert messages[-1]["reason"] == "stop"


async def test_cancel_while_it_is_heard_ends_where_it_was_heard():
    """An interruption: what counts of the text ends at the heard position."""
    async with (
        serving(playing(*said(*WORDS))) as client,
        client.ws_connect("/v1/replies") as socket,
    ):
        await socket.send_json({"type": "reply", "messages": ASK, "hears": True})
        messages = [await next_message(socket)]
        while messages[-1]["type"] != "commit":
            messages.append(await next_message(socket))
        reply = messages[0]["reply"]
        await socket.send_json({"type": "heard", "reply": reply, "to": 4})
        await socket.send_json({"type": "cancel", "reply": reply})
        messages = await until_end(socket)
    assert (messages[-1]["reason"], messages[-1]["at"]) == ("interrupted", 4)


@pytest.mark.parametrize("word", ["confirm", "void"])
async def test_an_eager_reply_waits_for_its_turn(word):
    """Token push shows it at once and can be withdrawn; a gated reader sees it when confirmed."""
    async with (
        serving(playing(*said(*WORDS))) as client,
        client.ws_connect("/v1/replies") as socket,
    ):
        await socket.send_json({"type": "reply", "messages": ASK, "turn": "eager", **PUSH})
        start = await next_message(socket)
        assert start["turn"] == "eager"
        async with client.ws_connect("/v1/replies") as other:
            gated = {"type": "subscribe", "stream_protocol": "accept_then_flush"}
            await other.send_json({**gated, "reply": start["reply"]})
            await socket.send_json({"type": word, "reply": start["reply"]})
            pushed = await until_end(socket)
            if word == "confirm":
                told = await until_end(other)
                assert told[0]["turn"] == "confirmed"
                assert pushed[-1]["reason"] == told[-1]["reason"] == "stop"
            else:
                assert pushed[-1] | {"cause": "turn_revised"} == pushed[-1]
                await other.close()
    assert not any(message["type"] == "rollback" for message in pushed)


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("{", "message"),
        ("[]", "message"),
        ('{"type": "smoke"}', "type"),
        ('{"type": "cancel", "reply": "unknown"}', "reply"),
        ('{"type": "heard"}', "reply"),
        ('{"type": "reply", "messages": []}', "messages"),
        ('{"type": "reply", "messages": [1], "request": "r"}', "messages[0]"),
    ],
)
async def test_a_message_that_is_none_costs_only_itself(line, field):
    """An error without ``seq`` that names the field; the socket goes on."""
    async with serving(playing(*said("Hi."))) as client, client.ws_connect("/v1/replies") as socket:
        await socket.send_str(line)
        refusal = await next_message(socket)
        assert (refusal["type"], refusal["param"], "seq" in refusal) == ("error", field, False)
        await socket.send_json({"type": "reply", "messages": ASK})
        assert (await until_end(socket))[-1]["reason"] == "stop"


async def test_a_socket_follows_so_many_replies():
    """One more is refused, and so is the same one twice."""
    source = ScriptedSource(lambda request: said("Hi."))
    limits = Limits(replies_per_socket=1)
    async with (
        serving(source, limits=limits) as client,
        client.ws_connect("/v1/replies") as socket,
    ):
        await socket.send_json({"type": "reply", "messages": ASK})
        await next_message(socket)
        await socket.send_json({"type": "reply", "messages": ASK})
        assert "1 replies already" in (await next_message(socket))["message"]
        source.may_go.set()
        await until_end(socket)


async def test_a_socket_that_goes_away_cancels_its_replies():
    """Nobody is left to read them."""
    source = ScriptedSource(lambda request: said("Hi."))
    async with serving(source) as client:
        async with client.ws_connect("/v1/replies") as socket:
            await socket.send_json({"type": "reply", "messages": ASK})
            await next_message(socket)
        assert await asyncio.to_thread(source.generations[0].wait, 20)
    assert source.generations[0].reason is EndReason.CANCELLED


async def test_a_client_that_goes_before_it_was_answered_leaves_nothing_running():
    """Its request was on its way to the engine: what comes of it is cancelled."""
    source = ScriptedSource(lambda request: said("Hi."))
    reached, may_answer, submit = threading.Event(), threading.Event(), source.submit

    def slow(request, **more):
        reached.set()
        assert may_answer.wait(20)
        return submit(request, **more)

    source.submit = slow
    async with serving(source) as client:
        asking = asyncio.create_task(client.post("/v1/replies", json={"messages": ASK}))
        assert await asyncio.to_thread(reached.wait, 20)
        asking.cancel()
        replies = client.app[REPLIES]
        while replies.metrics.waiting._value.get():
            await asyncio.to_thread(source.may_go.wait, 0.01)
        may_answer.set()
        while not source.generations:
            await asyncio.to_thread(source.may_go.wait, 0.01)
        assert await asyncio.to_thread(source.generations[0].wait, 20)
    assert source.generations[0].reason is EndReason.CANCELLED


# Bad days ---------------------------------------------------------------------------------------


async def test_a_slow_reader_is_ended_and_nobody_else_waits():
    """It takes nothing: its stream ends with a reason, while another reads the same reply whole."""
    long = "👍👍👍👍 " * 2000
    source = playing(*said(*[long] * 12))
    limits = Limits(write_s=0.3)
    async with serving(source, send_buffer_bytes=4096, limits=limits) as client:
        slow = sockets.socket()
        slow.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4096)
        slow.connect((client.host, client.port))
        body = json.dumps({"messages": ASK}).encode()
        head = f"POST /v1/replies HTTP/1.1\r\nHost: {client.host}:{client.port}\r\n"
        slow.sendall(head.encode() + b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        assert final_text(await frames(client)) == long * 12
        metrics = ""
        while 'rejected_total{reason="slow_reader"} 1.0' not in metrics:
            async with client.get("/metrics") as response:
                metrics = await response.text()
        slow.close()


async def test_a_source_that_falls_silent_ends_the_reply_as_an_error():
    """A bounded wait, a defined outcome: error, then end."""
    source = ScriptedSource(lambda request: said("Hi."))
    async with serving(source, limits=Limits(silence_s=0.1)) as client:
        stream = await frames(client)
    assert [frame.type for frame in stream] == ["start", "error", "end"]
    assert stream[-1].reason is EndReason.ERROR
    assert source.generations[0].cancelled


async def test_a_source_that_fails_is_told_with_the_text_so_far():
    """What was verified stays; the end says that it is not all."""
    source = playing(*said("One. ", "Two", reason=EndReason.ERROR))
    async with serving(source) as client:
        stream = await frames(client)
    assert final_text(stream) == "One. Two"
    assert [frame.type for frame in stream[-2:]] == ["error", "end"]


async def test_a_source_that_breaks_its_contract_costs_its_reply_alone():
    """A step that no ledger takes: the reply ends as an error, the next one is fine."""
    broken = iter([[Verify(to=99), Finish()]])
    source = ScriptedSource(lambda request: next(broken, said("Fine.")))
    source.may_go.set()
    async with serving(source) as client:
        assert (await frames(client))[-1].reason is EndReason.ERROR
        assert final_text(await frames(client)) == "Fine."


async def test_a_body_that_does_not_come_is_not_waited_for():
    """A client that sends half a body and no more is told so."""
    async with serving(playing(*said("Hi.")), limits=Limits(body_s=0.1)) as client:
        reader, writer = await asyncio.open_connection(client.host, client.port)
        head = f"POST /v1/replies HTTP/1.1\r\nHost: {client.host}\r\nContent-Length: 99\r\n\r\n{{"
        writer.write(head.encode())
        assert b"408" in await reader.readline()
        writer.close()


async def test_so_many_sockets_and_no_more():
    """One more is told to come back."""
    limits = Limits(connections=1)
    async with (
        serving(playing(*said("Hi.")), limits=limits) as client,
        client.ws_connect("/v1/replies"),
    ):
        with pytest.raises(WSServerHandshakeError) as refusal:
            await client.ws_connect("/v1/replies")
        assert refusal.value.status == 503


async def test_requests_wait_for_a_place_in_order_and_so_many_of_them():
    """The engine gets so many at once; one more than may wait is told to come back."""
    source = ScriptedSource(lambda request: said("Hi."))
    limits = Limits(at_engine=1, waiting=1)
    async with serving(source, limits=limits) as client:
        body = {"messages": ASK}
        first = await client.post("/v1/replies", json=body)
        second = asyncio.create_task(client.post("/v1/replies", json=body))
        replies = client.app[REPLIES]
        while replies.metrics.waiting._value.get() < 2:  # the first has not begun either
            await asyncio.to_thread(source.may_go.wait, 0.01)
        async with client.post("/v1/replies", json=body) as third:
            assert third.status == 503
        assert len(source.requests) == 1
        source.may_go.set()
        assert final_text(await frames_of(first)) == "Hi."
        assert final_text(await frames_of(await second)) == "Hi."
    assert len(source.requests) == 2


async def test_a_request_waits_so_long_and_no_longer():
    """Then it is told to come back; its turn goes to nobody's place."""
    source = ScriptedSource(lambda request: said("Hi."))
    async with serving(source, limits=Limits(at_engine=1, wait_s=0.05)) as client:
        body = {"messages": ASK}
        first = await client.post("/v1/replies", json=body)
        async with client.post("/v1/replies", json=body) as second:
            assert second.status == 503
        source.may_go.set()
        await first.read()
        assert final_text(await frames(client)) == "Hi."


async def test_so_many_streams_and_no_more():
    """One more is told to come back, in OpenAI's form."""
    source = ScriptedSource(lambda request: said("Hi."))
    async with serving(source, limits=Limits(connections=1)) as client:
        first = await client.post("/v1/replies", json={"messages": ASK})
        async with client.post("/v1/replies", json={"messages": ASK}) as response:
            assert response.status == 503
            assert response.headers["Retry-After"]
        source.may_go.set()
        await first.read()
