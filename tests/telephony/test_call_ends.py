"""What becomes of a call: ended or handed over by the model, broken, recorded; on media streams."""

import asyncio
import json
import stat

import numpy as np
import pytest
import soundfile
from phones import MediaStreamPhone, answering, call_config
from talk_doubles import CHAR_S, ScriptedSource, models

from voiceagent.core.events import Author, Ended, EndReason, Started
from voiceagent.session.happenings import ToolHappened
from voiceagent.session.tools import ToolRefused, call_text
from voiceagent.telephony.call_tools import (
    ENDING,
    NO_KEYS,
    PRESSED,
    CallTools,
    with_call_tools,
)
from voiceagent.telephony.twilio_routes import TwilioRoutes

HUMAN = "+14155550199"


def is_end(happening):
    """Whether a reply is over."""
    return isinstance(happening, Ended)


@pytest.fixture
def transfers(monkeypatch):
    """Whom calls were handed to."""
    told = {}
    monkeypatch.setattr(TwilioRoutes, "transfer", lambda self, call, to: told.update({call: to}))
    return told


def test_calls_have_the_tools_that_are_configured():
    """None by default: a model that is too small uses them too soon. One of the same name stays."""
    assert with_call_tools(call_config()).tools == ()
    config = with_call_tools(call_config(hangs_up=True, transfer_to=HUMAN))
    assert [tool.name for tool in config.tools] == ["end_call", "transfer_to_human"]
    assert with_call_tools(config) == config


@pytest.mark.parametrize(
    ("tool", "expected"), [("end_call", {}), ("transfer_to_human", {"CA1": HUMAN})]
)
async def test_the_model_ends_or_hands_over_a_call_after_its_last_words(tool, expected, transfers):
    """The goodbye is heard to its end first, and only then does the line go."""
    source = ScriptedSource([call_text(tool, {}), "Goodbye then."])
    config = with_call_tools(call_config(hangs_up=True, transfer_to=HUMAN))
    async with (
        answering(models(hears=["Bye."], source=source), config) as (client, _, happenings),
        MediaStreamPhone.calling(client) as phone,
    ):
        phone.shout(0.6)
        await phone.closed.wait()
    assert transfers == expected
    assert [each.outcome for each in happenings if isinstance(each, ToolHappened)] == ["ran"]
    endings = [each for each in happenings if is_end(each)]
    assert (endings[-1].reason, endings[-1].at) == (EndReason.STOP, len("Goodbye then."))
    assert len(phone.heard()) >= int(len("Goodbye then.") * CHAR_S * 8000)
    assert tool == "transfer_to_human" or ENDING in source.prompts[-1][-1].content


@pytest.mark.parametrize("line", ["telnyx", "plivo"])
async def test_the_model_presses_keys_where_a_line_has_them(line):
    """One after the other, and it is told where there are none."""
    pressed: list[str] = []

    async def press(digit: str) -> bool:
        pressed.append(digit)
        return line == "plivo"

    tools = CallTools(with_call_tools(call_config(presses_keys=True)), press=press)
    outcome = await tools.run(tools.admit('{"name": "press_keys", "arguments": {"keys": "1#"}}'))
    assert (outcome, pressed) == (PRESSED if line == "plivo" else NO_KEYS, ["1", "#"])
    for keys in ("", "1 2", "x", "1" * 33):
        with pytest.raises(ToolRefused):
            tools.admit(json.dumps({"name": "press_keys", "arguments": {"keys": keys}}))


async def test_a_goodbye_that_the_caller_cuts_into_ends_nothing():
    """Who goes on talking has not said goodbye."""
    replies = [call_text("end_call", {}), "Goodbye then, and thank you for calling.", "Yes?"]
    scripted = models(hears=["Bye.", "Wait, one more thing."], replies=replies)
    async with (
        answering(scripted, with_call_tools(call_config(hangs_up=True))) as (client, _, happenings),
        MediaStreamPhone.calling(client) as phone,
    ):
        phone.shout(0.6)
        await phone.until_heard(int(8 * CHAR_S * 8000))
        phone.shout(1.2)
        # The call itself, the goodbye, and the answer to what came in between.
        await happenings.until(is_end, times=3)
        assert not phone.closed.is_set()
    assert [each.reason for each in happenings if is_end(each)][1:] == [
        EndReason.INTERRUPTED,
        EndReason.STOP,
    ]


async def test_a_call_that_breaks_is_handed_to_a_human(transfers, monkeypatch):
    """When the agent gives up, and there is somebody."""
    config = with_call_tools(call_config(transfer_to=HUMAN, greeting="Hello."))
    async with (
        answering(models(hears=[]), config) as (client, _, happenings),
        MediaStreamPhone.calling(client) as phone,
    ):
        conversation = await happenings.until(lambda each: isinstance(each, Started))
        assert conversation.author is Author.SCRIPT
        monkeypatch.setattr(
            "voiceagent.session.conversation.Conversation.listen",
            lambda self: self.break_down("the playout failed"),
        )
        await phone.closed.wait()
    assert transfers == {"CA1": HUMAN}


async def test_a_recording_has_both_sides_on_one_clock(tmp_path):
    """Left what the caller said, right what was heard of the agent; for the owner's eyes alone."""
    scripted = models(hears=["Tell me."], replies=["One two three four."])
    config = call_config(record_to=str(tmp_path / "calls"))
    async with answering(scripted, config) as (client, switchboard, happenings):
        async with MediaStreamPhone.calling(client, call="CA/../1") as phone:
            phone.shout(0.6)
            await happenings.until(is_end)
            await phone.hang_up()
            await phone.closed.wait()
        while switchboard.calls:
            await switchboard.changed.wait()
    [path] = (tmp_path / "calls").iterdir()
    assert path.name == "CA----1.wav"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    sides, rate_hz = soundfile.read(path, dtype="int16")
    caller, agent = (np.flatnonzero(np.abs(side) > 1000) / rate_hz for side in sides.T)
    assert rate_hz == 8000
    assert 0.5 < caller[-1] - caller[0] < 1.5  # a busy machine hears it in pieces
    assert abs(agent[-1] - agent[0] - len("One two three four.") * CHAR_S) < 0.02
    assert caller[-1] < agent[0] < caller[-1] + 10


async def test_a_call_is_held_though_it_cannot_be_recorded(tmp_path):
    """A full disk costs the recording, not the caller; nobody is recorded unasked."""
    (tmp_path / "file").write_text("")
    config = call_config(record_to=str(tmp_path / "file"), greeting="Hello.")
    async with (
        answering(models(hears=[]), config) as (client, _, happenings),
        MediaStreamPhone.calling(client),
        asyncio.timeout(20),
    ):
        assert (await happenings.until(is_end)).reason is EndReason.STOP
