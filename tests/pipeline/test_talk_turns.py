"""Conversations with a recording, on doubles of the models and a clock that does not wait."""

from pathlib import Path

import numpy as np
import pytest
from talk_doubles import (
    CHAR_S,
    RATE_HZ,
    ScriptedRecognizer,
    ScriptedSource,
    models,
    recording,
)

from voiceagent.audio.hold import Held, Manner, hold
from voiceagent.config import Config, Persona
from voiceagent.core.audit import audit
from voiceagent.core.history import Role
from voiceagent.core.trace import Header
from voiceagent.session.models import Models
from voiceagent.session.trace_file import TraceFile
from voiceagent.session.turns import APOLOGY as NOT_UNDERSTOOD
from voiceagent.sound.files import Sound

QUIET = Config(persona=Persona(greeting=""))


class Talk:
    """Holds conversations, each with a trace that has to pass the audit."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "trace.jsonl"

    async def __call__(
        self, sound: Sound, with_models: Models, *, config: Config = QUIET, waits: bool = True
    ) -> Held:
        trace = TraceFile(self._path, header=Header(preset="tiny"))
        held = await hold(
            sound, with_models, config, manner=Manner(fast=True, waits=waits), listeners=[trace]
        )
        trace.close()
        with self._path.open(encoding="utf-8") as lines:
            assert audit(lines) == []
        return held


@pytest.fixture
def talk(tmp_path: Path) -> Talk:
    """A conversation whose trace is audited."""
    return Talk(tmp_path)


async def test_a_question_is_answered(talk: Talk) -> None:
    """One utterance becomes one turn, one reply, and that reply's sound."""
    held = await talk(
        recording(("pause", 0.5), ("voice", 1.0), ("pause", 0.5)),
        models(hears=["How are you?"], replies=["I am fine. Thank you for asking."]),
    )
    summary = held.minutes.summary()
    assert summary["user_text"] == "How are you?"
    assert summary["reply_text"] == "I am fine. Thank you for asking."
    assert np.count_nonzero(held.ear) > 0.9 * len("I am fine. Thank you for asking.") * 800


async def test_two_questions_are_two_turns(talk: Talk) -> None:
    """By default a recording stands still during a reply, so that each question gets its own."""
    source = ScriptedSource(["The first answer.", "The second answer."])
    held = await talk(
        recording(("voice", 1.0), ("pause", 0.6), ("voice", 1.0)),
        models(hears=["First?", "Second?"], source=source),
    )
    turns = held.minutes.summary()["turns"]
    assert [turn["user_text"] for turn in turns] == ["First?", "Second?"]
    assert [turn["replies"][0]["heard_text"] for turn in turns] == [
        "The first answer.",
        "The second answer.",
    ]
    assert [(message.role, message.content) for message in source.prompts[1][1:]] == [
        (Role.USER, "First?"),
        (Role.ASSISTANT, "The first answer."),
        (Role.USER, "Second?"),
    ]


async def test_the_next_question_waits_for_a_slow_recognizer(tmp_path: Path) -> None:
    """In real time on a busy machine, words do not run into a turn that is still being decided."""
    recognizer = ScriptedRecognizer(["First?", "Second?"], hangs_s=0.8)
    held = await hold(
        recording(("voice", 0.8), ("pause", 0.6), ("voice", 0.8)),
        models(hears=[], recognizer=recognizer, replies=["One.", "Two."]),
        QUIET,
        manner=Manner(),
    )
    turns = held.minutes.summary()["turns"]
    assert [turn["user_text"] for turn in turns] == ["First?", "Second?"]
    assert len(held.gaps_ms()) == 2


async def test_a_pause_in_a_sentence_is_no_end(talk: Talk) -> None:
    """A turn that the end-of-turn model calls unfinished goes on with the next utterance."""
    held = await talk(
        recording(("voice", 0.8), ("pause", 1.0), ("voice", 0.8), ("pause", 0.3)),
        models(
            hears=["I would like", "I would like some tea."],
            replies=["What would you like?", "Here you are."],
            verdicts=[False] * 4,
        ),
    )
    summary = held.minutes.summary()
    assert (summary["user_text"], summary["reply_text"]) == (
        "I would like some tea.",
        "Here you are.",
    )
    assert summary["waste"]["replies"] == 1


async def test_silence_ends_a_turn_that_the_model_misses(talk: Talk) -> None:
    """When the end-of-turn model never sees the end, the silence time-out does."""
    held = await talk(
        recording(("voice", 1.0), ("pause", 0.2)),
        models(hears=["Hello there"], replies=["Hello!"], verdicts=[False] * 9),
    )
    assert held.minutes.summary()["reply_text"] == "Hello!"


