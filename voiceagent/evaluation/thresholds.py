"""What speculation has to be worth, written down before it is measured.

A TOML file (the example is `data/thresholds.toml`). Every entry has to be there: an evaluation
that fills in what nobody decided could not say no.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

from voiceagent.core.errors import VoiceAgentError
from voiceagent.gateway.requests import SURFACES


class ThresholdError(VoiceAgentError, ValueError):
    """The thresholds cannot be used; the message names the entry."""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What is decided, by whom, and what a wrong answer costs."""

    question: str
    wrong_adoption: str
    wrong_refusal: str
    known: str
    owner: str


@dataclass(frozen=True, kw_only=True)
class SurfaceLimits:
    """What people on one surface may be shown."""

    churn_max: float
    inversions_per_1000_max: float


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """All of them, and the digest of the file they came from. Names end as in the file."""

    decision: Decision
    tokens_per_round_min: float
    speedup_median_min: float
    speedup_p95_min: float
    memory_added_mb_max: float
    first_commit_ratio_max: float
    cost_ratio_max: float
    load_p95_ratio_max: float
    failures_max: float
    unexplained_differences_max: float
    right_lost_per_100_max: float
    critical_added_max: float
    forbidden_calls_added_max: float
    gap_max: float
    surfaces: Mapping[str, SurfaceLimits]
    digest: str

    @classmethod
    def load(cls, path: Path) -> Self:
        """From a file.

        Raises:
            ThresholdError: it cannot be read, or an entry is missing, unknown or no number.
        """
        try:
            data = path.read_bytes()
            tree = tomllib.loads(data.decode("utf-8"))
        except OSError as error:
            raise ThresholdError(f"cannot read {path}: {error.strerror}") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ThresholdError(f"{path} is not TOML: {error}") from error
        return cls.of(tree, digest=sha256(data).hexdigest())

    @classmethod
    def of(cls, tree: Mapping[str, Any], *, digest: str) -> Self:
        """From a parsed file.

        Raises:
            ThresholdError: an entry is missing, unknown or no number.
        """
        surfaces = _table(tree, "surface")
        _check_names(surfaces, SURFACES, at="surface.")
        values: dict[str, Any] = {
            name: _number(_table(tree, table), name, at=table) for name, table in _TABLES.items()
        }
        for table in set(_TABLES.values()):
            _check_names(tree[table], {n for n, t in _TABLES.items() if t == table}, at=f"{table}.")
        _check_names(tree, {"decision", "surface", *_TABLES.values()}, at="")
        return cls(
            decision=_decision(_table(tree, "decision")),
            surfaces={name: _limits(surfaces[name], at=f"surface.{name}") for name in surfaces},
            digest=digest,
            **values,
        )


_TABLES = {
    "tokens_per_round_min": "algorithm",
    "speedup_median_min": "engine",
    "speedup_p95_min": "engine",
    "memory_added_mb_max": "engine",
    "first_commit_ratio_max": "session",
    "cost_ratio_max": "service",
    "load_p95_ratio_max": "service",
    "failures_max": "service",
    "unexplained_differences_max": "quality",
    "right_lost_per_100_max": "quality",
    "critical_added_max": "quality",
    "forbidden_calls_added_max": "quality",
    "gap_max": "near_tie",
}
"""Where each number stands in the file: the unit that it is about."""


def unit_of(name: str) -> str:
    """``algorithm``, ``engine``, ``session``, ``service`` or ``quality``."""
    return _TABLES[name]


def _table(tree: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = tree.get(name)
    if not isinstance(table, Mapping):
        raise ThresholdError(f"thresholds: the table [{name}] is missing")
    return table


def _number(table: Mapping[str, Any], name: str, *, at: str) -> float:
    value = table.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ThresholdError(f"thresholds: {at}.{name} has to be a number that was decided")
    return float(value)


def _check_names(table: Mapping[str, Any], known: Any, *, at: str) -> None:
    unknown = sorted(set(table) - set(known))
    if unknown:
        raise ThresholdError(f"thresholds: {at}{unknown[0]} is unknown")


def _limits(table: Any, *, at: str) -> SurfaceLimits:
    if not isinstance(table, Mapping):
        raise ThresholdError(f"thresholds: the table [{at}] is missing")
    names = [each.name for each in fields(SurfaceLimits)]
    _check_names(table, names, at=f"{at}.")
    return SurfaceLimits(**{name: _number(table, name, at=at) for name in names})


def _decision(table: Mapping[str, Any]) -> Decision:
    names = [each.name for each in fields(Decision)]
    _check_names(table, names, at="decision.")
    for name in names:
        if not isinstance(table.get(name), str) or not table[name].strip():
            raise ThresholdError(f"thresholds: decision.{name} has to be written down")
    return Decision(**table)
