"""The agent over every recording, with the real ears and voice and the small language model.

What the small model says does not matter here: whether it was asked, and whether every trace
proves that nothing unverified was spoken, does.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recordings import Fixture, Recording, available, fixture, fixtures, human_recordings

from voiceagent.audio.hold import Held, Manner, hold
from voiceagent.config import Config, cache_directory, load_config
from voiceagent.core.audit import audit
from voiceagent.core.trace import Header
from voiceagent.session.cores import share_cores
from voiceagent.session.models import Models, choose_preset, load_models
from voiceagent.session.trace_file import TraceFile
from voiceagent.sound.files import Sound
from voiceagent.weights.store import Store


@pytest.fixture(scope="module")
def config() -> Config:
    """Short replies: a few words suffice to see that there is one. A voice without noise: the same
    words sound the same, so that what comes after them begins at the same sample."""
    return load_config(
        flags={
            "preset": "tiny",
            "decoding.max_tokens": 12,
            "persona.greeting": "",
            "voice.noise_scale": 0.0,
            "voice.noise_width": 0.0,
        }
    )


@pytest.fixture(scope="module")
def models(config: Config) -> Iterator[Models]:
    """Loaded once; every conversation has a history and a clock of its own."""
    with load_models(
        config,
        preset=choose_preset(config),
        store=Store(cache_directory()),
        shares=share_cores(config.decoding.threads),
    ) as loaded:
        yield loaded


async def talk(
    sound: Sound, models: Models, config: Config, folder: Path, *, waits: bool = True
) -> Held:
    """One conversation whose trace passes the audit."""
    path = folder / "trace.jsonl"
    trace = TraceFile(path, header=Header(preset="tiny"))
    held = await hold(
        sound, models, config, manner=Manner(fast=True, waits=waits), listeners=[trace]
    )
    trace.close()
    with path.open(encoding="utf-8") as lines:
        assert audit(lines) == []
    assert held.minutes.troubles == []
    return held


@pytest.mark.parametrize("recording", fixtures(), ids=lambda recording: recording.id)
async def test_questions_are_answered_and_noise_is_not(
    recording: Fixture, models: Models, config: Config, tmp_path: Path
) -> None:
    """What was said to be answered makes a turn with sound; silence, music and noise make none."""
    held = await talk(recording.sound(), models, config, tmp_path)
    turns = held.minutes.confirmed
    if recording.answered == "yes":
        assert turns
        assert all(held.minutes.answers(turn) for turn in turns)
        assert np.count_nonzero(held.ear) > 0
    elif recording.answered == "no":
        assert turns == []
        assert np.count_nonzero(held.ear) == 0


def people() -> Iterator[Any]:
    """Every second recording of a person always, all of them with ``--long``."""
    for at, recording in enumerate(human_recordings()):
        marks = () if at % 2 == 0 else (pytest.mark.long,)
        yield pytest.param(recording, id=recording.id, marks=marks)


@pytest.mark.parametrize("recording", list(people()))
async def test_people_are_heard(
    recording: Recording, models: Models, config: Config, tmp_path: Path
) -> None:
    """A person who says a sentence is answered, over whatever line."""
    held = await talk(available(recording), models, config, tmp_path)
    assert held.minutes.confirmed


async def test_two_questions_in_one_file_are_two_turns(
    models: Models, config: Config, tmp_path: Path
) -> None:
    """Each has its own reply, and the second prompt holds the first exchange."""
    held = await talk(fixture("two-questions").sound(), models, config, tmp_path)
    assert len(held.minutes.confirmed) == 2
    prompts = [
        json.loads(line)
        for line in (tmp_path / "trace.jsonl").read_text(encoding="utf-8").splitlines()
        if '"confirmed"' in line
    ]
    assert len([each for each in prompts if each.get("state") == "confirmed"]) == 2


async def test_the_same_recording_is_the_same_conversation(
    models: Models, config: Config, tmp_path: Path
) -> None:
    """Without real time no word and no count depends on how busy the machine is."""
    first, second = [
        (await talk(fixture("two-questions").sound(), models, config, tmp_path)).minutes.summary()
        for _ in range(2)
    ]
    for summary in (first, second):
        # Times are real where they do not follow from the sound.
        summary.pop("duration_s", None)
        for turn in summary["turns"]:
            turn.pop("confirmed_s")
            for reply in turn["replies"]:
                reply.pop("times_s")
    assert first == second


async def test_a_pause_in_mid_sentence_is_not_spoken_into(
    models: Models, config: Config, tmp_path: Path
) -> None:
    """smart-turn takes "Could you please tell me" for a whole question; its words say otherwise.
    One turn, one reply, and not a sample of sound inside the pause."""
    sound = fixture("pause-in-the-middle").sound()
    held = await talk(sound, models, config, tmp_path, waits=False)
    (turn,) = held.minutes.confirmed
    assert "capital of Italy" in turn.text
    assert len(held.minutes.answers(turn)) == 1
    spoken_s = len(sound.pcm) / sound.rate_hz
    assert np.count_nonzero(held.ear[: int(spoken_s * held.rate_hz)]) == 0


async def test_a_hum_behind_the_greeting_is_no_turn(
    models: Models, config: Config, tmp_path: Path
) -> None:
    """Whatever the recognizer writes for it ("mm-m-h-m-m")."""
    greeting = load_config(flags={"preset": "tiny", "decoding.max_tokens": 12})
    held = await talk(fixture("mhm").sound(), models, greeting, tmp_path)
    assert held.minutes.confirmed == []
