"""The caller's rigs against this project's own answering of calls, on doubles of the models."""

import asyncio
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from baresip_phone import free_port
from known_sounds import voice
from phones import answering, call_config
from talk_doubles import ScriptedSource, models

from voiceagent.latency.caller import CallError
from voiceagent.latency.director import Director
from voiceagent.latency.exchange import CueKind, Exchange
from voiceagent.latency.library import Library
from voiceagent.latency.measures import turns_of
from voiceagent.latency.programs import running
from voiceagent.latency.rig import Rig, RigError
from voiceagent.latency.run import Called
from voiceagent.latency.scenario import parse_set
from voiceagent.latency.soundness import soundness
from voiceagent.sound.files import write_wav
from voiceagent.telephony.twilio_routes import STREAM_PATH

LONG = "One two three four five six seven eight nine ten eleven twelve."
SET = """
[[scenario]]
name = "interrupted"
steps = [{ say = "one" }, { interrupt = "two", after_ms = 600 }]

[[scenario]]
name = "keys"
steps = [{ press = "12#" }]
"""


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """Two recordings: one to ask with, a longer one to interrupt with."""
    for name, seconds in (("one", 0.6), ("two", 1.4)):
        sound = voice(seconds, np.random.default_rng(len(name)), rate_hz=16_000)
        write_wav(tmp_path / f"{name}.wav", 2 * sound.astype(np.float32), 16_000)
    entries = (f'[[fixture]]\nid = "{name}"\nfile = "{name}.wav"\n' for name in ("one", "two"))
    (tmp_path / "manifest.toml").write_text("".join(entries), encoding="utf-8")
    return Library(tmp_path)


def play(url: str, library: Library) -> list[Exchange]:
    """Every scenario in one call."""
    with Called(address=url).line() as line:
        director = Director(line, library)
        return [director.play(each, seed=0) for each in parse_set(SET, origin="test").scenarios]


async def test_a_call_is_measured(library: Library) -> None:
    """A question, an interruption of its answer, and keys: both sides on one clock of 20 ms."""
    scripted = models(
        hears=["Tell me.", "Stop that now."], source=ScriptedSource([LONG, "Fine.", "Thanks."])
    )
    async with answering(scripted, call_config()) as (client, _, happenings):
        url = str(client.make_url(STREAM_PATH)).replace("http", "ws", 1)
        interrupted, keys = await asyncio.to_thread(play, url, library)
        assert len(happenings) > 0
    _check(interrupted, keys)


def _check(interrupted: Exchange, keys: Exchange) -> None:
    """A question, an interruption of its answer, and keys."""
    assert soundness(interrupted).is_sound
    question, interruption = turns_of(interrupted)
    assert question.response_gap_ms is not None
    assert question.response_gap_ms > 0
    assert interruption.kind is CueKind.INTERRUPTION
    assert interruption.stop_ms is not None
    # The whole reply takes 3.2 s: it was stopped on the way.
    assert 0 < interruption.stop_ms < 2000
    assert interruption.begin_s is not None
    assert interruption.begin_s - (question.reply_begin_s or 0) == pytest.approx(0.6, abs=0.1)
    assert [cue.kind for cue in keys.cues] == [CueKind.KEYS]


def test_a_call_over_sip_is_measured(library: Library) -> None:
    """The same over SIP and RTP, with a telephone on this side and the product on the other."""
    port = free_port()
    support = Path(__file__).parents[1] / "support"
    environment = {**os.environ, "PYTHONPATH": f"{support}:{support.parents[1]}"}
    command = [sys.executable, str(support / "answering_sip.py"), str(port)]
    with running(command, environment=environment, name="the agent", ready="listening"):
        interrupted, keys = play(f"sip:bob@127.0.0.1:{port}", library)
    _check(interrupted, keys)


def test_nobody_answers() -> None:
    """A port on which nobody listens is one line."""
    with (
        pytest.raises(CallError, match="does not answer"),
        Called(address="ws://127.0.0.1:9/").line(),
    ):
        pass


def test_a_card_has_no_keys() -> None:
    """Keys over a sound card are refused, not left out."""
    with pytest.raises(RigError, match="need a telephone"):
        Rig().press("1")
