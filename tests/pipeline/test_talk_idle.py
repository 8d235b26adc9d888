"""Nobody speaks: the agent asks, and hangs up; whoever answers keeps it."""

from dataclasses import replace

from talk_doubles import ScriptedSource, models, recording

from voiceagent.audio.hold import Manner, hold
from voiceagent.config import Config, Persona
from voiceagent.session.idle import GOODBYE, NOTICE
from voiceagent.session.patience import Patience

QUIET = Config(persona=Persona(greeting=""))
MANNER = Manner(fast=True, patience=replace(Patience(), idle_s=3.0))


async def test_silence_ends_with_a_notice_and_a_goodbye() -> None:
    """Both are heard to their ends; then the conversation is over, though sound still comes in."""
    held = await hold(recording(("pause", 60.0)), models(hears=[]), QUIET, manner=MANNER)
    assert held.minutes.summary()["said"] == [NOTICE, GOODBYE]
    assert held.duration_s < 20


async def test_an_answer_keeps_the_conversation() -> None:
    """Whoever speaks after the notice is answered, and has as much time again."""
    held = await hold(
        recording(("pause", 5.5), ("voice", 0.8), ("pause", 60.0)),
        models(hears=["Yes, I am."], source=ScriptedSource(["Good."])),
        QUIET,
        manner=MANNER,
    )
    summary = held.minutes.summary()
    assert summary["reply_text"] == "Good."
    assert summary["said"] == [NOTICE, NOTICE, GOODBYE]
