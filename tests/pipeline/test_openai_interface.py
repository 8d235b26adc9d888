"""OpenAI's interface, asked by OpenAI's own client and by pipecat's service."""

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import openai
import pytest
from gateway_doubles import playing, said, serving
from pipecat.frames.frames import LLMContextFrame, LLMTextFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.tests.utils import run_test

from voiceagent.config import Decoding, cache_directory
from voiceagent.core.events import EndReason
from voiceagent.decoding.engine import Engine
from voiceagent.weights.manifest import Manifest
from voiceagent.weights.store import Store

ASK: Any = [{"role": "user", "content": "Count from one to nine."}]
TOKENS = 64
CITY = {
    "type": "object",
    "properties": {"city": {"enum": ["Rome", "Oslo"]}, "days": {"type": "integer", "maximum": 9}},
    "required": ["city", "days"],
    "additionalProperties": False,
}
WEATHER: Any = {"type": "function", "function": {"name": "weather", "parameters": CITY}}
CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Rome", "days": 2}}\n</tool_call>'


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    """The tiny preset, with n-grams as drafter and a window that makes it guess wrong."""
    config = Decoding(drafter="ngram", window=4, max_tokens=TOKENS)
    preset = Manifest.load().preset("tiny")
    with Engine.load(config, preset=preset, store=Store(cache_directory())) as engine:
        yield engine


@pytest.fixture
async def client(engine: Engine) -> AsyncIterator[openai.AsyncOpenAI]:
    """OpenAI's client, unmodified."""
    async with serving(engine, max_tokens=TOKENS) as server:
        yield client_of(server)


def client_of(server: Any) -> openai.AsyncOpenAI:
    """OpenAI's client of a server; it does not try again by itself."""
    url = f"http://{server.host}:{server.port}/v1"
    return openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0)


async def test_streamed_and_whole_are_the_same(client: openai.AsyncOpenAI) -> None:
    """Text, reason and usage."""
    whole = await client.chat.completions.create(model="m", messages=ASK)
    stream = await client.chat.completions.create(
        model="m", messages=ASK, stream=True, stream_options={"include_usage": True}
    )
    chunks = [chunk async for chunk in stream]
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert text == whole.choices[0].message.content != ""
    assert chunks[0].choices[0].delta.role == "assistant"
    reasons = [c.choices[0].finish_reason for c in chunks if c.choices]
    assert [reason for reason in reasons if reason] == [whole.choices[0].finish_reason]
    assert whole.usage is not None
    assert chunks[-1].usage.completion_tokens == whole.usage.completion_tokens
    assert chunks[-1].usage.prompt_tokens == whole.usage.prompt_tokens
    assert whole.usage.total_tokens == whole.usage.prompt_tokens + whole.usage.completion_tokens
    assert 0 < whole.usage.completion_tokens <= TOKENS


async def test_stop_seed_and_length(client: openai.AsyncOpenAI) -> None:
    """A stop string is no part of the text; a seed repeats; a length ends."""

    async def text(**more: Any) -> tuple[str, str]:
        done = await client.chat.completions.create(model="m", messages=ASK, **more)
        return done.choices[0].message.content or "", done.choices[0].finish_reason

    plain, _ = await text()
    stop = plain[4:9]
    assert await text(stop=stop) == (plain[: plain.index(stop)], "stop")
    assert (await text(max_tokens=3))[1] == "length"
    hot = [await text(temperature=1.5, seed=seed) for seed in (1, 1, 2)]
    assert hot[0] == hot[1] != hot[2]


@pytest.mark.parametrize("stream", [False, True])
async def test_logprobs_are_those_of_the_text(client: openai.AsyncOpenAI, stream: bool) -> None:
    """One for each token, the greedy one on top of its alternatives, the same however drafted."""
    more: Any = {"logprobs": True, "top_logprobs": 3, "max_tokens": 12}
    answers = []
    for window in (0, 4):
        made = await client.chat.completions.create(
            model="m", messages=ASK, stream=stream, extra_body={"k": window}, **more
        )
        if stream:
            choices = [chunk.choices[0] async for chunk in made]
            logprobs = [t for c in choices if c.logprobs for t in c.logprobs.content or []]
            text = "".join(c.delta.content or "" for c in choices)
        else:
            logprobs = made.choices[0].logprobs.content
            text = made.choices[0].message.content
        assert b"".join(bytes(t.bytes) for t in logprobs).decode() == text
        assert all(t.logprob <= 0 and len(t.top_logprobs) == 3 for t in logprobs)
        assert all(t.top_logprobs[0].token == t.token for t in logprobs)
        answers.append([(t.token, t.logprob) for t in logprobs])
    plain, drafted = answers
    assert [token for token, _ in plain] == [token for token, _ in drafted]
    for (_, one), (_, other) in zip(plain, drafted, strict=True):
        assert one == pytest.approx(other, abs=0.05)  # block shapes round differently


