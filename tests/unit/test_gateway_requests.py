"""What the gateway takes from a client, and what it answers to the rest."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voiceagent.core.streams import StreamProtocol
from voiceagent.decoding.sampling import Sampling
from voiceagent.gateway.fields import BadRequest
from voiceagent.gateway.limits import DEFAULT_LIMITS, Limits
from voiceagent.gateway.requests import parse_request

HELLO = [{"role": "user", "content": "Hello"}]
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = {"type": "function", "function": {"name": "weather", "parameters": CITY}}
TYPO = {"type": "function", "function": {"name": "weather", "parameters": {"type": "text"}}}


def test_an_unmodified_client_gets_accept_then_flush():
    """OpenAI's route without extra fields never takes text back."""
    request = parse_request({"messages": HELLO}, append_only=True)
    assert request.view.protocol is StreamProtocol.ACCEPT_THEN_FLUSH
    assert not request.stream


@pytest.mark.parametrize(
    ("surface", "retraction", "protocol"),
    [
        ("chat", True, StreamProtocol.TOKEN_PUSH),
        ("chat", False, StreamProtocol.ACCEPT_THEN_FLUSH),
        ("markdown", True, StreamProtocol.BOUNDARY_COMMIT),
        ("voice", False, StreamProtocol.BOUNDARY_COMMIT),
    ],
)
def test_a_surface_has_its_default_protocol(surface, retraction, protocol):
    """The table of the design: what a surface gets when it names no protocol."""
    body = {"messages": HELLO, "surface": surface, "retraction": retraction}
    assert parse_request(body, append_only=False).view.protocol is protocol


def test_token_push_has_to_be_understood():
    """Without a declared retraction, token push is refused with an explanation."""
    body = {"messages": HELLO, "stream_protocol": "token_push"}
    with pytest.raises(BadRequest, match="rollback frames") as refusal:
        parse_request(body, append_only=False)
    assert refusal.value.field == "retraction"


def test_openai_route_never_pushes():
    """An append-only interface cannot carry a rollback, declared or not."""
    body = {"messages": HELLO, "stream_protocol": "token_push", "retraction": True}
    with pytest.raises(BadRequest, match="/v1/replies"):
        parse_request(body, append_only=True)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ([], "body"),
        ({}, "messages"),
        ({"messages": []}, "messages"),
        ({"messages": HELLO * (DEFAULT_LIMITS.messages + 1)}, "messages"),
        ({"messages": ["hi"]}, "messages[0]"),
        ({"messages": [{"role": "god", "content": "x"}]}, "messages[0].role"),
        ({"messages": [{"role": "user", "content": 3}]}, "messages[0].content"),
        ({"messages": HELLO, "surface": "braille"}, "surface"),
        ({"messages": HELLO, "stream_protocol": "smoke"}, "stream_protocol"),
        ({"messages": HELLO, "temperature": "hot"}, "temperature"),
        ({"messages": HELLO, "temperature": float("nan")}, "temperature"),
        ({"messages": HELLO, "top_p": 1.5}, "top_p"),
        ({"messages": HELLO, "k": -1}, "k"),
        ({"messages": HELLO, "k": True}, "k"),
        ({"messages": HELLO, "stop": [""]}, "stop"),
        ({"messages": HELLO, "stop": ["a"] * 5}, "stop"),
        ({"messages": HELLO, "stream": "yes"}, "stream"),
        ({"messages": HELLO, "max_tokens": 0}, "max_tokens"),
        ({"messages": HELLO, "boundary": "page"}, "boundary"),
        ({"messages": HELLO, "turn": "later"}, "turn"),
        ({"messages": HELLO, "n": 2}, "n"),
        ({"messages": HELLO, "top_logprobs": 2}, "top_logprobs"),
        ({"messages": HELLO, "logit_bias": {"x": 1}}, "logit_bias"),
        ({"messages": HELLO, "response_format": {"type": "xml"}}, "response_format"),
        ({"messages": HELLO, "response_format": {"type": "json_schema"}}, "response_format"),
        ({"messages": HELLO, "tools": [{"type": "function"}]}, "tools[0].function.name"),
        ({"messages": HELLO, "tools": ["unknown"]}, "tools[0]"),
        ({"messages": HELLO, "tools": [TOOL, TOOL]}, "tools"),
        ({"messages": HELLO, "tools": [TYPO]}, "tools[0].function.parameters"),
        ({"messages": HELLO, "tool_choice": "required"}, "tool_choice"),
        ({"messages": HELLO, "tool_choice": {"function": {"name": "x"}}}, "tool_choice"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image"}]}]},
            "messages[0].content[0]",
        ),
        ({"messages": [{"role": "user", "content": "\ud800"}]}, "messages[0].content"),
    ],
)
def test_what_cannot_be_used_names_its_field(body, field):
    """Every refusal says which field is wrong."""
    with pytest.raises(BadRequest) as refusal:
        parse_request(body, append_only=False)
    assert refusal.value.field == field


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    "messages stream surface stream_protocol retraction k stop top_p seed tools tool_choice "
    "response_format logit_bias boundary turn stream_options top_logprobs n".split()
)


@given(st.dictionaries(FIELDS, JSON) | JSON)
def test_nothing_but_a_bad_request_escapes(body):
    """Whatever JSON arrives, it is a request or a BadRequest."""
    with contextlib.suppress(BadRequest):
        assert parse_request(body, append_only=False).messages


def test_a_conversation_with_calls_and_results_becomes_text() -> None:
    """OpenAI's messages of a tool call, in the words the model was told to use."""
    call = {"id": "1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    messages = [
        *HELLO,
        {"role": "assistant", "content": None, "tool_calls": [call, call]},
        {"role": "tool", "tool_call_id": "1", "content": "sunny"},
        {"role": "tool", "tool_call_id": "2", "content": [{"type": "text", "text": "rain"}]},
    ]
    request = parse_request({"messages": messages, "tools": [TOOL]}, append_only=True)
    system, user, assistant, results = request.messages
    assert '"name": "weather"' in system.content
    assert user.content == "Hello"
    assert assistant.content.count("<tool_call>") == 2
    assert results.content.count("<tool_response>") == 2
    assert [str(each.role) for each in request.messages] == ["system", "user", "assistant", "user"]


def test_a_prompt_is_bounded_in_characters() -> None:
    """Tokenizing it is work that anybody could ask for."""
    with pytest.raises(BadRequest, match="characters"):
        parse_request({"messages": HELLO}, append_only=True, limits=Limits(prompt_chars=4))


def test_top_p_of_zero_keeps_the_most_probable_token() -> None:
    """OpenAI's clients may ask for it; the sampler's own range begins above it."""
    request = parse_request({"messages": HELLO, "top_p": 0}, append_only=True)
    assert Sampling(**request.sampling).top_p > 0


def test_a_form_is_json_without_being_asked() -> None:
    """A surface of fields has an object to take them from."""
    request = parse_request({"messages": HELLO, "surface": "form"}, append_only=False)
    assert request.schema == {"type": "object"}
