"""How far apart two texts are in meaning, asked of the target model itself.

Distances of embeddings do not answer this: a text and its negation lie closer than a text and its
paraphrase (docs/severity.md has the figures). A model that can read is asked instead whether both
say the same, and its belief, not its words, is the distance.
"""

import math
from dataclasses import dataclass

import torch

from voiceagent.decoding.model import CausalModel
from voiceagent.decoding.prefix import common_prefix
from voiceagent.decoding.tokenizer import Tokenizer

_QUESTION = (
    "Do these two sentences say the same thing, or do they contradict each other? "
    "Answer Same or Different.\n1. {one}\n2. {other}"
)
_SAME, _DIFFERENT = "Same", "Different"
MAX_TOKENS = 1024
"""Room for the question and two long sentences; what is longer has no distance."""


@dataclass(frozen=True)
class _Question:
    content: str
    role: str = "user"


class MeaningJudge:
    """Asks a model, both ways round; the prompt's beginning is read once."""

    def __init__(self, model: CausalModel, tokenizer: Tokenizer) -> None:
        self._model = model
        self._tokenizer = tokenizer
        self._cache = model.new_cache(min(MAX_TOKENS, model.context_length))
        self._read: list[int] = []
        self._same = tokenizer.encode(_SAME)[0]
        self._different = tokenizer.encode(_DIFFERENT)[0]

    def distance(self, before: str, after: str) -> float:
        """How sure the model is that the texts differ, from 0 to 1 (`core.severity.Meaning`).

        Raises:
            CacheFull: the texts are longer than `MAX_TOKENS`.
        """
        evidence = self._ask(before, after) + self._ask(after, before)
        return 1 / (1 + math.exp(-evidence / 2))

    def _ask(self, one: str, other: str) -> float:
        """How much likelier the model would answer that they differ: a difference of logits."""
        prompt = self._tokenizer.render([_Question(_QUESTION.format(one=one, other=other))])
        known = min(common_prefix(self._read, prompt), len(prompt) - 1)
        self._cache.truncate(known)
        self._read = prompt[:known]
        with torch.inference_mode():
            rows = torch.tensor(prompt[known:])
            (logits,) = self._model.forward(rows, self._cache, last_only=True)
        self._read = prompt
        return float(logits[self._different] - logits[self._same])
