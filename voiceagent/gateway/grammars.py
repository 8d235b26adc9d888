"""The grammar of a request: what its tools and its schema leave a reply to say.

Written in llguidance's dialect of Lark: ``%json`` is any text that fits a JSON schema.
"""

import json
from collections.abc import Mapping
from typing import Any

from voiceagent.gateway.tool_fields import ToolUse
from voiceagent.session.tools import CALL_BEGIN, CALL_END, Described, arguments_schema

_WORDS = rf"/(?s:.*)/ & ~/(?s:.*){CALL_BEGIN}(?s:.*)/"
"""Any text in which no call begins."""


def grammar_of(tools: ToolUse, *, schema: Mapping[str, Any] | None) -> str | None:
    """The grammar of a reply, or None where it may say anything.

    Args:
        tools: a call in a reply fits its tool's schema; a reply that has to be one is nothing else.
        schema: what a reply that is no call has to fit.
    """
    usable = tools.usable
    if not usable:
        return None if schema is None else f"start: %json {_line(schema)}"
    more = r'("\n" BEGIN payload END)*' if tools.parallel else ""
    starts = [f"BEGIN payload END {more}"]
    if schema is not None and not tools.must_call:
        starts.append("answer")
    elif not tools.must_call:
        starts = [f"WORDS_BEGIN payload END {more}", "WORDS"]
    return "\n".join(
        [
            f"start: {' | '.join(starts)}",
            f"answer: %json {_line(schema or {})}",
            f"payload: %json {_line({'anyOf': [_call_schema(tool) for tool in usable]})}",
            f"WORDS: {_WORDS}",
            f'WORDS_BEGIN: WORDS "{CALL_BEGIN}\\n"',
            f'BEGIN: "{CALL_BEGIN}\\n"',
            f'END: "\\n{CALL_END}"',
        ]
    )


def _call_schema(tool: Described) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"name": {"const": tool.name}, "arguments": arguments_schema(tool)},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }


def _line(schema: Mapping[str, Any]) -> str:
    return json.dumps(schema)
