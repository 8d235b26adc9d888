"""Calls over AudioSocket, on doubles of the models and a peer by Asterisk's documentation."""

import asyncio
import socket
from contextlib import asynccontextmanager

import numpy as np
import pytest
from phones import AudioSocketPhone, Heard, audited, call_config, clicks_of
from talk_doubles import CHAR_S, ScriptedRecognizer, ScriptedSource, models

from voiceagent.core.events import Ended, EndReason
from voiceagent.core.trace import Header
from voiceagent.session.idle import GOODBYE
from voiceagent.session.trace_file import TraceFile
from voiceagent.telephony import players
from voiceagent.telephony.audiosocket import AudioSocketServer
from voiceagent.telephony.switchboard import Switchboard

REPLY = "One two three four five six seven eight nine ten eleven twelve."
SHORT = "One two three four five six seven eight."
"""One segment: the tone begins anew with each."""
WORD = 6
FRAMES_PER_CHAR = CHAR_S / 0.02


def is_end(happening):
    """Whether a reply is over."""
    return isinstance(happening, Ended)


@asynccontextmanager
async def answering(scripted, config, *, trace=None):
    """A listening server; its port, its switchboard and what happens in its calls."""
    happenings = Heard()
    writing = [TraceFile(trace, header=Header(preset="tiny"))] if trace else []
    switchboard = Switchboard(scripted, config, listeners=lambda call: [happenings, *writing])
    server = AudioSocketServer(switchboard)
    port = await server.listen("127.0.0.1", 0)
    try:
        yield port, switchboard, happenings
    finally:
        await server.close()
        for each in writing:
            each.close()


async def test_a_question_is_answered_and_the_goodbye_heard_before_the_line_ends(tmp_path):
    """Every frame is 20 ms long; silence fills what is not speech; the last word is not cut off."""
    trace = tmp_path / "trace.jsonl"
    scripted = models(hears=["Tell me."], replies=["Fine."])
    async with (
        answering(scripted, call_config(idle_s=0.4), trace=trace) as (port, _, happenings),
        AudioSocketPhone.calling(port) as phone,
    ):
        phone.shout(0.6)
        await phone.closed.wait()
    endings = [each for each in happenings if is_end(each)]
    assert (endings[-1].reason, endings[-1].at) == (EndReason.STOP, len(GOODBYE))
    assert phone.hung_up.is_set()
    assert {len(pcm) for _, pcm in phone.arrived} == {160}
    spoken = len("Fine.") + len(GOODBYE)
    assert phone.sounding() >= int(spoken * FRAMES_PER_CHAR)
    assert audited(trace) == []


async def test_history_ends_at_the_heard_word():
    """Nothing can be cleared: what was sent is heard, and little is sent ahead."""
    scripted = models(hears=["Tell me.", "Stop that now."], replies=[REPLY, "Fine."])
    async with (
        answering(scripted, call_config()) as (port, _, happenings),
        AudioSocketPhone.calling(port) as phone,
    ):
        phone.shout(0.6)
        await phone.until(lambda: phone.sounding() >= 24 * FRAMES_PER_CHAR)
        phone.shout(1.2)
        ended = await happenings.until(is_end)
        heard = phone.sounding() / FRAMES_PER_CHAR
    assert ended.reason is EndReason.INTERRUPTED
    assert abs(ended.at - heard) <= WORD


async def test_a_paused_reply_goes_on_where_it_was_held():
    """A cough is over: no frame is lost, none comes twice."""
    scripted = models(hears=["Tell me.", ""], replies=[SHORT])
    async with (
        answering(scripted, call_config()) as (port, _, happenings),
        AudioSocketPhone.calling(port) as phone,
    ):
        phone.shout(0.6)
        await phone.until(lambda: phone.sounding() >= 24 * FRAMES_PER_CHAR)
        phone.shout(0.3)
        ended = await happenings.until(is_end)
        await phone.until(lambda: phone.sounding() >= len(SHORT) * FRAMES_PER_CHAR - 1)
    assert (ended.reason, ended.at) == (EndReason.STOP, len(SHORT))
    sounding = [pcm for _, pcm in phone.arrived if np.any(pcm)]
    assert abs(len(sounding) - len(SHORT) * FRAMES_PER_CHAR) <= 2
    assert clicks_of(np.concatenate(sounding)) == 0


