"""The grammar of a request over a real vocabulary: which texts a reply may be."""

import json
from typing import Any

import pytest

from voiceagent.config import cache_directory
from voiceagent.decoding.grammar import GrammarError, Grammars
from voiceagent.decoding.tokenizer import Tokenizer
from voiceagent.gateway.grammars import grammar_of
from voiceagent.gateway.tool_fields import ToolUse
from voiceagent.session.tools import Signature
from voiceagent.weights.manifest import Manifest
from voiceagent.weights.store import Store

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = (Signature(name="weather", parameters=CITY), Signature(name="time"))
ROME = '<tool_call>\n{"name": "weather", "arguments": {"city": "Rome"}}\n</tool_call>'
TIME = '<tool_call>\n{"name": "time", "arguments": {}}\n</tool_call>'
OBJECT = {"type": "object"}


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    """The tiny preset's own."""
    return Tokenizer.load(
        Store(cache_directory()), Manifest.load().preset("tiny").files["target"][0]
    )


@pytest.fixture(scope="module")
def grammars(tokenizer: Tokenizer) -> Grammars:
    """One compiler for all."""
    return Grammars(tokenizer)


@pytest.mark.parametrize(
    ("use", "schema", "text", "fits"),
    [
        ({}, OBJECT, '{"a": [1, null], "b": "é <tool_call>"}', True),
        ({}, OBJECT, "[1]", False),
        ({}, OBJECT, '{"a": 1', False),
        ({"tools": TOOLS}, None, "Hello there.", True),
        ({"tools": TOOLS}, None, f"Let me see.\n{ROME}", True),
        ({"tools": TOOLS}, None, f"{ROME}\n{TIME}", True),
        ({"tools": TOOLS, "parallel": False}, None, f"{ROME}\n{TIME}", False),
        ({"tools": TOOLS}, None, ROME.replace("Rome", '"'), False),
        ({"tools": TOOLS}, None, ROME.replace("weather", "launch"), False),
        ({"tools": TOOLS}, None, ROME.replace('"city": "Rome"', '"city": "Rome", "x": 1'), False),
        ({"tools": TOOLS}, None, ROME[:-5], False),
        ({"tools": TOOLS, "choice": "required"}, None, ROME, True),
        ({"tools": TOOLS, "choice": "required"}, None, "Hello.", False),
        ({"tools": TOOLS, "choice": "time"}, None, TIME, True),
        ({"tools": TOOLS, "choice": "time"}, None, ROME, False),
        ({"tools": TOOLS}, OBJECT, '{"a": 1}', True),
        ({"tools": TOOLS}, OBJECT, TIME, True),
        ({"tools": TOOLS}, OBJECT, "Hello.", False),
    ],
)
def test_which_texts_a_reply_may_be(
    tokenizer: Tokenizer, grammars: Grammars, use: Any, schema: Any, text: str, fits: bool
) -> None:
    """Token by token: each allowed where it stands, and the end where the text may end."""
    wanted = grammar_of(ToolUse(**use), schema=schema)
    assert wanted is not None
    grammar = grammars.begin(wanted)
    allowed = True
    for token in tokenizer.encode(text):
        allowed = bool(grammar.mask()[token])
        if not allowed:
            break
        grammar.advance([token])
    ends = allowed and bool(grammar.mask()[list(tokenizer.eos_ids)].all())
    assert ends is fits


def test_what_is_free_has_no_grammar() -> None:
    """No tools that may be called, no schema: no mask, and no cost."""
    assert grammar_of(ToolUse(), schema=None) is None
    assert grammar_of(ToolUse(tools=TOOLS, choice="none"), schema=None) is None


@pytest.mark.parametrize("schema", [{"type": "text"}, {"$ref": "http://x/y"}, {"pattern": "("}])
def test_a_schema_that_cannot_be_used_is_refused(grammars: Grammars, schema: Any) -> None:
    """Before anything was promised, on one line."""
    text = grammar_of(ToolUse(), schema=schema)
    assert text is not None
    with pytest.raises(GrammarError, match="cannot be used"):
        grammars.begin(text)


def test_an_overlong_schema_is_refused(grammars: Grammars) -> None:
    """Compiling it would be work that anybody could ask for."""
    properties = {f"field_{n}": {"type": "string"} for n in range(4000)}
    text = f"start: %json {json.dumps({'type': 'object', 'properties': properties})}"
    with pytest.raises(GrammarError, match="characters"):
        grammars.begin(text)