@pytest.mark.parametrize("pieces", [[("pause", 2.0)], [("voice", 0.1), ("pause", 1.0)]])
async def test_silence_and_clicks_are_not_answered(
    talk: Talk, pieces: list[tuple[str, float]]
) -> None:
    """Nothing said, nothing answered, and the conversation ends by itself."""
    held = await talk(recording(*pieces), models(hears=["ghost"], replies=["No."]))
    assert held.minutes.summary()["turns"] == []
    assert np.count_nonzero(held.ear) == 0


async def test_noise_without_words_is_dropped(talk: Talk) -> None:
    """What the VAD takes for a voice and the recognizer for nothing is no turn."""
    held = await talk(recording(("voice", 2.0)), models(hears=[""], replies=["No."]))
    summary = held.minutes.summary()
    assert (summary["turns"], summary["dropped"]) == ([], ["dropped: nothing"])


async def test_the_agent_greets_first(talk: Talk) -> None:
    """A greeting is a scripted reply with a ledger of its own, before the recording begins."""
    source = ScriptedSource(["Fine."])
    held = await talk(
        recording(("voice", 1.0)),
        models(hears=["How are you?"], source=source),
        config=Config(persona=Persona(greeting="Hello! What can I do?")),
    )
    assert held.minutes.summary()["said"] == ["Hello! What can I do?"]
    assert held.minutes.turns[0].confirmed_s is not None
    greeting_s = len("Hello! What can I do?") * CHAR_S
    assert held.minutes.turns[0].confirmed_s > greeting_s
    assert source.prompts[0][1].content == "Hello! What can I do?"


async def test_words_interrupt_and_history_ends_where_it_was_heard(talk: Talk) -> None:
    """Speech over a reply ends it at a word that was heard; the next prompt has no more of it."""
    source = ScriptedSource(["One two three four five six seven eight nine ten.", "Yes."])
    held = await talk(
        recording(("voice", 1.0), ("pause", 1.5), ("voice", 0.6), ("pause", 0.5)),
        models(hears=["Count!", "Stop counting."], source=source),
        waits=False,
    )
    first, second = held.minutes.summary()["turns"]
    reply = first["replies"][0]
    assert reply["reason"] == "interrupted"
    assert reply["text"].startswith(reply["heard_text"])
    assert 3 <= len(reply["heard_text"].split()) < 10
    assert source.prompts[1][2].content == reply["heard_text"]
    assert second["replies"][0]["heard_text"] == "Yes."


async def test_what_was_heard_is_what_sounded(talk: Talk) -> None:
    """The heard text of an interrupted reply and the sound that reached the ear agree to a word."""
    text = "One two three four five six seven eight nine ten."
    held = await talk(
        recording(("voice", 1.0), ("pause", 1.5), ("voice", 0.6)),
        models(hears=["Count!", "Stop counting."], source=ScriptedSource([text, ""])),
        waits=False,
    )
    heard = held.minutes.summary()["turns"][0]["replies"][0]["heard_text"]
    sounded = np.count_nonzero(held.ear) / RATE_HZ / CHAR_S
    assert abs(sounded - len(heard)) <= 6


