"""From a row of logits to a token: every sampler parameter, on every row, for both models.

A row is worked on in this order: padding ids are cut off; logit bias; repetition, presence and
frequency penalties; bad words and minimum length; the grammar's mask; then greedy choice, or
temperature, top-k, top-p, min-p and a draw. The same functions serve the target and the draft, and
each row sees the history of its own position (prompt, reply, and the drafted tokens before it).

Rows are worked on with numpy, on one thread: torch spreads a row of a large vocabulary over its
threads, and where another process has one of the cores each such step then waits for it (measured:
0.2 ms alone, 100 ms beside other work).
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from voiceagent.core.errors import VoiceAgentError
from voiceagent.decoding.noise import Purpose, uniform, uniforms
from voiceagent.decoding.record import Likelihood

if TYPE_CHECKING:
    from voiceagent.decoding.grammar import RowMasks

_FEW = 4096
"""Up to so many candidates the race below is run over all of them at once."""

_PIECE = 16384
"""A long row is summed in pieces that stay in the cache."""

Floats: TypeAlias = NDArray[np.float32]


class SamplingError(VoiceAgentError):
    """A sampler parameter outside its range; the message names it."""


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """What a request asks of the sampler. Temperature 0 is greedy."""

    temperature: float = 0.0
    top_k: int = 0
    """0 keeps all tokens."""
    top_p: float = 1.0
    min_p: float = 0.0
    """Keeps tokens at least this fraction as probable as the most probable one."""
    repetition_penalty: float = 1.0
    """Over prompt and reply, as in CTRL (Keskar et al. 2019)."""
    presence_penalty: float = 0.0
    """Over the reply alone, like the next one."""
    frequency_penalty: float = 0.0
    logit_bias: Mapping[int, float] = field(default_factory=dict)
    bad_words: tuple[str, ...] = ()
    """Texts whose token sequences are never completed."""
    min_tokens: int = 0
    """No end-of-sequence token before so many tokens."""
    seed: int = 0

    def __post_init__(self) -> None:
        _require(self.temperature >= 0 and math.isfinite(self.temperature), "temperature", ">= 0")
        _require(self.top_k >= 0, "top_k", ">= 0")
        _require(0 < self.top_p <= 1, "top_p", "in (0, 1]")
        _require(0 <= self.min_p <= 1, "min_p", "in [0, 1]")
        _require(self.repetition_penalty > 0, "repetition_penalty", "> 0")
        _require(math.isfinite(self.presence_penalty), "presence_penalty", "finite")
        _require(math.isfinite(self.frequency_penalty), "frequency_penalty", "finite")
        _require(self.min_tokens >= 0, "min_tokens", ">= 0")

    @property
    def greedy(self) -> bool:
        """The most probable token is taken; no noise is used."""
        return self.temperature == 0


def _require(condition: bool, name: str, expected: str) -> None:
    if not condition:
        raise SamplingError(f"{name} must be {expected}")


@dataclass(frozen=True, slots=True)
class Context:
    """The tokens before one row: prompt and reply, then the drafted tokens of this block.

    ``ids`` is the loop's own list, not a copy: a context lives no longer than its round.
    """

    ids: Sequence[int]
    prompt_length: int
    block: tuple[int, ...] = ()

    @property
    def position(self) -> int:
        """The absolute position of the token that this row predicts."""
        return len(self.ids) + len(self.block)

    @property
    def generated(self) -> list[int]:
        """The reply so far."""
        return [*self.ids[self.prompt_length :], *self.block]

    @property
    def all(self) -> list[int]:
        """Prompt and reply so far."""
        return [*self.ids, *self.block]

    def then(self, *tokens: int) -> "Context":
        """The context of a row further on in the block."""
        return Context(self.ids, self.prompt_length, (*self.block, *tokens))


@dataclass(frozen=True, eq=False)
class Distribution:
    """A finite law: ``ids`` ascending int64 (n,), ``probabilities`` (n,) with sum one.

    Probabilities are float64; the exactness tests put fractions there (dtype object).
    """

    ids: NDArray[np.int64]
    probabilities: NDArray[Any]

    def of(self, token: int) -> Any:
        """The probability of one token; zero where it is not among the candidates."""
        at = int(np.searchsorted(self.ids, token))
        if at < len(self.ids) and self.ids[at] == token:
            return self.probabilities.item(at)
        return 0

    def aligned_to(self, ids: NDArray[np.int64]) -> NDArray[Any]:
        """This law's probabilities of ``ids`` (ascending), zero where it has none."""
        if len(self.ids) == len(ids) and np.array_equal(self.ids, ids):
            return self.probabilities
        at = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        found = self.ids[at] == ids
        return np.where(found, self.probabilities[at], 0)


