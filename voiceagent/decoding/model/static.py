"""The lean decoder in blocks of fixed shapes, so that CUDA can replay it as a graph.

Everything that differs between two passes of a shape (places, positions, lengths, tokens) is a
value on the device: there is no host round trip and no shape that depends on data. Blocks are
padded to the next of a few sizes; a padding row writes to a scrap row that nobody reads. Attention
goes over the whole cache under a mask, so that rows past a conversation's length, stale or never
written, weigh exactly nothing; the cache starts as zeros because nothing times NaN is not nothing.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import torch
from torch import Tensor

from voiceagent.decoding.choice import Draw
from voiceagent.decoding.controller import LONGEST_WINDOW
from voiceagent.decoding.kv_cache import KVCache
from voiceagent.decoding.model.bank import Bank, StaticCache, WholeAttention
from voiceagent.decoding.model.base import ShapedModel, check_capacity, check_tokens
from voiceagent.decoding.model.captured import Captured, shared_pool
from voiceagent.decoding.model.layers import run_layers, score
from voiceagent.decoding.model.parameters import Parameters
from voiceagent.decoding.noise import uniform_rows

BLOCKS = (1, 2, 3, 5, 9)
"""Rows of a block: the pending token and 0, 1, 2, 4 or 8 drafted ones."""
CHUNK = 256
"""Rows of a piece of a prompt."""
PLACES = 16
"""Conversations that are kept at once."""
_BATCHES = (1, 4, 16)
_PENDING = 2
"""Tokens a draft model has not read when it is asked: one, or two after full acceptance."""
_HEADER = 3
"""Columns before the tokens: place, start, count."""
_DRAW = 3
"""Columns of a draw: vocabulary size, noise key, temperature (the bits of a float64)."""

Block: TypeAlias = tuple[Tensor, KVCache]


class StaticModel(ShapedModel):
    """A Llama-family decoder; see `CausalModel`, `forward_many` and `draft_ahead`.

    Not for two threads at once: it has one set of buffers.

    Args:
        parameters: the weights.
        capacity: positions that a cache may hold at most.
        places: caches that there may be at once.
        blocks: sizes of blocks, ascending. With one size alone (9, say) every short block runs
            through the same kernels, and speculation changes no bit.
        chunk: rows of a piece of a prompt, more than the largest block.
        captures: False calls on CUDA what would be replayed, to compare the two.

    Raises:
        ValueError: the capacity is beyond the model's context.
    """

    def __init__(
        self,
        parameters: Parameters,
        *,
        capacity: int,
        places: int = PLACES,
        blocks: Sequence[int] = BLOCKS,
        chunk: int = CHUNK,
        captures: bool = True,
    ) -> None:
        super().__init__(parameters.shape)
        check_capacity(capacity, parameters.shape.context_length)
        self._parameters = parameters
        self._bank = Bank(parameters, capacity=capacity, places=places)
        self._blocks, self._chunk, self._captures = tuple(blocks), chunk, captures
        self._batches = (*(size for size in _BATCHES if size < places), places)
        self._pool = shared_pool(parameters.device)
        self._captured: dict[tuple[object, ...], Captured] = {}

    @property
    def context_length(self) -> int:
        """Positions that a conversation may have here."""
        return self._bank.capacity

    @property
    def bytes_per_pass(self) -> int:
        """Bytes of weights that one pass reads; the cache comes on top."""
        return self._parameters.bytes_per_pass

    @property
    def cache_bytes_per_pass(self) -> int:
        """Bytes of keys and values that one pass reads for each conversation, long or short."""
        return (self._bank.keys.nbytes + self._bank.values.nbytes) // self._bank.places

    @torch.inference_mode()
    def prepare(self) -> None:
        """Runs every shape once with idle rows, so that none is captured in a conversation."""
        for batch in self._batches:
            for size in self._blocks:
                idle, _ = self._inputs([], batch=batch, size=size)
                self._scorer(idle, last_only=False)(idle)
        piece, _ = self._inputs([], batch=1, size=self._chunk)
        self._scorer(piece, last_only=True)(piece)
        for count in range(1, LONGEST_WINDOW + 1):
            for drawn in (False, True):
                idle, _ = self._inputs([], batch=1, size=_PENDING, draws=[])
                self._drafter(idle, count=count, drawn=drawn)(idle)

    def new_cache(self, capacity: int) -> KVCache:
        """See `CausalModel`; raises CacheFull where all places are taken."""
        check_capacity(capacity, self.context_length)
        return StaticCache(capacity, bank=self._bank)

    def forward(self, tokens: Tensor, cache: KVCache, *, last_only: bool = False) -> Tensor:
        return self.forward_many([(tokens, cache)], scored=[1] if last_only else None)

    @torch.inference_mode()
    def forward_many(
        self, blocks: Sequence[Block], *, scored: Sequence[int] | None = None
    ) -> Tensor:
        """Blocks of several conversations, the short ones in one pass; see `JointModel`."""
        for tokens, cache in blocks:
            self._check(tokens, cache, rows=len(tokens))
        ends = scored or [len(tokens) for tokens, _ in blocks]
        results: list[tuple[Tensor, ...]] = [()] * len(blocks)
        short = [at for at, (tokens, _) in enumerate(blocks) if len(tokens) <= self._blocks[-1]]
        for first in range(0, len(short), self._batches[-1]):
            group = short[first : first + self._batches[-1]]
            for at, result in zip(group, self._pass([blocks[at] for at in group]), strict=True):
                results[at] = result
        for at in sorted(set(range(len(blocks))) - set(short)):
            results[at] = self._read(*blocks[at], last_only=ends[at] == 1)
        hidden = [
            torch.tensor_split(each[1], (-end,)) for each, end in zip(results, ends, strict=True)
        ]
        self._hidden = torch.cat([early for early, _ in hidden] + [late for _, late in hidden])
        return torch.cat([each[0][-end:] for each, end in zip(results, ends, strict=True)])

    def draft_ahead(
        self, tokens: Tensor, cache: KVCache, *, count: int, draw: Draw
    ) -> tuple[list[int], list[float]]:
        """See `DraftsAhead`: ``count`` steps in one graph, one transfer at its end."""
        (drafted,) = self.draft_ahead_many([(tokens, cache)], count=count, draws=[draw])
        return drafted

    @torch.inference_mode()
    def draft_ahead_many(
        self, blocks: Sequence[Block], *, count: int, draws: Sequence[Draw]
    ) -> list[tuple[list[int], list[float]]]:
        """The same for several conversations at once (no more than there are places)."""
        for tokens, cache in blocks:
            self._check(tokens, cache, rows=len(tokens) + count - 1)
        blocks = [self._all_but_the_last(tokens, cache) for tokens, cache in blocks]
        drawn = any(draw.temperature > 0 for draw in draws)
        batch = _fitting(self._batches, len(blocks))
        inputs, rows = self._inputs(blocks, batch=batch, size=_PENDING, draws=draws)
        # (batch, 2, count) float64: an id is exact in it, and one transfer brings both.
        (found,) = self._drafter(inputs, count=count, drawn=drawn)(inputs)
        for tokens, cache in blocks:
            cache.advance(len(tokens) + count - 1)
        return [([int(token) for token in ids], p) for ids, p in found[rows].cpu().tolist()]

    # On the host ---------------------------------------------------------------------------

    def _check(self, tokens: Tensor, cache: KVCache, *, rows: int) -> None:
        if not isinstance(cache, StaticCache) or cache.bank is not self._bank:
            raise TypeError("the cache was made by another model")
        check_tokens(tokens)
        # An id outside would end the process's use of the device, not this reply alone.
        if int(tokens.min()) < 0 or int(tokens.max()) >= self.vocabulary_size:
            raise ValueError(f"tokens must be in [0, {self.vocabulary_size})")
        cache.room_for(rows)

    def _read(self, tokens: Tensor, cache: KVCache, *, last_only: bool) -> tuple[Tensor, ...]:
        """A long block in pieces."""
        pieces = torch.split(tokens, self._chunk)
        read = [self._pass([(piece, cache)], last_only=last_only)[0] for piece in pieces]
        logits = [each[0] for each in read[-1 if last_only else 0 :]]
        return torch.cat(logits), torch.cat([each[1] for each in read])

    def _all_but_the_last(self, tokens: Tensor, cache: KVCache) -> Block:
        """Reads what would not fit into the first step; what is left does."""
        if len(tokens) <= _PENDING:
            return tokens, cache
        self.forward(tokens[:-1], cache, last_only=True)
        return tokens[-1:], cache

    def _pass(
        self, blocks: Sequence[Block], *, last_only: bool = False
    ) -> list[tuple[Tensor, ...]]:
        """One pass; logits and last hidden states of each block, in memory of their own."""
        size = _fitting((*self._blocks, self._chunk), max(len(tokens) for tokens, _ in blocks))
        batch = _fitting(self._batches, len(blocks))
        last_only = last_only and size == self._chunk  # a graph more pays only there
        inputs, rows = self._inputs(blocks, batch=batch, size=size)
        logits, hidden = self._scorer(inputs, last_only=last_only)(inputs)
        results: list[tuple[Tensor, ...]] = []
        for row, (tokens, cache) in zip(rows, blocks, strict=True):
            cache.advance(len(tokens))
            scored = logits[row] if last_only else logits[row, : len(tokens)]
            results.append((scored.clone(), hidden[row, : len(tokens)].clone()))
        return results

    def _inputs(
        self, blocks: Sequence[Block], *, batch: int, size: int, draws: Sequence[Draw] | None = None
    ) -> tuple[Tensor, list[int]]:
        """What a pass reads, (batch, columns), and the row of each block; other rows are idle.

        A batch of all places is one in their own order: nothing has to be gathered then.
        """
        ahead = 0 if draws is None else _DRAW
        inputs = torch.zeros((batch, _HEADER + ahead + size), dtype=torch.int64)
        places = [cache.place for _, cache in blocks if isinstance(cache, StaticCache)]
        rows = places if batch == self._bank.places else list(range(len(blocks)))
        if batch == self._bank.places:
            inputs[:, 0] = torch.arange(batch)
        for row, place, (tokens, cache) in zip(rows, places, blocks, strict=True):
            inputs[row, :_HEADER] = torch.tensor([place, cache.length, len(tokens)])
            inputs[row, _HEADER + ahead :][: len(tokens)] = tokens
        for row, draw in zip(rows, draws or (), strict=False):
            inputs[row, _HEADER : _HEADER + _DRAW] = _as_columns(draw)
        return inputs, rows

    def _scorer(self, inputs: Tensor, *, last_only: bool) -> Captured:
        return self._capture(
            ("score", *inputs.shape, last_only),
            lambda buffer: self._score(buffer, last_only=last_only),
            like=inputs,
        )

    def _drafter(self, inputs: Tensor, *, count: int, drawn: bool) -> Captured:
        return self._capture(
            ("draft", *inputs.shape, count, drawn),
            lambda buffer: self._ahead(buffer, count=count, drawn=drawn),
            like=inputs,
        )

    def _capture(
        self,
        key: tuple[object, ...],
        function: Callable[[Tensor], tuple[Tensor, ...]],
        *,
        like: Tensor,
    ) -> Captured:
        if key not in self._captured:
            self._captured[key] = Captured(
                function,
                like.to(self._parameters.device, copy=True),
                pool=self._pool,
                captures=self._captures,
            )
        return self._captured[key]

    # On the device: no value is looked at ----------------------------------------------------

    def _score(self, inputs: Tensor, *, last_only: bool) -> tuple[Tensor, Tensor]:
        """Logits (batch, rows or 1, vocabulary) and last hidden states (batch, rows, hidden)."""
        places, start, count = inputs[:, :_HEADER].unbind(1)
        hidden = self._run(inputs[:, _HEADER:], places, start, count)
        scored = _row_before(hidden, count) if last_only else hidden
        return score(self._parameters, scored), hidden.float()

    def _ahead(self, inputs: Tensor, *, count: int, drawn: bool) -> tuple[Tensor]:
        """Chosen tokens and their probabilities, (batch, 2, count) float64."""
        places, start, fed, vocabulary, keys, bits = inputs[:, : _HEADER + _DRAW].unbind(1)
        temperature = bits.view(torch.float64) if drawn else None
        read = self._run(inputs[:, _HEADER + _DRAW :], places, start, fed)
        hidden, position = _row_before(read, fed), start + fed
        one_row = fed.clamp(max=1)  # an idle conversation stays idle
        chosen: list[Tensor] = []
        for step in range(count):
            logits = score(self._parameters, hidden)[:, 0]
            token, probability = _choose(logits, vocabulary, temperature, keys, position)
            chosen.append(torch.stack((token.double(), probability), dim=1))
            if step < count - 1:
                hidden = self._run(token[:, None], places, position, one_row)
                position = position + one_row
        return (torch.stack(chosen, dim=2),)

    def _run(self, tokens: Tensor, places: Tensor, start: Tensor, count: Tensor) -> Tensor:
        """The last layer's output (batch, rows, hidden) of ``count`` (batch,) rows each."""
        row = torch.arange(tokens.shape[1], device=tokens.device)
        # masked_fill takes its number along with the kernel; torch.where would copy it from the
        # host, which cannot be captured.
        positions = (start[:, None] + row).masked_fill(row >= count[:, None], self._bank.scrap)
        attention = WholeAttention(self._bank, places, positions)
        return run_layers(self._parameters, tokens, positions, attention=attention)


