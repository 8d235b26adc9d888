"""A source of replies that says what a test tells it to, and a client of a listening gateway."""

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from aiohttp.test_utils import TestClient, TestServer, get_port_socket

from voiceagent.core.client import Client
from voiceagent.core.events import Draft, EndReason, Finish, Rollback, Verify
from voiceagent.core.frames import Frame, from_json
from voiceagent.decoding.generation import EngineEvent, Generation, OnEvent, Request
from voiceagent.gateway.app import Access, Gateway, make_app

ASK = [{"role": "user", "content": "Hello?"}]


def said(*pieces: str, wrong: str = "", reason: EndReason = EndReason.STOP) -> list[EngineEvent]:
    """Events of a source that guesses ``wrong`` before each piece and takes it back."""
    events: list[EngineEvent] = []
    verified = 0
    for piece in pieces:
        if wrong:
            events += [Draft(text=wrong), Rollback(to=verified)]
        verified += len(piece)
        events += [Draft(text=piece), Verify(to=verified)]
    return [*events, Finish(reason=reason)]


Script = Callable[[Request], Iterable[EngineEvent]]


@dataclass
class ScriptedSource:
    """Plays a script for each request, on a thread of its own.

    Before each event it waits for ``may_go``; a cancelled reply ends at its next event.
    """

    script: Script
    may_go: threading.Event = field(default_factory=threading.Event)
    requests: list[Request] = field(default_factory=list)
    generations: list[Generation] = field(default_factory=list)

    def submit(self, request: Request, *, on_event: OnEvent) -> Generation:
        generation = Generation(request, prompt_tokens=7)
        self.requests.append(request)
        self.generations.append(generation)
        threading.Thread(target=self._play, args=(generation, on_event), daemon=True).start()
        return generation

    def _play(self, generation: Generation, on_event: OnEvent) -> None:
        for event in self.script(generation.request):
            while not self.may_go.wait(0.01) and not generation.cancelled:
                pass
            if generation.cancelled:
                event = Finish(reason=EndReason.CANCELLED)
            on_event(event)
            if isinstance(event, Finish):
                generation.finish(event.reason)
                return


def playing(*events: EngineEvent) -> ScriptedSource:
    """A source that says the same to everybody, at once."""
    source = ScriptedSource(lambda request: events)
    source.may_go.set()
    return source


def serving(
    source: Any,
    *,
    access: Access | None = None,
    send_buffer_bytes: int | None = None,
    **gateway: Any,
) -> TestClient[Any, Any]:
    """A client of a gateway that really listens; use it as a context."""
    app = make_app(
        Gateway(source=source, model="double", **{"max_tokens": 64, **gateway}), access=access
    )

    def listening(host: str, port: int, family: Any) -> socket.socket:
        listener = get_port_socket(host, port, family)
        if send_buffer_bytes is not None:  # what accepts a connection hands it on
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer_bytes)
        return listener

    return TestClient(TestServer(app, socket_factory=listening))


async def events_of(response: Any) -> list[tuple[str, str]]:
    """Identity and data of every server-sent event of an answer."""
    found, identity = [], ""
    async for raw in response.content:
        line = raw.decode().rstrip("\n")
        if line.startswith("id: "):
            identity = line[4:]
        elif line.startswith("data: "):
            found.append((identity, line[6:]))
    return found


async def frames_of(response: Any) -> list[Frame]:
    """The frames of an answer."""
    assert response.status == 200, await response.text()
    return [from_json(data) for _, data in await events_of(response)]


async def frames(client: TestClient[Any, Any], **fields: Any) -> list[Frame]:
    """The frames of one reply over server-sent events."""
    async with client.post("/v1/replies", json={"messages": ASK, **fields}) as response:
        return await frames_of(response)


async def next_message(socket: Any) -> dict[str, Any]:
    """The next JSON message of a WebSocket, waited for as long as no test should take."""
    async with asyncio.timeout(20):
        message: dict[str, Any] = json.loads(await socket.receive_str())
        return message


async def until_end(socket: Any) -> list[dict[str, Any]]:
    """The messages up to the ``end`` of a reply."""
    messages = [await next_message(socket)]
    while messages[-1]["type"] not in ("end", "void"):
        messages.append(await next_message(socket))
    return messages


def final_text(stream: Iterable[Frame]) -> str:
    """What a client that applies the frames is left with; it refuses what is not legal."""
    client = Client()
    for frame in stream:
        client.apply(frame)
    return client.text
