"""Bad days: every part fails or hangs once, and the conversation comes to a defined end."""

import asyncio
import stat
from pathlib import Path

import numpy as np
import pytest
from talk_doubles import (
    ScriptedRecognizer,
    ScriptedSource,
    ToneSynthesizer,
    models,
    recording,
)

from voiceagent.audio.hold import Held, Manner, hold
from voiceagent.config import Config, Persona
from voiceagent.core.audit import audit
from voiceagent.core.errors import VoiceAgentError
from voiceagent.core.events import Heard
from voiceagent.core.trace import Header
from voiceagent.session.happenings import Happening
from voiceagent.session.llm import APOLOGY as ENGINE_APOLOGY
from voiceagent.session.models import Models
from voiceagent.session.patience import Patience
from voiceagent.session.release import APOLOGY_FOR_SILENCE
from voiceagent.session.run import Stalled
from voiceagent.session.trace_file import TraceFile
from voiceagent.session.turns import APOLOGY as RECOGNIZER_APOLOGY

QUIET = Config(persona=Persona(greeting=""))
IMPATIENT = Patience(
    recognition_s=0.3, synthesis_s=0.3, first_event_s=0.5, next_event_s=0.3, stalled_s=30, end_s=5
)
QUESTION = recording(("voice", 1.0), ("pause", 0.3))


async def talk(
    folder: Path, with_models: Models, *, patience: Patience = IMPATIENT, redacted: bool = False
) -> Held:
    """One question on doubles; the trace has to pass the audit."""
    path = folder / "trace.jsonl"
    trace = TraceFile(path, header=Header(preset="tiny"), redacted=redacted)
    held = await hold(
        QUESTION,
        with_models,
        QUIET,
        manner=Manner(fast=True, patience=patience),
        listeners=[trace],
    )
    trace.close()
    with path.open(encoding="utf-8") as lines:
        assert audit(lines) == []
    return held


@pytest.mark.parametrize(
    "source",
    [
        ScriptedSource([], refuses=RuntimeError("no memory")),
        ScriptedSource(["One two three."], fails=0),
        ScriptedSource(["One two three."], hangs=True),
    ],
    ids=["refuses", "fails", "hangs"],
)
async def test_an_engine_that_fails_apologizes(tmp_path: Path, source: ScriptedSource) -> None:
    """Nothing was said yet: the user hears an apology, and the failure is reported once."""
    held = await talk(tmp_path, models(hears=["Hello?"], source=source))
    assert held.minutes.summary()["said"] == [ENGINE_APOLOGY]
    assert len(held.minutes.troubles) == 1
    assert held.minutes.replies[0].reason == "error"


async def test_an_engine_that_fails_late_keeps_what_was_said(tmp_path: Path) -> None:
    """What was committed before the failure is spoken, then the apology."""
    source = ScriptedSource(["The first sentence is whole. The second one breaks off."], fails=7)
    held = await talk(tmp_path, models(hears=["Hello?"], source=source))
    assert held.minutes.replies[0].heard_text == "The first sentence is whole."
    assert held.minutes.summary()["said"] == [ENGINE_APOLOGY]


async def test_a_commit_without_sound_is_not_heard(tmp_path: Path) -> None:
    """A synthesizer that yields nothing ends the reply where it was heard, with an apology."""
    held = await talk(
        tmp_path,
        models(
            hears=["Hello?"],
            replies=["The first one sounds. The secret does not. Nor the third."],
            synthesizer=ToneSynthesizer(mute=["secret"]),
        ),
    )
    reply = held.minutes.replies[0]
    assert (reply.heard_text, reply.reason) == ("The first one sounds.", "error")
    assert held.minutes.summary()["said"] == [APOLOGY_FOR_SILENCE]
    assert "secret" in held.minutes.troubles[0]


async def test_a_voice_that_is_gone_ends_in_silence(tmp_path: Path) -> None:
    """If not even the apology has a sound, the conversation goes on without one."""
    held = await talk(
        tmp_path,
        models(
            hears=["Hello?"], replies=["One."], synthesizer=ToneSynthesizer(mute=["One", "Sor"])
        ),
    )
    assert np.count_nonzero(held.ear) == 0
    assert len(held.minutes.troubles) == 2


async def test_a_synthesizer_that_hangs_is_given_up(tmp_path: Path) -> None:
    """A bounded wait, then the reply is over."""
    held = await talk(
        tmp_path,
        models(hears=["Hello?"], replies=["One."], synthesizer=ToneSynthesizer(hangs_s=1.0)),
    )
    assert held.minutes.replies[0].reason == "error"
    assert "no result" in held.minutes.troubles[0]


