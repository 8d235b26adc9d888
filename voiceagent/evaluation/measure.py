"""From recorded replies to figures: each setting beside plain decoding, prompt by prompt."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from voiceagent.core.events import Committed, Drafted, RolledBack, Verified
from voiceagent.decoding.prefix import common_prefix
from voiceagent.decoding.record import Round
from voiceagent.evaluation.lab import PLAIN, Run
from voiceagent.evaluation.shown import Spectacle, ledger_events, protocol_of, show
from voiceagent.evaluation.statistics import middle, percentile, ratio, rounded

LEAST_TOKENS = 8
"""A shorter reply says nothing about speed: it is over before a round has paid."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """The same prompt under a setting and decoded plainly."""

    plain: Run
    other: Run

    @property
    def speedup(self) -> float | None:
        """Tokens per second behind the first token, over plain; None for short replies."""
        if min(len(self.plain.tokens), len(self.other.tokens)) < LEAST_TOKENS:
            return None
        return ratio(self.other.completion.tokens_per_s, self.plain.completion.tokens_per_s)

    @property
    def differs_at(self) -> int | None:
        """The first token that is another; None where the replies are equal."""
        one, other = self.plain.tokens, self.other.tokens
        return None if one == other else common_prefix(one, other)


class Runs:
    """The runs of an evaluation, by setting and prompt."""

    def __init__(self, runs: Iterable[Run] = ()) -> None:
        self._by: dict[tuple[str, str], Run] = {}
        for run in runs:
            self.add(run)

    def add(self, run: Run) -> None:
        """One more; a later run of the same prompt and setting takes the place of the earlier."""
        self._by[run.setting.name, run.prompt.id] = run

    @property
    def settings(self) -> list[str]:
        """Names, in order of appearance."""
        return list(dict.fromkeys(name for name, _ in self._by))

    def of(self, setting: str, **where: Any) -> list[Run]:
        """Those of a setting whose prompts have these fields."""
        return [
            run
            for (name, _), run in self._by.items()
            if name == setting and all(getattr(run.prompt, k) == v for k, v in where.items())
        ]

    def pairs(self, setting: str, **where: Any) -> list[Pair]:
        """Each with the plain run of its prompt."""
        return [
            Pair(plain=self._by[PLAIN.name, run.prompt.id], other=run)
            for run in self.of(setting, **where)
            if (PLAIN.name, run.prompt.id) in self._by
        ]


def figures(pairs: Sequence[Pair]) -> dict[str, Any]:
    """What one setting did, by the unit that each figure is about."""
    runs = [pair.other for pair in pairs]
    return {
        "prompts": len(pairs),
        "algorithm": _algorithm(runs),
        "engine": _engine(pairs),
        "session": _session(pairs),
        "service": _service(pairs),
        "quality": _quality(pairs),
    }


def _algorithm(runs: Sequence[Run]) -> dict[str, Any]:
    rounds = [each for run in runs for each in run.rounds[1:]]
    drafted = [each for each in rounds if each.drafted]
    return {
        "tokens_per_round": rounded(middle(_tokens_per_round(run) for run in runs)),
        "drafted": sum(len(each.drafted) for each in drafted),
        "accepted": sum(each.accepted for each in drafted),
        "acceptance": rounded(
            ratio(
                sum(each.accepted for each in drafted), sum(len(each.drafted) for each in drafted)
            )
        ),
        "acceptance_by_position": acceptance_by_position(drafted),
        "windows_accepted_whole": rounded(
            ratio(sum(each.accepted == len(each.drafted) for each in drafted), len(drafted))
        ),
        "replies_with_a_rejection": rounded(
            ratio(sum(any(each.rejected for each in run.rounds) for run in runs), len(runs))
        ),
        "windows": dict(sorted(Counter(str(each.window) for each in rounds).items())),
        "alarms": sum(run.rounds[-1].alarm for run in runs if run.rounds),
    }


def _tokens_per_round(run: Run) -> float:
    later = run.rounds[1:]
    return sum(len(each.emitted) for each in later) / len(later) if later else float("nan")


def acceptance_by_position(rounds: Iterable[Round]) -> list[float]:
    """For position 1, 2, ...: the share accepted of those that were decided."""
    decided: Counter[int] = Counter()
    stood: Counter[int] = Counter()
    for each in rounds:
        accepted = each.accepted + each.dropped
        for at in range(min(accepted + 1, len(each.drafted))):
            decided[at] += 1
            stood[at] += at < accepted
    return [round(stood[at] / decided[at], 4) for at in sorted(decided)]


def _engine(pairs: Sequence[Pair]) -> dict[str, Any]:
    runs = [pair.other for pair in pairs]
    speedups = [pair.speedup for pair in pairs if pair.speedup is not None]
    long = [each for each in pairs if each.speedup is not None]
    plain_p95 = percentile((each.plain.completion.total_s for each in long), 0.95)
    other_p95 = percentile((each.other.completion.total_s for each in long), 0.95)
    times = [record.times for run in runs for record in run.rounds]
    total_s = sum(each.total_s for each in times)
    return {
        "tokens_per_s": rounded(middle(_speeds(runs)), 2),
        "speedup_median": rounded(middle(speedups)),
        "speedup_p5": rounded(percentile(speedups, 0.05)),
        "speedup_p95": rounded(ratio(plain_p95, other_p95)),
        "slower_than_plain": rounded(ratio(sum(each < 1 for each in speedups), len(speedups))),
        "compared": len(speedups),
        "reply_ms": _spread(run.completion.total_s * 1000 for run in runs),
        "share_of_time": {
            stage: rounded(ratio(sum(getattr(each, f"{stage}_s") for each in times), total_s))
            for stage in ("draft", "score", "accept", "resample", "advance")
        },
    }


def _speeds(runs: Iterable[Run]) -> list[float]:
    return [run.completion.tokens_per_s for run in runs if len(run.tokens) >= LEAST_TOKENS]


def _spread(values: Iterable[float]) -> dict[str, float | None]:
    known = list(values)
    return {"p50": rounded(middle(known), 1), "p95": rounded(percentile(known, 0.95), 1)}


def _session(pairs: Sequence[Pair]) -> dict[str, Any]:
    ours = [first_times(pair.other) for pair in pairs]
    plain = [first_times(pair.plain) for pair in pairs]
    commits = [
        one["commit"] / other["commit"]
        for one, other in zip(ours, plain, strict=True)
        if one["commit"] is not None and other["commit"]
    ]
    waits = [wait for pair in pairs for wait in waits_s(pair.other)]
    return {
        **{
            f"first_{name}_ms": _spread(
                each[name] * 1000 for each in ours if each[name] is not None
            )
            for name in ("provisional", "verified", "commit")
        },
        "first_commit_ratio": rounded(middle(commits)),
        "drafted_to_verified_ms": _spread(each[0] * 1000 for each in waits),
        "verified_to_committed_ms": _spread(each[1] * 1000 for each in waits),
    }


def first_times(run: Run) -> dict[str, Any]:
    """Seconds to the first provisional, verified and committed text on the prompt's surface."""
    firsts: dict[str, float | None] = {"provisional": None, "verified": None, "commit": None}
    names = {Drafted: "provisional", Verified: "verified", Committed: "commit"}
    for event in ledger_events(run.events, surface=run.prompt.surface):
        name = names.get(type(event))
        if name is not None and firsts[name] is None:
            firsts[name] = event.at_s
    return firsts


