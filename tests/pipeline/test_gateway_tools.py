"""The tool gate of the gateway: calls run complete, verified, valid, confirmed, alive; and once."""

import asyncio
import json
from typing import Any

import pytest
from gateway_doubles import (
    ASK,
    ScriptedSource,
    final_text,
    frames,
    next_message,
    playing,
    said,
    serving,
    until_end,
)

from voiceagent.core.events import Draft, Finish, Rollback, Verify
from voiceagent.decoding.errors import EngineBusy
from voiceagent.decoding.generation import Request
from voiceagent.session.tool_desk import CallsOfReply, Desk
from voiceagent.session.tool_registry import Registry, RegistryError
from voiceagent.session.tools import Call, ToolFailed, ToolGate, ToolRefused

TARGET = {
    "type": "object",
    "properties": {"target": {"type": "string", "minLength": 2}},
    "required": ["target"],
}
PUSH = {"stream_protocol": "token_push", "retraction": True}


def call(target: Any = "moon", name: str = "launch") -> str:
    """A call as a model writes it."""
    body = json.dumps({"name": name, "arguments": {"target": target}})
    return f"<tool_call>\n{body}\n</tool_call>"


class Launches:
    """A registry with one tool, and what it did."""

    def __init__(self) -> None:
        self.registry = Registry()
        self.done: list[str] = []
        self.may_finish = asyncio.Event()
        self.may_finish.set()
        self.started = asyncio.Semaphore(0)
        self.running = self.most_running = 0

        @self.registry.tool(parameters=TARGET)
        async def launch(target: str) -> dict[str, str]:
            """Launches at a target."""
            self.running += 1
            self.started.release()
            self.most_running = max(self.running, self.most_running)
            await self.may_finish.wait()
            self.running -= 1
            if target == "sun":
                raise OSError("too hot")
            self.done.append(target)
            return {"launched": target}


@pytest.fixture
def launches() -> Launches:
    return Launches()


def answering(first: str) -> ScriptedSource:
    """A source that says ``first``, and then what it was told of the results."""

    def script(request: Request) -> Any:
        last = request.messages[-1].content
        return said(f"Told: {last}" if "<tool_response>" in last else first)

    source = ScriptedSource(script)
    source.may_go.set()
    return source


async def ask(source: Any, launches: Launches, **fields: Any) -> list[Any]:
    """The frames of one request that may launch."""
    async with serving(source, registry=launches.registry) as client:
        return await frames(client, **{"tools": ["launch"], **PUSH, **fields})


async def test_a_registered_tool_runs_and_the_model_is_told(launches: Launches) -> None:
    """The call is announced, run once, and another reply follows on the same stream."""
    stream = await ask(answering(call()), launches)
    tools = [frame for frame in stream if frame.type == "tool"]
    assert [(frame.name, frame.arguments) for frame in tools] == [("launch", {"target": "moon"})]
    assert launches.done == ["moon"]
    told = "".join(frame.text for frame in stream if frame.type == "append")
    assert '{"launched": "moon"}' in told.split("Told:")[1]
    assert [frame.type for frame in stream].count("end") == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (call(target=7), "is not of type"),
        (call(target="x"), "is too short"),
        (call(name="abort"), "no tool of that name"),
        ("<tool_call>\n{oops}\n</tool_call>", "not JSON"),
        (call(target="sun"), "OSError: too hot"),
    ],
)
async def test_what_does_not_pass_or_fails_goes_back_to_the_model(
    launches: Launches, text: str, why: str
) -> None:
    """As an error in words; nothing ran."""
    stream = await ask(answering(text), launches)
    told = "".join(frame.text for frame in stream if frame.type == "append")
    assert why in told.split("Told:")[1]
    assert launches.done == []


async def test_an_engine_that_refuses_the_answer_to_a_call_is_told(launches: Launches) -> None:
    """The reply that would have followed is an error, with its reason."""
    source = answering(call())
    submit = source.submit

    def full(request: Request, **more: Any) -> Any:
        if "<tool_response>" in request.messages[-1].content:
            raise EngineBusy("so many replies wait already")
        return submit(request, **more)

    source.submit = full  # type: ignore[method-assign]
    stream = await ask(source, launches)
    assert [frame.type for frame in stream[-3:]] == ["start", "error", "end"]
    assert stream[-2].message == "so many replies wait already"
    assert launches.done == ["moon"]


@pytest.mark.parametrize("text", [call()[:-3], call()[:30], "launch the moon"])
async def test_an_incomplete_call_is_none(launches: Launches, text: str) -> None:
    """Cut off by a length or never meant: it does not run."""
    stream = await ask(answering(text), launches)
    assert launches.done == []
    assert [frame.type for frame in stream].count("end") == 1


async def test_a_call_that_was_only_guessed_never_runs(launches: Launches) -> None:
    """Drafted whole, shown as pending text, and taken back."""
    events = [Draft(text=call()), Rollback(to=0), Draft(text="No."), Verify(to=3), Finish()]
    stream = await ask(playing(*events), launches)
    assert "launch" in stream[1].text
    assert launches.done == []
    assert not any(frame.type == "tool" for frame in stream)


async def test_a_declared_tool_is_the_clients_to_run(launches: Launches) -> None:
    """Its call ends the reply; the server runs nothing."""
    function = {"name": "open_door", "parameters": TARGET}
    tools = [{"type": "function", "function": function}]
    text = f"One moment. {call(name='open_door')}"
    stream = await ask(answering(text), launches, tools=tools)
    assert [frame.name for frame in stream if frame.type == "tool"] == ["open_door"]
    assert [frame.type for frame in stream].count("end") == 1
    assert launches.done == []


