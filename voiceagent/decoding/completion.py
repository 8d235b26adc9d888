"""One reply, waited for: the engine without events."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from voiceagent.core.events import Draft, EndReason, Rollback, Verify
from voiceagent.decoding.engine import Engine
from voiceagent.decoding.errors import EngineError
from voiceagent.decoding.generation import EngineEvent, Generation, Request
from voiceagent.decoding.record import Outcome, Round

STAGES = ("draft", "score", "accept", "resample", "advance")


@dataclass(frozen=True, kw_only=True)
class Completion:
    """A finished reply and what its rounds say.

    Attributes:
        text: the verified text.
        reason: why it ended.
        rounds: every round, in order.
        first_token_s: from the request to the end of the first round.
        total_s: from the request to the last event.
        prompt_tokens, reused_tokens: the prompt, and how much of it was in the cache.
    """

    text: str
    reason: EndReason
    rounds: tuple[Round, ...]
    first_token_s: float
    total_s: float
    prompt_tokens: int
    reused_tokens: int

    @property
    def tokens(self) -> tuple[int, ...]:
        """The reply's tokens, its end included."""
        return tuple(token for each in self.rounds for token in each.emitted)

    @property
    def tokens_per_s(self) -> float:
        """Tokens after the first, over the time after the first: decoding without the prompt."""
        decoding_s = self.total_s - self.first_token_s
        return (len(self.tokens) - 1) / decoding_s if decoding_s > 0 and self.rounds else 0.0

    def acceptance_by_position(self) -> list[float]:
        """For position 1, 2, ...: the share accepted of those that were decided."""
        decided: list[int] = []
        accepted: list[int] = []
        for each in self.rounds:
            for at in range(min(each.accepted + 1, len(each.drafted))):
                if at == len(decided):
                    decided.append(0)
                    accepted.append(0)
                decided[at] += 1
                accepted[at] += at < each.accepted
        return [yes / all_ for yes, all_ in zip(accepted, decided, strict=True)]

    def figures(self) -> dict[str, Any]:
        """The reply's numbers, ready for JSON."""
        rounds = self.rounds
        speculative = [each for each in rounds if each.drafted]
        emitted = sum(len(each.emitted) for each in speculative)
        stage_ms = {
            stage: round(sum(getattr(r.times, f"{stage}_s") for r in rounds) * 1000, 1)
            for stage in STAGES
        }
        return {
            "tokens": len(self.tokens),
            "drafted": sum(len(each.drafted) for each in rounds),
            "accepted": sum(each.accepted for each in rounds),
            "rejected": sum(len(each.rejected) for each in rounds),
            "recovered": sum(each.outcome is Outcome.RECOVERED for each in rounds),
            "bonus": sum(each.outcome is Outcome.BONUS for each in rounds),
            "rounds": len(rounds),
            "speculative_rounds": len(speculative),
            "tokens_per_round": round(emitted / len(speculative), 3) if speculative else 1.0,
            "acceptance_by_position": [round(share, 3) for share in self.acceptance_by_position()],
            "tokens_per_s": round(self.tokens_per_s, 2),
            "first_token_ms": round(self.first_token_s * 1000, 1),
            "total_ms": round(self.total_s * 1000, 1),
            "stage_ms": stage_ms,
            "prompt_tokens": self.prompt_tokens,
            "reused_tokens": self.reused_tokens,
            "finish_reason": str(self.reason),
        }


def complete(
    engine: Engine,
    request: Request,
    *,
    on_event: Callable[[EngineEvent], None] | None = None,
) -> Completion:
    """Decodes one reply and waits for it; Ctrl-C cancels it.

    Raises:
        EngineError: the request cannot be served, or the reply ended in an error.
    """
    collector = _Collector(on_event)
    generation = engine.submit(request, on_event=collector)
    try:
        while not generation.wait(0.5):
            pass
    except KeyboardInterrupt:
        generation.cancel()
        generation.wait()
        raise
    if generation.error is not None:
        raise EngineError(generation.error)
    return collector.completion(generation)


class _Collector:
    """Follows the events of one reply."""

    def __init__(self, on_event: Callable[[EngineEvent], None] | None) -> None:
        self._on_event = on_event
        self._text = ""
        self._verified = 0
        self._rounds: list[Round] = []
        self._started_s = self._ended_s = perf_counter()
        self._first_s: float | None = None

    def __call__(self, event: EngineEvent) -> None:
        self._ended_s = perf_counter()
        match event:
            case Draft():
                self._text += event.text
            case Rollback():
                self._text = self._text[: event.to]
            case Verify():
                self._verified = event.to
            case Round():
                self._rounds.append(event)
                self._first_s = self._first_s or self._ended_s
        if self._on_event is not None:
            self._on_event(event)

    def completion(self, generation: Generation) -> Completion:
        """What came of it."""
        assert generation.reason is not None, "the reply is not over"
        return Completion(
            text=self._text[: self._verified],
            reason=generation.reason,
            rounds=tuple(self._rounds),
            first_token_s=(self._first_s or self._ended_s) - self._started_s,
            total_s=self._ended_s - self._started_s,
            prompt_tokens=generation.prompt_tokens,
            reused_tokens=generation.reused_tokens,
        )
