"""One round of speculative decoding: five stages, each with a named input and output.

    draft     the drafter guesses a block of at most K tokens
    score     the target reads the block in one pass: one row of logits for each position
    accept    the valid prefix of the block
    resample  the target's own token after it: recovered (a guess failed) or bonus (none did)
    advance   the loop stands on the accepted state: caches shortened, drafter told

Plain decoding is the same round with an empty block. Stages that need a model are steps
(`voiceagent.decoding.passes`): the rounds of several replies go through them side by side.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

import torch

from voiceagent.core.errors import VoiceAgentError
from voiceagent.decoding.acceptance import accept_coupled, accept_rejection, residual
from voiceagent.decoding.choice import Choice, Chooser
from voiceagent.decoding.drafters.base import Drafter, Observer, Proposal, Stepwise
from voiceagent.decoding.noise import Purpose
from voiceagent.decoding.passes import Pass, Steps, Watch
from voiceagent.decoding.record import Likelihood, Outcome, Round, StageTimes
from voiceagent.decoding.sampling import (
    Chance,
    Context,
    Distribution,
    Sampler,
    certain,
    likelihood_of,
)

if TYPE_CHECKING:
    from voiceagent.decoding.model import CausalModel, KVCache

PREFILL_CHUNK = 256
"""Prompt tokens fed in one pass while nobody else is waiting: between two passes a new reply is
admitted, and a cancelled one ends."""


_LOSSY_ENOUGH = 0.1
"""As lossy rules in the field do ("typical acceptance"), whatever the target would have said."""


class DrafterError(VoiceAgentError):
    """A drafter broke its contract (a guess outside the vocabulary, drawn from a law)."""


class Acceptance(StrEnum):
    """The acceptance rule of a request."""

    COUPLED = "coupled"
    REJECTION = "rejection"
    LOSSY = "lossy"
    """Keeps guesses that the target finds merely likely: wrong, and there so that the evaluation
    can show that it finds it out. An engine takes it only where it was opened for that."""


@dataclass
class Loop:
    """Where a reply stands: its tokens, and the target's cache of all but the last of them.

    ``top_logprobs`` is how many alternatives to record for each token; None records no likelihoods.
    """

    target: CausalModel
    cache: KVCache
    drafter: Drafter
    sampler: Sampler
    chance: Chance
    acceptance: Acceptance
    ids: list[int]
    prompt_length: int
    top_logprobs: int | None = None
    rounds: int = field(default=0)

    @property
    def context(self) -> Context:
        """The context of the next token."""
        return Context(self.ids, self.prompt_length)

    @property
    def coupled(self) -> bool:
        """Greedy choices are equal or not: both rules are the coupled one there."""
        return self.acceptance is not Acceptance.REJECTION or self.sampler.greedy

    @property
    def target_chooser(self) -> Chooser:
        """How the target chooses."""
        return Chooser(self.sampler, self.chance, Purpose.TARGET)

    @property
    def draft_chooser(self) -> Chooser:
        """How the draft chooses: with the target's noise, or with its own under rejection."""
        purpose = Purpose.TARGET if self.coupled else Purpose.DRAFT
        return Chooser(self.sampler, self.chance, purpose)

    @property
    def pending(self) -> list[int]:
        """The tokens that the target has not read yet; never empty."""
        return self.ids[self.cache.length :]


@dataclass(frozen=True)
class Scored:
    """What the target said about a block.

    Attributes:
        logits: float32 (k + 1, vocabulary); row i predicts what follows i drafted tokens.
        context: the context of row 0.
        drafted: the block.
        hidden: float32 (k + 1, hidden); the same rows' hidden states, overwritten by the target's
            next pass.
    """

    logits: torch.Tensor
    context: Context
    drafted: tuple[int, ...]
    hidden: torch.Tensor

    def context_at(self, row: int) -> Context:
        """The context of a row: it sees the drafted tokens before it and no others."""
        return self.context.then(*self.drafted[:row])


