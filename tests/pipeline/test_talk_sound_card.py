"""The microphone and the speaker, for real, on a sound server of our own without any hardware.

One recording of both sides, on one clock: the mouth left, the ear right.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from talk_doubles import CHAR_S, recording

from voiceagent.audio.sound_card import SoundCardError, load_sounddevice
from voiceagent.sound.files import read_channels, write_wav
from voiceagent.sound.onset import speech_stretches

REPLY = "One two three four five six."
WORLD = """
.fail
load-module module-native-protocol-unix socket={runtime}/native auth-anonymous=1
load-module module-null-sink sink_name=world rate=48000 channels=2 channel_map=front-left,front-right
load-module module-remap-sink sink_name=mouth master=world channels=1 channel_map=mono master_channel_map=front-left remix=no
load-module module-remap-sink sink_name=ear master=world channels=1 channel_map=mono master_channel_map=front-right remix=no
load-module module-remap-source source_name=mic master=world.monitor channels=1 channel_map=mono master_channel_map=front-left remix=no
set-default-sink ear
set-default-source mic
"""  # noqa: E501  # PulseAudio's script has no line continuation


@pytest.fixture
def sound_server(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of programs that use a PulseAudio server with a mouth and an ear."""
    if shutil.which("pulseaudio") is None:
        pytest.skip("needs PulseAudio (Debian: pulseaudio, pulseaudio-utils, libasound2-plugins)")
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    script = tmp_path / "world.pa"
    script.write_text(WORLD.format(runtime=runtime), encoding="utf-8")
    environment = os.environ | {
        "XDG_RUNTIME_DIR": str(runtime),
        "HOME": str(tmp_path),
        "PULSE_SERVER": f"unix:{runtime}/native",
    }
    server = subprocess.Popen(
        ["pulseaudio", "-n", "-F", str(script), "--daemonize=no", "--exit-idle-time=-1"],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_until(lambda: (runtime / "native").exists())
        yield environment
    finally:
        server.terminate()
        server.wait(timeout=10)


def _wait_until(condition: object, *, timeout_s: float = 20.0) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_question_over_the_card_is_answered_over_the_card(
    sound_server: dict[str, str], tmp_path: Path
) -> None:
    """The reply's whole sound reaches the ear, after the question."""
    question, world = tmp_path / "question.wav", tmp_path / "world.wav"
    speech = recording(("voice", 1.0))
    write_wav(question, speech.pcm, speech.rate_hz)
    support = Path(__file__).parents[1] / "support"
    talk = subprocess.Popen(
        [sys.executable, str(support / "live_talk.py"), REPLY],
        env=sound_server | {"PYTHONPATH": f"{support}:{support.parents[1]}"},
        stdout=subprocess.PIPE,
        text=True,
    )
    recorder = subprocess.Popen(
        ["parecord", "-d", "world.monitor", "--rate=48000", "--channels=2", str(world)],
        env=sound_server,
    )
    try:
        assert talk.stdout is not None
        assert talk.stdout.readline().strip() == "ready"
        time.sleep(2.0)  # the streams open; a question before would be lost, not wrong
        subprocess.run(["paplay", "-d", "mouth", str(question)], env=sound_server, check=True)
        summary = json.loads(talk.stdout.readline())
        assert talk.wait(timeout=30) == 0
    finally:
        for process in (talk, recorder):
            process.terminate()
            process.wait(timeout=10)
    assert summary["reply_text"] == REPLY
    both = read_channels(world)
    mouth, ear = both.pcm.T
    asked = speech_stretches(np.ascontiguousarray(mouth), rate_hz=48_000)[0]
    answered = speech_stretches(np.ascontiguousarray(ear), rate_hz=48_000)[0]
    assert answered.begin_s > asked.end_s
    # A busy machine may stretch the reply by a gap; it may not lose or repeat any of it.
    made = len(REPLY) * CHAR_S * 48_000 * 0.5 * (8000 / 32768) ** 2
    assert float((ear.astype(np.float64) ** 2).sum()) == pytest.approx(made, rel=0.05)


def test_without_portaudio_the_fix_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The import fails where the library is missing; the user learns what to install."""
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    with pytest.raises(SoundCardError, match="libportaudio2"):
        load_sounddevice()
