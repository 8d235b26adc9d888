"""The speaker's account of what has sounded, on a card that is called block by block."""

import types
from typing import Any

import numpy as np
import pytest

from voiceagent.audio import card as card_module
from voiceagent.audio.card import Speaker

VOICE_HZ, CARD_HZ = 22_050, 48_000
BLOCK = CARD_HZ // 100


class Card:
    """A sound card that plays when it is told to, at once."""

    def __init__(self) -> None:
        self.heard: list[Any] = []
        self.callback: Any = None

    def check_output_settings(self, **settings: Any) -> None:
        assert settings["samplerate"] == CARD_HZ

    def OutputStream(self, *, callback: Any, **settings: Any) -> "Card":
        self.callback = callback
        return self

    def play(self, blocks: int) -> None:
        """Asks for so many blocks of 10 ms."""
        times = types.SimpleNamespace(outputBufferDacTime=0.0, currentTime=0.0)
        for _ in range(blocks):
            block = np.zeros((BLOCK, 1), dtype=np.int16)
            self.callback(block, BLOCK, times, None)
            self.heard.append(block[:, 0])


@pytest.fixture
def card() -> Card:
    return Card()


@pytest.fixture
def speaker(card: Card, monkeypatch: pytest.MonkeyPatch) -> Speaker:
    """A speaker whose clock is always past the latest block."""
    ticks = iter(range(10**9))
    monkeypatch.setattr(card_module.time, "monotonic", lambda: float(next(ticks)))
    return Speaker(card, device=None, rate_hz=VOICE_HZ)


def test_all_that_was_written_sounds_and_is_counted(speaker: Speaker, card: Card) -> None:
    """At the card's rate; the few samples in the resampler do not keep a reply from its end."""
    speaker.write(np.full(VOICE_HZ // 10, 1000, dtype=np.int16))
    assert speaker.played_samples() == 0
    card.play(5)
    assert speaker.played_samples() == pytest.approx(VOICE_HZ // 20, abs=VOICE_HZ // 500)
    card.play(6)
    assert speaker.played_samples() == VOICE_HZ // 10
    assert np.concatenate(card.heard).sum() == pytest.approx(CARD_HZ // 10 * 1000, rel=0.03)


def test_what_is_held_waits_and_goes_on(speaker: Speaker, card: Card) -> None:
    """Silence within a block, and no sample lost."""
    speaker.write(np.full(VOICE_HZ // 10, 1000, dtype=np.int16))
    card.play(3)
    speaker.hold()
    card.play(10)
    assert not np.concatenate(card.heard[3:]).any()
    speaker.let_go()
    card.play(8)
    assert speaker.played_samples() == VOICE_HZ // 10
    assert np.concatenate(card.heard).sum() == pytest.approx(CARD_HZ // 10 * 1000, rel=0.03)


def test_a_cut_is_silence_and_the_count_goes_on(speaker: Speaker, card: Card) -> None:
    """What was cut never counts; what is written afterwards does."""
    speaker.write(np.full(VOICE_HZ // 10, 1000, dtype=np.int16))
    card.play(2)
    speaker.hold()
    speaker.cut()
    heard = speaker.played_samples()
    assert heard == pytest.approx(VOICE_HZ // 50, abs=VOICE_HZ // 500)
    card.play(2)
    assert not np.concatenate(card.heard[2:]).any()
    speaker.write(np.full(VOICE_HZ // 50, 1000, dtype=np.int16))
    card.play(3)
    assert speaker.played_samples() == heard + VOICE_HZ // 50