@dataclass(frozen=True)
class Accepted:
    """The valid prefix.

    Attributes:
        count: accepted tokens.
        target_choices: under the coupled rule, the target's own choice at each row looked at.
        target_laws: under the rejection rule, the target's law at each row looked at.
        target_probabilities: the target's probability of each drafted token looked at.
    """

    count: int
    target_choices: tuple[Choice, ...]
    target_laws: tuple[Distribution, ...]
    target_probabilities: tuple[float, ...]


@dataclass(frozen=True)
class Resampled:
    """The target's own token after the valid prefix; None where the reply ended inside it."""

    token: int | None
    outcome: Outcome


def prefill(loop: Loop, *, count: int = PREFILL_CHUNK) -> Steps[bool]:
    """Feeds a chunk of a long prompt; false once the rest fits into a pass of ``count`` tokens."""
    waiting = loop.pending
    if len(waiting) <= count:
        return False
    yield Pass(loop.target, loop.cache, waiting[:count], scored=0)
    return True


def read_to_end(loop: Loop) -> Steps[None]:
    """Feeds what ``prefill`` left."""
    yield Pass(loop.target, loop.cache, loop.pending, scored=0)


def draft(loop: Loop, *, window: int) -> Steps[Proposal]:
    """Stage 1. At most ``window`` guesses, none behind a guessed end of the reply."""
    if window <= 0:
        return Proposal()
    if isinstance(loop.drafter, Stepwise):
        proposal = yield from loop.drafter.steps(window)
    else:
        proposal = loop.drafter.propose(window)
    proposal = proposal.cut(window)
    for at, token in enumerate(proposal.tokens):
        if not 0 <= token < loop.sampler.vocabulary_size:
            if proposal.laws[at] is not None:
                # Dropping it would bend the residual law: better no reply than a wrong one.
                raise DrafterError(f"drafter {loop.drafter.name} guessed unknown token {token}")
            return proposal.cut(at)
        if token in loop.sampler.eos_ids:
            return proposal.cut(at + 1)
    return proposal


def score(loop: Loop, proposal: Proposal) -> Steps[Scored]:
    """Stage 2. One pass of the target over the pending tokens and the block."""
    rows = len(proposal.tokens) + 1
    block = [*loop.pending, *proposal.tokens]
    said = yield Pass(loop.target, loop.cache, block, scored=rows)
    return Scored(said.logits, loop.context, proposal.tokens, said.hidden)


def accept(loop: Loop, proposal: Proposal, scored: Scored) -> Accepted:
    """Stage 3. The valid prefix, by the loop's rule; rows behind it are not looked at."""
    return _accept_coupled(loop, scored) if loop.coupled else _accept_drawn(loop, proposal, scored)


def _accept_coupled(loop: Loop, scored: Scored) -> Accepted:
    choices: list[Choice] = []
    probabilities: list[float] = []
    chooser = loop.target_chooser

    def target_token(row: int) -> int:
        choice = chooser.choose(scored.logits[row], scored.context_at(row))
        choices.append(choice)
        drafted = scored.drafted[row]
        probability = chooser.probability(drafted, choice, scored.logits[row])
        probabilities.append(probability)
        if loop.acceptance is Acceptance.LOSSY and probability >= _LOSSY_ENOUGH:
            return drafted
        return choice.token

    count = accept_coupled(scored.drafted, target_token=target_token)
    return Accepted(count, tuple(choices), (), tuple(probabilities))


def _accept_drawn(loop: Loop, proposal: Proposal, scored: Scored) -> Accepted:
    laws: list[Distribution] = []

    def target_law(row: int) -> Distribution:
        laws.append(loop.sampler.distribution(scored.logits[row], scored.context_at(row)))
        return laws[row]

    def accepts(probability: float, row: int) -> bool:
        return loop.chance.accepts(probability, position=scored.context.position + row)

    count = accept_rejection(
        scored.drafted, target_law=target_law, draft_laws=proposal.laws, accepts=accepts
    )
    probabilities = tuple(
        float(law.of(token)) for law, token in zip(laws, scored.drafted, strict=False)
    )
    return Accepted(count, (), tuple(laws), probabilities)


