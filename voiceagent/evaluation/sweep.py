"""The churn sweep: every K and temperature once, every surface and protocol from those recordings.

Churn in tokens has a closed form. A round with K guesses streams K + 1 tokens and keeps
1 + a1 + a1 a2 + ... of them; with one acceptance a for all positions that is
(K + 1)(1 - a) / (1 - a^(K + 1)). Measured and computed stand side by side.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import mul
from typing import Any

from voiceagent.core.streams import StreamProtocol
from voiceagent.decoding.record import Outcome
from voiceagent.evaluation.lab import Lab, Run, Setting
from voiceagent.evaluation.measure import LEAST_TOKENS, acceptance_by_position
from voiceagent.evaluation.prompts import Prompt
from voiceagent.evaluation.shown import (
    SPEECH_MS_PER_CHARACTER,
    Spectacle,
    Timed,
    UsualPractice,
    ledger_events,
    protocol_of,
    show,
)
from voiceagent.evaluation.statistics import middle, ratio, rounded
from voiceagent.gateway.requests import SURFACES

SCHEMA = "voiceagent/eval/churn/1"
WINDOWS = tuple(range(1, 9))
TEMPERATURES = (0.0, 0.7)
_AS_FAST = 0.98
"""Of two windows that differ by less, the shorter one is recommended: it shows less wrong text."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What people who see provisional text put up with."""

    churn_max: float = 1.6
    inversions_per_1000_max: float = 10.0


