"""The virtual clock: sleepers wake in order and at their own instant."""

import asyncio

from voiceagent.session.clock import VirtualClock, WallClock


async def test_sleepers_wake_in_order_at_their_own_time() -> None:
    """Whoever is due sees the time it asked for, not the one that was jumped to."""
    clock, seen = VirtualClock(), []

    async def sleep(until_s: float) -> None:
        await clock.sleep_until(until_s)
        seen.append((until_s, clock.now_s()))

    tasks = [asyncio.create_task(sleep(at_s)) for at_s in (0.3, 0.1, 0.2, 0.9)]
    await asyncio.sleep(0)
    await clock.advance(0.5)
    assert seen == [(0.1, 0.1), (0.2, 0.2), (0.3, 0.3)]
    assert clock.now_s() == 0.5
    await clock.advance(1.0)
    await asyncio.gather(*tasks)
    assert seen[-1] == (0.9, 0.9)


async def test_the_past_is_no_wait() -> None:
    """A time that has come already returns at once, on either clock."""
    virtual, wall = VirtualClock(), WallClock()
    await virtual.sleep_until(0.0)
    await wall.sleep_until(-1.0)
    await virtual.advance(-1.0)
    assert virtual.now_s() == 0.0
    assert wall.now_s() == 0.0


async def test_real_time_begins_when_it_is_told() -> None:
    """Before the conversation begins no time passes; it begins once."""
    wall = WallClock()
    assert wall.now_s() == 0.0
    wall.begin()
    first_s = wall.now_s()
    wall.begin()
    assert wall.now_s() >= first_s >= 0.0
    VirtualClock().begin()


async def test_a_sleeper_that_gave_up_is_passed_over() -> None:
    """A cancelled sleep stops nothing."""
    clock = VirtualClock()
    task = asyncio.create_task(clock.sleep_until(0.1))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await clock.advance(0.2)
    assert clock.now_s() == 0.2
