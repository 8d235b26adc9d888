"""From the evidence of a run to what is known of each of its turns."""

from collections.abc import Sequence
from dataclasses import dataclass

from voiceagent.core.trace import Record
from voiceagent.latency.comparison import Difference, Verdict, compare, culprit
from voiceagent.latency.exchange import CueKind, Exchange
from voiceagent.latency.measures import Turn, turns_of
from voiceagent.latency.soundness import soundness
from voiceagent.latency.waterfall import STAGES, Heard, OwnRecording, Waterfall, waterfalls


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One exchange and what is known of it.

    Attributes:
        turns: of the exchange.
        withheld: why its figures do not count; empty where they do.
    """

    exchange: Exchange
    turns: tuple[Turn, ...]
    withheld: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A second run against a first.

    Attributes:
        response_gap: the difference in the figure that users feel.
        stages: the same for each stage of both runs' waterfalls.
        culprit: the stage that changed most for certain, in the direction of the verdict.
    """

    response_gap: Difference
    stages: dict[str, Difference]
    culprit: str | None

    @property
    def verdict(self) -> Verdict:
        """Of the response gap."""
        return self.response_gap.verdict


@dataclass(frozen=True, kw_only=True)
class TurnValues:
    """What two runs are compared by: one turn of a run.

    Attributes:
        fixture: by which turns are paired.
        response_gap_ms: of the turn.
        stages_ms: its waterfall's; empty where there is none.
    """

    fixture: str
    response_gap_ms: float
    stages_ms: dict[str, float]


def judge(exchange: Exchange) -> Judged:
    """Measures one exchange."""
    return Judged(
        exchange=exchange,
        turns=tuple(turns_of(exchange)),
        withheld=soundness(exchange).reasons,
    )


def explain(
    judged: Sequence[Judged], own: OwnRecording, records: Sequence[Record]
) -> list[list[Waterfall | None]]:
    """The waterfalls of every turn of every exchange, in their order."""
    heard = [[_heard(each.exchange, turn) for turn in each.turns] for each in judged]
    flat = iter(waterfalls([turn for turns in heard for turn in turns], own, records))
    return [[next(flat) for _ in turns] for turns in heard]


def _heard(exchange: Exchange, turn: Turn) -> Heard | None:
    """What a waterfall is made of; None for turns that have no gap, or a negative one."""
    if turn.kind is not CueKind.TURN or turn.begin_s is None or turn.end_s is None:
        return None
    if turn.response_gap_ms is None or turn.response_gap_ms < 0:
        return None
    first = max(0, int((turn.begin_s - 0.1) * exchange.rate_hz))
    last = int((turn.end_s + 0.1) * exchange.rate_hz)
    return Heard(
        mouth=exchange.mouth[first:last],
        rate_hz=exchange.rate_hz,
        end_s=turn.end_s - first / exchange.rate_hz,
        response_gap_ms=turn.response_gap_ms,
    )


def compare_runs(first: Sequence[TurnValues], second: Sequence[TurnValues]) -> Comparison:
    """The second run against the first, as a whole and stage by stage."""
    gap = compare(
        [(turn.fixture, turn.response_gap_ms) for turn in first],
        [(turn.fixture, turn.response_gap_ms) for turn in second],
    )
    stages = {
        stage: compare(_stage(first, stage), _stage(second, stage))
        for stage in STAGES
        if _stage(first, stage) and _stage(second, stage)
    }
    return Comparison(response_gap=gap, stages=stages, culprit=culprit(stages, verdict=gap.verdict))


def _stage(turns: Sequence[TurnValues], stage: str) -> list[tuple[str, float]]:
    return [(turn.fixture, turn.stages_ms[stage]) for turn in turns if stage in turn.stages_ms]
