"""What a user does in a measurement: sets of scenarios, read from TOML (docs/latency.md).

    title = "Short questions"

    [[scenario]]
    name = "stop"
    steps = [
      { say = "blue-sky" },
      { interrupt = "stop-please", after_ms = [800, 2000] },
    ]

Recordings are named by their id in a folder's ``manifest.toml``. A pair of numbers is a range, out
of which the seed draws.
"""

import random
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from voiceagent.core.errors import VoiceAgentError
from voiceagent.latency.exchange import CueKind

MAX_STEPS = 50
MAX_SCENARIOS = 200
MAX_MS = 120_000
MAX_KEYS = 32
KEYS = frozenset("0123456789*#ABCD")
VERBS = {
    "say": CueKind.TURN,
    "interrupt": CueKind.INTERRUPTION,
    "backchannel": CueKind.BACKCHANNEL,
    "noise": CueKind.NOISE,
    "silence_ms": CueKind.SILENCE,
    "press": CueKind.KEYS,
}
OVER_A_REPLY = (CueKind.INTERRUPTION, CueKind.BACKCHANNEL)
_SETTINGS = {"after_ms", "at_word", "level_db", "transcript"}


class ScenarioError(VoiceAgentError):
    """A set of scenarios that cannot be used; the message names the file and the place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing the user does.

    Attributes:
        kind: what.
        what: a recording's id, keys, or nothing.
        after_ms: from the reply's first sound (over a reply), or how long (silence): least, most.
        at_word: speak once this word of the reply has been recognized.
        level_db: louder or quieter than recorded.
        transcript: the words that the agent has to understand; None for those of the recording.
    """

    kind: CueKind
    what: str = ""
    after_ms: tuple[float, float] = (0.0, 0.0)
    at_word: str = ""
    level_db: float = 0.0
    transcript: str | None = None

    @property
    def is_over_a_reply(self) -> bool:
        """Whether it happens while the agent speaks."""
        return self.kind in OVER_A_REPLY or bool(self.after_ms[1] and self.kind is CueKind.NOISE)

    def draw_ms(self, rng: random.Random) -> float:
        """Out of the range of ``after_ms``."""
        return rng.uniform(*self.after_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One exchange."""

    name: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioSet:
    """What is played in a run, in order."""

    title: str
    scenarios: tuple[Scenario, ...]


def shipped_sets() -> list[str]:
    """The names of the sets that come with the product."""
    files = resources.files("voiceagent.latency").joinpath("scenarios").iterdir()
    return sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml"))


def load_set(name: str) -> ScenarioSet:
    """A set by its name, or by the path of its file.

    Raises:
        ScenarioError: there is no such set, or it is not one.
    """
    if name in shipped_sets():
        file = resources.files("voiceagent.latency").joinpath("scenarios", f"{name}.toml")
        return parse_set(file.read_text(encoding="utf-8"), origin=name)
    path = Path(name)
    if path.suffix != ".toml":
        raise ScenarioError(f"no set of scenarios {name!r}: {', '.join(shipped_sets())}, or a file")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioError(f"cannot read {path}: {error}") from error
    return parse_set(text, origin=name)


def parse_set(text: str, *, origin: str) -> ScenarioSet:
    """A set out of TOML; ``origin`` names it in errors.

    Raises:
        ScenarioError: it is not one; the message says where.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"{origin}: {error}") from error
    entries = table.get("scenario")
    if not isinstance(entries, list) or not 0 < len(entries) <= MAX_SCENARIOS:
        raise ScenarioError(f"{origin}: it needs 1 to {MAX_SCENARIOS} [[scenario]]")
    scenarios = tuple(_scenario(entry, origin=origin) for entry in entries)
    names = [scenario.name for scenario in scenarios]
    if len(set(names)) < len(names):
        raise ScenarioError(f"{origin}: two scenarios have the same name")
    return ScenarioSet(title=str(table.get("title", origin)), scenarios=scenarios)


def _scenario(entry: Any, *, origin: str) -> Scenario:
    name = entry.get("name") if isinstance(entry, Mapping) else None
    if not isinstance(name, str) or not name or not all(c.isalnum() or c in "-_" for c in name):
        raise ScenarioError(f"{origin}: a name has letters, digits, - and _, not {name!r}")
    steps = entry.get("steps")
    if not isinstance(steps, list) or not 0 < len(steps) <= MAX_STEPS:
        raise ScenarioError(f"{origin}, {name}: it needs 1 to {MAX_STEPS} steps")
    parsed = tuple(
        _step(step, where=f"{origin}, {name}, step {i + 1}") for i, step in enumerate(steps)
    )
    if parsed[0].kind in OVER_A_REPLY:
        raise ScenarioError(f"{origin}, {name}: there is no reply yet to speak over")
    return Scenario(name=name, steps=parsed)


def _step(step: Any, *, where: str) -> Step:
    if not isinstance(step, Mapping):
        raise ScenarioError(f"{where}: not a table")
    verbs = [verb for verb in VERBS if verb in step]
    unknown = set(step) - set(VERBS) - _SETTINGS
    if len(verbs) != 1 or unknown:
        wrong = f"unknown {', '.join(sorted(unknown))}" if unknown else "one verb is needed"
        raise ScenarioError(f"{where}: {wrong}; verbs are {', '.join(VERBS)}")
    verb = verbs[0]
    kind = VERBS[verb]
    if kind is CueKind.SILENCE:
        return Step(kind=kind, after_ms=_range(step[verb], where=where))
    if not isinstance(step[verb], str) or not step[verb]:
        raise ScenarioError(f"{where}: {verb} needs a text")
    if kind is CueKind.KEYS and (len(step[verb]) > MAX_KEYS or not set(step[verb]) <= KEYS):
        raise ScenarioError(f"{where}: {step[verb]!r} are no keys of a telephone")
    transcript = step.get("transcript")
    return Step(
        kind=kind,
        what=step[verb],
        after_ms=_range(step.get("after_ms", 0), where=where),
        at_word=str(step.get("at_word", "")),
        level_db=_number(step.get("level_db", 0), least=-80, most=20, where=where),
        transcript=None if transcript is None else str(transcript),
    )


def _range(value: Any, *, where: str) -> tuple[float, float]:
    pair = value if isinstance(value, list) else [value, value]
    if len(pair) != 2:
        raise ScenarioError(f"{where}: {value!r} is neither a number nor a pair")
    least, most = (_number(each, least=0, most=MAX_MS, where=where) for each in pair)
    if least > most:
        raise ScenarioError(f"{where}: {least:g} is more than {most:g}")
    return least, most


def _number(value: Any, *, least: float, most: float, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise ScenarioError(f"{where}: {value!r} is no number from {least:g} to {most:g}")
    return float(value)
