"""From the greeting to the end: runs a pipeline until its conversation is over."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from pipecat.frames.frames import EndFrame, ErrorFrame
from pipecat.pipeline.worker import PipelineWorker
from pipecat.workers.runner import WorkerRunner

from voiceagent.core.errors import VoiceAgentError
from voiceagent.session.conversation import Conversation
from voiceagent.session.frames import SayFrame
from voiceagent.session.idle import end_when_idle
from voiceagent.session.patience import Patience


class Stalled(VoiceAgentError):
    """Nothing moved any more, in spite of every time-out inside."""


async def converse(
    conversation: Conversation,
    worker: PipelineWorker,
    *,
    greeting: str = "",
    ended: asyncio.Event,
    stopped: asyncio.Event,
    patience: Patience,
) -> None:
    """Runs until ``ended`` (nothing more will come) or ``stopped`` (the user wants no more).

    Raises:
        Stalled: a reply or a decision was waited for in vain.
        VoiceAgentError: the pipeline could not be started, or ended by itself.
    """
    if greeting:
        conversation.owe()
        await worker.queue_frame(SayFrame(text=greeting))
    worker.add_event_handler("on_pipeline_error", _report_to(conversation))
    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    running = asyncio.create_task(runner.run(), name="conversation")
    waits = [
        running,
        asyncio.create_task(ended.wait(), name="input ended"),
        asyncio.create_task(stopped.wait(), name="stopped"),
        asyncio.create_task(_watch(conversation, after_s=patience.stalled_s), name="watchdog"),
        asyncio.create_task(conversation.broken.wait(), name="broken"),
    ]
    if patience.idle_s is not None:
        idle = end_when_idle(conversation, worker, after_s=patience.idle_s)
        waits.append(asyncio.create_task(idle, name="idle"))
    try:
        done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        if conversation.breakdown:
            raise VoiceAgentError(conversation.breakdown)
        if running in done:
            await running
            raise VoiceAgentError("the pipeline ended by itself: start again with --trace")
        if waits[3] in done:
            await waits[3]
        conversation.listen()
        if stopped.is_set():
            conversation.interrupt()
        await worker.queue_frame(EndFrame())
        await asyncio.wait([running], timeout=patience.end_s)
    finally:
        await _finish(runner, running, waits, patience=patience)


def _report_to(conversation: Conversation) -> Callable[[Any, ErrorFrame], Awaitable[None]]:
    """What a processor could not deal with is a trouble of the conversation's."""

    async def report(worker: Any, frame: ErrorFrame) -> None:
        conversation.trouble(frame.error)

    return report


async def _finish(
    runner: WorkerRunner,
    running: "asyncio.Task[None]",
    waits: "Sequence[asyncio.Task[Any]]",
    *,
    patience: Patience,
) -> None:
    """Leaves no task behind."""
    if not running.done():
        await runner.cancel()
        await asyncio.wait([running], timeout=patience.end_s)
    for task in waits:
        if not task.done():
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError, VoiceAgentError):
            await task


async def _watch(conversation: Conversation, *, after_s: float) -> None:
    """Raises once the conversation has been busy for ``after_s`` and nothing has happened."""
    looks = 5
    seen, unmoved = conversation.steps, 0
    while True:
        await asyncio.sleep(after_s / looks)
        moved = conversation.steps != seen or not conversation.is_busy
        seen, unmoved = conversation.steps, 0 if moved else unmoved + 1
        if unmoved >= looks:
            what = ", ".join(sorted(conversation.thinking)) or "a reply"
            raise Stalled(
                f"nothing has moved for {after_s:g} s while waiting for {what}: run "
                "voiceagent doctor, and report the trace if it finds nothing"
            )