def resample(loop: Loop, proposal: Proposal, scored: Scored, accepted: Accepted) -> Resampled:
    """Stage 4. The target's token after the valid prefix."""
    row = accepted.count
    recovered = row < len(scored.drafted)
    outcome = _outcome(scored.drafted, recovered=recovered)
    if not recovered and row and scored.drafted[-1] in loop.sampler.eos_ids:
        return Resampled(None, Outcome.END)
    if recovered and loop.coupled:
        return Resampled(accepted.target_choices[row].token, outcome)
    context = scored.context_at(row)
    if not recovered:
        return Resampled(loop.target_chooser.choose(scored.logits[row], context).token, outcome)
    law = residual(
        target=accepted.target_laws[row],
        draft=proposal.laws[row] or certain(scored.drafted[row]),
    )
    position = context.position
    token = loop.chance.choose(law, position=position, purpose=Purpose.RECOVER)
    return Resampled(token, outcome)


def _outcome(drafted: tuple[int, ...], *, recovered: bool) -> Outcome:
    if not drafted:
        return Outcome.PLAIN
    return Outcome.RECOVERED if recovered else Outcome.BONUS


def advance(loop: Loop, scored: Scored, accepted: Accepted, resampled: Resampled) -> list[int]:
    """Stage 5. Appends what was emitted; rolling back is one length, nothing moves."""
    emitted = list(scored.drafted[: accepted.count])
    if resampled.token is not None:
        emitted.append(resampled.token)
    loop.ids.extend(emitted)
    loop.cache.truncate(len(loop.ids) - 1)
    if isinstance(loop.drafter, Observer):
        loop.drafter.observe(scored.hidden[: accepted.count + 1])
    loop.drafter.accept(emitted)
    if loop.sampler.grammar is not None:
        loop.sampler.grammar.advance(emitted)
    loop.rounds += 1
    return emitted


def run_round(
    loop: Loop,
    *,
    window: int,
    why: str = "fixed",
    on_draft: Callable[[Proposal], None] | None = None,
) -> Steps[Round]:
    """All five stages.

    Args:
        loop: changed in place.
        window: K, drafted tokens at most.
        why: why this K, for the record.
        on_draft: told of the block while the target has not seen it yet.

    Raises:
        DrafterError: see there. The loop must not be used any more after any exception.
    """
    start, fed, watch = len(loop.ids), len(loop.pending), Watch()
    proposal = yield from watch.over(draft(loop, window=window))
    draft_s = watch.lap_s()
    if on_draft is not None and proposal.tokens:
        on_draft(proposal)
        watch.lap_s()
    scored = yield from watch.over(score(loop, proposal))
    score_s = watch.lap_s()
    accepted = accept(loop, proposal, scored)
    accept_s = watch.lap_s()
    resampled = resample(loop, proposal, scored, accepted)
    resample_s = watch.lap_s()
    emitted = advance(loop, scored, accepted, resampled)
    likelihoods = () if loop.top_logprobs is None else _likelihoods(loop, scored, emitted)
    return Round(
        index=loop.rounds - 1,
        start=start - loop.prompt_length,
        fed=fed,
        drafter=loop.drafter.name,
        window=window,
        why=why,
        drafted=proposal.tokens,
        draft_probabilities=proposal.probabilities,
        target_probabilities=accepted.target_probabilities,
        accepted=accepted.count,
        emitted=tuple(emitted),
        outcome=resampled.outcome,
        times=StageTimes(draft_s, score_s, accept_s, resample_s, watch.lap_s()),
        sharing=watch.sharing,
        likelihoods=likelihoods,
    )


def _likelihoods(loop: Loop, scored: Scored, emitted: list[int]) -> tuple[Likelihood, ...]:
    """Of each emitted token, by the target's own row for it (temperature 1, nothing masked)."""
    top, size = loop.top_logprobs or 0, loop.sampler.vocabulary_size
    return tuple(
        likelihood_of(token, scored.logits[row, :size], top=top)
        for row, token in enumerate(emitted)
    )
