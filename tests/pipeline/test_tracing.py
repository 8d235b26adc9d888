"""Spans of OpenTelemetry's for a conversation, as pipecat makes them for every bot."""

from collections.abc import Iterator

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from talk_doubles import models, recording

from voiceagent.audio.hold import Manner, hold
from voiceagent.config import Config, Persona
from voiceagent.speech.tracing import is_traced

QUESTIONS = recording(("voice", 1.0), ("pause", 1.5), ("voice", 1.0), ("pause", 0.5))
WORDS = ["How far is it?", "And by bus?"]
REPLIES = ["About two miles.", "Ten minutes."]


@pytest.fixture
def exported(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """A provider as a deployment installs one; OpenTelemetry takes one for each process."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    yield exporter
    provider.shutdown()


async def converse() -> None:
    """Two questions and their answers."""
    await hold(
        QUESTIONS,
        models(hears=[*WORDS], replies=[*REPLIES]),
        Config(persona=Persona(greeting="")),
        manner=Manner(fast=True),
    )


async def test_a_conversation_is_turns_of_hearing_writing_and_speaking(
    exported: InMemorySpanExporter,
) -> None:
    """pipecat's spans for conversation and turns, ours for what is done in them, in one trace."""
    await converse()
    spans = exported.get_finished_spans()
    named = {name: [each for each in spans if each.name == name] for name in names(spans)}
    assert {"conversation", "turn", "stt", "llm", "tts"} <= named.keys()
    (conversation,) = named["conversation"]
    assert len(named["turn"]) >= 2
    assert all(parent(each) == identity(conversation) for each in named["turn"])
    above = {identity(each) for each in [conversation, *named["turn"]]}
    for name in ("stt", "llm", "tts"):
        assert len(named[name]) >= 2
        assert {parent(each) for each in named[name]} <= above
    assert len({each.context.trace_id for each in spans if each.context}) == 1


async def test_spans_hold_nothing_that_was_said(exported: InMemorySpanExporter) -> None:
    """Names, numbers and times alone."""
    await converse()
    told = "".join(each.to_json() for each in exported.get_finished_spans())
    assert not [words for words in (*WORDS, *REPLIES) if words in told]


async def test_nothing_is_traced_where_nobody_asked() -> None:
    """No provider, no turns followed, no spans."""
    assert not is_traced()
    await converse()


def names(spans: tuple[ReadableSpan, ...]) -> set[str]:
    return {each.name for each in spans}


def identity(span: ReadableSpan) -> int | None:
    return span.context.span_id if span.context else None


def parent(span: ReadableSpan) -> int | None:
    return span.parent.span_id if span.parent else None
