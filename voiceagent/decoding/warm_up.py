"""Measures what the controller weighs: a target pass by rows, and a drafted token."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import torch

from voiceagent.decoding.controller import LONGEST_WINDOW

if TYPE_CHECKING:
    from voiceagent.decoding.model import CausalModel

_CONTEXT = 64
"""Positions in the cache while measuring: attention over so few costs next to nothing."""
_REPEATS = 3


def time_target(model: CausalModel) -> dict[int, float]:
    """Seconds of a pass, by number of rows from 1 to the longest block."""
    return {rows: _time_pass(model, rows) for rows in range(1, LONGEST_WINDOW + 2)}


def time_draft(model: CausalModel) -> float:
    """Seconds of one drafted token."""
    return _time_pass(model, 1)


def _time_pass(model: CausalModel, rows: int) -> float:
    """The quickest of a few: what the pass costs when nothing else runs."""
    context = min(_CONTEXT, model.context_length - rows)
    cache = model.new_cache(context + rows)
    model.forward(torch.zeros(context, dtype=torch.int64), cache, last_only=True)
    block = torch.zeros(rows, dtype=torch.int64)
    times_s = []
    for _ in range(_REPEATS):
        started_s = perf_counter()
        model.forward(block, cache).cpu()
        times_s.append(perf_counter() - started_s)
        cache.truncate(context)
    return min(times_s)
