"""Passes shared by several trains of thought: who is asked when, and who pays for what."""

from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise

import pytest
import torch
from decoding_doubles import TableModel

from voiceagent.decoding.kv_cache import CacheFull, KVCache
from voiceagent.decoding.passes import (
    Answer,
    Pass,
    Steps,
    Watch,
    alone,
    answer,
    overhear,
    run_together,
)

TARGET, DRAFT = TableModel(5, seed=1), TableModel(5, seed=2)


class Fragile(TableModel):
    """Cannot read token 4."""

    def forward_many(
        self,
        blocks: Sequence[tuple[torch.Tensor, KVCache]],
        *,
        scored: Sequence[int] | None = None,
    ) -> torch.Tensor:
        if any(4 in tokens.tolist() for tokens, _ in blocks):
            raise RuntimeError("token 4")
        return super().forward_many(blocks, scored=scored)


class Single:
    """A model that knows no joint passes."""

    def __init__(self) -> None:
        self.forwards = 0
        self._inner = TableModel(5, seed=1)

    def __getattr__(self, name: str) -> object:
        if name == "forward_many":
            raise AttributeError(name)
        return getattr(self._inner, name)


def asks(model: TableModel, tokens: Sequence[int], *, scored: int = 1, capacity: int = 9) -> Pass:
    """A pass over a new cache."""
    return Pass(model, model.new_cache(capacity), tokens, scored)


def thinks(*passes: Pass, into: list[Answer]) -> Steps[None]:
    """Asks one after the other."""
    for each in passes:
        into.append((yield each))


def test_blocks_are_scored_when_all_are_drafted() -> None:
    """Draft steps first, those of all replies together; then one pass of the target."""
    seen: list[list[Answer]] = [[], [], []]
    counts = [3, 1, 0]
    drafts, targets = len(DRAFT.shared), len(TARGET.shared)
    errors = run_together(
        [
            thinks(*(asks(DRAFT, [at]) for at in range(count)), asks(TARGET, [1, 2]), into=into)
            for count, into in zip(counts, seen, strict=True)
        ],
        last=TARGET,
    )
    assert errors == [None] * 3
    assert DRAFT.shared[drafts:] == [2, 1, 1]
    assert TARGET.shared[targets:] == [3]
    assert [len(each) for each in seen] == [4, 2, 1]
    assert all(each[-1].sharing == 3 for each in seen)


def test_everybody_gets_the_rows_asked_for() -> None:
    """The last ones of the own block, as alone; none where none are wanted."""
    blocks, scored = [[0, 1, 2], [3], [2, 2, 1, 0]], [2, 1, 0]
    together = answer([asks(TARGET, b, scored=s) for b, s in zip(blocks, scored, strict=True)])
    for block, count, got in zip(blocks, scored, together, strict=True):
        (single,) = answer([asks(TARGET, block, scored=count)])
        assert isinstance(got, Answer)
        assert isinstance(single, Answer)
        assert got.logits.shape == (count, TARGET.vocabulary_size)
        assert torch.equal(got.logits, single.logits)
        assert torch.equal(got.hidden, single.hidden)


@pytest.mark.parametrize("chunks", [[5], [3, 2], [4, 1], [1, 1, 1, 1, 1], [2, 3]])
def test_a_row_is_overheard_of_the_pass_that_reads_it(chunks: list[int]) -> None:
    """Wherever the prompt is cut; whoever asked for the pass gets what was asked for."""
    tokens, at = [0, 3, 2, 1, 4], 2
    (whole,) = answer([asks(TARGET, tokens, scored=5)])
    assert isinstance(whole, Answer)
    for model in (TARGET, Single()):
        cache, read, heard = TARGET.new_cache(9), 0, list[torch.Tensor]()
        passes = []
        for count in chunks:
            passes.append(Pass(model, cache, tokens[read : read + count], min(read, 1)))
            read += count
        answers: list[Answer] = []
        steps = thinks(asks(DRAFT, [0, 1, 2]), *passes, into=answers)
        alone(overhear(steps, model=model, at=at, told=heard.append))
        assert [len(each.logits) for each in answers] == [1, *(each.scored for each in passes)]
        assert [len(each.hidden) for each in answers] == [len(each.logits) for each in answers]
        (row,) = heard
        assert torch.equal(row, whole.logits[at])
        if passes[-1].scored:
            assert torch.equal(answers[-1].logits[-1], whole.logits[-1])


def test_a_pass_is_paid_for_by_rows() -> None:
    """Shares of time are as rows are; a stopwatch counts them and stands still meanwhile."""
    answers = answer([asks(TARGET, [0] * rows, scored=1) for rows in (1, 2, 4)])
    seconds = [each.seconds for each in answers if isinstance(each, Answer)]
    assert all(b == pytest.approx(2 * a) for a, b in pairwise(seconds))
    watch = Watch()
    steps = watch.over(thinks(asks(TARGET, [0]), asks(TARGET, [1]), into=[]))
    next(steps)
    for seconds_ in (1000.0, 500.0):
        with suppress(StopIteration):
            steps.send(Answer(torch.empty(0), torch.empty(0), seconds_, 7))
    assert 1500 <= watch.lap_s() < 1560
    assert watch.sharing == 7
    assert watch.lap_s() < 60


def test_a_full_cache_is_its_own_replys() -> None:
    """The others share their pass all the same, and the error can be caught where it belongs."""
    answers = answer([asks(TARGET, [0]), asks(TARGET, [0, 1, 2], capacity=2), asks(TARGET, [1])])
    assert isinstance(answers[1], CacheFull)
    assert TARGET.shared[-1] == 2
    seen: list[Answer] = []
    errors = run_together(
        [
            thinks(asks(TARGET, [0] * 5, capacity=2), asks(TARGET, [1]), into=seen),
            thinks(asks(TARGET, [0]), into=seen),
        ],
        last=TARGET,
    )
    assert isinstance(errors[0], CacheFull)
    assert errors[1] is None
    assert len(seen) == 1


def test_a_joint_pass_that_fails_is_asked_again_one_by_one() -> None:
    """So it is known whose fault it was, and the others never notice."""
    model = Fragile(5, seed=1)
    good = asks(model, [0, 1])
    answers = answer([good, asks(model, [4]), asks(model, [2])])
    assert [type(each) for each in answers] == [Answer, RuntimeError, Answer]
    assert good.cache.length == 2


def test_a_model_without_joint_passes_is_asked_one_by_one() -> None:
    """Whatever it is, it serves several replies."""
    model = Single()
    answers = answer([asks(model, [at], scored=1) for at in range(3)])  # type: ignore[arg-type]
    assert [each.sharing for each in answers if isinstance(each, Answer)] == [1, 1, 1]


def test_alone_returns_what_was_thought() -> None:
    """And asks at once."""

    def steps() -> Steps[float]:
        return float((yield asks(TARGET, [0, 1], scored=2)).logits.sum())

    assert alone(steps()) == float(TARGET.forward(torch.tensor([0, 1]), TARGET.new_cache(4)).sum())