def certain(token: int) -> Distribution:
    """The law of a drafter that had no choice (n-grams, greedy drafts)."""
    # A whole 1, so that fractions stay fractions beside it.
    return Distribution(np.array([token], dtype=np.int64), np.array([1]))


class Chance(Protocol):
    """Where the loop's luck comes from; the exactness tests enumerate it instead."""

    def choose(self, law: Distribution, *, position: int, purpose: Purpose) -> int:
        """One token of the law."""

    def accepts(self, probability: Any, *, position: int) -> bool:
        """True with the given probability."""


@dataclass(frozen=True)
class CounterNoise:
    """Luck as a pure function of seed, absolute position and vocabulary id."""

    seed: int

    def choose(self, law: Distribution, *, position: int, purpose: Purpose) -> int:
        """The winner of an exponential race: the smallest E / probability.

        The same choice as Gumbel-max, argmax(log probability + Gumbel noise), because
        -log E of a standard exponential E is a standard Gumbel variable.
        """
        if len(law.ids) > _FEW:
            law = self._contenders(law, position=position, purpose=purpose)
        noise = uniforms(law.ids, seed=self.seed, position=position, purpose=purpose)
        with np.errstate(divide="ignore"):
            arrivals = -np.log1p(-noise) / law.probabilities
        return int(law.ids[arrivals.argmin()])

    def accepts(self, probability: Any, *, position: int) -> bool:
        """Strict comparison with a number in [0, 1): probability zero is never accepted."""
        number = uniform(seed=self.seed, position=position, purpose=Purpose.ACCEPT)
        return bool(number < probability)

    def _contenders(self, law: Distribution, *, position: int, purpose: Purpose) -> Distribution:
        """The few candidates that can still win, without a logarithm for each of the others.

        A token whose noise is v arrives at -log(1 - v) / p >= v / p: it cannot beat the best of
        the probable ones at time S unless v <= S p. This loses no candidate.
        """
        probable = law.probabilities >= law.probabilities.max() * 0.05
        ids = law.ids[probable]
        noise = uniforms(ids, seed=self.seed, position=position, purpose=purpose)
        best = float((-np.log1p(-noise) / law.probabilities[probable]).min())
        everyone = uniforms(law.ids, seed=self.seed, position=position, purpose=purpose)
        able = everyone <= law.probabilities * (best * (1 + 1e-9))
        return Distribution(law.ids[able], law.probabilities[able])


class Sampler:
    """A request's sampler parameters, resolved against one vocabulary.

    Args:
        sampling: the parameters.
        vocabulary_size: ids from here on are padding and are never sampled.
        eos_ids: what ends a reply (held back by ``min_tokens``).
        bad_words: the token sequences of ``sampling.bad_words``.
        grammar: the masks of this reply's rows; None where it may say anything.
    """

    def __init__(
        self,
        sampling: Sampling,
        *,
        vocabulary_size: int,
        eos_ids: frozenset[int] = frozenset(),
        bad_words: Sequence[tuple[int, ...]] = (),
        grammar: "RowMasks | None" = None,
    ) -> None:
        outside = [i for i in sampling.logit_bias if not 0 <= i < vocabulary_size]
        _require(not outside, f"logit_bias: token {outside[:1]}", f"in [0, {vocabulary_size})")
        self.sampling = sampling
        self.vocabulary_size = vocabulary_size
        self.eos_ids = eos_ids
        self._bad_words = tuple(bad_words)
        self.grammar = grammar

    @property
    def greedy(self) -> bool:
        """See ``Sampling.greedy``."""
        return self.sampling.greedy

    @property
    def only_temperature(self) -> bool:
        """Nothing but temperature (and the padding cut) stands between logits and choice."""
        asked = self.sampling
        keeps_all = asked.top_k == 0 and asked.top_p == 1 and asked.min_p == 0
        return (keeps_all or asked.greedy) and not self._touches_logits and self.grammar is None

    def greedy_token(self, logits: torch.Tensor, context: Context) -> int:
        """The most probable id; the lowest one of equals. ``logits``: float32 (vocabulary,)."""
        return int(self._scores(logits, context).argmax())

    def distribution(self, logits: torch.Tensor, context: Context) -> Distribution:
        """The law after all parameters, for ``temperature`` > 0. ``logits``: (vocabulary,)."""
        ids, weights = self._weights(self._scores(logits, context))
        ids, weights = keep_top_p(ids, weights, self.sampling.top_p)
        ids, weights = keep_min_p(ids, weights, self.sampling.min_p)
        return Distribution(ids, weights / weights.sum())

    def _weights(self, scores: Floats) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        ids = self._all_ids
        if 0 < self.sampling.top_k < len(scores):
            ids = top_k_ids(scores, self.sampling.top_k)
            scores = scores[ids]
        shifted = (scores - scores.max()) / np.float32(self.sampling.temperature)
        return ids, np.exp(shifted).astype(np.float64)

    @cached_property
    def _all_ids(self) -> NDArray[np.int64]:
        return np.arange(self.vocabulary_size, dtype=np.int64)

    @cached_property
    def _touches_logits(self) -> bool:
        asked = self.sampling
        penalties = (asked.presence_penalty, asked.frequency_penalty, asked.repetition_penalty - 1)
        return bool(any(penalties) or asked.logit_bias or self._bad_words or asked.min_tokens)

    def _scores(self, logits: torch.Tensor, context: Context) -> Floats:
        scores = self._adjusted(logits.numpy()[: self.vocabulary_size], context)
        if self.grammar is None:
            return scores
        allowed = self.grammar.mask(context.block)
        masked: Floats = np.where(allowed, scores, np.float32(-math.inf))
        if masked.max() > -math.inf:
            return masked
        # Whatever else is forbidden (an early end, a word), the text has to fit.
        return np.where(allowed, logits.numpy()[: self.vocabulary_size], np.float32(-math.inf))

    def _adjusted(self, scores: Floats, context: Context) -> Floats:
        if not self._touches_logits:
            return scores
        scores = scores.copy()
        for token, bias in self.sampling.logit_bias.items():
            scores[token] += bias
        self._penalize(scores, context)
        for token in self._forbidden(context):
            scores[token] = -math.inf
        return scores

    def _penalize(self, scores: Floats, context: Context) -> None:
        asked = self.sampling
        if asked.repetition_penalty != 1:
            seen = np.unique(np.array(context.all, dtype=np.int64))
            values = scores[seen]
            factor = np.float32(asked.repetition_penalty)
            scores[seen] = np.where(values > 0, values / factor, values * factor)
        generated = context.generated
        if (asked.presence_penalty or asked.frequency_penalty) and generated:
            counts = Counter(generated)
            times = np.array(list(counts.values()), dtype=np.float32)
            penalty = asked.presence_penalty + asked.frequency_penalty * times
            scores[list(counts)] -= penalty

    def _forbidden(self, context: Context) -> set[int]:
        forbidden: set[int] = set()
        if len(context.generated) < self.sampling.min_tokens:
            forbidden |= self.eos_ids
        for *before, last in self._bad_words:
            if not before or context.all[-len(before) :] == before:
                forbidden.add(last)
        return forbidden