@pytest.mark.parametrize("window", [0, 4])
async def test_a_schema_is_kept_whatever_is_drafted(
    client: openai.AsyncOpenAI, window: int
) -> None:
    """json_schema and json_object: what ends by itself parses and fits."""
    named: Any = {"name": "city", "schema": CITY, "strict": True}
    form: Any = {"type": "json_schema", "json_schema": named}
    done = await client.chat.completions.create(
        model="m", messages=ASK, response_format=form, extra_body={"k": window}
    )
    value = json.loads(done.choices[0].message.content or "")
    assert value["city"] in ("Rome", "Oslo")
    assert value["days"] <= 9
    done = await client.chat.completions.create(
        model="m", messages=ASK, response_format={"type": "json_object"}, temperature=1.0
    )
    text = done.choices[0].message.content or ""
    assert text.startswith("{")
    if done.choices[0].finish_reason == "stop":
        assert isinstance(json.loads(text), dict)


@pytest.mark.parametrize(
    "choice", ["required", {"type": "function", "function": {"name": "weather"}}]
)
@pytest.mark.parametrize("stream", [False, True])
async def test_a_call_that_has_to_be_is_complete_and_valid(
    client: openai.AsyncOpenAI, choice: Any, stream: bool
) -> None:
    """Even a model of 135 million parameters calls with arguments that fit."""
    made = await client.chat.completions.create(
        model="m",
        messages=ASK,
        tools=[WEATHER],
        tool_choice=choice,
        stream=stream,
        parallel_tool_calls=False,
    )
    if stream:
        choices = [chunk.choices[0] async for chunk in made]
        calls = [call for c in choices for call in c.delta.tool_calls or []]
        reason, text = choices[-1].finish_reason, "".join(c.delta.content or "" for c in choices)
    else:
        calls, reason = made.choices[0].message.tool_calls, made.choices[0].finish_reason
        text = made.choices[0].message.content or ""
    assert (len(calls), reason, text) == (1, "tool_calls", "")
    assert calls[0].function.name == "weather"
    arguments = json.loads(calls[0].function.arguments)
    assert arguments["city"] in ("Rome", "Oslo")
    result = {"role": "tool", "tool_call_id": calls[0].id, "content": "sunny"}
    call = {
        "id": calls[0].id,
        "type": "function",
        "function": {"name": "weather", "arguments": calls[0].function.arguments},
    }
    conversation: Any = [*ASK, {"role": "assistant", "tool_calls": [call]}, result]
    answered = await client.chat.completions.create(
        model="m", messages=conversation, tools=[WEATHER], tool_choice="none"
    )
    assert answered.choices[0].message.content


@pytest.mark.parametrize("pieces", [[f"Let me see.\n{CALL}"], list(f"Let me see.\n{CALL}")])
async def test_words_before_a_call_are_content_and_the_call_is_not(pieces: list[str]) -> None:
    """However the text is cut: no piece of a call is ever shown as content."""
    async with serving(playing(*said(*pieces))) as server:
        client = client_of(server)
        stream = await client.chat.completions.create(
            model="m", messages=ASK, tools=[WEATHER], stream=True
        )
        choices = [chunk.choices[0] async for chunk in stream]
        assert "".join(c.delta.content or "" for c in choices) == "Let me see."
        calls = [call for c in choices for call in c.delta.tool_calls or []]
        assert json.loads(calls[0].function.arguments) == {"city": "Rome", "days": 2}


async def test_models(client: openai.AsyncOpenAI) -> None:
    """The list, one, and one that is not there."""
    listed = [model.id async for model in client.models.list()]
    assert listed == ["double"]
    assert (await client.models.retrieve("double")).id == "double"
    with pytest.raises(openai.NotFoundError):
        await client.models.retrieve("other")


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"n": 2}, "n"),
        ({"temperature": 9}, "temperature"),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"schema": {"type": 3}}}},
            "response_format",
        ),
        ({"extra_body": {"stream_protocol": "token_push", "retraction": True}}, "stream_protocol"),
        ({"messages": [{"role": "user", "content": "word " * 20_000}]}, "messages"),
    ],
)
async def test_errors_are_openais(
    client: openai.AsyncOpenAI, fields: dict[str, Any], param: str
) -> None:
    """Their client raises its own exception, with the field."""
    with pytest.raises(openai.BadRequestError) as refusal:
        await client.chat.completions.create(**{"model": "m", "messages": ASK, **fields})
    assert refusal.value.param == param
    assert refusal.value.type == "invalid_request_error"


async def test_a_reply_that_broke_is_an_error_of_the_server() -> None:
    """Whole or streamed: never half a reply that looks like one."""
    source = playing(*said("Half a", reason=EndReason.ERROR))
    async with serving(source) as server:
        client = client_of(server)
        with pytest.raises(openai.InternalServerError):
            await client.chat.completions.create(model="m", messages=ASK)
        stream = await client.chat.completions.create(model="m", messages=ASK, stream=True)
        with pytest.raises(openai.APIError):
            [chunk async for chunk in stream]


async def test_pipecats_own_service_talks_to_it(engine: Engine) -> None:
    """An ordinary pipecat bot gets its text from us."""
    async with serving(engine, max_tokens=TOKENS) as server:
        url = f"http://{server.host}:{server.port}/v1"
        service = OpenAILLMService(
            api_key="none", base_url=url, settings=OpenAILLMService.Settings(model="tiny")
        )
        whole = await client_of(server).chat.completions.create(model="m", messages=ASK)
        down, _ = await run_test(
            Pipeline([service]),
            frames_to_send=[LLMContextFrame(LLMContext(messages=ASK))],
            expected_down_frames=None,
        )
    text = "".join(frame.text for frame in down if isinstance(frame, LLMTextFrame))
    assert text == whole.choices[0].message.content
