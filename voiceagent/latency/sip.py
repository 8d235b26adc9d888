"""A call over SIP and RTP, with baresip as the caller's telephone (the extra ``sip``).

baresip's jitter buffer holds some 40 ms on the way to the ear, and its sending buffer a packet or
two on the way from the mouth: both are in the figures, as they are for people.
"""

import asyncio
import contextlib
import socket

import baresip
import numpy as np
from baresip.call import CallState

from voiceagent.latency.caller import ANSWER_TIMEOUT_S, FRAME_S, CallError, Far
from voiceagent.sound.pcm import Int16
from voiceagent.telephony.sip import JITTER_BUFFER

RTP_PORTS = "22000-22200"
MOST_READ_BYTES = 1 << 14
POLL_S = FRAME_S / 4


class SipWire:
    """One call.

    Args:
        uri: who is called, ``sip:agent@127.0.0.1:5060``.
        host: the address of this machine at which the telephone is.
    """

    def __init__(self, uri: str, *, host: str = "127.0.0.1") -> None:
        self._uri, self._host = uri, host
        self._runtime = baresip.Runtime()
        self.rate_hz = 8000
        self._call: baresip.Call | None = None

    async def open(self) -> None:
        """Dials, and waits until there is sound.

        Raises:
            CallError: nobody answers.
        """
        listen = f"{self._host}:{_free_port(self._host)}"
        text = f"sip_listen {listen}\nrtp_ports {RTP_PORTS}\n{JITTER_BUFFER}"
        account = baresip.Account("laboratory", listen, "", reg_interval=0, audio_codecs=("pcmu",))
        try:
            await self._runtime.start(
                baresip.Config(net_interface=self._host, extra_config_text=text)
            )
            agent = await baresip.UserAgent.create(self._runtime, account)
            self._call = await agent.dial(self._uri)
            await self._call.wait_established(ANSWER_TIMEOUT_S)
            self.rate_hz = await self._sounding(self._call)
        except (baresip.BaresipError, OSError, TimeoutError) as error:
            await self._end()
            raise CallError(str(error) or type(error).__name__) from error

    async def _sounding(self, call: baresip.Call) -> int:
        """Waits for both directions; their rate."""
        async with asyncio.timeout(ANSWER_TIMEOUT_S):
            while True:
                with contextlib.suppress(baresip.AudioNotActive):
                    info = call.audio.info()
                    if info.tx_ready and info.rx_ready:
                        return int(info.tx_sample_rate)
                await asyncio.sleep(POLL_S)

    async def receive(self, far: Far) -> None:
        """Hands what comes in to ``far`` until the agent hangs up."""
        assert self._call is not None, "open() comes first"
        while self._call.state is not CallState.CLOSED:
            with contextlib.suppress(baresip.AudioNotActive, baresip.AudioRestarted):
                received = self._call.audio.read(MOST_READ_BYTES)
                far.hear(np.frombuffer(received[: len(received) // 2 * 2], dtype="<i2"))
            await asyncio.sleep(POLL_S)

    async def send(self, pcm: Int16, *, returned: list[str]) -> None:
        """Sends 20 ms (samples,); SIP knows no marks."""
        assert self._call is not None, "open() comes first"
        with contextlib.suppress(baresip.AudioNotActive, baresip.AudioRestarted):
            self._call.audio.write(pcm.astype("<i2").tobytes())

    async def press(self, key: str) -> None:
        """Presses a key (RFC 4733)."""
        assert self._call is not None, "open() comes first"
        await self._call.send_dtmf(key)

    async def close(self) -> None:
        """Hangs up."""
        if self._call is not None:
            with contextlib.suppress(baresip.BaresipError):
                await self._call.hangup()
        await self._end()

    async def _end(self) -> None:
        with contextlib.suppress(baresip.BaresipError):
            await self._runtime.close()


def _free_port(host: str) -> int:
    """A UDP port that nobody uses."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])
