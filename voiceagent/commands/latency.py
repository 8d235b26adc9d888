"""``voiceagent latency``: how long users wait, where the time goes, and whether a change helped."""

import argparse
import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voiceagent.commands._arguments import positive_count, quantity

if TYPE_CHECKING:
    from voiceagent.latency.agents import Agent
    from voiceagent.latency.director import Words
    from voiceagent.latency.run import AgentRun, Called, Played
    from voiceagent.latency.scenario import Scenario

EPILOG = """\
examples:
  voiceagent latency                                    this agent, the shipped short questions
  voiceagent latency --scenarios turns --repeat 3
  voiceagent latency --peer pipecat-stock --repeat 4    a stock pipecat bot beside it
  voiceagent latency --agent "python my_bot.py" --ready listening
  voiceagent latency --call ws://127.0.0.1:8765/telephony/media-stream
  voiceagent latency --call sip:agent@127.0.0.1:5060 --scenarios telephone
  voiceagent latency --compare reports/latency/monday/report.json --max-response-gap-p50 700
  voiceagent latency both.wav monday/*.wav              recordings from elsewhere

Recordings are played to a microphone without hardware, and both sides are recorded on one
clock; what is measured is sound. It needs PulseAudio (Debian: pulseaudio, pulseaudio-utils,
libasound2-plugins, libportaudio2). The folder of --out gets the recordings, the traces, report.json
(its schema: --schema) and report.html. A recording from elsewhere holds the user in the left
channel and the agent in the right.

Exit status 1 says that a limit was exceeded, or that no reply was heard. docs/latency.md says what
each figure means, how scenarios are written, and how another agent is measured.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.epilog = EPILOG
    parser.add_argument(
        "recordings", nargs="*", type=Path, metavar="RECORDING", help="measure these instead"
    )
    what = parser.add_argument_group("what is measured")
    what.add_argument(
        "--scenarios",
        nargs="+",
        default=["questions"],
        metavar="SET",
        help="questions, turns, lines, telephone, short, or a TOML file (questions)",
    )
    what.add_argument("--repeat", type=positive_count, default=1, metavar="N", help="times (1)")
    what.add_argument("--seed", type=int, default=0, metavar="N", help="of order and moments (0)")
    what.add_argument("--fixtures", type=Path, metavar="FOLDER", help="recordings and manifest")
    who = parser.add_argument_group("who is measured")
    who.add_argument("--preset", choices=("cpu", "gpu", "tiny"), help="of this agent's models")
    who.add_argument("--config", type=Path, metavar="TOML", help="of this agent")
    who.add_argument("--max-tokens", type=positive_count, metavar="N", help="longest reply of all")
    who.add_argument("--peer", action="append", metavar="NAME", default=[], help="pipecat-stock")
    who.add_argument("--agent", metavar="COMMAND", help="any program with microphone and speaker")
    who.add_argument("--ready", default="", metavar="TEXT", help="what it prints when it listens")
    who.add_argument("--call", metavar="ADDRESS", help="ws://, wss:// or sip: instead")
    out = parser.add_argument_group("what comes of it")
    out.add_argument(
        "--out", type=Path, default=Path("reports/latency"), metavar="FOLDER", help="for everything"
    )
    out.add_argument("--compare", type=Path, metavar="JSON", help="an earlier report, as the first")
    out.add_argument(
        "--max-response-gap-p50", type=quantity, metavar="MS", help="fail when the median is above"
    )
    out.add_argument("--recognize", action="store_true", help="write down what replies say")
    out.add_argument("--schema", action="store_true", help="print the schema of a report")
    out.add_argument("--json", action="store_true", help="end with one line that is JSON")


def run(arguments: argparse.Namespace) -> int:
    """Measures, prints, and compares with the limit."""
    if arguments.schema:
        from voiceagent.latency.report import schema

        print(json.dumps(schema(), indent=1))
        return 0
    runs = _read(arguments) if arguments.recordings else _play(arguments)
    report = _report(arguments, runs)
    _print(report)
    return _finish(arguments, report)


def _read(arguments: argparse.Namespace) -> "list[AgentRun]":
    """Recordings from elsewhere, as the run of one agent."""
    from voiceagent.latency.analysis import judge
    from voiceagent.latency.recordings import read_exchange
    from voiceagent.latency.run import AgentRun, Played

    played = [
        Played(scenario=path.stem, recording=path, judged=judge(read_exchange(path)))
        for path in arguments.recordings
    ]
    return [AgentRun(name="recordings", played=played)]


def _play(arguments: argparse.Namespace) -> "list[AgentRun]":
    from voiceagent.latency.library import BESIDE_THE_PACKAGE, Library
    from voiceagent.latency.run import measure

    scenarios = _scenarios(arguments)
    library = Library(arguments.fixtures or BESIDE_THE_PACKAGE)
    library.check(scenarios)
    _check_keys(scenarios, arguments)
    arguments.out.mkdir(parents=True, exist_ok=True)
    agents = _agents(arguments)
    waits = any(step.at_word for scenario in scenarios for step in scenario.steps)
    with ExitStack() as stack:
        watching = stack.enter_context(_progress(total=len(scenarios) * len(agents)))
        return measure(
            agents,
            scenarios,
            library=library,
            folder=arguments.out,
            seed=arguments.seed,
            words=_words(arguments, thorough=False) if waits else None,
            watching=watching,
        )


def _scenarios(arguments: argparse.Namespace) -> "list[Scenario]":
    from voiceagent.latency.scenario import load_set

    names: list[str] = arguments.scenarios
    once = [scenario for name in names for scenario in load_set(name).scenarios]
    repeats: int = arguments.repeat
    return once * repeats


def _check_keys(scenarios: "list[Scenario]", arguments: argparse.Namespace) -> None:
    from voiceagent.core.errors import VoiceAgentError
    from voiceagent.latency.exchange import CueKind

    keys = [
        scenario.name
        for scenario in scenarios
        if any(step.kind is CueKind.KEYS for step in scenario.steps)
    ]
    if keys and (not arguments.call or arguments.peer):
        raise VoiceAgentError(f"{keys[0]} presses keys, and a sound card has none: use --call")


def _agents(arguments: argparse.Namespace) -> "list[Agent | Called]":
    """Who is measured: the first one is what the others are compared with."""
    from voiceagent.core.errors import VoiceAgentError
    from voiceagent.latency.agents import PEERS, Command, Ours
    from voiceagent.latency.run import Called

    unknown = [name for name in arguments.peer if name not in PEERS]
    if unknown:
        raise VoiceAgentError(f"no peer {unknown[0]!r}; there are {', '.join(PEERS)}")
    peers: list[Agent | Called] = [PEERS[name](arguments.max_tokens) for name in arguments.peer]
    if arguments.call:
        return [Called(address=arguments.call), *peers]
    if arguments.agent:
        return [Command(command=arguments.agent, ready=arguments.ready), *peers]
    options = []
    for name, value in (
        ("--preset", arguments.preset),
        ("--config", arguments.config),
        ("--max-tokens", arguments.max_tokens),
    ):
        options += [] if value is None else [name, str(value)]
    return [Ours(folder=arguments.out, options=options), *peers]


def _words(arguments: argparse.Namespace, *, thorough: bool) -> "Words":
    """A recognizer: a quick one for scenarios that wait for a word, a thorough one for replies."""
    from voiceagent.config import cache_directory
    from voiceagent.sound.resample import resample
    from voiceagent.speech.recognizer import Effort, WhisperRecognizer
    from voiceagent.speech.turns import RATE_HZ
    from voiceagent.weights.manifest import Manifest
    from voiceagent.weights.store import Store

    files = Manifest.load().preset(arguments.preset or "cpu").files["recognizer"]
    recognizer = WhisperRecognizer(Store(cache_directory()).folder(files))
    effort = Effort.THOROUGH if thorough else Effort.USUAL
    return lambda pcm, rate_hz: (
        recognizer.recognize(resample(pcm, from_hz=rate_hz, to_hz=RATE_HZ), effort=effort).text
    )


def _progress(*, total: int) -> Any:
    """A bar on a terminal and a line for each turn, as it has been heard."""
    from contextlib import contextmanager

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    @contextmanager
    def watching() -> Any:
        console = Console(stderr=True)
        bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        task = bar.add_task("starting", total=total)

        def on_played(agent: str, played: "Played") -> None:
            bar.update(task, advance=1, description=f"{agent}: {played.scenario}")
            console.print(f"{agent}  {played.scenario}  {_in_short(played)}", highlight=False)

        with bar:
            yield on_played

    return watching()


def _in_short(played: "Played") -> str:
    """One scenario on one line."""
    facts = []
    for turn in played.judged.turns:
        if turn.response_gap_ms is not None:
            facts.append(f"gap {turn.response_gap_ms:.0f} ms")
        if turn.stop_ms is not None:
            facts.append(f"stop {turn.stop_ms:.0f} ms")
        if turn.hold_ms is not None:
            facts.append(f"hold {turn.hold_ms:.0f} ms")
        for name in ("missed", "cut_in", "false_start"):
            if getattr(turn, f"is_{name}"):
                facts.append(name.replace("_", " "))
    return ", ".join(facts) or "silence"


def _report(arguments: argparse.Namespace, runs: "list[AgentRun]") -> dict[str, Any]:
    from voiceagent.latency.report import comparison, read_report, report_of
    from voiceagent.latency.scenario import load_set

    titles = [] if arguments.recordings else [load_set(each).title for each in arguments.scenarios]
    title = "; ".join(titles) or "Recordings"
    about = {"preset": arguments.preset, "max_tokens": arguments.max_tokens}
    words = _words(arguments, thorough=True) if arguments.recognize else None
    report = report_of(runs, title=title, seed=arguments.seed, about=about, words=words)
    if arguments.compare:
        before = read_report(arguments.compare)["agents"][0]
        now = report["agents"][0]
        names = (f"{before['name']} before", f"{now['name']} now")
        report["comparisons"].append(comparison(before, now, names=names))
    return report


def _print(report: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title="from sound, in ms", title_justify="left")
    table.add_column("")
    for agent in report["agents"]:
        table.add_column(agent["name"], justify="right")
    for name, cell in _ROWS:
        table.add_row(name, *(cell(agent) for agent in report["agents"]))
    console = Console()
    console.print(table)
    for agent in report["agents"]:
        for trouble in agent["troubles"]:
            console.print(f"left out: {agent['name']}, {trouble}", highlight=False)
    for each in report["comparisons"]:
        console.print(_verdict(each), highlight=False)


def _cell(figure: str, name: str) -> Callable[[dict[str, Any]], str]:
    def cell(agent: dict[str, Any]) -> str:
        value = agent["figures"][figure][name]
        if value is not None:
            return f"{value:.0f}"
        return "-" if name == "p50_ms" else "withheld"

    return cell


def _count(name: str) -> Callable[[dict[str, Any]], str]:
    return lambda agent: str(agent["figures"]["counts"][name])


_ROWS: list[tuple[str, Callable[[dict[str, Any]], str]]] = [
    ("turns", lambda agent: str(agent["figures"]["turns"])),
    ("response gap, median", _cell("response_gap", "p50_ms")),
    ("response gap, 95th percentile", _cell("response_gap", "p95_ms")),
    ("stop after an onset, median", _cell("stop", "p50_ms")),
    ("hold before it goes on, median", _cell("hold", "p50_ms")),
    ("missed turns", _count("missed")),
    ("false cut-ins", _count("cut_ins")),
    ("false starts", _count("false_starts")),
    ("silent stalls", _count("silent_stalls")),
]


def _verdict(comparison: dict[str, Any]) -> str:
    gap = comparison["response_gap"]
    if gap["median_ms"] is None:
        return f"{comparison['second']} against {comparison['first']}: no turn in common"
    blame = f", by {comparison['culprit']}" if comparison["culprit"] else ""
    return (
        f"{comparison['second']} against {comparison['first']}: {comparison['verdict']}{blame} "
        f"({gap['median_ms']:+.0f} ms in the median, {gap['low_ms']:+.0f} to {gap['high_ms']:+.0f} "
        f"with 95 % confidence, {gap['pairs']} pairs)"
    )


def _finish(arguments: argparse.Namespace, report: dict[str, Any]) -> int:
    """Writes the files, says where they are, and answers for the limit."""
    from voiceagent.commands._destinations import private_file
    from voiceagent.latency.page import page

    if not arguments.recordings:
        for name, text in (
            ("report.json", json.dumps(report, indent=1, ensure_ascii=False) + "\n"),
            ("report.html", page(report, folder=arguments.out)),
        ):
            with private_file(arguments.out / name) as partial:  # it holds what was said
                partial.write_text(text, encoding="utf-8")
        print(f"written: {arguments.out / 'report.json'}, {arguments.out / 'report.html'}")
    p50_ms = report["agents"][0]["figures"]["response_gap"]["p50_ms"]
    limit_ms = arguments.max_response_gap_p50
    exceeded = limit_ms is not None and (p50_ms is None or p50_ms > limit_ms)
    if p50_ms is None:
        print("no speech of the user is followed by speech of the agent")
    elif exceeded:
        print(f"the median of {p50_ms:g} ms is above the limit of {limit_ms:g} ms")
    if arguments.json:
        print(json.dumps(report | {"limit_exceeded": exceeded}, ensure_ascii=False))
    return 1 if exceeded or p50_ms is None else 0
