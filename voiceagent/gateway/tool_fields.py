"""The tools of a request: declared in it, or registered on the server and named in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from voiceagent.gateway.fields import BadRequest, boolean, mapping, text
from voiceagent.gateway.limits import Limits
from voiceagent.session.tool_registry import Registry
from voiceagent.session.tools import Described, Signature, ToolGate, ToolRefused, check_schema

CHOICES = ("auto", "none", "required")


@dataclass(frozen=True, kw_only=True)
class ToolUse:
    """Which tools a reply may call, and whether it must.

    Attributes:
        tools: all of them; calls of those that do not run here end the reply.
        runs: names of the server's own, which it runs itself.
        choice: ``auto``, ``none``, ``required``, or the name of the tool that has to be called.
        parallel: whether one reply may hold several calls.
    """

    tools: tuple[Described, ...] = ()
    runs: frozenset[str] = frozenset()
    choice: str = "auto"
    parallel: bool = True

    @property
    def usable(self) -> tuple[Described, ...]:
        """The tools that may be called."""
        if self.choice == "none":
            return ()
        return tuple(tool for tool in self.tools if self.named in (None, tool.name))

    @property
    def must_call(self) -> bool:
        """Whether the reply has to be a call."""
        return self.choice == "required" or self.named is not None

    @property
    def named(self) -> str | None:
        """The tool that has to be called, if one has to."""
        return None if self.choice in CHOICES else self.choice

    def prompt(self) -> str:
        """What the system prompt says about the tools."""
        return ToolGate(self.usable).prompt()


def parse_tool_use(body: Mapping[str, Any], *, limits: Limits, registry: Registry) -> ToolUse:
    """Reads ``tools``, ``tool_choice`` and ``parallel_tool_calls``.

    Raises:
        BadRequest: a tool is not one, or the choice names none of them.
    """
    value = body.get("tools") or []
    if not isinstance(value, list) or len(value) > limits.tools:
        raise BadRequest("tools", f"tools must be a list of at most {limits.tools}")
    tools = [_tool(each, at=f"tools[{i}]", registry=registry) for i, each in enumerate(value)]
    names = [tool.name for tool in tools]
    if len(set(names)) < len(names):
        raise BadRequest("tools", "two tools have the same name")
    return ToolUse(
        tools=tuple(tools),
        runs=frozenset(each for each in value if isinstance(each, str)),
        choice=_choice(body, names),
        parallel=boolean(body, "parallel_tool_calls", default=True),
    )


def _tool(value: object, *, at: str, registry: Registry) -> Described:
    if isinstance(value, str):
        registered = registry.find(value)
        if registered is None:
            raise BadRequest(at, f"no tool {value!r} is registered on this server")
        return registered
    if not isinstance(value, Mapping) or value.get("type") != "function":
        raise BadRequest(at, f"{at} must be a function, or the name of a registered tool")
    function = mapping(value, "function", within=at) or {}
    name = text(function, "name", within=f"{at}.function", longest=64)
    description = function.get("description") or ""
    parameters = mapping(function, "parameters", within=f"{at}.function") or {}
    try:
        check_schema(parameters)
    except ToolRefused as error:
        raise BadRequest(f"{at}.function.parameters", str(error)) from error
    return Signature(name=name, description=str(description), parameters=parameters)


def _choice(body: Mapping[str, Any], names: Sequence[str]) -> str:
    value = body.get("tool_choice")
    if value is None:
        return "auto"
    if isinstance(value, Mapping):
        function = mapping(value, "function", within="tool_choice") or {}
        name = text(function, "name", within="tool_choice.function", longest=64)
        if name not in names:
            raise BadRequest("tool_choice", f"tool_choice names {name}, which is no tool here")
        return name
    if value not in CHOICES:
        raise BadRequest("tool_choice", f"tool_choice must be {', '.join(CHOICES)} or a function")
    if value == "required" and not names:
        raise BadRequest("tool_choice", "tool_choice is required and there are no tools")
    return str(value)
