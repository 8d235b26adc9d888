"""Nobody says anything any more: a spoken notice, and after as much silence again a goodbye."""

import asyncio

from pipecat.pipeline.worker import PipelineWorker

from voiceagent.session.conversation import Conversation
from voiceagent.session.frames import SayFrame

NOTICE = "Are you still there?"
GOODBYE = "I will hang up now. Goodbye!"


async def end_when_idle(
    conversation: Conversation, worker: PipelineWorker, *, after_s: float
) -> None:
    """Returns once the goodbye has been said: the conversation is over."""
    noticed_at: int | None = None
    while True:
        await _silence(conversation, after_s=after_s)
        if conversation.turns_begun == noticed_at:
            return await _say(conversation, worker, GOODBYE)
        await _say(conversation, worker, NOTICE)
        noticed_at = conversation.turns_begun


async def _silence(conversation: Conversation, *, after_s: float) -> None:
    """Until nobody has had the floor for so long."""
    since_s = conversation.clock.now_s()
    while (left_s := since_s + after_s - conversation.clock.now_s()) > 0:
        if conversation.user_has_floor or conversation.agent_has_floor:
            await conversation.changed.wait()
            since_s = conversation.clock.now_s()
            continue
        changed = asyncio.ensure_future(conversation.changed.wait())
        slept = asyncio.ensure_future(
            conversation.clock.sleep_until(conversation.clock.now_s() + left_s)
        )
        try:
            await asyncio.wait({changed, slept}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            changed.cancel()
            slept.cancel()


async def _say(conversation: Conversation, worker: PipelineWorker, text: str) -> None:
    """Says it, and waits until it was heard or somebody cut in."""
    conversation.owe()
    await worker.queue_frame(SayFrame(text=text))
    while conversation.agent_has_floor:
        await conversation.changed.wait()
