"""OpenAI's messages as the messages of a prompt: calls and results become text of the dialect."""

import json
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from voiceagent.core.history import Message, Role
from voiceagent.gateway.fields import BadRequest
from voiceagent.gateway.limits import Limits
from voiceagent.gateway.tool_fields import ToolUse
from voiceagent.session.tools import call_text, result_text

_ROLES = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,  # OpenAI's newer name
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.USER,  # results are read as what the other side says
}


def parse_messages(value: object, *, tools: ToolUse, limits: Limits) -> tuple[Message, ...]:
    """The conversation, with what the system prompt says about the tools.

    Raises:
        BadRequest: a message is not one, or there are too many or too much of them.
    """
    return tuple(_with_tools(_joined(_messages(value, limits=limits)), tools.prompt()))


def parse_earlier(value: object, *, limits: Limits) -> tuple[Message, ...]:
    """What was said before a spoken conversation, by the user and by the agent.

    Raises:
        BadRequest: a message is not one or is the system's, or there is too much of them.
    """
    messages = _messages(value, limits=limits)
    if any(each.role is Role.SYSTEM for each in messages):
        raise BadRequest("messages", "a spoken conversation has the server's own system prompt")
    return tuple(messages)


def _messages(value: object, *, limits: Limits) -> list[Message]:
    if not isinstance(value, list) or not value:
        raise BadRequest("messages", "messages must be a list with at least one message")
    if len(value) > limits.messages:
        raise BadRequest("messages", f"at most {limits.messages} messages are taken")
    messages = [_message(each, at=f"messages[{i}]") for i, each in enumerate(value)]
    if sum(len(each.content) for each in messages) > limits.prompt_chars:
        raise BadRequest("messages", f"more than {limits.prompt_chars} characters of messages")
    return messages


def _message(value: object, *, at: str) -> Message:
    if not isinstance(value, Mapping):
        raise BadRequest(at, f"{at} must be an object with role and content")
    role = value.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        raise BadRequest(f"{at}.role", f"{at}.role must be one of {', '.join(_ROLES)}")
    content = _content(value.get("content"), at=f"{at}.content", calls=value.get("tool_calls"))
    if any("\ud800" <= character <= "\udfff" for character in content):
        raise BadRequest(f"{at}.content", f"{at}.content has half a surrogate pair")
    return Message(_ROLES[role], result_text(content) if role == "tool" else content)


def _content(value: object, *, at: str, calls: object) -> str:
    if isinstance(value, list):
        value = "".join(_part(part, at=f"{at}[{i}]") for i, part in enumerate(value))
    if value is None and calls:
        value = ""
    if not isinstance(value, str):
        raise BadRequest(at, f"{at} must be a string or a list of text parts")
    return "\n".join(filter(None, [value, *_calls(calls, at=at)]))


def _part(value: object, *, at: str) -> str:
    if isinstance(value, Mapping) and value.get("type") == "text":
        text = value.get("text")
        if isinstance(text, str):
            return text
    raise BadRequest(at, f"{at}: only parts of type text are taken")


def _calls(value: object, *, at: str) -> Iterable[str]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise BadRequest(at, "tool_calls must be a list")
    return [_call(each, at=at) for each in value]


def _call(value: Any, *, at: str) -> str:
    try:
        function = value["function"]
        name, arguments = str(function["name"]), json.loads(function["arguments"])
    except (TypeError, KeyError, ValueError, RecursionError) as error:
        raise BadRequest(at, "a tool call needs a function with name and JSON arguments") from error
    return call_text(name, arguments)


def _joined(messages: list[Message]) -> list[Message]:
    """Results of several calls are one message, as templates that alternate roles want it."""
    joined: list[Message] = []
    for is_result, group in groupby(
        messages, key=lambda m: m.content.startswith("<tool_response>")
    ):
        if is_result:
            joined.append(Message(Role.USER, "\n".join(each.content for each in group)))
        else:
            joined.extend(group)
    return joined


def _with_tools(messages: list[Message], prompt: str) -> list[Message]:
    if not prompt:
        return messages
    if messages[0].role is Role.SYSTEM:
        return [Message(Role.SYSTEM, messages[0].content + prompt), *messages[1:]]
    return [Message(Role.SYSTEM, prompt.lstrip()), *messages]
