"""Calls over SIP and RTP, with baresip as the user agent (the extra ``sip``).

baresip keeps the pace: it sends 20 ms whenever they are due, silence if there is nothing. How far
it has come is known from how much it still holds, so a line of ours can say what was sent, mark by
mark, and take back what was not. What is behind it, the network and the telephone's jitter buffer,
says nothing.
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import AsyncIterator, Coroutine
from typing import Any, Final

import baresip
from baresip.call import CallState, DigitEvent

from voiceagent.config import Sip
from voiceagent.core.errors import VoiceAgentError
from voiceagent.sound.pcm import Int16
from voiceagent.telephony.codecs.base import linear, linear_bytes
from voiceagent.telephony.events import Digit, LineError, LineEvent, Marked, Sound, Started
from voiceagent.telephony.numbers import is_number
from voiceagent.telephony.outgoing import RING_S, NotCalled
from voiceagent.telephony.switchboard import AllBusy, Switchboard

TRAVEL_S: Final = 0.06
"""From us to the ear until a mark has come: a telephone's jitter buffer holds 40 to 60 ms."""
POLL_S: Final = 0.01
"""How often baresip is asked: it has no event for sound. Half a packet."""
MOST_READ_BYTES: Final = 1 << 14
ESTABLISH_S: Final = 15.0
MEDIA_S: Final = 5.0
"""From an established call to its sound."""
RTP_TIMEOUT_S: Final = 30
"""A peer whose sound has stopped for so long is gone, though it never said so."""
JITTER_BUFFER: Final = "audio_jitter_buffer_type fixed\naudio_jitter_buffer_ms 40-200\n"
"""baresip's own default holds 100 ms: a caller would wait 60 ms longer for every answer."""

log = logging.getLogger(__name__)


class SipError(VoiceAgentError):
    """The user agent cannot do what was asked."""


class SipServer:
    """A user agent that answers calls until it is closed."""

    def __init__(self, switchboard: Switchboard) -> None:
        self._switchboard = switchboard
        self._runtime = baresip.Runtime()
        self._agent: baresip.UserAgent | None = None
        self._domain = ""
        self._calls: set[asyncio.Task[None]] = set()

    async def listen(self, sip: Sip, *, password: str) -> None:
        """Begins; registers if there is a registrar.

        Raises:
            SipError: the address is taken, or the registrar refuses.
        """
        host = sip.listen.rpartition(":")[0]
        self._domain = sip.domain or sip.listen
        text = f"sip_listen {sip.listen}\nrtp_ports {sip.rtp_ports}\n{JITTER_BUFFER}"
        account = baresip.Account(
            sip.user,
            self._domain,
            password,
            registrar=sip.registrar or None,
            reg_interval=600 if sip.registrar else 0,
            transport=sip.transport,
            audio_codecs=sip.codecs,
        )
        try:
            await self._runtime.start(
                baresip.Config(
                    net_interface=host,
                    # One more than may be held: it is this program that refuses it.
                    max_concurrent_calls=self._switchboard.config.telephony.max_calls + 1,
                    rtp_timeout=RTP_TIMEOUT_S,
                    extra_config_text=text,
                )
            )
            self._agent = await baresip.UserAgent.create(
                self._runtime, account, transfer_policy="reject"
            )
            if sip.registrar:
                await self._agent.register()
        except (baresip.BaresipError, OSError) as error:
            await self.close()
            raise SipError(f"cannot answer SIP calls at {sip.listen}: {error}") from error
        self._agent.on_incoming(self._incoming)

    async def close(self) -> None:
        """Takes no more calls, and ends those that are held."""
        for call in list(self._calls):
            call.cancel()
        await asyncio.gather(*self._calls, return_exceptions=True)
        with contextlib.suppress(baresip.BaresipError):
            await self._runtime.close()

    async def place(self, to: str) -> str:
        """Calls a number at the registrar, or at the domain, and talks to whoever answers."""
        assert self._agent is not None, "call listen() first"
        if not is_number(to):
            raise NotCalled("a number begins with + and its country: +14155550100")
        try:
            call = await self._agent.dial(f"sip:{to}@{self._domain}")
        except baresip.BaresipError as error:
            raise NotCalled(f"the call was not placed: {type(error).__name__}") from error
        self._start(self._wait_and_hold(call))
        return call.call_id or f"{call.handle:x}"

    def _incoming(self, call: baresip.Call) -> None:
        self._start(self._answer(call))

    def _start(self, holding: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(holding)
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)

    async def _wait_and_hold(self, call: baresip.Call) -> None:
        """Whoever is called may take his time; a seat is taken when he answers."""
        try:
            await call.wait_established(RING_S)
            with self._switchboard.seat():
                await self._hold(call)
        except (baresip.BaresipError, SipError, AllBusy) as error:
            log.warning("an outgoing call came to nothing: %s", type(error).__name__)
            with contextlib.suppress(baresip.BaresipError):
                await call.hangup()

    async def _answer(self, call: baresip.Call) -> None:
        try:
            with self._switchboard.seat():
                await call.answer()
                await call.wait_established(ESTABLISH_S)
                await self._hold(call)
        except AllBusy as error:
            log.warning("a call was refused: %s", error)
            with contextlib.suppress(baresip.BaresipError):
                await call.reject()
        except (baresip.BaresipError, SipError) as error:
            log.warning("a call came to nothing: %s", type(error).__name__)
            with contextlib.suppress(baresip.BaresipError):
                await call.hangup()

    async def _hold(self, call: baresip.Call) -> None:
        line = await open_call(call)
        try:
            await self._switchboard.hold(line)
        finally:
            await line.hang_up()


