"""Our engine as a pipecat LLM service: a context in, commits out.

Only commits are pushed. Provisional and verified text is seen by the conversation's listeners;
no frame carries it, so nothing downstream could speak it.
"""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol

from pipecat.frames.frames import (
    CancelFrame,
    EndFrame,
    Frame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
)
from pipecat.processors.frame_processor import FrameDirection
from pipecat.services.llm_service import LLMService
from pipecat.services.settings import LLMSettings

from voiceagent.core.committer import Commit, Kind
from voiceagent.core.errors import VoiceAgentError
from voiceagent.core.events import Draft, Ending, EndReason, Finish, Rollback, Verify
from voiceagent.core.history import Message, Role
from voiceagent.session.conversation import Conversation
from voiceagent.session.frames import AheadFrame, EndingFrame, SayFrame, TurnFrame
from voiceagent.session.happenings import (
    Happening,
    RoundHappened,
    SpeechHappened,
    ToolHappened,
)
from voiceagent.session.open_reply import OpenReply
from voiceagent.session.patience import Patience
from voiceagent.session.tools import Call, ToolFailed, ToolGate, ToolRefused
from voiceagent.speech.frames import CommitFrame
from voiceagent.speech.tracing import span

FIRST_SEGMENT_HOLD_S = 0.5
"""How long decoding may stand back for the synthesis of a reply's first segment: five times what
it takes, and no more, because the engine's thread serves everyone."""
MAX_CALLS = 3
"""Replies that are tool calls, one behind the other, before the user gets an answer of any kind."""
APOLOGY = "Sorry, something went wrong on my side. Could you say that again?"
BRIDGE = "One moment, please."
"""Said while a tool takes its time: nobody should wonder whether the line is dead."""
DEFAULT_PATIENCE = Patience()
_SOURCE_EVENTS = (Draft, Verify, Rollback, Finish)


class Writing(Protocol):
    """A reply that is being written."""

    def cancel(self) -> None:
        """Stops within one round; harmless when it is over."""
        ...


class Source(Protocol):
    """Whatever writes replies: our engine, a remote one, a double in a test."""

    def write(self, messages: tuple[Message, ...], *, on_event: Callable[[Any], None]) -> Writing:
        """Begins a reply; ``on_event`` is called on any thread with source events and rounds.

        The first may be an Ending, the last is a Finish, whatever happens.
        """
        ...

    def read_ahead(self, messages: tuple[Message, ...]) -> Writing:
        """Reads how a prompt will begin, while nothing else is to be done."""
        ...


