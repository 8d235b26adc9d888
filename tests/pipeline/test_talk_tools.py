"""Tools in a conversation: they run on whole, verified calls, in silence, and are answered."""

import sys
from pathlib import Path

from talk_doubles import ScriptedSource, models, recording

from voiceagent.audio.hold import Held, Manner, hold
from voiceagent.config import Config, Persona, Tool
from voiceagent.core.audit import audit
from voiceagent.core.trace import Header
from voiceagent.session.llm import BRIDGE
from voiceagent.session.patience import Patience
from voiceagent.session.trace_file import TraceFile

COUNT = "import sys, pathlib; pathlib.Path(sys.argv[1]).open('a').write(sys.stdin.read() + chr(10))"
CALL = '<tool_call>\n{"name": "note", "arguments": {"text": "milk"}}\n</tool_call>'


NEVER_BRIDGED = Patience(tool_s=60.0)


async def talk(folder: Path, source: ScriptedSource, *, patience: Patience = NEVER_BRIDGED) -> Held:
    """One question to an agent that can take notes."""
    note = Tool(
        name="note",
        parameters={"type": "object", "properties": {"text": {"type": "string"}}},
        command=(sys.executable, "-c", f"{COUNT}; print('noted')", str(folder / "notes")),
    )
    trace = TraceFile(folder / "trace.jsonl", header=Header(preset="tiny"))
    held = await hold(
        recording(("voice", 1.0), ("pause", 0.3)),
        models(hears=["Note milk."], source=source),
        Config(persona=Persona(greeting=""), tools=(note,)),
        manner=Manner(fast=True, patience=patience),
        listeners=[trace],
    )
    trace.close()
    with (folder / "trace.jsonl").open(encoding="utf-8") as lines:
        assert audit(lines) == []
    return held


def notes(folder: Path) -> list[str]:
    """What the tool was given, a line each time it ran."""
    path = folder / "notes"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


async def test_a_call_runs_once_and_is_answered(tmp_path: Path) -> None:
    """The call makes no sound; its result goes into the prompt of the reply that follows."""
    source = ScriptedSource([CALL, "I have noted milk."])
    held = await talk(tmp_path, source)
    assert notes(tmp_path) == ['{"text": "milk"}']
    assert [event.outcome for event in held.minutes.tools] == ["ran"]
    assert held.minutes.summary()["reply_text"] == "I have noted milk."
    assert source.prompts[1][-1].content == "<tool_response>\nnoted\n</tool_response>"
    assert held.minutes.replies[0].heard_text == ""


async def test_a_slow_tool_is_bridged_by_a_short_phrase(tmp_path: Path) -> None:
    """Whoever waits is told; the answer follows."""
    source = ScriptedSource([CALL, "I have noted milk."])
    held = await talk(tmp_path, source, patience=Patience(tool_s=0.0))
    said = [reply.text.strip() for reply in held.minutes.replies]
    assert said[1:] == [BRIDGE, "I have noted milk."]
    assert notes(tmp_path) == ['{"text": "milk"}']


async def test_a_wrong_call_does_not_run(tmp_path: Path) -> None:
    """The model is told why, and the user still gets an answer."""
    source = ScriptedSource([CALL.replace('"milk"', "7"), "I cannot do that."])
    held = await talk(tmp_path, source)
    assert notes(tmp_path) == []
    assert [event.outcome for event in held.minutes.tools] == ["refused"]
    assert held.minutes.summary()["reply_text"].endswith("I cannot do that.")


async def test_a_call_that_is_broken_off_does_not_run(tmp_path: Path) -> None:
    """An engine that fails in the middle of a call has called nothing."""
    await talk(tmp_path, ScriptedSource([CALL + " and more", "Done."], fails=4))
    assert notes(tmp_path) == []


async def test_calls_without_end_are_ended(tmp_path: Path) -> None:
    """A model that only calls is stopped after a few, and the conversation goes on."""
    await talk(tmp_path, ScriptedSource([CALL] * 20))
    assert 1 <= len(notes(tmp_path)) <= 4