async def test_hostile_frames_cost_nothing_but_themselves():
    """Early, of no kind, of another rate, half samples, oversized, a second beginning."""
    recognizer = ScriptedRecognizer(["Tell me."])
    scripted = models(hears=[], recognizer=recognizer, replies=["Fine."])
    async with (
        answering(scripted, call_config()) as (port, _, happenings),
        AudioSocketPhone.calling(port) as phone,
    ):
        loud = b"\xff\x7f" * 160
        for kind, payload in (
            *((0x11, loud), (0x10, loud[:-1]), (0x10, loud * 100), (0x42, loud), (0x01, b"x" * 16)),
            *((0x01, b""), (0x03, b"12"), (0x03, b"\xff"), (0xFF, b""), (0xFF, b"\x02")),
        ):
            phone.send(kind, payload)
        phone.shout(0.6)
        ended = await happenings.until(is_end)
    assert (ended.reason, ended.at) == (EndReason.STOP, len("Fine."))
    assert not recognizer.texts


async def test_keys_are_words_of_the_user():
    """One frame for each press."""
    source = ScriptedSource(["Fine."])
    async with (
        answering(models(hears=[], source=source), call_config()) as (port, _, happenings),
        AudioSocketPhone.calling(port) as phone,
    ):
        for digit in b"4*#":
            phone.send(0x03, bytes([digit]))
        await happenings.until(is_end)
    assert source.prompts[-1][-1].content == "[pressed on the telephone: 4 * #]"


async def test_a_full_server_hangs_up_at_once():
    """The dial plan goes on, and the call that is held goes on, too."""
    config = call_config(max_calls=1)
    async with (
        answering(models(hears=[]), config) as (port, switchboard, _),
        AudioSocketPhone.calling(port) as first,
    ):
        await first.until(lambda: len(first.arrived) > 2)
        async with AudioSocketPhone.calling(port) as second:
            await second.closed.wait()
            assert second.hung_up.is_set()
        assert (switchboard.calls, first.closed.is_set()) == (1, False)


async def test_a_peer_that_stops_reading_is_gone(monkeypatch):
    """Its place is free again, however long its connection stays open."""
    monkeypatch.setattr(players, "SEND_TIMEOUT_S", 0.2)
    async with answering(models(hears=[]), call_config()) as (port, switchboard, _):
        with socket.socket() as peer:
            # The kernel reads on for a peer until this is full.
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            peer.setblocking(False)
            await asyncio.get_running_loop().sock_connect(peer, ("127.0.0.1", port))
            peer.send(b"\x01\x00\x10" + bytes(16))
            for calls in (1, 0):
                while switchboard.calls != calls:
                    await switchboard.changed.wait()


@pytest.mark.long
async def test_ten_minutes_lose_and_repeat_no_frame():
    """A question every six seconds: each answer arrives whole, without a click, at its pace."""
    turns = 100
    scripted = models(hears=["Tell me."] * turns, replies=[SHORT] * turns)
    async with (
        answering(scripted, call_config()) as (port, _, happenings),
        AudioSocketPhone.calling(port) as phone,
    ):
        for turn in range(turns):
            phone.shout(0.6)
            await happenings.until(is_end, times=turn + 1)
            silent_from = len(phone.arrived)
            await phone.until(lambda at=silent_from: len(phone.arrived) > at + 150)
    whole = [each for each in happenings if is_end(each) and each.reason is EndReason.STOP]
    replies = [reply for reply in stretches_of(phone) if len(reply) == samples_of(SHORT)]
    assert len(whole) > 0.95 * turns  # a busy machine may split a question in two
    assert len(replies) == len(whole)
    assert [clicks_of(reply) for reply in replies] == [0] * len(whole)
    times = np.array([at_s for at_s, _ in phone.arrived])
    assert np.quantile(np.abs(np.diff(times) - 0.02), 0.95) < 0.005


def samples_of(text):
    """How long the tone synthesizer's sound of a text is, at 8 kHz."""
    return round(len(text) * CHAR_S * 8000)


def stretches_of(phone):
    """What was heard between silences (samples,), each by itself."""
    sounding = np.array([bool(np.any(pcm)) for _, pcm in phone.arrived])
    edges = np.flatnonzero(np.diff(np.concatenate([[False], sounding, [False]])))
    frames = [pcm for _, pcm in phone.arrived]
    return [np.concatenate(frames[begin:end]) for begin, end in edges.reshape(-1, 2)]
