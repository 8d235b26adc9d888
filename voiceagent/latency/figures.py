"""The figures of a run: distributions over its turns, each withheld where it is not supported."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any

from voiceagent.latency.exchange import CueKind
from voiceagent.latency.measures import Turn

FEWEST_FOR_P95 = 20
"""Below this many turns, a 95th percentile is the maximum under another name."""
NO_TURNS = "no turn has it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """One figure over many turns, in ms.

    Attributes:
        values_ms: in the order of the turns.
    """

    values_ms: tuple[float, ...]

    @property
    def p50_ms(self) -> float | None:
        """The median; None without turns."""
        return median(self.values_ms) if self.values_ms else None

    @property
    def p95_ms(self) -> float | None:
        """The 95th percentile; None where there are too few turns for one."""
        if len(self.values_ms) < FEWEST_FOR_P95:
            return None
        return quantiles(self.values_ms, n=20, method="inclusive")[-1]

    def to_object(self) -> dict[str, Any]:
        """As a JSON object; a figure that is withheld is null, with the reason beside it."""
        withheld = {}
        if not self.values_ms:
            withheld["p50_ms"] = NO_TURNS
        if self.p95_ms is None:
            withheld["p95_ms"] = f"{len(self.values_ms)} turns; it needs {FEWEST_FOR_P95}"
        return {
            "turns": len(self.values_ms),
            "p50_ms": _rounded(self.p50_ms),
            "p95_ms": _rounded(self.p95_ms),
            "fastest_ms": _rounded(min(self.values_ms, default=None)),
            "slowest_ms": _rounded(max(self.values_ms, default=None)),
            "withheld": withheld,
        }


def distribution(values_ms: Iterable[float | None]) -> Distribution:
    """Of the turns that have the figure."""
    return Distribution(values_ms=tuple(value for value in values_ms if value is not None))


def response_gaps(turns: Sequence[Turn]) -> Distribution:
    """The gaps of the turns that were to be answered and were."""
    answered = (CueKind.TURN, CueKind.INTERRUPTION)
    return distribution(turn.response_gap_ms for turn in turns if turn.kind in answered)


def figures_of(turns: Sequence[Turn]) -> dict[str, Any]:
    """Everything that is said of a run, as a JSON object."""
    due = [turn for turn in turns if turn.kind is CueKind.TURN]
    over = [turn for turn in turns if turn.stop_ms is not None and not turn.is_cut_in]
    return {
        "turns": len(turns),
        "response_gap": response_gaps(turns).to_object(),
        "stop": distribution(turn.stop_ms for turn in over).to_object(),
        "hold": distribution(turn.hold_ms for turn in over).to_object(),
        "talk_over": distribution(
            turn.talk_over_ms for turn in turns if turn.talk_over_ms
        ).to_object(),
        "counts": {
            "due": len(due),
            "missed": sum(turn.is_missed for turn in turns),
            "cut_ins": sum(turn.is_cut_in for turn in turns),
            "false_starts": sum(turn.is_false_start for turn in turns),
            "silent_stalls": sum(len(turn.stalls_ms) for turn in turns),
        },
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)