def top_k_ids(scores: NDArray[Any], k: int) -> NDArray[np.int64]:
    """The ids of the ``k`` highest scores, ascending; of equals at the edge the lowest ids."""
    edge = np.partition(scores, len(scores) - k)[len(scores) - k]
    above = np.flatnonzero(scores > edge)
    level = np.flatnonzero(scores == edge)[: k - len(above)]
    return np.sort(np.concatenate([above, level]))


def keep_top_p(
    ids: NDArray[np.int64], weights: NDArray[np.float64], top_p: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The smallest set of most probable tokens that holds at least ``top_p`` of the mass."""
    if top_p >= 1:
        return ids, weights
    needed = top_p * weights.sum()
    candidates = np.flatnonzero(weights >= weights.max() * 1e-4)
    if weights[candidates].sum() < needed:
        candidates = np.arange(len(weights))
    order = candidates[np.argsort(-weights[candidates], kind="stable")]
    count = int(np.searchsorted(np.cumsum(weights[order]), needed)) + 1
    kept = np.sort(order[:count])
    return ids[kept], weights[kept]


def keep_min_p(
    ids: NDArray[np.int64], weights: NDArray[np.float64], min_p: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The tokens at least ``min_p`` times as probable as the most probable one."""
    if min_p <= 0:
        return ids, weights
    kept = weights >= min_p * weights.max()
    return ids[kept], weights[kept]


def likelihood_of(token: int, logits: torch.Tensor, *, top: int) -> Likelihood:
    """Natural logarithms of softmax probabilities (temperature 1) of a row (vocabulary,)."""
    row = logits.numpy().astype(np.float64)
    logs = row - (row.max() + math.log(np.exp(row - row.max()).sum()))
    best = top_k_ids(row, min(top, len(row))) if top else np.empty(0, dtype=np.int64)
    ranked = sorted(best.tolist(), key=lambda other: -logs[other])
    return Likelihood(
        token=token,
        logprob=float(logs[token]),
        top=tuple((other, float(logs[other])) for other in ranked),
    )


def probability_of(token: int, logits: torch.Tensor) -> float:
    """The softmax probability (temperature 1) of one id of a row (vocabulary,)."""
    row: Floats = logits.numpy()
    top, total = row.max(), 0.0
    scratch = np.empty(_PIECE, dtype=np.float32)
    for start in range(0, len(row), _PIECE):
        piece = row[start : start + _PIECE]
        shifted = np.subtract(piece, top, out=scratch[: len(piece)])
        total += float(np.exp(shifted, out=shifted).sum())
    return math.exp(float(row[token]) - float(top)) / total
