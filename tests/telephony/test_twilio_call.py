"""Calls over media streams, on doubles of the models and a provider by Twilio's documentation."""

import asyncio
from pathlib import Path

import numpy as np
import pytest
from phones import STREAM, MediaStreamPhone, answering, audited, call_config, clicks_of
from streamdouble.api import run_scenario
from streamdouble.scenario import Dtmf, Expect, Hangup, Say, Scenario, Wait, WaitFor
from talk_doubles import CHAR_S, ScriptedRecognizer, ScriptedSource, models

from voiceagent.core.events import Author, Ended, EndReason, Started
from voiceagent.session.idle import GOODBYE
from voiceagent.telephony import g711
from voiceagent.telephony.call import TOO_LONG
from voiceagent.telephony.twilio_routes import STREAM_PATH

REPLY = "One two three four five six seven eight nine ten eleven twelve."
SHORT = "One two three four five six seven eight."
"""One segment: the tone begins anew with each."""
WORD = 6
"""Characters of a word of it, at most, with its blank."""


def samples_of(text: str) -> int:
    """How long the tone synthesizer's sound of a text is, at 8 kHz."""
    return int(len(text) * CHAR_S * 8000)


async def until_nobody_is_held(switchboard):
    """Waits until every call is over."""
    while switchboard.calls:
        await switchboard.changed.wait()


def is_end(happening):
    """Whether a reply is over."""
    return isinstance(happening, Ended)


@pytest.mark.parametrize("delay_s", [0.0, 0.15])
async def test_history_ends_at_the_heard_word_though_marks_come_back_on_clear(tmp_path, delay_s):
    """A provider returns the marks of sound that it threw away: they prove nothing."""
    trace = tmp_path / "trace.jsonl"
    scripted = models(hears=["Tell me.", "Stop that now."], replies=[REPLY, "Fine."])
    async with (
        answering(scripted, call_config(), trace=trace) as (client, _, happenings),
        MediaStreamPhone.calling(client, delay_s=delay_s) as phone,
    ):
        phone.shout(0.6)
        await phone.until_heard(samples_of(REPLY[:24]))
        phone.shout(1.2)
        ended = await happenings.until(is_end)
        heard = len(phone.heard()) / 8000 / CHAR_S
        await happenings.until(is_end, times=2)
    assert ended.reason is EndReason.INTERRUPTED
    assert phone.clears >= 1
    assert abs(ended.at - heard) <= WORD
    assert audited(trace) == []


async def test_a_paused_reply_goes_on_at_the_heard_sample():
    """A cough clears the far end; what was not heard is sent again, nothing lost or repeated."""
    scripted = models(hears=["Tell me.", ""], replies=[SHORT])
    async with (
        answering(scripted, call_config()) as (client, _, happenings),
        MediaStreamPhone.calling(client) as phone,
    ):
        phone.shout(0.6)
        await phone.until_heard(samples_of(SHORT[:24]))
        phone.shout(0.3)
        ended = await happenings.until(is_end)
    assert (ended.reason, ended.at) == (EndReason.STOP, len(SHORT))
    assert phone.clears >= 1
    heard = phone.heard()
    assert abs(len(heard) - samples_of(SHORT)) <= 2 * 160
    assert clicks_of(heard) <= 2  # at one place, where it was held: the way is no clock


async def test_a_line_that_sends_no_silence_still_ends_turns():
    """Nothing comes after the last word: the silence that nobody sent is put in."""
    scripted = models(hears=["Tell me."], replies=["Fine."])
    async with (
        answering(scripted, call_config()) as (client, _, happenings),
        MediaStreamPhone.calling(client) as phone,
    ):
        phone.sends_silence = False
        phone.shout(0.6)
        ended = await happenings.until(is_end)
    assert (ended.reason, ended.at) == (EndReason.STOP, len("Fine."))


async def test_keys_are_words_of_the_user():
    """Presses become one entry, ended by the hash key, and interrupt what is being said."""
    source = ScriptedSource(["You pressed them."])
    config = call_config(greeting=REPLY)
    async with (
        answering(models(hears=[], source=source), config) as (client, _, happenings),
        MediaStreamPhone.calling(client) as phone,
    ):
        await phone.until_heard(samples_of(REPLY[:24]))
        await phone.press("12#")
        await happenings.until(is_end, times=2)
    assert source.prompts[-1][-1].content == "[pressed on the telephone: 1 2 #]"
    assert happenings[0].author is Author.SCRIPT
    assert [each.reason for each in happenings if is_end(each)] == [
        EndReason.INTERRUPTED,
        EndReason.STOP,
    ]