def sweep(
    lab: Lab,
    prompts: Sequence[Prompt],
    *,
    drafter: str,
    limits: Limits,
    windows: Sequence[int] = WINDOWS,
    temperatures: Sequence[float] = TEMPERATURES,
    progress: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Decodes each prompt at each K and temperature, in turn, and derives the rest."""
    settings = [
        Setting(
            name=f"K {window}, T {temperature:g}",
            drafter=drafter if window else "none",
            window=window,
            temperature=temperature,
        )
        for temperature in temperatures
        for window in (0, *windows)
    ]
    runs: dict[str, list[Run]] = {each.name: [] for each in settings}
    for number, prompt in enumerate(prompts):
        at = number % len(settings)
        for setting in (*settings[at:], *settings[:at]):
            runs[setting.name].append(lab.run(prompt, setting))
        progress(f"{number + 1}/{len(prompts)} prompts under {len(settings)} settings")
    rows = [_row(setting, runs) for setting in settings]
    return {
        "schema": SCHEMA,
        "drafter": drafter,
        "prompts": len(prompts),
        "limits": {
            "churn_max": limits.churn_max,
            "inversions_per_1000_max": limits.inversions_per_1000_max,
        },
        "settings": rows,
        "recommended": {
            f"{surface}, T {temperature:g}": recommend(
                [each for each in rows if each["temperature"] == temperature], surface, limits
            )
            for temperature in temperatures
            for surface in SURFACES
        },
    }


def _row(setting: Setting, runs: Mapping[str, Sequence[Run]]) -> dict[str, Any]:
    own = runs[setting.name]
    plain = runs[f"K 0, T {setting.temperature:g}"]
    tokens = sum(len(run.tokens) for run in own)
    speedups = [
        run.completion.tokens_per_s / other.completion.tokens_per_s
        for run, other in zip(own, plain, strict=True)
        if min(len(run.tokens), len(other.tokens)) >= LEAST_TOKENS
    ]
    said = [run.events for run in own]
    return {
        "window": setting.window,
        "temperature": setting.temperature,
        "tokens_per_s": rounded(middle(run.completion.tokens_per_s for run in own), 2),
        "speedup": rounded(middle(speedups)),
        "tokens": token_figures(own),
        "surfaces": surfaces_shown(said, tokens=tokens),
        "usual_practice": usual_practice(said),
    }


def token_figures(runs: Iterable[Run]) -> dict[str, Any]:
    """Churn and erasure in tokens, measured and from the closed form."""
    rounds = [each for run in runs for each in run.rounds]
    guessed = [each for each in rounds if each.drafted]
    streamed = sum(len(each.drafted) + (each.outcome is not Outcome.END) for each in guessed)
    kept = sum(len(each.emitted) for each in guessed)
    shares = acceptance_by_position(guessed)
    window = max((len(each.drafted) for each in guessed), default=0)
    decided = sum(min(each.accepted + each.dropped + 1, len(each.drafted)) for each in guessed)
    stood = sum(each.accepted + each.dropped for each in guessed)
    return {
        "rounds": len(guessed),
        "acceptance": rounded(ratio(stood, decided)),
        "acceptance_by_position": shares,
        "churn": rounded(ratio(streamed, kept)),
        "erasure": rounded(ratio(sum(len(each.rejected) for each in guessed), kept)),
        "churn_closed_form": rounded(closed_form(window, ratio(stood, decided))),
        "churn_by_position": rounded(by_position(window, shares)),
    }


def closed_form(window: int, acceptance: float | None) -> float | None:
    """Churn of blocks of K guesses each accepted with one chance."""
    if acceptance is None or not window:
        return None
    if acceptance >= 1:
        return 1.0
    return (window + 1) * (1 - acceptance) / (1 - float(acceptance ** (window + 1)))


def by_position(window: int, shares: Sequence[float]) -> float | None:
    """The same where each position has a chance of its own."""
    if not window or not shares:
        return None
    reached: list[float] = list(accumulate(shares[:window], mul))
    return (window + 1) / (1 + sum(reached))


def surfaces_shown(said: Sequence[Sequence[Timed]], *, tokens: int | None) -> dict[str, Any]:
    """Each surface in each protocol, of the same replies.

    Args:
        said: what the engine said in each reply.
        tokens: of all replies together; None where nobody counted them.
    """
    table: dict[str, Any] = {}
    for surface in SURFACES:
        ledgers = [ledger_events(events, surface=surface) for events in said]
        for protocol in StreamProtocol:
            total = Spectacle()
            for events in ledgers:
                total.add(show(events, protocol=protocol))
            table[f"{surface}/{protocol}"] = _told(total, tokens) | {
                "default": protocol is protocol_of(surface)
            }
    return table


def _told(total: Spectacle, tokens: int | None) -> dict[str, Any]:
    figures = total.figures
    inversions = len(total.inversions)
    return {
        "churn": rounded(figures.churn),
        "erasure": rounded(figures.erasure),
        "erased_bytes": figures.erased_bytes,
        "erasure_bytes": rounded(figures.erasure_bytes),
        "severity": dict(total.classes),
        "inversions_per_1000": rounded(1000 * inversions / tokens, 2) if tokens else None,
        "inversions": total.inversions[:10],
        "wrong_visible_ms": round(figures.wrong_visible_s * 1000, 1),
        "wrong_visible_max_ms": round(figures.wrong_visible_max_s * 1000, 1),
        "first_text_ms": _ms(middle(total.first_text_s)),
        "first_commit_ms": _ms(middle(total.first_commit_s)),
    }


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 1)


def usual_practice(
    said: Iterable[Sequence[Timed]], *, ms_per_character: float | None = None
) -> dict[str, Any]:
    """An append-only client on token push, and a synthesizer that is fed token by token."""
    total = UsualPractice()
    for events in said:
        shown = show(ledger_events(events, surface="chat"), protocol=StreamProtocol.TOKEN_PUSH)
        total.add(shown, ms_per_character=ms_per_character or SPEECH_MS_PER_CHARACTER)
    return total.to_object()


def recommend(rows: Sequence[Mapping[str, Any]], surface: str, limits: Limits) -> dict[str, Any]:
    """The K of a surface in its own protocol: the fastest one that its people put up with."""
    name = f"{surface}/{protocol_of(surface)}"
    allowed = [each for each in rows if _bearable(each["surfaces"][name], limits)]
    known = [each for each in allowed if each["speedup"] is not None]
    if not known:
        return {"protocol": name.partition("/")[2], "window": 0, "why": "no K is bearable here"}
    fastest = max(each["speedup"] for each in known)
    chosen = next(each for each in known if each["speedup"] >= _AS_FAST * fastest)
    found = chosen["surfaces"][name]
    refused = len(rows) - len(allowed)
    return {
        "protocol": name.partition("/")[2],
        "window": chosen["window"],
        "speedup": chosen["speedup"],
        "churn": found["churn"],
        "inversions_per_1000": found["inversions_per_1000"],
        "why": f"the shortest within 2 % of the fastest; {refused} windows take back too much",
    }


def _bearable(found: Mapping[str, Any], limits: Limits) -> bool:
    churn, inversions = found["churn"], found["inversions_per_1000"]
    return (churn is None or churn <= limits.churn_max) and (
        inversions is None or inversions <= limits.inversions_per_1000_max
    )
