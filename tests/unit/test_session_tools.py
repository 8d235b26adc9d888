"""The tool gate: complete, valid calls of known tools, and nothing else."""

import json
import sys
from typing import Any

import pytest

from voiceagent.config import Tool
from voiceagent.session.tools import ToolFailed, ToolGate, ToolRefused, misfit, run

WEATHER = Tool(
    name="weather",
    description="The weather in a city.",
    parameters={
        "type": "object",
        "properties": {
            "city": {"type": "string", "minLength": 1},
            "days": {"type": "integer", "maximum": 14},
        },
        "required": ["city"],
    },
    command=(
        sys.executable,
        "-c",
        "import json, sys; print('Sunny in', json.load(sys.stdin)['city'])",
    ),
)
GATE = ToolGate([WEATHER])


def call(**arguments: Any) -> str:
    """A call's body."""
    return json.dumps({"name": "weather", "arguments": arguments})


def test_calls_are_found_in_committed_text() -> None:
    """Only whole blocks count: an open one is not a call yet."""
    text = f"<tool_call>\n{call(city='Rome')}\n</tool_call>"
    assert GATE.calls(f"Wait. {text} Done.") == [call(city="Rome")]
    assert GATE.calls(text[:-3]) == []


def test_a_valid_call_is_admitted() -> None:
    """It names a tool and its arguments fit."""
    admitted = GATE.admit(call(city="Rome", days=2))
    assert (admitted.tool, admitted.arguments) == (WEATHER, {"city": "Rome", "days": 2})


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("{", "not JSON"),
        ("[]", "no tool of that name"),
        ('{"name": "launch"}', "no tool of that name"),
        ('{"name": 7}', "no tool of that name"),
        (call(), "'city' is a required property"),
        (call(city=7), "city: 7 is not of type 'string'"),
        (call(city=""), "city: '' should be non-empty"),
        (call(city="Rome", days=True), "days: True is not of type 'integer'"),
        (call(city="Rome", days=99), "days: 99 is greater than the maximum"),
        (call(city="Rome", mood="good"), "'mood' was unexpected"),
        ('{"name": "weather", "arguments": []}', "is not of type 'object'"),
    ],
)
def test_a_wrong_call_is_refused_with_its_reason(body: str, why: str) -> None:
    """What does not fit never runs."""
    with pytest.raises(ToolRefused, match=why):
        GATE.admit(body)


@pytest.mark.parametrize(
    ("value", "schema", "fits"),
    [
        (1, {"type": ["integer", "null"]}, True),
        (None, {"type": ["integer", "null"]}, True),
        ("b", {"enum": ["a", "b"]}, True),
        ("c", {"enum": ["a", "b"]}, False),
        ([1, "x"], {"type": "array", "items": {"type": "integer"}}, False),
        ([1, 2], {"type": "array", "items": {"type": "integer"}}, True),
        ({"x": 1}, {"type": "object"}, True),
        ("b", {"$ref": "#/$defs/b", "$defs": {"b": {"const": "b"}}}, True),
        ("b", {"$ref": "http://127.0.0.1/schema"}, False),
    ],
)
def test_schemas(value: Any, schema: dict[str, Any], fits: bool) -> None:
    """JSON Schema, draft 2020-12; a reference to elsewhere is never followed."""
    assert (misfit(value, schema) is None) is fits


def test_the_prompt_names_every_tool_and_is_empty_without() -> None:
    """A model that has no tools is told of none."""
    assert '"name": "weather"' in GATE.prompt()
    assert (ToolGate([]).prompt(), ToolGate([]).has_tools) == ("", False)


async def test_a_call_runs_its_program() -> None:
    """Arguments on its input, the result on its output."""
    assert await run(GATE.admit(call(city="Rome"))) == "Sunny in Rome"


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ((), "cannot be run"),
        (("/no/such/program",), "cannot be run"),
        ((sys.executable, "-c", "raise SystemExit(3)"), "status 3"),
        ((sys.executable, "-c", "import time; time.sleep(60)"), "no result"),
    ],
)
async def test_a_tool_that_fails_says_how(command: tuple[str, ...], why: str) -> None:
    """It cannot be started, ends badly, or takes too long."""
    gate = ToolGate([Tool(name="weather", command=command)])
    with pytest.raises(ToolFailed, match=why):
        await run(gate.admit('{"name": "weather"}'), timeout_s=1.0)
