"""Measures what the controller weighs: a target pass by rows, and a drafted token.

It stands between a user and the first word, so it looks at few block sizes; the controller draws
lines between them and goes on measuring while it works.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING

import torch

from voiceagent.decoding.choice import Draw
from voiceagent.decoding.controller import LONGEST_WINDOW
from voiceagent.decoding.drafters.draft_model import DraftsAhead

if TYPE_CHECKING:
    from voiceagent.decoding.model import CausalModel, KVCache

_CONTEXT = 8
"""Positions in the cache while measuring: attention over so few costs next to nothing."""
_ROWS = (1, LONGEST_WINDOW // 2 + 1)
"""A pass takes about a line over so many rows: what lies between and beyond is read off it."""
_REPEATS = 2


def time_target(model: CausalModel) -> dict[int, float]:
    """Seconds of a pass, by number of rows from 1 to the longest block."""
    return _time_passes(model, _ROWS)


def time_draft(model: CausalModel) -> float:
    """Seconds of one drafted token; of a block of many where the model drafts by the block."""
    if isinstance(model, DraftsAhead):
        return _time_ahead(model, model.new_cache(_CONTEXT))
    return _time_passes(model, (1,))[1]


def _time_passes(model: CausalModel, sizes: Sequence[int]) -> dict[int, float]:
    """The quicker of two each: what the pass costs when nothing else runs."""
    context = min(_CONTEXT, model.context_length - max(sizes))
    cache = model.new_cache(context + max(sizes))
    model.forward(torch.zeros(context, dtype=torch.int64), cache, last_only=True)
    return {rows: _time_pass(model, cache, rows) for rows in sizes}


def _time_pass(model: CausalModel, cache: KVCache, rows: int) -> float:
    before, block = cache.length, torch.zeros(rows, dtype=torch.int64)
    times_s = []
    for _ in range(_REPEATS):
        started_s = perf_counter()
        model.forward(block, cache).cpu()
        times_s.append(perf_counter() - started_s)
        cache.truncate(before)
    return min(times_s)


def _time_ahead(model: DraftsAhead, cache: KVCache) -> float:
    first, times_s = torch.zeros(1, dtype=torch.int64), []
    for _ in range(_REPEATS):
        started_s = perf_counter()
        model.draft_ahead(first, cache, count=LONGEST_WINDOW, draw=Draw(vocabulary_size=1))
        times_s.append((perf_counter() - started_s) / LONGEST_WINDOW)
        cache.truncate(0)
    return min(times_s)
