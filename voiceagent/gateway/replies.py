"""One reply on its way to one client: the engine's events become the frames of its protocol."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Protocol

from voiceagent.core.committer import Policy
from voiceagent.core.events import Draft, Finish, Rollback, SourceEvent, Turn, Verify
from voiceagent.core.frames import Frame
from voiceagent.core.reply import Reply
from voiceagent.core.streams import Stream
from voiceagent.decoding.generation import EngineEvent, Generation, OnEvent, Request
from voiceagent.decoding.sampling import Sampling
from voiceagent.gateway.requests import ReplyRequest

POLICIES = {
    "chat": Policy.sentences,
    "markdown": Policy.markdown,
    "voice": Policy.voice,
    "form": Policy.form,
    "code": Policy.code,
}


class ReplySource(Protocol):
    """Whatever decodes replies; the local engine is one."""

    def submit(self, request: Request, *, on_event: OnEvent) -> Generation:
        """Starts a reply; events come on a thread of the source, last a ``Finish``."""


async def frames_of(
    request: ReplyRequest, *, reply_id: str, source: ReplySource, max_tokens: int
) -> AsyncGenerator[Frame, None]:
    """Decodes one reply and yields its frames as they come.

    Closing the iterator (the client went away) cancels the generation within one round.

    Args:
        reply_id: identifier of the reply, on every frame.
        max_tokens: the server's limit; a request may ask for less.

    Raises:
        EngineError: the engine refuses the request; nothing was yielded.
    """
    started_s = time.monotonic()
    policy = POLICIES[request.surface]()
    reply = Reply(reply=reply_id, epoch=0, turn=Turn.CONFIRMED, now_s=0.0, policy=policy)
    stream = Stream(request.protocol)
    async with aclosing(_decoded(request, source=source, max_tokens=max_tokens)) as events:
        async for event in events:
            now_s = time.monotonic() - started_s
            reply.apply(event, now_s=now_s)
            if isinstance(event, Finish):
                reply.ledger.end(event.reason, now_s=now_s)
            for recorded in reply.events():
                stream.feed(recorded)
            for frame in stream.frames():
                yield frame


async def _decoded(
    request: ReplyRequest, *, source: ReplySource, max_tokens: int
) -> AsyncGenerator[SourceEvent, None]:
    """Source events in order, handed over from the engine's thread to the event loop.

    The queue needs no bound of its own: ``max_tokens`` bounds what one reply can put into it.
    """
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[EngineEvent] = asyncio.Queue()
    generation = source.submit(
        _engine_request(request, max_tokens=max_tokens),
        on_event=lambda event: _hand_over(loop, queue, event),
    )
    try:
        while True:
            event = await queue.get()
            if isinstance(event, Draft | Verify | Rollback | Finish):
                yield event
            if isinstance(event, Finish):
                return
    finally:
        generation.cancel()


def _hand_over(
    loop: asyncio.AbstractEventLoop, queue: "asyncio.Queue[EngineEvent]", event: EngineEvent
) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(queue.put_nowait, event)


def _engine_request(request: ReplyRequest, *, max_tokens: int) -> Request:
    wanted = request.max_tokens if request.max_tokens is not None else max_tokens
    return Request(
        messages=request.messages,
        sampling=Sampling(temperature=request.temperature, top_p=request.top_p, seed=request.seed),
        max_tokens=min(wanted, max_tokens),
        stop=request.stop,
        window=request.window,
    )
