"""Spans of our services, below the turn that pipecat traces.

Whoever wants traces installs a tracer provider of OpenTelemetry's (``opentelemetry-instrument
voiceagent serve`` does); without one nothing of this costs anything. Spans say what was done and
how long it took, never what was said.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.trace import INVALID_SPAN, Span
from pipecat.services.ai_service import AIService

_tracer = trace.get_tracer("voiceagent")


def is_traced() -> bool:
    """Whether somebody has installed a tracer provider."""
    return not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)


@contextmanager
def span(
    service: AIService, name: str, attributes: Mapping[str, str | int | float]
) -> Iterator[Span]:
    """While it is entered, ``service`` does ``name``; a child of the present turn."""
    tracing = service._tracing_context if service._tracing_enabled else None
    if tracing is None:
        yield INVALID_SPAN
        return
    parent = tracing.get_turn_context() or tracing.get_conversation_context()
    with _tracer.start_as_current_span(name, context=parent, attributes=dict(attributes)) as made:
        yield made
