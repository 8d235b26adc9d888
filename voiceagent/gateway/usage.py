"""Token counts and probabilities of a reply, in OpenAI's words."""

from collections.abc import Sequence
from typing import Any, Protocol

from voiceagent.decoding.record import Round


class Counted(Protocol):
    """What counts the prompt."""

    prompt_tokens: int
    reused_tokens: int


def count_usage(writing: Counted | None, rounds: Sequence[Round]) -> dict[str, Any]:
    """The usage object: tokens of prompt and reply, and what became of the drafted ones."""
    prompt = writing.prompt_tokens if writing else 0
    remote = getattr(writing, "completion_tokens", None)
    completion = sum(len(each.emitted) for each in rounds) if remote is None else remote
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": writing.reused_tokens if writing else 0},
        "completion_tokens_details": {
            "accepted_prediction_tokens": sum(each.accepted for each in rounds),
            "rejected_prediction_tokens": sum(len(each.rejected) for each in rounds),
        },
    }
