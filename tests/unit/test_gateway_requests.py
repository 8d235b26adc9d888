"""What the gateway takes from a client, and what it answers to the rest."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voiceagent.core.streams import StreamProtocol
from voiceagent.gateway.requests import MAX_MESSAGES, BadRequest, parse_request

HELLO = [{"role": "user", "content": "Hello"}]


def test_an_unmodified_client_gets_accept_then_flush():
    """OpenAI's route without extra fields never takes text back."""
    request = parse_request({"messages": HELLO}, append_only=True)
    assert request.protocol is StreamProtocol.ACCEPT_THEN_FLUSH
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
    assert parse_request(body, append_only=False).protocol is protocol


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
        ({"messages": HELLO * (MAX_MESSAGES + 1)}, "messages"),
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
    ["messages", "stream", "surface", "stream_protocol", "retraction", "k", "stop", "top_p", "seed"]
)


@given(st.dictionaries(FIELDS, JSON) | JSON)
def test_nothing_but_a_bad_request_escapes(body):
    """Whatever JSON arrives, it is a request or a BadRequest."""
    with contextlib.suppress(BadRequest):
        assert parse_request(body, append_only=False).messages
