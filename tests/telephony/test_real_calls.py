"""Calls with real models from peers that this project did not write.

streamdouble is a provider of media streams, Debian's baresip a telephone. The question is
recognized, the reply recorded at the far end and recognized again.
"""

import asyncio

import numpy as np
import pytest
from baresip_phone import BaresipPhone, free_port
from phones import Heard as HappeningsOfCalls
from phones import answering, audited
from recordings import fixture_path
from streamdouble.api import run_scenario
from streamdouble.chaos import Impairments
from streamdouble.scenario import Say, Scenario, Wait, WaitFor
from streamdouble.session import SessionConfig

from voiceagent.config import Config, Decoding, Persona, Sip, Telephony, cache_directory
from voiceagent.core.events import Author, Ended, EndReason, Heard, Started
from voiceagent.session.cores import share_cores
from voiceagent.session.models import load_models
from voiceagent.sound.files import read_sound
from voiceagent.sound.pcm import to_float32, to_int16
from voiceagent.sound.resample import resample
from voiceagent.speech.recognizer import WhisperRecognizer
from voiceagent.telephony import g711
from voiceagent.telephony.sip import SipServer
from voiceagent.telephony.switchboard import Switchboard
from voiceagent.telephony.twilio_routes import STREAM_PATH
from voiceagent.weights.manifest import Manifest
from voiceagent.weights.store import Store

GREETING = "Good morning, how can I help you today?"
CONFIG = Config(
    decoding=Decoding(max_tokens=24),
    persona=Persona(greeting=GREETING),
    telephony=Telephony(idle_s=60.0),
)


@pytest.fixture(scope="module")
def models():
    """The tiny preset."""
    preset, store = Manifest.load().preset("tiny"), Store(cache_directory())
    with load_models(CONFIG, preset=preset, store=store, shares=share_cores(2)) as models:
        yield models


def recognized(heard):
    """The words of a recording (samples,), float32 at 8 kHz, in small letters."""
    files = Manifest.load().preset("tiny").files["recognizer"]
    recognizer = WhisperRecognizer(Store(cache_directory()).folder(files))
    return recognizer.recognize(resample(heard, from_hz=8000, to_hz=16_000)).text.lower()


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    """Where the call's trace is."""
    return tmp_path_factory.mktemp("call") / "trace.jsonl"


@pytest.fixture(scope="module")
def call(models, trace):
    """One whole call: what the peer reports, and everything that happened."""
    return asyncio.run(_hold_call(models, trace))


def _question_pcm():
    question = read_sound(fixture_path("largest-planet"))
    return resample(question.pcm, from_hz=question.rate_hz, to_hz=8000)


def _question() -> Say:
    sound = g711.encode_mulaw(to_int16(_question_pcm()))
    frames = [sound[at : at + 160].ljust(160, b"\xff") for at in range(0, len(sound), 160)]
    return Say(fixture_path("largest-planet"), frames)


async def _hold_call(models, trace):
    steps = [WaitFor("quiet", 15.0), _question(), Wait(2.5), WaitFor("quiet", 15.0)]
    async with answering(models, CONFIG, trace=trace) as (client, _, happenings):
        report = await run_scenario(
            str(client.make_url(STREAM_PATH)).replace("http", "ws", 1),
            Scenario("a question", steps),
            config=SessionConfig(
                impairments=Impairments(loss=0.01, jitter_ms=20.0), max_call_s=60.0
            ),
        )
    return report, list(happenings)


def test_the_caller_is_greeted_and_answered(call):
    """The greeting and one reply were heard to their ends, over a line that loses and delays."""
    report, happenings = call
    ended = [each for each in happenings if isinstance(each, Ended)]
    authors = [each.author for each in happenings if isinstance(each, Started)]
    assert authors == [Author.SCRIPT, Author.MODEL]
    assert ended[0].reason is EndReason.STOP
    assert ended[1].reason in (EndReason.STOP, EndReason.LENGTH)
    assert max(each.to for each in happenings if isinstance(each, Heard)) > 0
    assert report.result.marks_echoed


def test_the_peer_has_nothing_to_complain_about(call):
    """Every message that it got is one of the protocol's."""
    report, _ = call
    assert report.result.violation_count == 0
    assert report.result.unknown_events == []


def test_what_the_far_end_recorded_is_what_was_said(call):
    """The recording of the line, recognized again, begins with the greeting."""
    report, _ = call
    pcm = resample(to_float32(g711.decode_mulaw(report.audio_received)), from_hz=8000, to_hz=16_000)
    files = Manifest.load().preset("tiny").files["recognizer"]
    recognizer = WhisperRecognizer(Store(cache_directory()).folder(files))
    assert "how can i help you" in recognizer.recognize(pcm).text.lower()


@pytest.mark.usefixtures("call")
def test_the_call_passes_the_audit(trace):
    """Nothing unverified was spoken, nothing released early, on the telephone as elsewhere."""
    assert audited(trace) == []


async def test_a_question_over_sip_is_answered_in_words(models, tmp_path):
    """What came out of the telephone's loudspeaker holds the greeting, then an answer."""
    events, phone = HappeningsOfCalls(), BaresipPhone(tmp_path / "phone")
    silence = np.zeros(8000, dtype=np.float32)
    phone.says(np.concatenate([*[silence] * 4, _question_pcm(), *[silence] * 60]))
    switchboard = Switchboard(models, CONFIG, listeners=lambda call: [events])
    server, port = SipServer(switchboard), free_port()
    await server.listen(Sip(user="bob", listen=f"127.0.0.1:{port}"), password="")
    try:
        async with asyncio.timeout(60), phone.calling(f"sip:bob@127.0.0.1:{port}"):
            await events.until(lambda each: isinstance(each, Ended), times=2)
    finally:
        await server.close()
    authors = [each.author for each in events if isinstance(each, Started)]
    assert authors == [Author.SCRIPT, Author.MODEL]
    words = recognized(phone.heard())
    assert "how can i help you" in words
    assert len(words.split()) > len(GREETING.split())
