"""The way from a source's thread to the event loop: nothing is lost, nothing is turned around."""

import asyncio
import threading

from voiceagent.core.events import Draft
from voiceagent.gateway.inbox import Inbox, Post

EVENTS = [Draft(text=str(number)) for number in range(5000)]


async def test_every_event_arrives_in_order_from_another_thread() -> None:
    """However the two threads take turns."""
    inbox = Post().inbox()
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
    inbox = Post().inbox()
    for event in EVENTS[:3]:
        inbox.put(event)
    assert await inbox.take() == EVENTS[:3]
    waiting = asyncio.create_task(inbox.take())
    await asyncio.sleep(0)
    assert not waiting.done()
    inbox.put(EVENTS[3])
    assert await waiting == [EVENTS[3]]


async def test_many_inboxes_are_told_with_one_wake_up() -> None:
    """However many replies a pass has said something to; and again for the next pass."""
    post = Post()
    inboxes = [post.inbox() for _ in range(50)]
    for event in EVENTS[:2]:
        taking = [asyncio.create_task(inbox.take()) for inbox in inboxes]
        await asyncio.sleep(0)
        thread = threading.Thread(target=lambda each=event: [inbox.put(each) for inbox in inboxes])
        thread.start()
        async with asyncio.timeout(20):
            assert await asyncio.gather(*taking) == [[event]] * 50
        thread.join()


def test_a_loop_that_is_closed_is_knocked_at_no_more() -> None:
    """The source may outlive the server."""

    async def make() -> Inbox:
        return Post().inbox()

    asyncio.run(make()).put(EVENTS[0])
