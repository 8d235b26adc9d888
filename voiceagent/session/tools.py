"""The tool gate: a tool runs on a complete, verified, valid call of a confirmed turn, or not.

Calls are read from committed text alone: what is committed is verified, and its block is complete.
A call is Qwen's own form, ``<tool_call>{"name": ..., "arguments": {...}}</tool_call>``.
"""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from voiceagent.config import Config, Tool
from voiceagent.core.errors import VoiceAgentError
from voiceagent.core.history import Message, Role

RUN_TIMEOUT_S = 10.0
"""Nobody holds a line in silence for longer."""
MAX_RESULT_CHARS = 4000
"""A result is read by the model, on two cores: 1000 tokens take two seconds."""
_CALL = re.compile(r"<tool_call>\s*(\{.*?\})\s*</tool_call>", re.DOTALL)
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
    "null": (type(None),),
}


class ToolRefused(VoiceAgentError):
    """A call that may not run; the message says why."""


class ToolFailed(VoiceAgentError):
    """A tool that ran and came to nothing; the message says how."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call that has passed the gate."""

    tool: Tool
    arguments: Mapping[str, Any]


def system_prompt(config: Config) -> str:
    """Who the agent is and which tools it has: what every prompt begins with."""
    return config.persona.system_prompt + ToolGate(config.tools).prompt()


class ToolGate:
    """Lets calls through that name a tool of ours and fit its schema."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = {tool.name: tool for tool in tools}

    @property
    def has_tools(self) -> bool:
        """Whether there is anything to call."""
        return bool(self._tools)

    def prompt(self) -> str:
        """What the system prompt says about the tools; empty without any."""
        if not self._tools:
            return ""
        lines = [json.dumps(_signature(tool)) for tool in self._tools.values()]
        return "\n".join(
            [
                "\n\n# Tools\n\nYou may call a function to answer. Functions:",
                "<tools>",
                *lines,
                "</tools>",
                "To call one, answer with nothing but:",
                '<tool_call>\n{"name": <function-name>, "arguments": <object>}\n</tool_call>',
            ]
        )

    def results(self, exchanges: Sequence[tuple[str, str]]) -> tuple[Message, ...]:
        """Calls and what came of them, as the messages that go before the next reply."""
        return tuple(
            message
            for body, result in exchanges
            for message in (
                Message(Role.ASSISTANT, f"<tool_call>\n{body}\n</tool_call>"),
                Message(Role.USER, f"<tool_response>\n{result}\n</tool_response>"),
            )
        )

    def calls(self, committed: str) -> list[str]:
        """The bodies of the calls in committed text."""
        return _CALL.findall(committed)

    def admit(self, body: str) -> Call:
        """The call in ``body``.

        Raises:
            ToolRefused: it is no JSON, names no tool, or its arguments do not fit the schema.
        """
        try:
            call = json.loads(body)
        except json.JSONDecodeError as error:
            raise ToolRefused(f"a tool call is not JSON: {error}") from error
        if not isinstance(call, dict) or call.get("name") not in self._tools:
            raise ToolRefused(f"no tool of that name; known: {', '.join(self._tools)}")
        tool = self._tools[call["name"]]
        arguments = call.get("arguments", {})
        if wrong := misfit(arguments, tool.parameters or {"type": "object"}, at="arguments"):
            raise ToolRefused(f"{tool.name}: {wrong}")
        return Call(tool=tool, arguments=arguments)


def misfit(value: Any, schema: Mapping[str, Any], *, at: str) -> str | None:
    """Why ``value`` does not fit ``schema``; None if it does.

    The part of JSON Schema that calls use: type, enum, required, properties,
    additionalProperties, items.
    """
    kinds = schema.get("type")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is_of(value, kind) for kind in kinds):
        return f"{at} is not of type {' or '.join(kinds)}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{at} is none of {schema['enum']}"
    if isinstance(value, dict):
        return _object_misfit(value, schema, at=at)
    if isinstance(value, list) and "items" in schema:
        misfits = (misfit(item, schema["items"], at=f"{at}[{n}]") for n, item in enumerate(value))
        return next((each for each in misfits if each), None)
    return None


def _is_of(value: Any, kind: str) -> bool:
    if isinstance(value, bool) and kind in ("integer", "number"):
        return False
    return isinstance(value, _TYPES.get(kind, (object,)))


def _object_misfit(value: Mapping[str, Any], schema: Mapping[str, Any], *, at: str) -> str | None:
    properties = schema.get("properties", {})
    missing = [name for name in schema.get("required", ()) if name not in value]
    if missing:
        return f"{at}.{missing[0]} is missing"
    unknown = [name for name in value if name not in properties]
    if unknown and properties and schema.get("additionalProperties") is not True:
        return f"{at}.{unknown[0]} is not known"
    misfits = (
        misfit(item, properties[name], at=f"{at}.{name}")
        for name, item in value.items()
        if name in properties
    )
    return next((each for each in misfits if each), None)


async def run(call: Call, *, timeout_s: float = RUN_TIMEOUT_S) -> str:
    """Runs the tool's program: arguments as JSON on its input, its output is the result.

    Raises:
        ToolFailed: it cannot be started, fails, or takes too long.
    """
    name = call.tool.name
    try:
        program = await asyncio.create_subprocess_exec(
            *call.tool.command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except (OSError, ValueError, TypeError) as error:
        raise ToolFailed(f"{name}: cannot be run: {error}") from error
    try:
        async with asyncio.timeout(timeout_s):
            result, _ = await program.communicate(json.dumps(dict(call.arguments)).encode())
    except TimeoutError:
        raise ToolFailed(f"{name}: no result after {timeout_s:g} s") from None
    finally:
        if program.returncode is None:
            program.kill()
            await program.wait()
    if program.returncode != 0:
        raise ToolFailed(f"{name}: ended with status {program.returncode}")
    return result.decode(errors="replace").strip()[:MAX_RESULT_CHARS]


def _signature(tool: Tool) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": dict(tool.parameters) or {"type": "object", "properties": {}},
        },
    }