async def open_call(call: baresip.Call) -> "SipLine":
    """The line of an established call, once its sound has begun.

    Raises:
        SipError: it never does.
    """
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(MEDIA_S):
            while call.state is not CallState.CLOSED:
                with contextlib.suppress(baresip.AudioNotActive):
                    info = call.audio.info()
                    if info.tx_ready and info.rx_ready:
                        return SipLine(call, rate_hz=info.tx_sample_rate)
                await asyncio.sleep(POLL_S)
    raise SipError("the call has no sound")


class SipLine:
    """One call of the user agent's."""

    acknowledges = True
    travel_s = TRAVEL_S

    def __init__(self, call: baresip.Call, *, rate_hz: int) -> None:
        self._call = call
        self.rate_hz = rate_hz
        self.started = Started(call=call.call_id or f"{call.handle:x}")
        self._written_bytes = 0
        self._marks: deque[tuple[str, int]] = deque()
        self._digits: deque[str] = deque()
        self._part = b""
        """Half a sample, if baresip should ever cut one."""
        call.on_dtmf(self._pressed)

    async def events(self) -> AsyncIterator[LineEvent | LineError]:
        """What came since the last look, every 10 ms, until the call is over."""
        while self._call.state is not CallState.CLOSED:
            while self._digits:
                yield Digit(self._digits.popleft())
            if received := self._read():
                yield Sound(linear(received))
            for name in self._sent_marks():
                yield Marked(name)
            await asyncio.sleep(POLL_S)

    async def sound(self, pcm: Int16) -> None:
        """Queues sound; what baresip has no room for is lost, which a lead of 200 ms never is."""
        with contextlib.suppress(baresip.AudioNotActive, baresip.AudioRestarted):
            self._written_bytes += self._call.audio.write(linear_bytes(pcm))

    async def mark(self, name: str) -> None:
        """Comes back when what was queued so far has left."""
        self._marks.append((name, self._written_bytes))

    async def clear(self) -> None:
        """Throws away what has not left; at most one packet of it still does."""
        self._marks.clear()
        with contextlib.suppress(baresip.AudioNotActive, baresip.AudioRestarted):
            self._call.audio.flush_tx()
            self._written_bytes = 0

    async def press(self, digit: str) -> bool:
        """Presses a key (RFC 4733)."""
        with contextlib.suppress(baresip.BaresipError):
            await self._call.send_dtmf(digit)
            return True
        return False

    async def transfer(self, to: str) -> bool:
        """Hands the caller over by REFER; false if the far end will not go."""
        try:
            await self._call.transfer(to)
        except baresip.BaresipError as error:
            log.warning("a transfer came to nothing: %s", type(error).__name__)
            return False
        return True

    async def hang_up(self) -> None:
        """Ends the call."""
        self._call.off_dtmf(self._pressed)
        with contextlib.suppress(baresip.BaresipError):
            await self._call.hangup()

    def _pressed(self, event: DigitEvent) -> None:
        self._digits.append(event.digit)

    def _read(self) -> bytes:
        try:
            received: bytes = self._part + self._call.audio.read(MOST_READ_BYTES)
        except baresip.AudioNotActive:
            return b""
        except baresip.AudioRestarted:
            # Renegotiated in mid-call: what was queued is lost, and it is little.
            self._written_bytes = 0
            self._marks = deque((name, 0) for name, _ in self._marks)
            return b""
        whole = len(received) - len(received) % 2
        self._part = received[whole:]
        return received[:whole]

    def _sent_marks(self) -> list[str]:
        try:
            left = self._written_bytes - self._call.audio.info().tx_buffered
        except baresip.AudioNotActive:
            return []
        sent = []
        while self._marks and self._marks[0][1] <= left:
            sent.append(self._marks.popleft()[0])
        return sent
