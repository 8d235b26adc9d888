"""A conversation put together from its configuration and its models, over any transport."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace

from pipecat.transports.base_transport import BaseTransport

from voiceagent.config import Config
from voiceagent.core.committer import Policy
from voiceagent.core.history import History
from voiceagent.session.clock import Clock
from voiceagent.session.conversation import Conversation
from voiceagent.session.happenings import Listener
from voiceagent.session.minutes import Minutes
from voiceagent.session.models import Models
from voiceagent.session.patience import Patience
from voiceagent.session.pipeline import build_worker
from voiceagent.session.playout import Playout
from voiceagent.session.run import converse
from voiceagent.session.tools import ToolGate, system_prompt

FIRST_LIMIT = 48
"""A first segment without a mark is cut at a good blank before it grows longer: about 11 tokens, so
that silence is not prolonged for the sake of a melody. A later one may take its time."""


def make_conversation(
    config: Config, models: Models, *, clock: Clock, playout: Playout | None = None
) -> Conversation:
    """A conversation as configured, with nothing said yet; ``playout`` has the voice's own rate
    unless one is given."""
    decoding = config.decoding
    return Conversation(
        history=History(system_prompt=system_prompt(config)),
        clock=clock,
        playout=playout or Playout(rate_hz=models.synthesizer.rate_hz),
        language=config.persona.language,
        policy=replace(
            Policy.voice(first_clause_min_words=models.synthesizer.least_words),
            first_limit=FIRST_LIMIT,
        ),
        count_tokens=models.count_tokens,
        budget_tokens=decoding.context_tokens - decoding.max_tokens,
    )


async def converse_over(
    transport: BaseTransport,
    conversation: Conversation,
    models: Models,
    config: Config,
    *,
    greets: bool,
    patience: Patience,
    listeners: Iterable[Listener],
    ended: asyncio.Event,
    stopped: asyncio.Event,
    tools: ToolGate | None = None,
) -> Minutes:
    """Holds ``conversation`` over ``transport`` until ``ended`` or ``stopped``.

    Raises:
        VoiceAgentError: the pipeline could not run, or nothing moved any more.
    """
    minutes = Minutes()
    conversation.subscribe(minutes)
    for listener in listeners:
        conversation.subscribe(listener)
    worker = build_worker(
        conversation,
        models,
        transport=transport,
        language=config.persona.language,
        patience=patience,
        tools=tools or ToolGate(config.tools),
    )
    await converse(
        conversation,
        worker,
        greeting=config.persona.greeting if greets else "",
        patience=patience,
        ended=ended,
        stopped=stopped,
    )
    return minutes
