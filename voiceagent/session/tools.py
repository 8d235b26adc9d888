"""The tool gate: a tool runs on a complete, verified, valid call of a confirmed turn, or not.

Calls are read from committed text alone: what is committed is verified, and its block is complete.
A call is Qwen's own form, ``<tool_call>{"name": ..., "arguments": {...}}</tool_call>``.
"""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from referencing import Registry
from referencing.exceptions import Unresolvable

from voiceagent.config import Config, Tool, environment_of_tools
from voiceagent.core.errors import VoiceAgentError
from voiceagent.core.history import Message, Role

RUN_TIMEOUT_S = 10.0
"""Nobody holds a line in silence for longer."""
MAX_RESULT_CHARS = 4000
"""A result is read by the model, on two cores: 1000 tokens take two seconds."""
CALL_BEGIN, CALL_END = "<tool_call>", "</tool_call>"
_CALL = re.compile(rf"{CALL_BEGIN}\s*(\{{.*?\}})\s*{CALL_END}", re.DOTALL)
_NOWHERE: Registry[Any] = Registry()
"""Resolves no reference outside a schema: nothing is fetched because a client names it."""


class ToolRefused(VoiceAgentError):
    """A call that may not run; the message says why."""


class ToolFailed(VoiceAgentError):
    """A tool that ran and came to nothing; the message says how."""


class Described(Protocol):
    """What the gate knows a tool by."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def parameters(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, kw_only=True)
class Signature:
    """A tool that somebody else runs."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call that has passed the gate."""

    tool: Described
    arguments: Mapping[str, Any]


def system_prompt(config: Config) -> str:
    """Who the agent is and which tools it has: what every prompt begins with."""
    return config.persona.system_prompt + ToolGate(config.tools).prompt()


class ToolGate:
    """Lets calls through that name a tool of ours and fit its schema."""

    def __init__(self, tools: Sequence[Described]) -> None:
        self._tools = {tool.name: tool for tool in tools}

    @property
    def has_tools(self) -> bool:
        """Whether there is anything to call."""
        return bool(self._tools)

    def prompt(self) -> str:
        """What the system prompt says about the tools; empty without any."""
        if not self._tools:
            return ""
        lines = [json.dumps(signature(tool)) for tool in self._tools.values()]
        return "\n".join(
            [
                "\n\n# Tools\n\nYou may call a function to answer. Functions:",
                "<tools>",
                *lines,
                "</tools>",
                "To call one, answer with nothing but:",
                f'{CALL_BEGIN}\n{{"name": <function-name>, "arguments": <object>}}\n{CALL_END}',
            ]
        )

    def results(self, exchanges: Sequence[tuple[str, str]]) -> tuple[Message, ...]:
        """Calls and what came of them, as the messages that go before the next reply."""
        return tuple(
            message
            for body, result in exchanges
            for message in (
                Message(Role.ASSISTANT, f"{CALL_BEGIN}\n{body}\n{CALL_END}"),
                Message(Role.USER, result_text(result)),
            )
        )

    async def run(self, call: Call) -> str:
        """Runs an admitted call; what the model is told of it.

        Raises:
            ToolFailed: it cannot be run, fails, or takes too long.
        """
        return await run(call)

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
        except (ValueError, RecursionError) as error:
            raise ToolRefused(f"a tool call is not JSON: {error}") from error
        name = call.get("name") if isinstance(call, dict) else None
        if not isinstance(name, str) or name not in self._tools:
            raise ToolRefused(f"no tool of that name; known: {', '.join(self._tools)}")
        tool = self._tools[name]
        arguments = call.get("arguments", {})
        if wrong := misfit(arguments, arguments_schema(tool)):
            raise ToolRefused(f"{tool.name}: {wrong}")
        return Call(tool=tool, arguments=arguments)


def call_text(name: str, arguments: Any) -> str:
    """A call as the model would have written it."""
    body = json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)
    return f"{CALL_BEGIN}\n{body}\n{CALL_END}"


def result_text(result: str) -> str:
    """A result as the model reads it."""
    return f"<tool_response>\n{result}\n</tool_response>"


# Schemas --------------------------------------------------------------------------------------


def arguments_schema(tool: Described) -> dict[str, Any]:
    """What arguments have to fit: an object, closed unless the tool's schema says otherwise."""
    schema = dict(tool.parameters) | {"type": "object"}
    if "properties" in schema:
        schema.setdefault("additionalProperties", False)
    return schema


def check_schema(schema: Mapping[str, Any]) -> None:
    """Raises ToolRefused where ``schema`` is no JSON schema (draft 2020-12)."""
    try:
        Draft202012Validator.check_schema(schema)
    except (SchemaError, RecursionError) as error:
        message = getattr(error, "message", "it is nested too deeply")
        raise ToolRefused(f"not a JSON schema: {message}") from error


def misfit(value: Any, schema: Mapping[str, Any]) -> str | None:
    """Why ``value`` does not fit ``schema`` (JSON Schema, draft 2020-12); None if it does."""
    validator = Draft202012Validator(schema, registry=_NOWHERE)
    try:
        error = next(validator.iter_errors(value), None)
    except Unresolvable as reference:
        return f"its schema refers to {reference.ref}, which is not in it"
    except RecursionError:
        return "it is nested too deeply"
    if error is None:
        return None
    return f"{error.json_path.removeprefix('$.')}: {error.message}"


# Running --------------------------------------------------------------------------------------


async def run(call: Call, *, timeout_s: float = RUN_TIMEOUT_S, call_id: str = "") -> str:
    """Runs the tool's program: arguments as JSON on its input, its output is the result.

    ``call_id`` is in the program's environment as ``VOICEAGENT_CALL_ID``: a program that changes
    something keeps it, so that the same call can never count twice.

    Raises:
        ToolFailed: it cannot be started, fails, or takes too long.
    """
    tool = call.tool
    assert isinstance(tool, Tool), "only the configuration's tools are programs"
    try:
        program = await asyncio.create_subprocess_exec(
            *tool.command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=environment_of_tools(call_id=call_id),
        )
    except (OSError, ValueError, TypeError) as error:
        raise ToolFailed(f"{tool.name}: cannot be run: {error}") from error
    try:
        async with asyncio.timeout(timeout_s):
            result, _ = await program.communicate(json.dumps(dict(call.arguments)).encode())
    except TimeoutError:
        raise ToolFailed(f"{tool.name}: no result after {timeout_s:g} s") from None
    finally:
        if program.returncode is None:
            program.kill()
            await program.wait()
    if program.returncode != 0:
        raise ToolFailed(f"{tool.name}: ended with status {program.returncode}")
    return result.decode(errors="replace").strip()[:MAX_RESULT_CHARS]


def signature(tool: Described) -> dict[str, Any]:
    """The tool in OpenAI's form, as manifests and prompts hold it."""
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": dict(tool.parameters) or {"type": "object", "properties": {}},
        },
    }
