"""How probable it is that a speaker's words end where they do, by a language model's own guess.

After "What do bees make" a model expects a question mark, after "Could you please tell me" a word.
The sum over all tokens that end a sentence or a message is the probability sought. The mark that a
recognizer put there is not read: it puts one behind everything.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from voiceagent.decoding.prefix import common_prefix

if TYPE_CHECKING:
    from voiceagent.core.history import Message

_MARKS = "?!.。？！…"


def ending_tokens(
    decode_bytes: Callable[[int], bytes], *, vocabulary_size: int, eos_ids: frozenset[int]
) -> torch.Tensor:
    """The tokens (n,), int64, that end a sentence or a message."""
    ends = [
        token
        for token in range(vocabulary_size)
        if token in eos_ids or _ends(decode_bytes(token).decode("utf-8", errors="replace"))
    ]
    return torch.tensor(ends, dtype=torch.int64)


def _ends(text: str) -> bool:
    return text.startswith("\n") or text.lstrip(" ")[:1] in tuple(_MARKS)


def up_to_last_word(
    messages: "Sequence[Message]", *, render: "Callable[[Sequence[Message]], list[int]]"
) -> list[int]:
    """The prompt's tokens up to the last word of the last message, its closing mark excluded."""
    *before, last = messages
    words = last.content.rstrip(_MARKS + " \n")
    forms = [render([*before, replace(last, content=words + mark)]) for mark in ("?", "")]
    return forms[0][: common_prefix(*forms)]


def ending_probability(logits: torch.Tensor, endings: torch.Tensor) -> float:
    """Of any of ``endings`` after ``logits`` (1, vocabulary), float32."""
    return float(torch.softmax(logits[-1].float(), dim=-1)[endings.to(logits.device)].sum())