def waits_s(run: Run) -> list[tuple[float, float]]:
    """For each piece of text: how long from drafted to verified, and from there to committed."""
    drafted: list[float] = []
    verified: list[float] = []
    waits: list[tuple[float, float]] = []
    for event in ledger_events(run.events, surface=run.prompt.surface):
        match event:
            case Drafted():
                drafted += [event.at_s] * len(event.text)
            case RolledBack():
                del drafted[event.to :]
            case Verified():
                verified += [event.at_s] * (event.to - len(verified))
            case Committed():
                for at in range(event.start, event.end):
                    waits.append((verified[at] - drafted[at], event.at_s - verified[at]))
            case _:
                pass  # moves no text
    return waits


def _service(pairs: Sequence[Pair]) -> dict[str, Any]:
    ours, plain = cpu_per_useful([p.other for p in pairs]), cpu_per_useful([p.plain for p in pairs])
    return {"cpu_s_per_useful_reply": rounded(ours), "cost_ratio": rounded(ratio(ours, plain))}


def cpu_per_useful(runs: Sequence[Run]) -> float | None:
    """Processor seconds of all replies over how many of them are right."""
    return ratio(sum(run.cpu_s for run in runs), sum(run.grade.right for run in runs))


def _quality(pairs: Sequence[Pair]) -> dict[str, Any]:
    wrong = [pair.other for pair in pairs if not pair.other.grade.right]
    right = sum(pair.other.grade.right for pair in pairs)
    plain_right = sum(pair.plain.grade.right for pair in pairs)
    return {
        "right": right,
        "right_share": rounded(ratio(right, len(pairs))),
        "right_lost_per_100": rounded(100 * (plain_right - right) / max(len(pairs), 1), 2),
        "equal_to_plain": sum(pair.differs_at is None for pair in pairs),
        "wrong_by_severity": dict(Counter(run.grade.severity for run in wrong)),
        "wrong_by_class": dict(Counter(name for run in wrong for name in run.grade.failed)),
        "critical_added": _critical([pair.other for pair in pairs])
        - _critical([pair.plain for pair in pairs]),
        "calls": sum(pair.other.grade.calls for pair in pairs),
        "forbidden_calls": _forbidden(pair.other for pair in pairs),
        "forbidden_calls_added": _forbidden(pair.other for pair in pairs)
        - _forbidden(pair.plain for pair in pairs),
    }


