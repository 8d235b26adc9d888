"""The way from a source's thread to the event loop: nothing is lost, nothing is turned around."""

import asyncio
import threading

from voiceagent.core.events import Draft
from voiceagent.gateway.inbox import Inbox

EVENTS = [Draft(text=str(number)) for number in range(5000)]


async def test_every_event_arrives_in_order_from_another_thread() -> None:
    """However the two threads take turns."""
    inbox = Inbox()
    thread = threading.Thread(target=lambda: [inbox.put(event) for event in EVENTS])
    thread.start()
    taken: list[object] = []
    async with asyncio.timeout(20):
        while len(taken) < len(EVENTS):
            taken += await inbox.take()
    thread.join()
    assert taken == EVENTS


async def test_what_is_there_at_once_is_taken_at_once() -> None:
    """One list, also when nobody waited; then the next one is waited for."""
    inbox = Inbox()
    for event in EVENTS[:3]:
        inbox.put(event)
    assert await inbox.take() == EVENTS[:3]
    waiting = asyncio.create_task(inbox.take())
    await asyncio.sleep(0)
    assert not waiting.done()
    inbox.put(EVENTS[3])
    assert await waiting == [EVENTS[3]]


def test_a_loop_that_is_closed_is_knocked_at_no_more() -> None:
    """The source may outlive the server."""

    async def make() -> Inbox:
        return Inbox()

    asyncio.run(make()).put(EVENTS[0])
