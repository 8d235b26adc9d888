"""One run: agents in one rig, alternating scenario by scenario, and what is known in the end."""

import contextlib
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

import numpy as np

from voiceagent.core.trace import Record, read
from voiceagent.latency.agents import Agent, observed_ms
from voiceagent.latency.analysis import Judged, explain, judge
from voiceagent.latency.caller import Caller, CallError, Wire
from voiceagent.latency.director import Director, Line, Words
from voiceagent.latency.exchange import CueKind, Exchange
from voiceagent.latency.library import Library
from voiceagent.latency.media_stream import MediaStreamWire
from voiceagent.latency.rig import Rig
from voiceagent.latency.scenario import Scenario
from voiceagent.latency.waterfall import OwnRecording, Waterfall
from voiceagent.sound.files import read_channels, write_wav
from voiceagent.sound.pcm import to_int16


@dataclass(kw_only=True)
class Played:
    """One scenario, played to one agent.

    Attributes:
        scenario: its name.
        recording: where the sound of both sides is kept.
        judged: what is known from the sound.
        observed_ms: what the agent's own observer said of each turn that it noticed.
        waterfalls: one for each turn, where the agent has a trace.
    """

    scenario: str
    recording: Path
    judged: Judged
    observed_ms: list[float] = field(default_factory=list)
    waterfalls: list[Waterfall | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.waterfalls = self.waterfalls or [None] * len(self.judged.turns)


@dataclass(kw_only=True)
class AgentRun:
    """Everything that was played to one agent."""

    name: str
    played: list[Played] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    """Its trace; empty where it has none."""


class Watching(Protocol):
    """Is told what has been played, as it happens."""

    def __call__(self, agent: str, played: Played) -> None:
        """``agent`` has had ``played``."""
        ...


@dataclass(frozen=True, kw_only=True)
class Called:
    """An agent that runs somewhere already and is called.

    Attributes:
        address: ``ws://`` or ``wss://`` for a media stream, ``sip:`` for a telephone.
    """

    address: str
    name: str = "call"

    def line(self) -> Caller:
        """The call; use it in a ``with`` statement.

        Raises:
            CallError: the address has none of these forms, or SIP is not installed.
        """
        return Caller(self._wire(), to=self.address)

    def _wire(self) -> Callable[[], Wire]:
        if self.address.startswith(("ws://", "wss://")):
            return partial(MediaStreamWire, self.address)
        if not self.address.startswith(("sip:", "sips:")):
            raise CallError(f"{self.address}: an address begins with ws://, wss:// or sip:")
        try:
            from voiceagent.latency.sip import SipWire
        except ImportError as error:
            raise CallError(f"SIP needs the extra `sip` ({error})") from error
        return partial(SipWire, self.address)


@dataclass(kw_only=True)
class _Seat:
    """One agent in the rig, with a line of its own."""

    run: AgentRun
    director: Director
    lines: Callable[[], list[str]]
    agent: Agent | None


def measure(
    agents: Sequence[Agent | Called],
    scenarios: Sequence[Scenario],
    *,
    library: Library,
    folder: Path,
    seed: int,
    words: Words | None = None,
    watching: Watching = lambda agent, played: None,
) -> list[AgentRun]:
    """Plays every scenario to every agent, in turns, and keeps each recording in ``folder``.

    The agents run side by side, each on a sound server of its own, and only one is spoken to at a
    time. Which of them comes first changes from scenario to scenario, as the seed decides.

    Raises:
        VoiceAgentError: the rig or an agent cannot be had.
    """
    order = random.Random(seed)
    with contextlib.ExitStack() as stack:
        seats = [stack.enter_context(_seat(each, library, words)) for each in agents]
        for number, scenario in enumerate(scenarios):
            for seat in order.sample(seats, len(seats)):
                seat.lines()  # what was said before belongs to no turn of this scenario
                exchange = seat.director.play(scenario, seed=seed)
                path = folder / f"{seat.run.name}-{number + 1:03}-{scenario.name}.wav"
                _keep(exchange, path)
                played = Played(
                    scenario=scenario.name,
                    recording=path,
                    judged=judge(exchange),
                    observed_ms=observed_ms(seat.lines()),
                )
                seat.run.played.append(played)
                watching(seat.run.name, played)
    for seat in seats:
        _explain(seat)
    return [seat.run for seat in seats]


@contextlib.contextmanager
def _seat(agent: Agent | Called, library: Library, words: Words | None) -> Iterator[_Seat]:
    run = AgentRun(name=agent.name)
    if isinstance(agent, Called):
        with agent.line() as caller:
            yield _seated(run, caller, library, words, list, None)
        return
    with Rig() as rig, agent.start(rig.environment) as program:
        yield _seated(run, rig, library, words, program.lines, agent)


def _seated(
    run: AgentRun,
    line: Line,
    library: Library,
    words: Words | None,
    lines: Callable[[], list[str]],
    agent: Agent | None,
) -> _Seat:
    return _Seat(run=run, director=Director(line, library, words=words), lines=lines, agent=agent)


def _keep(exchange: Exchange, path: Path) -> None:
    both = np.stack([exchange.mouth, exchange.ear], axis=1)
    write_wav(path, to_int16(both), exchange.rate_hz)


def _explain(seat: _Seat) -> None:
    """Adds what the agent itself has left: its trace, and its own recording."""
    agent = seat.agent
    if agent is None or agent.trace is None or not agent.trace.is_file():
        return
    with agent.trace.open("rb") as lines:
        seat.run.records = [record for _, record in read(lines)]
    if agent.own is None or not agent.own.is_file():
        return
    sides = read_channels(agent.own)
    own = OwnRecording(mouth=sides.pcm[:, 0], ear=sides.pcm[:, 1], rate_hz=sides.rate_hz)
    found = explain([each.judged for each in seat.run.played], own, seat.run.records)
    for played, waterfalls in zip(seat.run.played, found, strict=True):
        played.waterfalls = waterfalls


def observed_of(played: Played) -> list[float | None]:
    """What the observer said of each turn; None for all where it has another number of turns."""
    answered = [
        turn.response_gap_ms is not None and turn.kind in (CueKind.TURN, CueKind.INTERRUPTION)
        for turn in played.judged.turns
    ]
    if sum(answered) != len(played.observed_ms):
        return [None] * len(answered)
    values = iter(played.observed_ms)
    return [next(values) if has else None for has in answered]