@pytest.mark.parametrize(("text", "calls"), [(call(), 1), (call(target=7), 0), ("Just words.", 0)])
async def test_the_tool_surface_shows_calls_that_passed_and_nothing_else(
    launches: Launches, text: str, calls: int
) -> None:
    """No text, no call that does not fit; the stream is legal all the same."""
    fields = {"surface": "tool", "stream_protocol": None, "retraction": None}
    stream = await ask(answering(f"Let me see. {text}"), launches, **fields)
    assert {frame.type for frame in stream} <= {"start", "tool", "end"}
    assert [frame.type for frame in stream].count("tool") == calls
    assert final_text(stream) == ""


@pytest.mark.parametrize("word", ["confirm", "void"])
async def test_a_call_on_an_eager_turn_waits_for_its_confirmation(
    launches: Launches, word: str
) -> None:
    """It is shown at once and runs with the confirmation; a superseded one never does."""
    async with (
        serving(answering(call()), registry=launches.registry) as client,
        client.ws_connect("/v1/replies") as socket,
    ):
        eager = {"type": "reply", "messages": ASK, "turn": "eager", "tools": ["launch"], **PUSH}
        await socket.send_json(eager)
        messages = [await next_message(socket)]
        while messages[-1]["type"] != "commit":
            messages.append(await next_message(socket))
        assert launches.done == []
        assert not any(message["type"] == "tool" for message in messages)
        await socket.send_json({"type": word, "reply": messages[0]["reply"]})
        rest = await until_end(socket)
        if word == "confirm":
            await until_end(socket)
    assert launches.done == (["moon"] if word == "confirm" else [])
    assert any(message["type"] == "tool" for message in rest) is (word == "confirm")


async def test_the_manifest_lists_what_is_registered(launches: Launches) -> None:
    """In OpenAI's form, with the docstring and the schema; names are taken once."""
    async with (
        serving(playing(*said("Hi.")), registry=launches.registry) as client,
        client.get("/v1/tools") as response,
    ):
        (tool,) = (await response.json())["tools"]
    assert tool["function"]["description"] == "Launches at a target."
    assert tool["function"]["parameters"] == TARGET
    with pytest.raises(RegistryError):
        launches.registry.tool(parameters={}, name="launch")(print)
    with pytest.raises(ToolRefused):
        launches.registry.tool(parameters={"type": "words"}, name="other")(print)


# The desk ---------------------------------------------------------------------------------------


def admitted(launches: Launches, target: str = "moon") -> Call:
    """A call that has passed the gate."""
    tool = launches.registry.find("launch")
    assert tool is not None
    return Call(tool=tool, arguments={"target": target})


async def test_a_key_runs_once_and_keeps_its_result(launches: Launches) -> None:
    """Whoever asks and however often, also at the same time, also after its asker went away."""
    desk = Desk(launches.registry)
    launches.may_finish.clear()
    asked = [
        asyncio.create_task(desk.run(admitted(launches), key="k", is_wanted=lambda: True))
        for _ in range(3)
    ]
    await launches.started.acquire()
    asked[0].cancel()
    launches.may_finish.set()
    assert await asked[1] == await asked[2] == '{"launched": "moon"}'
    again = await desk.run(admitted(launches), key="k", is_wanted=lambda: False)
    assert again == '{"launched": "moon"}'
    assert launches.done == ["moon"]


async def test_so_many_at_a_time_and_what_nobody_wants_never_starts(launches: Launches) -> None:
    """Calls wait for a place; one that was superseded meanwhile gives it up."""
    desk = Desk(launches.registry, at_once=2)
    launches.may_finish.clear()
    wanted = {"value": True}
    tasks = [
        asyncio.create_task(
            desk.run(admitted(launches), key=str(n), is_wanted=lambda: wanted["value"])
        )
        for n in range(5)
    ]
    for _ in range(2):
        await launches.started.acquire()
    wanted["value"] = False
    launches.may_finish.set()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert launches.most_running == 2
    assert launches.done == ["moon", "moon"]
    assert [type(each) for each in results[2:]] == [ToolRefused] * 3


async def test_a_tool_that_takes_too_long_has_failed(launches: Launches) -> None:
    """A bounded wait; plain functions run beside the event loop."""
    launches.may_finish.clear()
    desk = Desk(launches.registry, timeout_s=0.05)
    with pytest.raises(ToolFailed, match="no result after"):
        await desk.run(admitted(launches), key="k", is_wanted=lambda: True)

    @launches.registry.tool(parameters={})
    def plain() -> str:
        return "done"

    tool = launches.registry.find("plain")
    assert tool is not None
    run = desk.run(Call(tool=tool, arguments={}), key="p", is_wanted=lambda: True)
    assert await run == "done"


async def test_the_same_request_asked_again_has_the_same_keys(launches: Launches) -> None:
    """With an idempotency key as scope, a call that ran is not run by the second asking."""
    desk = Desk(launches.registry)
    gate = ToolGate([tool for tool in [launches.registry.find("launch")] if tool])
    results = []
    for reply in ("first", "second"):
        calls = CallsOfReply(gate, desk, runs=frozenset(["launch"]), scope="order-7")
        calls.open(reply, confirmed=True, tell=lambda *told: None)
        calls.read(call())
        results.append(await calls.exchanges())
    assert results[0] == results[1]
    assert launches.done == ["moon"]
