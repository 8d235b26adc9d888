"""One call from its first sound to its last, over any line."""

import asyncio
import contextlib
import logging
from collections.abc import Iterable
from pathlib import Path

from voiceagent.config import Config
from voiceagent.core.errors import VoiceAgentError
from voiceagent.core.events import Ended, EndReason
from voiceagent.session.assembly import converse_over, make_conversation
from voiceagent.session.clock import WallClock
from voiceagent.session.happenings import Happening, Listener
from voiceagent.session.models import Models
from voiceagent.session.patience import Patience
from voiceagent.session.playout import Playout
from voiceagent.telephony.arrivals import Arrivals
from voiceagent.telephony.call_tools import CallTools, Next
from voiceagent.telephony.events import Digit, LineError, LineEvent, Marked, Sound, Stopped
from voiceagent.telephony.keys import Keys, words_of
from voiceagent.telephony.line import Line
from voiceagent.telephony.players import BufferedPlayer, PacedPlayer, Player
from voiceagent.telephony.recording import Recording
from voiceagent.telephony.transport import LineTransport

TICK_S = 0.1
"""How often a call is looked after: silences, entries of keys, limits."""
GOODBYE_S = 15.0
"""For the last words of a call that has reached its limit."""
HANG_UP_S = 2.0
"""For a line to take the word that the call is over: one that does not is closed all the same."""
MESSAGES_PER_S = 500
"""Five times what a line sends with a mark for every piece; who sends more is read more slowly."""
LOGGED_ERRORS = 3
"""Of one call: a peer must not fill the log."""
TOO_LONG = "This call has reached its time limit, so I have to hang up now. Goodbye!"

log = logging.getLogger(__name__)


class PhoneCall:
    """Talks with whoever is at the far end.

    Args:
        line: has begun.
        models: shared by all calls.
        config: with the call's own tools (``call_tools.with_call_tools``).
        listeners: are told everything that happens.
    """

    def __init__(
        self, line: Line, models: Models, config: Config, *, listeners: Iterable[Listener] = ()
    ) -> None:
        self._line, self._models, self._config = line, models, config
        self._listeners = [self._note, *listeners]
        self._tools = CallTools(config, press=line.press)
        self._clock = WallClock()
        self.player: Player = (BufferedPlayer if line.acknowledges else PacedPlayer)(
            line, self._clock
        )
        playout = Playout(rate_hz=line.rate_hz, lead_ms=self.player.lead_ms)
        self._conversation = make_conversation(config, models, clock=self._clock, playout=playout)
        self._transport = LineTransport(self._conversation, self.player)
        self._arrivals, self._keys = Arrivals(), Keys()
        self._recording: Recording | None = None
        self._over = asyncio.Event()
        """Set when the agent has nothing more to say."""
        self._hung_up = asyncio.Event()
        """Set when the caller is gone: what was not heard by then never will be."""
        self.errors = 0
        """Messages that were none of the line's."""

    async def hold(self) -> None:
        """Talks until one side hangs up, then leaves nothing behind; raises nothing of a call's."""
        tasks = [
            asyncio.create_task(self._listen(), name="caller"),
            asyncio.create_task(self._look_after(), name="call"),
        ]
        try:
            self._record()
            await self._converse()
        except VoiceAgentError as error:
            log.error("a call was broken off: %s", error)
            self._tools.next = Next.TRANSFER
        finally:
            await self._finish(tasks)

    async def _converse(self) -> None:
        telephony = self._config.telephony
        await converse_over(
            self._transport,
            self._conversation,
            self._models,
            self._config,
            greets=telephony.greets,
            patience=Patience(idle_s=telephony.idle_s),
            listeners=self._listeners,
            ended=self._over,
            stopped=self._hung_up,
            tools=self._tools,
        )

    async def _finish(self, tasks: "list[asyncio.Task[None]]") -> None:
        await self.player.end()
        transfer_to = self._config.telephony.transfer_to
        with contextlib.suppress(OSError, TimeoutError):
            if self._tools.next is Next.TRANSFER and transfer_to:
                async with asyncio.timeout(GOODBYE_S):
                    await self._line.transfer(transfer_to)
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(HANG_UP_S):
                await self._line.hang_up()
        for task in tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        if self._recording is not None:
            self._keep_sounded(self._recording)
            self._recording.close()

    # What comes -------------------------------------------------------------------------------

    async def _listen(self) -> None:
        """Hears the line until it ends. However that comes about, the caller is gone then."""
        try:
            await self._hear()
        finally:
            self._hung_up.set()

    async def _hear(self) -> None:
        second, messages = 0, 0
        async for event in self._line.events():
            now_s = self._clock.now_s()
            if int(now_s) != second:
                second, messages = int(now_s), 0
            messages += 1
            if messages > MESSAGES_PER_S:
                await self._clock.sleep_until(second + 1)
            if isinstance(event, Stopped):
                return
            await self._take(event)

    async def _take(self, event: LineEvent | LineError) -> None:
        match event:
            case Sound():
                for pcm in self._arrivals.take(event):
                    await self._transport.mouth.hear(pcm)
                    if self._recording is not None:
                        self._recording.caller(pcm, now_s=self._clock.now_s())
            case Marked(name):
                self.player.marked(name)
                self._conversation.listen()
            case Digit(digit):
                self._keys.press(digit, now_s=self._clock.now_s())
            case LineError():
                self.errors += 1
                if self.errors <= LOGGED_ERRORS:
                    log.warning("a message of the line was passed over: %s", event)

    # What passes ------------------------------------------------------------------------------

    async def _look_after(self) -> None:
        mouth = self._transport.mouth
        await mouth.ready.wait()
        limit_s = self._config.telephony.max_call_s
        while not self._over.is_set():
            await self._clock.sleep_until(self._clock.now_s() + TICK_S)
            now_s = self._clock.now_s()
            await mouth.fill()
            if entry := self._keys.entry(now_s=now_s):
                await mouth.type(words_of(entry))
            self._keep_sounded(self._recording)
            if self.player.gone.is_set():
                self._hung_up.set()
            if now_s > limit_s:
                await self._take_leave()
            if self._tools.next is not Next.GO_ON and not self._conversation.agent_has_floor:
                self._over.set()

    async def _take_leave(self) -> None:
        """The limit of a call is said, not just enforced."""
        await self._transport.mouth.say(TOO_LONG)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GOODBYE_S):
                while self._conversation.agent_has_floor:
                    await self._conversation.changed.wait()
        self._over.set()

    def _note(self, happening: Happening) -> None:
        """A goodbye that the caller has cut into was none."""
        if isinstance(happening, Ended) and happening.reason is EndReason.INTERRUPTED:
            self._tools.next = Next.GO_ON

    # Recording --------------------------------------------------------------------------------

    def _record(self) -> None:
        folder = self._config.telephony.record_to
        if not folder:
            return
        path = Path(folder) / f"{_file_name(self._line.started.call)}.wav"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._recording = Recording(path, rate_hz=self._line.rate_hz)
        except (OSError, VoiceAgentError) as error:
            log.error("a call goes on without a recording: %s", error)

    def _keep_sounded(self, recording: Recording | None) -> None:
        """What was played goes into the recording, or is forgotten."""
        for sounded in self.player.drain_sounded():
            if recording is not None:
                recording.agent(sounded.pcm, begin_s=sounded.begin_s)
        if recording is not None:
            recording.advance(now_s=self._clock.now_s())


def _file_name(call: str) -> str:
    """A provider's name for a call as that of a file: nothing in it leads to another folder."""
    return "".join(each if each.isalnum() else "-" for each in call)[:80] or "call"
