"""The agent hears itself over its own loudspeaker, and is not impressed."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from recordings import fixture
from talk_doubles import ScriptedSource, models, recording

from voiceagent.audio.hold import GuardName, Held, Manner, hold
from voiceagent.config import Config, Persona, cache_directory, load_config
from voiceagent.core.events import EndReason
from voiceagent.session.cores import share_cores
from voiceagent.session.models import Models, choose_preset, load_models
from voiceagent.weights.store import Store

LONG = " ".join(["one two three four five six seven eight nine ten."] * 4)


async def talk(guard: GuardName, echo_db: float) -> Held:
    """A greeting long enough to learn the room by, a question, a long answer."""
    return await hold(
        recording(("voice", 0.8), ("pause", 0.5)),
        models(hears=["Count!"] + ["one two three"] * 30, source=ScriptedSource([LONG])),
        Config(persona=Persona(greeting="Hello, I am here, and I am glad that you are.")),
        manner=Manner(fast=True, echo_db=echo_db, guard=guard),
    )


async def test_without_a_guard_it_interrupts_itself() -> None:
    """The rig is loud enough to show the fault."""
    held = await talk("off", -6.0)
    assert any(reply.reason == EndReason.INTERRUPTED for reply in held.minutes.replies)


@pytest.mark.parametrize("guard", ["cancel", "half-duplex"])
@pytest.mark.parametrize("echo_db", [-20.0, -6.0])
async def test_with_a_guard_every_reply_is_heard_to_its_end(
    guard: GuardName, echo_db: float
) -> None:
    """One turn, one answer, nothing broken off and nothing heard twice."""
    held = await talk(guard, echo_db)
    assert [reply.reason for reply in held.minutes.replies] == ["stop", "stop"]
    assert held.minutes.summary()["user_text"] == "Count!"
    assert held.minutes.summary()["reply_text"] == LONG


@pytest.fixture(scope="module")
def real() -> Iterator[tuple[Models, Config]]:
    """The real ears and voice, and the small language model."""
    config = load_config(flags={"preset": "tiny", "decoding.max_tokens": 30})
    with load_models(
        config,
        preset=choose_preset(config),
        store=Store(cache_directory()),
        shares=share_cores(config.decoding.threads),
    ) as loaded:
        yield loaded, config


@pytest.mark.parametrize("echo_db", [-20.0, -6.0])
async def test_its_own_voice_is_no_turn(
    real: tuple[Models, Config], echo_db: float, tmp_path: Path
) -> None:
    """A real voice back in a real detector: no reply is broken off by it."""
    loaded, config = real
    held = await hold(
        fixture("two-questions").sound(),
        loaded,
        config,
        manner=Manner(fast=True, echo_db=echo_db),
    )
    assert len(held.minutes.confirmed) == 2
    assert EndReason.INTERRUPTED not in [reply.reason for reply in held.minutes.replies]
