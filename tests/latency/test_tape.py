"""A recording under way, and the far end of a call: what they hold and when they say so."""

import base64
import threading

import numpy as np
import pytest

from voiceagent.latency.caller import Far
from voiceagent.latency.media_stream import take
from voiceagent.latency.tape import Tape
from voiceagent.telephony.g711 import encode_mulaw

RATE_HZ = 1000
FRAME = 160


def piece(*, ear: float, seconds: float = 0.1) -> np.ndarray:
    both = np.zeros((int(seconds * RATE_HZ), 2), dtype=np.int16)
    both[:, 1] = int(ear * 32767)
    return both


def test_a_tape_keeps_both_sides() -> None:
    """What was written, in order, from any moment on."""
    tape = Tape(rate_hz=RATE_HZ)
    tape.write(piece(ear=0))
    tape.write(piece(ear=0.5))
    mouth, ear = tape.sides(from_s=0.05)
    assert len(mouth) == len(ear) == 150
    assert not mouth.any()
    assert ear[:50].max() == 0
    assert ear[50:].min() == pytest.approx(0.5, abs=0.001)
    assert tape.length_s == 0.2


def test_waiting_for_sound_and_for_quiet() -> None:
    """Sound counts from the moment that was asked for; quiet only once it has lasted."""
    tape = Tape(rate_hz=RATE_HZ)
    for ear in (0, 0.5, 0, 0):
        tape.write(piece(ear=ear))
    assert tape.wait_for_sound(from_s=0, for_s=0.3, timeout_s=0)
    assert not tape.wait_for_sound(from_s=0, for_s=0.31, timeout_s=0)
    assert tape.wait_for_sound(from_s=0.15, for_s=0.2, timeout_s=0)
    assert not tape.wait_for_sound(from_s=0.2, for_s=0, timeout_s=0)
    assert tape.wait_for_quiet(for_s=0.2, timeout_s=0)
    assert not tape.wait_for_quiet(for_s=0.3, timeout_s=0)
    assert not tape.wait_for_quiet(for_s=0.2, not_before_s=0.3, timeout_s=0)


def test_waiting_ends_when_it_has_come() -> None:
    """Another thread writes, and the one that waits goes on."""
    tape = Tape(rate_hz=RATE_HZ)
    found: list[bool] = []
    waiting = threading.Thread(
        target=lambda: found.append(tape.wait_for_sound(from_s=0, for_s=0.1, timeout_s=60))
    )
    waiting.start()
    tape.write(piece(ear=0.5))
    tape.write(piece(ear=0))
    waiting.join(timeout=60)
    assert found == [True]


def media(samples: int, *, level: int = 8000) -> dict[str, object]:
    sound = encode_mulaw(np.full(samples, level, dtype=np.int16))
    return {"event": "media", "media": {"payload": base64.b64encode(sound).decode()}}


def mark(name: str) -> dict[str, object]:
    return {"event": "mark", "mark": {"name": name}}


def test_the_far_end_plays_in_order() -> None:
    """Sound of any length comes out 20 ms at a time, silence behind it."""
    far = Far(rate_hz=8000)
    take(media(FRAME + 40), far)
    assert far.play().min() > 0
    second = far.play()
    assert (second[:40].min() > 0, second[40:].any()) == (True, False)
    assert not far.play().any()


def test_a_mark_comes_back_when_it_was_played() -> None:
    """Not before the sound in front of it has been, and at once where there is none."""
    far = Far(rate_hz=8000)
    take(mark("nothing"), far)
    assert far.returned == ["nothing"]
    take(media(FRAME), far)
    take(mark("first"), far)
    take(media(FRAME), far)
    take(mark("second"), far)
    far.play()
    assert far.returned == ["nothing", "first"]


def test_a_clear_throws_sound_away_and_returns_its_marks() -> None:
    """As Twilio has it: who takes a returned mark for heard sound is wrong."""
    far = Far(rate_hz=8000)
    take(media(10 * FRAME), far)
    take(mark("never heard"), far)
    take({"event": "clear"}, far)
    assert far.returned == ["never heard"]
    assert not far.play().any()
    assert far.clears == 1
