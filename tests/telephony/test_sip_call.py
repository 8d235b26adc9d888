"""Calls over SIP and RTP from Debian's baresip and from sipp, on doubles of the models."""

import asyncio
import socket
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest
from baresip_phone import BaresipPhone, free_port
from phones import Heard, audited, call_config, clicks_of
from talk_doubles import CHAR_S, ScriptedSource, models

from voiceagent.config import Sip
from voiceagent.core.events import Ended, EndReason
from voiceagent.core.events import Heard as HeardTo
from voiceagent.core.trace import Header
from voiceagent.session.trace_file import TraceFile
from voiceagent.telephony import sip as sip_module
from voiceagent.telephony.outgoing import NotCalled
from voiceagent.telephony.sip import SipError, SipServer
from voiceagent.telephony.switchboard import Switchboard

SHORT = "One two three four five six seven eight."
REPLY = "One two three four five six seven eight nine ten eleven twelve."
MUTE = "<think>I say nothing.</think>"
WORD = 6
KEYS = Path(__file__).parents[1] / "vectors" / "sip" / "keys.xml"


def is_end(happening):
    """Whether a reply is over."""
    return isinstance(happening, Ended)


def mouth(*pieces: float) -> np.ndarray:
    """Silences and noises in turn, each so many seconds long; a long silence at the end."""
    random = np.random.default_rng(0)
    sounds = [
        random.uniform(-0.3, 0.3, int(each * 8000)) * (index % 2)
        for index, each in enumerate([*pieces, 0.0, 60.0][: len(pieces) // 2 * 2 + 1])
    ]
    return np.concatenate([*sounds, np.zeros(60 * 8000)]).astype(np.float32)


def sounding_s(heard: np.ndarray) -> float:
    """For how long the tone synthesizer was heard."""
    loud = np.abs(heard) > 0.05
    return np.count_nonzero(np.convolve(loud, np.ones(16), "same") > 0) / 8000


@asynccontextmanager
async def answering(scripted, config, *, trace=None):
    """A user agent that answers; its address, its switchboard and what happens in its calls."""
    happenings = Heard()
    writing = [TraceFile(trace, header=Header(preset="tiny"))] if trace else []
    switchboard = Switchboard(scripted, config, listeners=lambda call: [happenings, *writing])
    server, port = SipServer(switchboard), free_port()
    sip = Sip(user="bob", listen=f"127.0.0.1:{port}", rtp_ports="21000-21100")
    await server.listen(sip, password="")
    try:
        async with asyncio.timeout(60):
            yield f"sip:bob@127.0.0.1:{port}", switchboard, happenings
    finally:
        await server.close()
        for each in writing:
            each.close()


async def until_nobody_is_held(switchboard):
    """Waits until every call is over."""
    while switchboard.calls:
        await switchboard.changed.wait()


async def tone_of_a_reply(folder, codec) -> np.ndarray:
    """What a caller hears of one reply of the tone synthesizer's (samples,), int16."""
    trace, phone = folder / "trace.jsonl", BaresipPhone(folder / "phone", codec=codec)
    folder.mkdir()
    phone.says(mouth(0.5, 0.8, 2.8, 0.6))
    scripted = models(hears=["Tell me.", "Thanks."], replies=[SHORT, "Fine."])
    async with answering(scripted, call_config(), trace=trace) as (uri, board, events):
        async with phone.calling(uri):
            ended = await events.until(is_end)
            await events.until(is_end, times=2)  # by then all of the first reply has arrived
        await until_nobody_is_held(board)
    assert (ended.reason, ended.at) == (EndReason.STOP, len(SHORT))
    assert audited(trace) == []
    heard = phone.heard()
    begin = np.flatnonzero(np.abs(heard) > 0.05)[0]
    return (heard[begin : begin + int(len(SHORT) * CHAR_S * 8000) - 80] * 32768).astype(np.int16)


@pytest.mark.parametrize("codec", ["pcmu", "pcma"])
async def test_a_question_is_answered_and_all_of_the_answer_reaches_the_ear(tmp_path, codec):
    """What comes out of the loudspeaker is the tone that was made, without a click. Where a machine
    stood still for a moment no telephone plays all of it: one call of three has to be whole."""
    for attempt in range(3):
        tone = await tone_of_a_reply(tmp_path / str(attempt), codec)
        levels = np.abs(tone.reshape(-1, 80)).max(axis=1)
        if clicks_of(tone) == 0 and levels.min() > 5000:
            return
    pytest.fail(f"three calls had gaps or clicks; the levels of the last: {levels.tolist()}")


async def test_a_call_that_has_no_sound_is_hung_up(tmp_path, monkeypatch):
    """The caller is not left in silence."""

    async def without_sound(call):
        raise SipError("the call has no sound")

    monkeypatch.setattr(sip_module, "open_call", without_sound)
    phone = BaresipPhone(tmp_path / "phone")
    phone.says(mouth(60.0))
    async with (
        answering(models(hears=[]), call_config()) as (uri, board, _),
        phone.calling(uri),
    ):
        await phone.until("session closed")
        assert board.calls == 0


async def test_history_ends_at_the_heard_word(tmp_path):
    """The far end's own recording has as much of the reply as history says."""
    phone = BaresipPhone(tmp_path / "phone")
    phone.says(mouth(0.5, 0.8, 1.5, 1.2))
    scripted = models(hears=["Tell me.", "Stop that now."], replies=[REPLY, MUTE])
    async with answering(scripted, call_config()) as (uri, board, events):
        async with phone.calling(uri):
            ended = await events.until(is_end)
            await events.until(is_end, times=2)
        await until_nobody_is_held(board)
    assert ended.reason is EndReason.INTERRUPTED
    assert abs(ended.at - sounding_s(phone.heard()) / CHAR_S) <= WORD


async def test_keys_and_a_hold_are_no_end_of_a_call(tmp_path):
    """Keys come as RTP events, one entry; a hold and its end are re-INVITEs, and talk goes on."""
    phone = BaresipPhone(tmp_path / "phone")
    phone.says(mouth(60.0))
    source = ScriptedSource(["Fine.", "Good."])
    async with (
        answering(models(hears=[], source=source), call_config()) as (uri, board, events),
        phone.calling(uri),
    ):
        while not board.calls:
            await board.changed.wait()
        await phone.until_established()
        await phone.command("4")
        await phone.command("2")
        await phone.command("#")
        await events.until(is_end)
        await phone.command("x")
        await phone.until("hold")
        await phone.command("X")
        await phone.until("resume")
        await phone.command("7")
        await phone.command("#")
        await events.until(is_end, times=2)
    contents = [prompt[-1].content for prompt in source.prompts]
    assert contents == ["[pressed on the telephone: 4 2 #]", "[pressed on the telephone: 7 #]"]


async def test_a_caller_who_hangs_up_in_the_middle_of_a_word_frees_the_place(tmp_path):
    """The reply ends where it was heard."""
    phone = BaresipPhone(tmp_path / "phone")
    phone.says(mouth(1.0, 0.8))
    async with answering(models(hears=["Tell me."], replies=[REPLY]), call_config()) as (
        uri,
        board,
        events,
    ):
        async with phone.calling(uri):
            await events.until(lambda each: isinstance(each, HeardTo) and each.to > 12)
        ended = await events.until(is_end)
        await until_nobody_is_held(board)
    assert ended.reason is EndReason.INTERRUPTED
    assert 12 < ended.at < len(REPLY)


async def test_a_full_agent_is_busy(tmp_path):
    """486, and the call that is held goes on."""
    first, second = BaresipPhone(tmp_path / "first"), BaresipPhone(tmp_path / "second")
    first.says(mouth(60.0))
    second.says(mouth(60.0))
    async with (
        answering(models(hears=[]), call_config(max_calls=1)) as (uri, board, _),
        first.calling(uri),
    ):
        while not board.calls:
            await board.changed.wait()
        async with second.calling(uri):
            await second.until("486 Busy")
        assert board.calls == 1


async def test_an_address_that_is_taken_is_named():
    """One line says what cannot be had."""
    board = Switchboard(models(hears=[]), call_config())
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as holder:
        holder.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{holder.getsockname()[1]}"
        with pytest.raises(SipError, match=address):
            await SipServer(board).listen(Sip(user="bob", listen=address), password="")


async def test_a_recorded_key_of_another_telephone_is_one_press(tmp_path):
    """sipp sends the packets that a real telephone sent: a dozen for each press."""
    source = ScriptedSource(["Fine."])
    async with answering(models(hears=[], source=source), call_config()) as (uri, board, events):
        address, port = uri.removeprefix("sip:bob@"), free_port()
        sipp = await asyncio.create_subprocess_exec(
            *("sipp", "-sf", str(KEYS), "-s", "bob", "-i", "127.0.0.1", "-p", str(port)),
            *("-mp", "23000", "-m", "1", "-timeout", "20", "-nostdin", address),
            cwd=tmp_path,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        await events.until(is_end)
        assert await sipp.wait() == 0
        await until_nobody_is_held(board)
    assert source.prompts[-1][-1].content == "[pressed on the telephone: 5 #]"


async def test_a_number_is_called_and_whoever_answers_is_greeted(tmp_path):
    """sipp is the trunk: it answers, and sees the call end when the agent has said goodbye."""
    port = free_port()
    sipp = await asyncio.create_subprocess_exec(
        *("sipp", "-sn", "uas", "-i", "127.0.0.1", "-p", str(port)),
        *("-mp", "23200", "-m", "1", "-timeout", "30", "-nostdin"),
        cwd=tmp_path,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    events = Heard()
    config = call_config(greeting="Hello, this is a machine.", idle_s=0.3)
    board = Switchboard(models(hears=[]), config, listeners=lambda call: [events])
    server = SipServer(board)
    listen = f"127.0.0.1:{free_port()}"
    sip = Sip(user="bob", domain=f"127.0.0.1:{port}", listen=listen, rtp_ports="21400-21500")
    await server.listen(sip, password="")
    try:
        async with asyncio.timeout(40):
            with pytest.raises(NotCalled):
                await server.place("alice@example.com")
            assert await server.place("+14155550100")
            greeting = await events.until(is_end)
            await until_nobody_is_held(board)
            assert await sipp.wait() == 0
    finally:
        await server.close()
    assert (greeting.reason, greeting.at) == (EndReason.STOP, len("Hello, this is a machine."))