def _choose(
    logits: Tensor, vocabulary: Tensor, temperature: Tensor | None, keys: Tensor, position: Tensor
) -> tuple[Tensor, Tensor]:
    """`Chooser.choose` for each row of logits (batch, ids), and the probability of the choice.

    ``temperature``: (batch,) float64, None where all rows are greedy.
    """
    ids = torch.arange(logits.shape[1], device=logits.device)
    logits = logits.masked_fill(ids >= vocabulary[:, None], float("-inf"))
    greedy = logits.argmax(1)
    law = logits.softmax(1).double()
    if temperature is None:
        return greedy, law.gather(1, greedy[:, None])[:, 0]
    drawn_from = _law(logits, temperature)
    noise = uniform_rows(ids, keys=keys, positions=position)
    drawn = (-torch.log1p(-noise) / drawn_from).argmin(1)
    is_greedy = temperature == 0
    token = torch.where(is_greedy, greedy, drawn)
    law = torch.where(is_greedy[:, None], law, drawn_from)
    return token, law.gather(1, token[:, None])[:, 0]


def _law(logits: Tensor, temperature: Tensor) -> Tensor:
    """What `Sampler.distribution` makes of temperature alone, rounded in the same places."""
    divisor = temperature.masked_fill(temperature == 0, 1.0).float()[:, None]
    weights = ((logits - logits.amax(1, keepdim=True)) / divisor).exp().double()
    return weights / weights.sum(1, keepdim=True)


def _row_before(hidden: Tensor, count: Tensor) -> Tensor:
    """The last real row of each (batch, 1, hidden); the first of an idle one."""
    last = (count - 1).clamp(min=0)[:, None, None]
    return hidden.gather(1, last.expand(-1, 1, hidden.shape[-1]))


def _as_columns(draw: Draw) -> Tensor:
    temperature = torch.tensor([draw.temperature], dtype=torch.float64).view(torch.int64)
    return torch.cat([torch.tensor([draw.vocabulary_size, draw.key]), temperature])


def _fitting(sizes: Sequence[int], wanted: int) -> int:
    """The smallest size that holds ``wanted``."""
    return next(size for size in sizes if size >= wanted)
