"""The real engine over a target that says what a test wants, with drafters that know it and lie."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from decoding_doubles import ScriptedDrafter, TableCache

from voiceagent.config import Decoding
from voiceagent.core.history import Message
from voiceagent.decoding.engine import Engine
from voiceagent.decoding.kv_cache import KVCache

PROMPT = 2
"""Tokens of every prompt."""
EOS = 0


class PieceTokenizer:
    """A vocabulary of the pieces that a test uses; id 0 ends a reply."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self.pieces = ["", *dict.fromkeys(pieces)]
        self.vocabulary_size = len(self.pieces)
        self.eos_ids = frozenset([EOS])

    def id_of(self, piece: str) -> int:
        return self.pieces.index(piece)

    def encode(self, text: str) -> list[int]:
        return [self.id_of(text)]

    def decode_bytes(self, token: int) -> bytes:
        return self.pieces[token].encode()

    def render(self, messages: Sequence[Message]) -> list[int]:
        return [1] * PROMPT


class ReciterModel:
    """A target that is certain of every token of one text."""

    hidden_size = 1
    context_length = 4096

    def __init__(self, script: Sequence[int], vocabulary_size: int) -> None:
        self._script, self.vocabulary_size = [*script, EOS], vocabulary_size

    @property
    def last_hidden(self) -> torch.Tensor:
        return torch.zeros(1, 1)

    def new_cache(self, capacity: int) -> TableCache:
        return TableCache(capacity)

    def forward(
        self, tokens: torch.Tensor, cache: KVCache, *, last_only: bool = False
    ) -> torch.Tensor:
        start, rows = cache.length, len(tokens)
        cache.advance(rows)
        logits = torch.zeros(rows, self.vocabulary_size)
        for row in range(rows):
            said = max(start + row + 1 - PROMPT, 0)
            logits[row, self._script[min(said, len(self._script) - 1)]] = 20.0
        return logits[-1:] if last_only else logits


def reciting(
    pieces: Sequence[str],
    *,
    drafts: Callable[[list[int], int], Sequence[int]] | None = None,
    lies: Sequence[str] = (),
    window: int = 4,
    **engine: Any,
) -> Engine:
    """An engine whose target says ``pieces``.

    Args:
        pieces: one token each.
        drafts: what to guess, by the tokens so far and the count; by default the lies, in turn.
        lies: pieces that the target never says.
        window: K.
        engine: slots and waiting of the engine.
    """
    tokenizer = PieceTokenizer([*pieces, *lies])
    script = [tokenizer.id_of(piece) for piece in pieces]

    def lie(ids: list[int], count: int) -> list[int]:
        return [tokenizer.id_of(lies[(len(ids) + at) % len(lies)]) for at in range(count)]

    config = Decoding(drafter="model", window=window, context_tokens=250, max_tokens=200)
    return Engine(
        ReciterModel(script, tokenizer.vocabulary_size),
        tokenizer,
        config=config,
        drafters={"model": lambda: ScriptedDrafter("adversary", drafts or lie)},
        **engine,
    )
