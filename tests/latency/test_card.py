"""Agents on the virtual sound card: the shipped short set with the real models, and a stranger's
program whose code nobody touches."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from known_sounds import voice

from voiceagent.cli import main
from voiceagent.core.audit import Audit
from voiceagent.core.trace import read
from voiceagent.latency.agents import Command
from voiceagent.latency.director import Director
from voiceagent.latency.library import Library
from voiceagent.latency.measures import turns_of
from voiceagent.latency.report import schema
from voiceagent.latency.rig import Rig, RigError
from voiceagent.latency.scenario import parse_set
from voiceagent.sound.files import write_wav

TOY = Path(__file__).parents[1] / "support" / "toy_agent.py"
RATE_HZ = 16_000
TOY_SET = """
[[scenario]]
name = "one"
steps = [{ say = "one" }]

[[scenario]]
name = "two"
steps = [{ say = "two" }]
"""


@pytest.fixture
def rig() -> Iterator[Rig]:
    """A sound server with a mouth and an ear."""
    try:
        with Rig() as running:
            yield running
    except RigError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def fixtures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of recordings with hard edges."""
    folder = tmp_path_factory.mktemp("fixtures")
    entries = []
    for number, name in enumerate(("one", "two")):
        sound = voice(0.5, np.random.default_rng(number), rate_hz=RATE_HZ)
        write_wav(folder / f"{name}.wav", sound.astype(np.float32), RATE_HZ)
        entries.append(f'[[fixture]]\nid = "{name}"\nfile = "{name}.wav"\n')
    (folder / "manifest.toml").write_text("".join(entries), encoding="utf-8")
    return folder


def toy_command(*, delay_ms: float = 0) -> str:
    return f"{sys.executable} {TOY} --delay {delay_ms}"


@pytest.mark.usefixtures("rig")
def test_a_strangers_agent_is_measured(
    fixtures: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A program that knows nothing of the laboratory: it is heard, and later when it is later."""
    (tmp_path / "set.toml").write_text(TOY_SET, encoding="utf-8")
    medians_ms = []
    for delay_ms in (0, 500):
        out = tmp_path / f"late-by-{delay_ms}"
        command = ["latency", "--agent", toy_command(delay_ms=delay_ms), "--ready", "listening"]
        command += ["--scenarios", str(tmp_path / "set.toml"), "--fixtures", str(fixtures)]
        assert main([*command, "--out", str(out), "--json"]) == 0
        told = json.loads(capsys.readouterr().out.splitlines()[-1])
        jsonschema.validate(told, schema())
        medians_ms.append(told["agents"][0]["figures"]["response_gap"]["p50_ms"])
        assert json.loads((out / "report.json").read_text(encoding="utf-8"))["agents"]
        assert "<audio" in (out / "report.html").read_text(encoding="utf-8")
        assert len(list(out.glob("*.wav"))) == 2
    # Each start of a program places its blocks of 20 ms anew.
    assert medians_ms[1] - medians_ms[0] == pytest.approx(500, abs=100)


@pytest.mark.long
def test_runs_of_the_same_agent_agree(rig: Rig, fixtures: Path) -> None:
    """Three runs of a scripted agent differ by less than a millisecond in the median."""
    scenarios = parse_set(TOY_SET, origin="test").scenarios * 3
    director = Director(rig, Library(fixtures))
    with Command(command=toy_command(), ready="listening").start(rig.environment):
        medians_ms = []
        for seed in range(3):
            turns = [turns_of(director.play(each, seed=seed))[0] for each in scenarios]
            medians_ms.append(float(np.median([turn.response_gap_ms or 0 for turn in turns])))
    assert max(medians_ms) - min(medians_ms) < 1


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, dict[str, Any], Path]:
    """The shipped short set, played to this agent with the cpu preset."""
    out = tmp_path_factory.mktemp("short")
    command = ["latency", "--scenarios", "short", "--preset", "cpu", "--max-tokens", "24"]
    try:
        status = main([*command, "--out", str(out)])
    except RigError as error:
        pytest.skip(str(error))
    return status, json.loads((out / "report.json").read_text(encoding="utf-8")), out


def test_the_short_set_is_answered(short: tuple[int, dict[str, Any], Path]) -> None:
    """Every question has an answer, silence has none, and the report is one."""
    status, report, _ = short
    assert status == 0
    jsonschema.validate(report, schema())
    (agent,) = report["agents"]
    assert agent["figures"]["counts"]["missed"] == 0
    assert agent["figures"]["counts"]["false_starts"] == 0
    assert agent["figures"]["response_gap"]["p50_ms"] > 100


def test_waterfalls_of_real_turns_add_up(short: tuple[int, dict[str, Any], Path]) -> None:
    """Stages from the trace and the sound of the card make the whole gap, and none takes time away.

    How large the device's share and what is left are depends on how busy the machine is: an agent
    that is late at its microphone has a recording of its own that is late.
    """
    _, report, _ = short
    falls = [turn for turn in report["agents"][0]["turns"] if turn["waterfall"]]
    assert len(falls) >= 3
    for turn in falls:
        stages_ms, residual_ms = turn["waterfall"]["stages_ms"], turn["waterfall"]["residual_ms"]
        assert sum(stages_ms.values()) + residual_ms == pytest.approx(
            turn["response_gap_ms"], abs=0.2
        )
        assert min(each for name, each in stages_ms.items() if name != "device") >= 0


def test_the_run_passes_the_audit(short: tuple[int, dict[str, Any], Path]) -> None:
    """What was measured said nothing that was not verified."""
    *_, out = short
    audit = Audit()
    with (out / "voiceagent.trace.jsonl").open("rb") as lines:
        for line, record in read(lines):
            audit.feed(record, line=line)
    assert not audit.summary().violations
