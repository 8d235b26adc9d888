"""Passes of the models: what replies ask for, and how the passes of several replies become one.

A reply is written as one train of thought, a generator: wherever it needs a model it yields a
`Pass` and is sent the `Answer`. Whoever runs it decides whom it shares the pass with. `alone` asks
the model at once; `run_together` lets every reply think as far as it can and then answers all that
wait for the same model in one pass over its weights.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import torch

from voiceagent.decoding.model import JointModel

if TYPE_CHECKING:
    from torch import Tensor

    from voiceagent.decoding.model import CausalModel, KVCache


@dataclass(frozen=True, slots=True, eq=False)
class Pass:
    """Tokens that a model has to read behind what lies in a cache.

    Attributes:
        model, cache: whose.
        tokens: at least one.
        scored: how many rows at their end are to be scored.
    """

    model: CausalModel
    cache: KVCache
    tokens: Sequence[int]
    scored: int


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What the model said.

    Attributes:
        logits: float32 (scored, vocabulary), on the CPU.
        hidden: float32 (scored, hidden), where the model is; overwritten by its next pass.
        seconds: this reply's share of the time of the pass, by its share of the rows.
        sharing: replies that shared the pass.
    """

    logits: Tensor
    hidden: Tensor
    seconds: float
    sharing: int

    def last(self, scored: int) -> Answer:
        """The same, of the last so many rows."""
        first = len(self.logits) - scored
        return replace(self, logits=self.logits[first:], hidden=self.hidden[first:])


T = TypeVar("T")
Steps: TypeAlias = Generator[Pass, Answer, T]


def alone(steps: Steps[T]) -> T:
    """Runs one train of thought to its end, every pass by itself."""
    try:
        asked = next(steps)
        while True:
            asked = steps.send(_single(asked))
    except StopIteration as done:
        result: T = done.value
        return result


def run_together(replies: Sequence[Steps[None]], *, last: CausalModel) -> list[Exception | None]:
    """Runs all of them to their ends, and returns what each of them raised.

    An error is its own reply's: the others go on as if it had never been there.

    Args:
        replies: one train of thought each; no cache is used by two.
        last: passes of this model wait until no other model is asked for, so that the blocks
            drafted meanwhile are scored in one pass.
    """
    runs = [_Run(steps) for steps in replies]
    while asking := [run for run in runs if run.asks is not None]:
        early = [run for run in asking if run.model is not last] or asking
        chosen = [run for run in early if run.model is early[0].model]
        answers = answer([run.asks for run in chosen if run.asks is not None])
        for run, reply in zip(chosen, answers, strict=True):
            run.go_on(reply)
    return [run.error for run in runs]


def answer(passes: Sequence[Pass]) -> list[Answer | Exception]:
    """Answers passes of one model in one pass, where it can; an error for each that fails."""
    answers: dict[int, Answer | Exception] = {}
    for at, each in enumerate(passes):
        try:
            each.cache.room_for(len(each.tokens))
        except Exception as error:  # noqa: BLE001  # its reply's alone
            answers[at] = error
    fitting = [at for at in range(len(passes)) if at not in answers]
    asked = [passes[at] for at in fitting]
    answers.update(zip(fitting, _joint(asked) or map(_caught, asked), strict=True))
    return [answers[at] for at in range(len(passes))]


class _Run:
    """A train of thought on its way."""

    def __init__(self, steps: Steps[None]) -> None:
        self._steps = steps
        self.asks: Pass | None = None
        self.error: Exception | None = None
        self.go_on(None)

    @property
    def model(self) -> CausalModel | None:
        return None if self.asks is None else self.asks.model

    def go_on(self, reply: Answer | Exception | None) -> None:
        """Up to the next pass, or to the end."""
        self.asks = None
        try:
            if reply is None:
                self.asks = next(self._steps)
            elif isinstance(reply, Answer):
                self.asks = self._steps.send(reply)
            else:
                self.asks = self._steps.throw(reply)
        except StopIteration:
            pass
        except Exception as error:  # noqa: BLE001  # whatever it was, it is this reply's alone
            self.error = error


def _joint(passes: Sequence[Pass]) -> list[Answer] | None:
    """None where the model cannot, or where it failed and nobody knows whose fault that was."""
    if len(passes) < 2 or not isinstance(model := passes[0].model, JointModel):
        return None
    started_s = perf_counter()
    try:
        logits = model.forward_many(
            [(_tensor(each), each.cache) for each in passes],
            scored=[each.scored for each in passes],
        ).cpu()
    except Exception:  # noqa: BLE001  # each is asked again by itself, and its error is its own
        return None
    row_s = (perf_counter() - started_s) / sum(len(each.tokens) for each in passes)
    scored = [each.scored for each in passes]
    every = passes[0].model.last_hidden
    hidden = every[len(every) - sum(scored) :]
    return [
        Answer(rows, features, len(each.tokens) * row_s, len(passes))
        for each, rows, features in zip(
            passes, torch.split(logits, scored), torch.split(hidden, scored), strict=True
        )
    ]


def _caught(each: Pass) -> Answer | Exception:
    try:
        return _single(each)
    except Exception as error:  # noqa: BLE001  # see `answer`
        return error


def _single(each: Pass) -> Answer:
    started_s = perf_counter()
    tokens, scored = _tensor(each), max(each.scored, 1)
    if isinstance(model := each.model, JointModel):
        logits = model.forward_many([(tokens, each.cache)], scored=[scored])
    else:
        logits = model.forward(tokens, each.cache, last_only=scored == 1)
    hidden = each.model.last_hidden
    everything = Answer(logits.cpu(), hidden[len(hidden) - len(logits) :], 0.0, 1)
    return replace(everything.last(each.scored), seconds=perf_counter() - started_s)


def _tensor(each: Pass) -> Tensor:
    return torch.tensor(each.tokens, dtype=torch.int64)


def overhear(
    steps: Steps[T], *, model: CausalModel, at: int, told: Callable[[Tensor], None]
) -> Steps[T]:
    """The same steps; ``told`` hears what ``model`` expects behind position ``at``.

    That is a row of logits (vocabulary,) of the pass that reads the position anyway.
    """
    try:
        asked = next(steps)
        while True:
            behind = asked.cache.length + len(asked.tokens) - at
            if asked.model is not model or not 0 < behind <= len(asked.tokens):
                asked = steps.send((yield asked))
                continue
            reply = yield replace(asked, scored=max(behind, asked.scored))
            told(reply.logits[-behind])
            asked = steps.send(reply.last(asked.scored))
    except StopIteration as done:
        result: T = done.value
        return result


class Watch:
    """A stopwatch with laps: a reply's own time and its share of the passes, not the others'."""

    def __init__(self) -> None:
        self._from_s = perf_counter()
        self._shares_s = 0.0
        self.sharing = 1
        """Replies that shared the latest pass."""

    def lap_s(self) -> float:
        """Seconds since the last lap."""
        now_s = perf_counter()
        lap_s = self._shares_s + now_s - self._from_s
        self._from_s, self._shares_s = now_s, 0.0
        return lap_s

    def over(self, steps: Steps[T]) -> Steps[T]:
        """The same steps, timed."""
        try:
            asked = next(steps)
            while True:
                self._shares_s += perf_counter() - self._from_s
                reply = yield asked
                self._from_s = perf_counter()
                self._shares_s += reply.seconds
                self.sharing = reply.sharing
                asked = steps.send(reply)
        except StopIteration as done:
            result: T = done.value
            return result
