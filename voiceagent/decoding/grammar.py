"""Grammars: text that has to fit a form fits it, whatever the draft guesses.

Every row of a block is masked by the grammar as it stands behind the drafted tokens before that
row: a fork. The grammar itself advances on verified tokens only, so a rejected guess leaves no
trace in it. llguidance parses (an Earley parser over the bytes of tokens); it is asked for three
things, `fork`, `advance` and `mask`, and another library could answer them as well.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property
from threading import Lock
from typing import Protocol, Self, TypeAlias

import numpy as np
from llguidance import LLMatcher, LLTokenizer, TokenizerWrapper
from numpy.typing import NDArray

from voiceagent.decoding.errors import EngineError

Mask: TypeAlias = NDArray[np.bool_]

KEPT_GRAMMARS = 32
"""Compiled grammars that are kept: a client asks for the same form again and again."""
MAX_GRAMMAR_CHARS = 1 << 16
"""A JSON schema of a large interface has 20,000 characters."""


class GrammarError(EngineError):
    """Not a grammar, or one that no text fits; the message says where."""


class Grammar(Protocol):
    """A position in a grammar."""

    def fork(self) -> Self:
        """Another grammar that stands where this one does."""

    def advance(self, tokens: Sequence[int]) -> None:
        """Steps over tokens, each of them allowed."""

    def mask(self) -> Mask:
        """Which ids may follow: (vocabulary,)."""


class RowMasks:
    """The masks of a block's rows, over one reply's grammar."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._forks: dict[tuple[int, ...], Grammar] = {(): grammar}
        self._masks: dict[tuple[int, ...], Mask] = {}

    def mask(self, block: tuple[int, ...]) -> Mask:
        """What may follow the drafted tokens ``block``; both models ask, one answer is worked out.

        Every token of ``block`` was allowed at its own row: rows behind a token that was not are
        never looked at.
        """
        if block not in self._masks:
            self._masks[block] = self._fork(block).mask()
        return self._masks[block]

    def advance(self, verified: Sequence[int]) -> None:
        """The round is over: the grammar steps over what was emitted, forks are forgotten."""
        self._grammar.advance(verified)
        self._forks = {(): self._grammar}
        self._masks = {}

    def _fork(self, block: tuple[int, ...]) -> Grammar:
        if block not in self._forks:
            fork = self._fork(block[:-1]).fork()
            fork.advance(block[-1:])
            self._forks[block] = fork
        return self._forks[block]


class ParsedGrammar:
    """A grammar of llguidance."""

    def __init__(self, matcher: LLMatcher, *, vocabulary: Vocabulary) -> None:
        self._matcher = matcher
        self._vocabulary = vocabulary

    def fork(self) -> ParsedGrammar:
        """A copy of the parser's state; what was compiled is shared."""
        return ParsedGrammar(self._matcher.deep_copy(), vocabulary=self._vocabulary)

    def advance(self, tokens: Sequence[int]) -> None:
        """Raises GrammarError on a token that is not allowed: the parser is of no use then."""
        # The end of a reply is no text, and a parser whose text is complete takes none any more.
        text = [token for token in tokens if token not in self._vocabulary.eos_ids]
        if not self._matcher.consume_tokens(text):
            raise GrammarError(f"the grammar does not go on there: {self._matcher.get_error()}")

    def mask(self) -> Mask:
        """Allowed ids; end-of-reply tokens among them where the text may end."""
        bits = np.frombuffer(self._matcher.compute_bitmask(), dtype=np.uint8)
        if self._matcher.is_error():
            raise GrammarError(self._matcher.get_error())
        return np.unpackbits(
            bits, bitorder="little", count=self._vocabulary.vocabulary_size
        ).astype(np.bool_)


class Vocabulary(Protocol):
    """What a grammar has to know of a tokenizer."""

    @property
    def vocabulary_size(self) -> int: ...

    @property
    def eos_ids(self) -> frozenset[int]: ...

    def encode(self, text: str) -> list[int]: ...

    def decode_bytes(self, token: int) -> bytes: ...


class Grammars:
    """Compiles grammars over one vocabulary and keeps the last of them."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._kept: OrderedDict[str, ParsedGrammar] = OrderedDict()
        self._lock = Lock()

    def begin(self, text: str) -> ParsedGrammar:
        """A grammar at its beginning. May be called on any thread.

        Args:
            text: in llguidance's dialect of Lark.

        Raises:
            GrammarError: it cannot be compiled.
        """
        with self._lock:
            if text not in self._kept:
                self._kept[text] = self._compile(text)
            self._kept.move_to_end(text)
            while len(self._kept) > KEPT_GRAMMARS:
                self._kept.popitem(last=False)
            return self._kept[text].fork()

    def _compile(self, text: str) -> ParsedGrammar:
        if len(text) > MAX_GRAMMAR_CHARS:
            raise GrammarError(f"the grammar has more than {MAX_GRAMMAR_CHARS} characters")
        matcher = LLMatcher(self._tokenizer, LLMatcher.grammar_from_lark(text), log_level=0)
        if matcher.is_error():
            raise GrammarError(f"the schema cannot be used: {_first_line(matcher.get_error())}")
        return ParsedGrammar(matcher, vocabulary=self._vocabulary)

    @cached_property
    def _tokenizer(self) -> LLTokenizer:
        return LLTokenizer(
            TokenizerWrapper(_Tokens(self._vocabulary)),
            eos_token=sorted(self._vocabulary.eos_ids),
        )


class _Tokens:
    """The vocabulary as llguidance reads it: bytes of every id; control tokens under names."""

    bos_token_id = None

    def __init__(self, vocabulary: Vocabulary) -> None:
        pieces = [vocabulary.decode_bytes(token) for token in range(vocabulary.vocabulary_size)]
        self.special_token_ids = [token for token, piece in enumerate(pieces) if not piece]
        self.tokens = [piece or f"<|{token}|>".encode() for token, piece in enumerate(pieces)]
        self.eos_token_id = min(vocabulary.eos_ids)
        self._encode = vocabulary.encode

    def __call__(self, text: str) -> list[int]:
        return self._encode(text.decode() if isinstance(text, bytes) else text)


def _first_line(message: str) -> str:
    return message.strip().partition("\n")[0]