class ReplyService(LLMService[Any]):
    """Answers each context with a reply of the source, and says what it is asked to say."""

    def __init__(
        self,
        source: Source,
        conversation: Conversation,
        *,
        tools: ToolGate | None = None,
        patience: Patience = DEFAULT_PATIENCE,
    ) -> None:
        super().__init__(settings=_settings())
        self._tools = tools or ToolGate([])
        self._patience = patience
        self._source = source
        self._conversation = conversation
        self._ahead: Writing | None = None
        self._may_decode = threading.Event()
        self._may_decode.set()
        conversation.subscribe(self._on_happening)

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Contexts and words to say become replies; everything else passes."""
        await super().process_frame(frame, direction)
        if isinstance(frame, AheadFrame):
            self._read_ahead(frame)
        elif isinstance(frame, LLMContextFrame):
            await self._answer(frame)
        elif isinstance(frame, SayFrame):
            await self._say(frame.text)
        else:
            if isinstance(frame, EndFrame | CancelFrame):
                self._stop_reading_ahead()
                self._may_decode.set()
            await self.push_frame(frame, direction)

    # Scripted replies -------------------------------------------------------------------------

    async def _say(self, text: str) -> None:
        await self.push_frame(LLMFullResponseStartFrame())
        reply = self._conversation.open_reply(script=text)
        await self._push(reply.take_written())
        await self.push_frame(LLMFullResponseEndFrame())

    # Replies of the source --------------------------------------------------------------------

    def _read_ahead(self, frame: AheadFrame) -> None:
        self._stop_reading_ahead()
        with suppress(VoiceAgentError):  # a full engine: the reply itself will say so
            self._ahead = self._source.read_ahead(_messages(frame))

    def _stop_reading_ahead(self) -> None:
        if self._ahead is not None:
            self._ahead.cancel()
            self._ahead = None

    async def _answer(self, frame: LLMContextFrame) -> None:
        """One reply, and one more behind every tool call that it turns out to be."""
        self._stop_reading_ahead()
        reply, messages = self._open(frame), _messages(frame)
        attempt = frame.attempt if isinstance(frame, TurnFrame) else None
        for calls_left in range(MAX_CALLS, -1, -1):
            if reply is None:
                return
            await self.push_frame(LLMFullResponseStartFrame())
            silent = await self._write(reply, messages, attempt=attempt)
            await self.push_frame(LLMFullResponseEndFrame())
            failed = reply.ledger.finished is EndReason.ERROR
            calls = self._tools.calls(silent)
            # Nothing that cannot be taken back is done on a turn that may go on.
            if not (failed or calls):
                return
            reply.when_certain(self._conversation.owe)
            if not await self._conversation.certain(reply):
                return
            if failed:
                return await self._say(APOLOGY)
            if not reply.may_call or not calls_left:
                return self._conversation.forgive()
            messages += self._tools.results(
                [(body, await self._call(reply, body)) for body in calls]
            )
            reply, attempt = self._conversation.open_reply(), None

    def _open(self, frame: LLMContextFrame) -> OpenReply | None:
        if isinstance(frame, TurnFrame):
            return self._conversation.open_answer(frame.attempt)
        return self._conversation.open_reply()

    async def _call(self, reply: OpenReply, body: str) -> str:
        """Runs one call if it passes the gate; what the model is told of it."""
        name, outcome = "?", "refused"
        try:
            call = self._tools.admit(body)
            name, outcome = call.tool.name, "failed"
            result = await self._run(call)
            outcome = "ran"
        except (ToolRefused, ToolFailed) as error:
            result = f"error: {error}"
            self._conversation.trouble(str(error))
        now_s = self._conversation.clock.now_s()
        self._conversation.publish(
            ToolHappened(at_s=now_s, reply=reply.name, name=name, outcome=outcome)
        )
        return result

    async def _run(self, call: Call) -> str:
        """Runs an admitted call; a slow one is bridged by a short phrase."""
        running = asyncio.create_task(self._tools.run(call))
        try:
            await asyncio.wait([running], timeout=self._patience.tool_s)
            if not running.done():
                self._conversation.owe()
                await self._say(BRIDGE)
            return await running
        finally:
            running.cancel()

    async def _write(
        self, reply: OpenReply, messages: tuple[Message, ...], *, attempt: int | None
    ) -> str:
        """Writes the reply; returns its silent text, in which a tool call may stand."""
        events: asyncio.Queue[Any] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def on_event(event: Any) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(events.put_nowait, event)
            # On the engine's thread: the first segment's synthesis goes before further rounds.
            self._may_decode.wait(FIRST_SEGMENT_HOLD_S)

        try:
            writing = self._source.write(messages, on_event=on_event)
        except Exception as error:  # noqa: BLE001  # whatever the engine raises costs this reply only
            self._fail(reply, f"the engine refused: {error}")
            if attempt is not None:
                await self._tell_ending(attempt, None)
            return ""
        reply.cancel_source = writing.cancel
        silent: list[str] = []
        try:
            with span(self, "llm", {"llm.reply": reply.name, "llm.epoch": reply.ledger.epoch}):
                await self._follow(reply, events, silent, attempt=attempt)
        except TimeoutError:
            self._fail(reply, "the engine stopped answering")
        finally:
            writing.cancel()
            self._may_decode.set()
        return "".join(silent)

    async def _follow(
        self,
        reply: OpenReply,
        events: "asyncio.Queue[Any]",
        silent: list[str],
        *,
        attempt: int | None,
    ) -> None:
        """Takes events until the source has finished or the reply is over."""
        timeout_s = self._patience.first_event_s
        while reply.alive and reply.ledger.finished is None:
            event = await asyncio.wait_for(events.get(), timeout_s)
            timeout_s = self._patience.next_event_s
            if not reply.alive:
                return
            if attempt is not None:
                await self._tell_ending(attempt, event)
                attempt = None
            if isinstance(event, _SOURCE_EVENTS):
                if isinstance(event, Finish) and event.reason is EndReason.ERROR:
                    self._conversation.trouble(f"{reply.name}: the engine failed")
                commits = reply.take(event, buffered_ms=self._conversation.buffered_ms)
                silent += [commit.text for commit in commits if commit.kind is Kind.SILENT]
                await self._push(commits)
            elif not isinstance(event, Ending):
                self._publish_round(reply, event)

    async def _tell_ending(self, attempt: int, first_event: object) -> None:
        """The source says first what it makes of the words, if it does at all."""
        probability = first_event.probability if isinstance(first_event, Ending) else None
        frame = EndingFrame(attempt=attempt, probability=probability)
        await self.push_frame(frame, FrameDirection.UPSTREAM)

    def _fail(self, reply: OpenReply, line: str) -> None:
        self._conversation.trouble(f"{reply.name}: {line}")
        if reply.alive and reply.ledger.finished is None:
            reply.take(Finish(reason=EndReason.ERROR))

    def _publish_round(self, reply: OpenReply, round_: object) -> None:
        self._conversation.publish(
            RoundHappened(
                reply=reply.name,
                epoch=reply.ledger.epoch,
                at_s=self._conversation.clock.now_s(),
                round=round_,
            )
        )

    async def _push(self, commits: list[Commit]) -> None:
        for commit in commits:
            if commit.segment == 0:
                self._may_decode.clear()
            await self.push_frame(CommitFrame.of(commit))

    def _on_happening(self, happening: Happening) -> None:
        if isinstance(happening, SpeechHappened):
            self._may_decode.set()


def _messages(frame: LLMContextFrame) -> tuple[Message, ...]:
    """The context's messages; ours are plain text, others' parts of other kinds are left out."""
    return tuple(
        Message(role=Role(message["role"]), content=content)
        for message in frame.context.get_messages()
        if isinstance(message, dict) and message.get("role") in tuple(Role)
        if isinstance(content := message.get("content"), str)
    )


def _settings() -> LLMSettings:
    """pipecat wants every field set; ours live in the configuration tree."""
    return LLMSettings(
        model="local",
        system_instruction=None,
        temperature=None,
        max_tokens=None,
        top_p=None,
        top_k=None,
        frequency_penalty=None,
        presence_penalty=None,
        seed=None,
        filter_incomplete_user_turns=False,
        user_turn_completion_config=None,
        use_provider_thinking_default=False,
    )