@pytest.mark.parametrize(
    ("limits", "last_words"),
    [({"idle_s": 0.3}, GOODBYE), ({"max_call_s": 0.5, "greets": False}, TOO_LONG)],
)
async def test_the_agent_hangs_up_when_its_goodbye_was_heard(limits, last_words):
    """Not before: the far end has played all of it when the connection ends."""
    async with (
        answering(models(hears=[]), call_config(**limits)) as (client, switchboard, happenings),
        MediaStreamPhone.calling(client, delay_s=0.05) as phone,
    ):
        await phone.closed.wait()
        await until_nobody_is_held(switchboard)
    endings = [each for each in happenings if is_end(each)]
    assert (endings[-1].reason, endings[-1].at) == (EndReason.STOP, len(last_words))
    assert len(phone.heard()) >= samples_of(last_words)


async def test_a_caller_who_hangs_up_in_the_middle_of_a_word_frees_the_place():
    """The reply ends where it was heard, and the next caller is answered."""
    scripted = models(hears=["Tell me.", "Tell me."], replies=[REPLY, REPLY])
    config = call_config(max_calls=1)
    async with answering(scripted, config) as (client, switchboard, happenings):
        for times in (1, 2):
            async with MediaStreamPhone.calling(client) as phone:
                phone.shout(0.6)
                await phone.until_heard(samples_of(REPLY[:24]))
                await phone.hang_up()
                ended = await happenings.until(is_end, times=times)
                await until_nobody_is_held(switchboard)
            assert ended.reason is EndReason.INTERRUPTED


async def test_hostile_messages_cost_nothing_but_themselves():
    """Malformed, oversized, foreign, early, repeated: the question is heard and answered."""
    recognizer = ScriptedRecognizer(["Tell me."])
    scripted = models(hears=[], recognizer=recognizer, replies=["Fine."])
    loud = "AAAA" * 40  # the loudest sound that mu-law has, in base64
    foreign = {"event": "media", "streamSid": "MZother", "media": {"payload": loud}}
    own = {"event": "media", "streamSid": STREAM}
    async with (
        answering(scripted, call_config()) as (client, _, happenings),
        client.ws_connect("/telephony/media-stream") as socket,
    ):
        await socket.send_json(own | {"media": {"payload": loud}})
        await socket.send_bytes(b"\xff\xfe")
        phone = MediaStreamPhone(socket)
        await phone._begin("CA1")
        for _ in range(100):
            await phone.send(foreign)
            await phone.send(own | {"media": {"track": "outbound", "payload": loud}})
            await phone.send(own | {"media": {"chunk": "-3", "payload": loud}})
        for text in (
            "{",
            "[]",
            "null",
            '{"event": "media"}',
            "x" * (1 << 20),
            '{"event": "start"}',
        ):
            await phone.send_text(text)
        await phone._begin("CA2")
        tasks = [asyncio.create_task(each) for each in (phone._listen(), phone._play())]
        tasks.append(asyncio.create_task(phone._speak()))
        phone.shout(0.6)
        ended = await happenings.until(is_end)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    assert (ended.reason, ended.at) == (EndReason.STOP, len("Fine."))
    assert [each.author for each in happenings if isinstance(each, Started)] == [Author.MODEL]
    assert not recognizer.texts


async def test_streamdouble_cuts_in_presses_keys_and_vanishes():
    """A provider that is not ours sees a clear when its caller cuts in, and no strange word.

    Its caller's keys are heard, and a connection that just breaks ends the call.
    """
    random = np.random.default_rng(0)
    noise = g711.encode_mulaw(random.integers(-9000, 9000, 9600).astype(np.int16))
    frames = [noise[at : at + 160] for at in range(0, len(noise), 160)]
    source = ScriptedSource(["Fine.", "Good."])
    scripted = models(hears=["Stop that now."], source=source)
    steps = [
        *(WaitFor("audio"), Wait(0.5), Say(Path("noise.wav"), frames), Expect("clear")),
        *(Wait(1.5), Dtmf("5#"), Wait(1.5), Expect("no_violations"), Hangup()),
    ]
    async with answering(scripted, call_config(greeting=REPLY)) as (client, switchboard, events):
        url = str(client.make_url(STREAM_PATH)).replace("http", "ws", 1)
        report = await run_scenario(url, Scenario("cuts in", steps))
        await until_nobody_is_held(switchboard)
    assert report.result.failed_expectations == []
    assert report.result.unknown_events == []
    assert [prompt[-1].content for prompt in source.prompts][-1] == (
        "[pressed on the telephone: 5 #]"
    )
    assert next(each for each in events if is_end(each)).reason is EndReason.INTERRUPTED