@pytest.mark.parametrize("texts", [[RuntimeError("bad sound")], []], ids=["fails", "hangs"])
async def test_a_recognizer_that_fails_asks_again(
    tmp_path: Path, texts: list[str | Exception]
) -> None:
    """The user spoke and is owed a word, whatever became of the recognition."""
    recognizer = ScriptedRecognizer(texts, hangs_s=0.0 if texts else 1.0)
    held = await talk(tmp_path, models(hears=[], recognizer=recognizer))
    summary = held.minutes.summary()
    assert summary["said"] == [RECOGNIZER_APOLOGY]
    assert summary["dropped"] == ["dropped: failed"]
    assert len(held.minutes.troubles) == 1
    assert "recognizer" in held.minutes.troubles[0]


async def test_a_stall_ends_with_one_clear_line(tmp_path: Path) -> None:
    """The watchdog behind all time-outs ends a conversation in which nothing moves any more."""
    with pytest.raises(Stalled, match="nothing has moved"):
        await talk(
            tmp_path,
            models(hears=["Hello?"], source=ScriptedSource(["One two."], hangs=True)),
            patience=Patience(first_event_s=60, next_event_s=60, stalled_s=0.5, end_s=5),
        )


async def test_a_trace_that_cannot_be_written_ends_the_conversation(tmp_path: Path) -> None:
    """A full disk: one clear line instead of a conversation whose record is missing."""

    def on_full_disk(happening: Happening) -> None:
        raise VoiceAgentError("cannot write trace.jsonl: No space left on device")

    with pytest.raises(VoiceAgentError, match="No space left"):
        await hold(
            QUESTION,
            models(hears=["Hello?"], replies=["One."]),
            QUIET,
            manner=Manner(fast=True, patience=IMPATIENT),
            listeners=[on_full_disk],
        )


async def test_a_part_that_breaks_ends_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A defect behind the gate is reported at once, not as a stall minutes later."""

    def broken(self: object, speech: object) -> None:
        raise RuntimeError("wires crossed")

    monkeypatch.setattr("voiceagent.session.playout.Playout.begin", broken)
    with pytest.raises(VoiceAgentError, match="wires crossed"):
        await talk(tmp_path, models(hears=["Hello?"], replies=["One."]))


async def test_an_empty_reply_is_a_reply(tmp_path: Path) -> None:
    """A model that has nothing to say leaves silence, and the next question can come."""
    held = await talk(tmp_path, models(hears=["Hello?"], replies=[""]))
    assert held.minutes.replies[0].reason == "stop"
    assert held.minutes.troubles == []


async def test_stopping_breaks_off(tmp_path: Path) -> None:
    """A stop in the middle of a reply ends it as interrupted, and leaves nothing running."""
    stopped = asyncio.Event()
    source = ScriptedSource(["One two three four five six."] * 2, pace_s=0.02)
    held = await hold(
        QUESTION,
        models(hears=["Hello?"], source=source),
        QUIET,
        manner=Manner(fast=True, patience=IMPATIENT),
        listeners=[lambda happening: stopped.set() if isinstance(happening, Heard) else None],
        stopped=stopped,
    )
    assert held.stopped
    assert held.minutes.replies[0].reason == "interrupted"
    assert source.writings[0].cancelled.is_set()
    await asyncio.sleep(0)
    assert len(asyncio.all_tasks()) == 1


async def test_a_trace_is_private_and_whole_or_absent(tmp_path: Path) -> None:
    """Only its owner reads it, and it has its name only once it is closed."""
    await talk(tmp_path, models(hears=["My secret."], replies=["Kept."]))
    assert _modes(tmp_path) == {"trace.jsonl": 0o600}
    broken_off = TraceFile(tmp_path / "other.jsonl", header=Header(preset="tiny"))
    broken_off.discard()
    assert _modes(tmp_path) == {"trace.jsonl": 0o600}


async def test_a_redacted_trace_has_no_words(tmp_path: Path) -> None:
    """Neither the user's nor the agent's, and the audit still proves it."""
    await talk(tmp_path, models(hears=["My secret."], replies=["It is kept."]), redacted=True)
    text = (tmp_path / "trace.jsonl").read_text(encoding="utf-8")
    assert "secret" not in text
    assert "kept" not in text


def _modes(folder: Path) -> dict[str, int]:
    return {entry.name: stat.S_IMODE(entry.stat().st_mode) for entry in folder.iterdir()}
