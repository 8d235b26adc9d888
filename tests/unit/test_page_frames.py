"""The page's reading and writing of pipecat's protobuf frames, against pipecat's own classes."""

import base64
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pipecat.frames.protobufs import frames_pb2

MODULE = Path(__file__).parents[2] / "voiceagent" / "gateway" / "page" / "pipecat-frames.js"
SAMPLES = [0, 1, -1, 32767, -32768, *range(-300, 300)]
MESSAGE = {"label": "rtvi-ai", "type": "x", "data": {"text": "Grüße 👍", "many": list(range(300))}}
SCRIPT = """
const { encodeSound, encodeMessage, decode } = await import(process.argv[1]);
const told = JSON.parse(process.argv[2]);
const base64 = (bytes) => Buffer.from(bytes).toString("base64");
const read = (text) => {
  try {
    const { sound, rate, message } = decode(new Uint8Array(Buffer.from(text, "base64")));
    return { sound: sound && [...sound], rate, message };
  } catch (error) {
    return { refused: error.name };
  }
};
console.log(JSON.stringify({
  sound: base64(encodeSound(Int16Array.from(told.samples), 16000)),
  message: base64(encodeMessage(told.message)),
  read: told.frames.map(read),
}));
"""


def in_node(**told: Any) -> dict[str, Any]:
    """What the module makes of it."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: scripts/setup --dev")
    command = [node, "--input-type=module", "-e", SCRIPT, MODULE.as_uri(), json.dumps(told)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    shown: dict[str, Any] = json.loads(done.stdout)
    return shown


def encoded(frame: Any) -> str:
    return base64.b64encode(frame.SerializeToString()).decode()


def test_what_the_page_writes_is_read_and_the_other_way_round() -> None:
    """Sound, messages, fields that it does not know, and what is cut off."""
    sound, message = frames_pb2.Frame(), frames_pb2.Frame()
    sound.audio.id, sound.audio.name, sound.audio.pts = 2**40, "sound", 7
    sound.audio.audio = np.array(SAMPLES, dtype="<i2").tobytes()
    sound.audio.sample_rate, sound.audio.num_channels = 24_000, 1
    message.message.data = json.dumps(MESSAGE)
    other = frames_pb2.Frame()
    other.text.text = "not for a page"
    cut = base64.b64encode(sound.SerializeToString()[:-3]).decode()
    shown = in_node(
        samples=SAMPLES, message=MESSAGE, frames=[*map(encoded, (sound, message, other)), cut]
    )
    assert shown["read"] == [
        {"sound": SAMPLES, "rate": 24_000},
        {"message": MESSAGE},
        {},
        {"refused": "RangeError"},
    ]
    written = frames_pb2.Frame.FromString(base64.b64decode(shown["sound"])).audio
    assert np.frombuffer(written.audio, dtype="<i2").tolist() == SAMPLES
    assert (written.sample_rate, written.num_channels) == (16_000, 1)
    said = frames_pb2.Frame.FromString(base64.b64decode(shown["message"])).message
    assert json.loads(said.data) == MESSAGE
