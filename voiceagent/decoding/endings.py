"""How probable it is that a speaker's words end where they do, by a language model's own guess.

After "What do bees make" a model expects a question mark, after "Could you please tell me" a word.
The sum over all tokens that end a sentence or a message is the probability sought. The mark that a
recognizer put there is not read: it puts one behind everything.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch

from voiceagent.decoding.prefix import common_prefix

if TYPE_CHECKING:
    from voiceagent.core.history import Message

_MARKS = "?!.。？！…"
_ENDING = re.compile(rb"\n| *(?:%s)" % b"|".join(re.escape(mark.encode()) for mark in _MARKS))


def ending_tokens(
    decode_bytes: Callable[[int], bytes], *, vocabulary_size: int, eos_ids: frozenset[int]
) -> torch.Tensor:
    """The tokens (n,), int64, that end a sentence or a message."""
    ends = [
        token
        for token in range(vocabulary_size)
        if token in eos_ids or _ENDING.match(decode_bytes(token))
    ]
    return torch.tensor(ends, dtype=torch.int64)


def last_word(
    prompt: "Sequence[int]",
    messages: "Sequence[Message]",
    *,
    render: "Callable[[Sequence[Message]], list[int]]",
) -> int | None:
    """The position in ``prompt`` of the last token of the last message's last word.

    ``prompt`` is what ``render`` makes of ``messages``. None where the word shares its token with
    the mark behind it.
    """
    *before, last = messages
    words = last.content.rstrip(_MARKS + " \n")
    asked, bare = (render([*before, replace(last, content=words + mark)]) for mark in ("?", ""))
    length = common_prefix(asked, bare)
    return length - 1 if 0 < length <= common_prefix(asked, prompt) else None


@dataclass(frozen=True, slots=True, eq=False)
class EndingJudge:
    """How probable an ending is behind position ``at`` of a prompt.

    Attributes:
        at: whose row of logits it is asked for.
        endings: the tokens (n,) of `ending_tokens`, int64.
    """

    at: int
    endings: torch.Tensor

    def probability(self, logits: torch.Tensor) -> float:
        """Of any of the endings, by a row of logits (vocabulary,), float32; in [0, 1]."""
        return float(torch.softmax(logits, dim=-1)[self.endings].sum())
