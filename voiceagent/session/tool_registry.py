"""Tools of the server's own: functions with a decorator, programs from the configuration."""

import asyncio
import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from voiceagent.config import Tool
from voiceagent.core.errors import VoiceAgentError
from voiceagent.session.tools import (
    MAX_RESULT_CHARS,
    RUN_TIMEOUT_S,
    Call,
    Described,
    ToolFailed,
    check_schema,
    run,
    signature,
)

F = TypeVar("F", bound=Callable[..., Any])


class RegistryError(VoiceAgentError):
    """Two tools have the same name."""


@dataclass(frozen=True, kw_only=True)
class FunctionTool:
    """A function that the model may call."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    function: Callable[..., Any]


class Registry:
    """The tools that a server runs itself, by name.

    Args:
        programs: the configuration's tools.
    """

    def __init__(self, programs: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool | FunctionTool] = {}
        for tool in programs:
            self._add(tool)

    def tool(
        self, *, parameters: Mapping[str, Any], name: str = "", description: str = ""
    ) -> Callable[[F], F]:
        """Registers a function, plain or ``async``, called with the call's arguments.

        Args:
            parameters: JSON schema of its arguments.
            name: by default the function's own.
            description: by default the function's docstring.

        Raises:
            RegistryError: the name is taken.
            ToolRefused: ``parameters`` is no JSON schema.
        """

        def register(function: F) -> F:
            self._add(
                FunctionTool(
                    name=name or function.__name__,
                    description=description or inspect.getdoc(function) or "",
                    parameters=parameters,
                    function=function,
                )
            )
            return function

        return register

    def _add(self, tool: Tool | FunctionTool) -> None:
        check_schema(tool.parameters)
        if tool.name in self._tools:
            raise RegistryError(f"two tools have the name {tool.name}")
        self._tools[tool.name] = tool

    def find(self, name: str) -> Described | None:
        """The tool of that name."""
        return self._tools.get(name)

    def manifest(self) -> list[dict[str, Any]]:
        """Every tool with its JSON schema, in OpenAI's form."""
        return [signature(tool) for tool in self._tools.values()]

    async def run(self, call: Call, *, call_id: str, timeout_s: float = RUN_TIMEOUT_S) -> str:
        """Runs an admitted call; what the model is told of it.

        Raises:
            ToolFailed: it cannot be run, fails, or takes too long.
        """
        if not isinstance(call.tool, FunctionTool):
            return await run(call, timeout_s=timeout_s, call_id=call_id)
        name = call.tool.name
        try:
            async with asyncio.timeout(timeout_s):
                result = await _called(call.tool.function, call.arguments)
        except TimeoutError:
            raise ToolFailed(f"{name}: no result after {timeout_s:g} s") from None
        except Exception as error:  # whatever the tool's author did not foresee
            raise ToolFailed(f"{name}: {type(error).__name__}: {error}") from error
        return _as_text(result)[:MAX_RESULT_CHARS]


async def _called(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    if inspect.iscoroutinefunction(function):
        return await function(**arguments)
    return await asyncio.to_thread(function, **arguments)


def _as_text(result: Any) -> str:
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