def _critical(runs: Iterable[Run]) -> int:
    return sum(run.grade.severity == "critical" for run in runs)


def _forbidden(runs: Iterable[Run]) -> int:
    return sum(run.grade.calls - run.grade.calls_allowed for run in runs)


def calibration(rounds: Iterable[Round], *, bins: int = 10) -> dict[str, Any]:
    """The draft's probability of each guess that was decided against how often it stood."""
    table = [[0, 0.0, 0] for _ in range(bins)]  # decided, claimed, stood
    for each in rounds:
        accepted = each.accepted + each.dropped
        for at, claimed in enumerate(each.draft_probabilities[: accepted + 1]):
            if claimed is not None:
                row = table[min(int(claimed * bins), bins - 1)]
                row[0] += 1
                row[1] += claimed
                row[2] += at < accepted
    decided = sum(int(row[0]) for row in table)
    error = sum(abs(row[1] - row[2]) for row in table) / decided if decided else None
    return {
        "decided": decided,
        "expected_error": rounded(error),
        "bins": [
            {
                "from": round(at / bins, 2),
                "to": round((at + 1) / bins, 2),
                "decided": int(row[0]),
                "claimed": rounded(ratio(row[1], row[0])),
                "stood": rounded(ratio(row[2], row[0])),
            }
            for at, row in enumerate(table)
        ],
    }


def surface_figures(pairs: Sequence[Pair], *, surface: str) -> dict[str, Any]:
    """What people on a surface would have been shown, in the protocol of that surface."""
    protocol, total = protocol_of(surface), Spectacle()
    for pair in pairs:
        total.add(show(ledger_events(pair.other.events, surface=surface), protocol=protocol))
    tokens = sum(len(pair.other.tokens) for pair in pairs)
    inversions = len(total.inversions)
    return {
        "protocol": str(protocol),
        "prompts": len(pairs),
        "churn": rounded(total.figures.churn),
        "erasure": rounded(total.figures.erasure),
        "erasure_bytes": rounded(total.figures.erasure_bytes),
        "severity": dict(total.classes),
        "inversions_per_1000": rounded(1000 * inversions / tokens if tokens else None, 2),
        "inversions": total.inversions[:20],
    }


def by_group(runs: Runs, setting: str) -> Mapping[str, Any]:
    """Sub-populations one by one: not averaged away."""
    groups: dict[str, Any] = {}
    for pair in runs.pairs(setting):
        groups.setdefault(f"{pair.other.prompt.population}/{pair.other.prompt.group}", []).append(
            pair
        )
    return {name: _group(pairs) for name, pairs in sorted(groups.items())}


def _group(pairs: Sequence[Pair]) -> dict[str, Any]:
    drafted = [each for p in pairs for each in p.other.rounds if each.drafted]
    speedups = [pair.speedup for pair in pairs if pair.speedup is not None]
    return {
        "prompts": len(pairs),
        "acceptance": rounded(
            ratio(
                sum(each.accepted for each in drafted), sum(len(each.drafted) for each in drafted)
            )
        ),
        "speedup_median": rounded(middle(speedups)),
        "speedup_least": rounded(min(speedups, default=None)),
        "right": sum(pair.other.grade.right for pair in pairs),
        "right_plain": sum(pair.plain.grade.right for pair in pairs),
    }
