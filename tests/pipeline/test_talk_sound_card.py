"""The microphone and the speaker, for real, on a sound server of our own without any hardware.

One recording of both sides, on one clock: the mouth left, the ear right.
"""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from talk_doubles import CHAR_S, recording

from voiceagent.audio.card import SoundCardError, load_sounddevice
from voiceagent.latency.rig import RATE_HZ, Rig, RigError
from voiceagent.sound.files import write_wav
from voiceagent.sound.onset import speech_stretches

WAIT_S = 90.0
REPLY = "One two three four five six."


@pytest.fixture
def rig() -> Iterator[Rig]:
    """A sound server with a mouth and an ear."""
    try:
        with Rig() as running:
            yield running
    except RigError as error:
        pytest.skip(str(error))


@contextmanager
def talking(rig: Rig) -> Iterator["subprocess.Popen[str]"]:
    """A conversation on doubles over the rig's card, once it listens."""
    support = Path(__file__).parents[1] / "support"
    talk = subprocess.Popen(
        [sys.executable, str(support / "live_talk.py"), REPLY],
        env=rig.environment | {"PYTHONPATH": f"{support}:{support.parents[1]}"},
        stdout=subprocess.PIPE,
        text=True,
    )
    # A conversation that says nothing more fails the test; it does not hold it up.
    bound = threading.Timer(WAIT_S, talk.kill)
    bound.start()
    try:
        assert told(talk) == "listening"
        yield talk
    finally:
        bound.cancel()
        talk.terminate()
        talk.wait(timeout=10)


def wait_until_used(rig: Rig, talk: "subprocess.Popen[str]") -> None:
    """Until the conversation plays and listens."""
    while not rig.is_used():
        assert talk.poll() is None


def told(talk: "subprocess.Popen[str]") -> str:
    """The next line of the conversation's."""
    assert talk.stdout is not None
    return talk.stdout.readline().strip()


def test_a_question_over_the_card_is_answered_over_the_card(rig: Rig, tmp_path: Path) -> None:
    """The reply's whole sound reaches the ear, after the question."""
    question = tmp_path / "question.wav"
    speech = recording(("voice", 1.0))
    write_wav(question, speech.pcm, speech.rate_hz)
    with talking(rig) as talk, rig.listen() as sides:
        rig.say(speech)
        summary = json.loads(told(talk))
        assert talk.wait(timeout=30) == 0
    assert summary["reply_text"] == REPLY
    mouth, ear = sides.sides()
    asked = speech_stretches(mouth, rate_hz=RATE_HZ)[0]
    answered = speech_stretches(ear, rate_hz=RATE_HZ)[0]
    assert answered.begin_s > asked.end_s
    # The agent's own recording tells the same gap, though the card delivers late at first; without
    # the way through the card, and a busy machine may add to that.
    gap_ms = 1000 * (answered.begin_s - asked.end_s)
    assert gap_ms - 500 < summary["gaps_ms"][0] <= gap_ms + 50
    # A busy machine may stretch the reply by a gap; it may not lose or repeat any of it.
    made = len(REPLY) * CHAR_S * RATE_HZ * 0.5 * (8000 / 32768) ** 2
    assert float((ear.astype(np.float64) ** 2).sum()) == pytest.approx(made, rel=0.05)


def test_a_card_that_comes_back_is_used_again(rig: Rig, tmp_path: Path) -> None:
    """The sound server dies without a word and is started again: the conversation goes on."""
    speech = recording(("voice", 1.0))
    with talking(rig) as talk:
        wait_until_used(rig, talk)  # the speaker starts behind the microphone
        rig.kill()
        assert told(talk) == "the sound card went away: waiting for it"
        rig.start()
        assert told(talk) == "the sound card is back"
        wait_until_used(rig, talk)
        with rig.listen() as sides:
            rig.say(speech)
            summary = json.loads(told(talk))
        assert talk.wait(timeout=30) == 0
    assert summary["reply_text"] == REPLY
    _, ear = sides.sides()
    assert speech_stretches(ear, rate_hz=RATE_HZ), "the reply is heard over the new card"


def test_without_portaudio_the_fix_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The import fails where the library is missing; the user learns what to install."""
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    with pytest.raises(SoundCardError, match="libportaudio2"):
        load_sounddevice()