async def test_a_backchannel_resumes_at_the_paused_sample(talk: Talk) -> None:
    """A "mhm" over a reply holds it for a moment; nothing of it is lost and nothing repeated."""
    text = "One two three four five six seven eight nine."
    held = await talk(
        recording(("voice", 1.0), ("pause", 1.2), ("voice", 0.4), ("pause", 3.0)),
        models(hears=["Count!", "Mhm."], source=ScriptedSource([text])),
        waits=False,
    )
    summary = held.minutes.summary()
    assert summary["reply_text"] == text
    assert summary["dropped"] == ["dropped: backchannel"]
    sounding = np.flatnonzero(held.ear)
    breaks = np.flatnonzero(np.diff(sounding) > RATE_HZ // 10)
    assert len(breaks) == 1
    before, after = sounding[breaks[0]] + 1, sounding[breaks[0] + 1]
    joined = np.concatenate([held.ear[sounding[0] : before], held.ear[after : sounding[-1] + 1]])
    whole = np.trim_zeros((np.sin(np.arange(len(text) * 800) * 0.2) * 8000).astype(np.int16))
    assert np.array_equal(joined, whole)


async def test_speech_of_700_ms_interrupts_whatever_it_is(talk: Talk) -> None:
    """Long enough speech takes the floor before anybody knows its words."""
    source = ScriptedSource(["One two three four five six seven eight nine ten.", "Go on."])
    held = await talk(
        recording(("voice", 1.0), ("pause", 1.0), ("voice", 1.2), ("pause", 0.5)),
        models(hears=["Count!", "Okay okay."], source=source),
        waits=False,
    )
    assert held.minutes.replies[0].reason == "interrupted"
    interrupted_s = held.minutes.replies[0].times_s["ended"]
    assert interrupted_s == pytest.approx(2.7, abs=0.1)  # it began at 2.0 s
    assert source.writings[0].cancelled.is_set()


async def test_a_turn_that_goes_on_leaves_no_trace_of_its_first_reply(talk: Talk) -> None:
    """The reply to half a question is decoded and spoken in secret, and vanishes: no sound, no
    history; what it cost is counted."""
    source = ScriptedSource(["Half an answer. With more.", "A whole answer."])
    held = await talk(
        recording(("voice", 0.8), ("pause", 0.9), ("voice", 0.8)),
        models(
            hears=["Could you tell me", "Could you tell me the time?"],
            source=source,
            verdicts=[False] * 4,
        ),
        waits=False,
    )
    summary = held.minutes.summary()
    assert len(source.prompts) == 2
    assert [message.content for message in source.prompts[1][1:]] == ["Could you tell me the time?"]
    assert summary["reply_text"] == "A whole answer."
    assert [reply["text"] for reply in summary["turns"][0]["replies"]] == ["A whole answer."]
    assert summary["waste"]["replies"] == 1
    assert summary["waste"]["speech_s"] > 0
    assert np.count_nonzero(held.ear) < len("A whole answer.") * CHAR_S * RATE_HZ + RATE_HZ // 50


async def test_who_goes_on_right_behind_the_end_is_answered_once(talk: Talk) -> None:
    """The end-of-turn model was wrong: the reply that had just begun is broken off, and the two
    halves are one turn and one message of the prompt."""
    source = ScriptedSource(["Tell you what? I am all ears.", "It is Rome."])
    held = await talk(
        recording(("voice", 0.8), ("pause", 0.5), ("voice", 0.9), ("pause", 0.5)),
        models(hears=["Could you tell me", "what the capital of Italy is?"], source=source),
        waits=False,
    )
    summary = held.minutes.summary()
    (turn,) = summary["turns"]
    assert turn["user_text"] == "Could you tell me what the capital of Italy is?"
    assert turn["replies"][-1]["heard_text"] == "It is Rome."
    spoken = [message.content for message in source.prompts[1] if message.role is Role.USER]
    assert " ".join(spoken) == "Could you tell me what the capital of Italy is?"


async def test_noise_over_the_first_words_of_a_reply_does_not_lose_the_question(
    talk: Talk,
) -> None:
    """A long noise broke the answer off before it was heard: the question is answered again."""
    source = ScriptedSource(["Internationally so.", "Here it is again."])
    held = await talk(
        recording(("voice", 0.8), ("pause", 0.23), ("voice", 1.2), ("pause", 0.5)),
        models(hears=["What is it?", ""], source=source),
        waits=False,
    )
    summary = held.minutes.summary()
    assert summary["reply_text"] == "Here it is again."
    assert [turn["user_text"] for turn in summary["turns"]] == ["What is it?"]


async def test_noise_that_breaks_a_reply_off_is_not_followed_by_silence(talk: Talk) -> None:
    """The user may have said something: the agent asks."""
    held = await talk(
        recording(("voice", 0.8), ("pause", 1.2), ("voice", 1.2), ("pause", 0.5)),
        models(hears=["Count!", ""], replies=["One two three four five six seven eight nine."]),
        waits=False,
    )
    assert held.minutes.replies[0].reason == "interrupted"
    assert held.minutes.summary()["said"] == [NOT_UNDERSTOOD]


async def test_a_hum_behind_the_greeting_is_not_answered(talk: Talk) -> None:
    """Nobody asked anything."""
    held = await talk(
        recording(("voice", 0.6), ("pause", 0.5)),
        models(hears=["Mm-hmm."], replies=["Yes?"]),
        config=Config(persona=Persona(greeting="Hello!")),
    )
    summary = held.minutes.summary()
    assert (summary["said"], summary["turns"]) == (["Hello!"], [])


async def test_what_was_not_understood_is_asked_again(talk: Talk) -> None:
    """Words that the recognizer does not trust are no turn, and no silence either."""
    recognizer = ScriptedRecognizer(["mumble"], confident=False)
    held = await talk(recording(("voice", 0.8)), models(hears=[], recognizer=recognizer))
    assert held.minutes.summary()["said"] == [NOT_UNDERSTOOD]
