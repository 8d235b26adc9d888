"""A request, and the handle on the reply that it became."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from voiceagent.core.events import Ending, EndReason, SourceEvent
from voiceagent.decoding.record import Round
from voiceagent.decoding.sampling import Sampling

if TYPE_CHECKING:
    from voiceagent.core.history import Message

EngineEvent: TypeAlias = SourceEvent | Ending | Round
OnEvent: TypeAlias = Callable[[EngineEvent], None]


@dataclass(frozen=True, kw_only=True)
class Request:
    """One reply to be decoded.

    Attributes:
        messages: the conversation, the system prompt first.
        sampling: the sampler's parameters.
        max_tokens: at most so many tokens, end of sequence included; 0 only reads the prompt, so
            that a later request with the same beginning starts at once.
        stop: texts that end the reply and are not part of it.
        drafter: ``model``, ``ngram``, ``none`` or a registered one; None takes the engine's.
        window: drafted tokens per round (K); None takes the engine's, or lets the controller
            choose.
        acceptance: the rule; ``lossy`` is the evaluation's, to show that it is found out.
        grammar: what the text has to fit, in llguidance's dialect of Lark; None for anything.
        top_logprobs: alternatives to record for each token; None records no likelihoods.
        judges_ending: also say how probable it is that the last message ends where it does: an
            `Ending` before the first token, of the pass that reads the words anyway. None comes
            where the message's last word has no tokens of its own.
    """

    messages: "tuple[Message, ...]"
    sampling: Sampling = field(default_factory=Sampling)
    max_tokens: int = 200
    stop: tuple[str, ...] = ()
    drafter: str | None = None
    window: int | None = None
    acceptance: Literal["coupled", "rejection", "lossy"] = "coupled"
    grammar: str | None = None
    top_logprobs: int | None = None
    judges_ending: bool = False


class Generation:
    """The handle on a reply. Safe to use from any thread."""

    def __init__(self, request: Request, *, prompt_tokens: int) -> None:
        self.request = request
        self.prompt_tokens = prompt_tokens
        self.reused_tokens = 0
        """Prompt tokens that were in the cache already; set when the reply starts."""
        self.reason: EndReason | None = None
        self.error: str | None = None
        self._cancelled = threading.Event()
        self._done = threading.Event()

    def cancel(self) -> None:
        """Stops the reply within one round; its last event is ``Finish(cancelled)``."""
        self._cancelled.set()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Blocks until the reply is over; false when the time ran out first."""
        return self._done.wait(timeout_s)

    @property
    def cancelled(self) -> bool:
        """``cancel`` was called."""
        return self._cancelled.is_set()

    @property
    def done(self) -> bool:
        """The reply is over and its last event was delivered."""
        return self._done.is_set()

    def finish(self, reason: EndReason, *, error: str | None = None) -> None:
        """For the engine: the reply is over."""
        self.reason, self.error = reason, error
        self._done.set()
