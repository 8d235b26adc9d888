"""Reports: one JSON object by a published schema, one page, and what is read from an old one."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from simulated_agent import simulate

from voiceagent.cli import main
from voiceagent.latency.analysis import explain, judge
from voiceagent.latency.exchange import Exchange
from voiceagent.latency.page import page
from voiceagent.latency.report import ReportError, audible_s, read_report, report_of, schema
from voiceagent.latency.run import AgentRun, Played
from voiceagent.latency.texts import word_errors
from voiceagent.sound.files import write_wav
from voiceagent.sound.pcm import to_int16


def agent_run(name: str, folder: Path, *, seed: int, late_ms: float = 0.0) -> AgentRun:
    """A run of a simulated agent, its recordings in ``folder``."""
    simulated = simulate(10, seed=seed, delay=("synthesis", late_ms))
    run = AgentRun(name=name, records=simulated.records)
    for number, exchange in enumerate(simulated.exchanges):
        path = folder / f"{name}-{number}.wav"
        both = np.stack([exchange.mouth, exchange.ear], axis=1)
        write_wav(path, to_int16(both), exchange.rate_hz)
        played = Played(scenario=f"s{number}", recording=path, judged=judge(exchange))
        run.played.append(played)
    found = explain([each.judged for each in run.played], simulated.own, simulated.records)
    for played, falls in zip(run.played, found, strict=True):
        played.waterfalls = falls
        played.observed_ms = [600.0]
    return run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("report")


@pytest.fixture(scope="module")
def report(folder: Path) -> dict[str, Any]:
    """Two agents, the second 300 ms later in its synthesis."""
    runs = [
        agent_run("first", folder, seed=1),
        agent_run("second", folder, seed=2, late_ms=300),
    ]
    return report_of(runs, title="test <b>", seed=0)


def test_a_report_has_the_published_schema(report: dict[str, Any]) -> None:
    """As JSON, and back."""
    again = json.loads(json.dumps(report, allow_nan=False))
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(again, schema())


def test_a_report_says_what_was_measured(report: dict[str, Any]) -> None:
    """Figures, waterfalls that add up, texts, what an observer leaves out, and a verdict."""
    first, second = report["agents"]
    assert first["figures"]["response_gap"]["turns"] == 10
    assert first["figures"]["response_gap"]["withheld"]["p95_ms"].startswith("10 turns")
    for turn in (*first["turns"], *second["turns"]):
        fall = turn["waterfall"]
        parts_ms = sum(fall["stages_ms"].values()) + fall["residual_ms"]
        assert parts_ms == pytest.approx(turn["response_gap_ms"], abs=0.2)
        assert turn["texts"]["committed"] == "Yes."
    assert first["figures"]["observer_minus_sound"]["p50_ms"] < -200
    (found,) = report["comparisons"]
    assert (found["verdict"], found["culprit"]) == ("worse", "synthesis")


def test_the_page_needs_no_other_file(report: dict[str, Any], folder: Path) -> None:
    """No address in it, markup in names is text, and every turn has its sound."""
    text = page(report, folder=folder)
    assert not re.findall(r"(?:src|href)=['\"]?(?!['\"]?data:)", text)
    assert "<script" not in text
    assert "test &lt;b&gt;" in text
    assert text.count("<audio") == 20
    assert "worse, by synthesis" in text


def test_a_turn_without_its_recording_says_so(report: dict[str, Any], tmp_path: Path) -> None:
    """A report that was moved without its recordings is still a page."""
    assert "its recording is not beside the report" in page(report, folder=tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"type": "voiceagent.latency"}', "\xff"])
def test_what_is_no_report_is_refused(text: str, tmp_path: Path) -> None:
    """With one line that names the file."""
    path = tmp_path / "old.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ReportError, match=r"old\.json"):
        read_report(path)


def test_words_that_differ() -> None:
    """Case and marks do not count; substitutions, deletions and insertions do."""
    assert word_errors("What is it?", "what is it") == {"spoken": 3, "errors": 0}
    assert word_errors("What is it?", "what was that it") == {"spoken": 3, "errors": 2}
    assert word_errors("What is it?", "") == {"spoken": 3, "errors": 3}


def test_silence_that_was_put_in_is_not_heard() -> None:
    """A late segment leaves digital silence in a reply; the pause of a voice is part of it."""
    rng = np.random.default_rng(0)
    ear = (0.1 * rng.standard_normal(8000)).astype(np.float32)
    ear[2000:3000] *= 0.001
    ear[5000:6000] = 0
    told = Exchange(mouth=np.zeros_like(ear), ear=ear, rate_hz=8000)
    assert audible_s(told, 0.0, 1.0) == pytest.approx(0.875, abs=0.001)


# The command ----------------------------------------------------------------------------------


def run_command(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    status = main(["latency", *arguments, "--json"])
    return status, json.loads(capsys.readouterr().out.splitlines()[-1])


@pytest.mark.usefixtures("report")
def test_recordings_from_elsewhere(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Ten recordings, one report; the limit decides the exit status."""
    recordings = [str(folder / f"first-{number}.wav") for number in range(10)]
    status, told = run_command(capsys, *recordings)
    assert status == 0
    jsonschema.validate(told, schema())
    gap = told["agents"][0]["figures"]["response_gap"]
    assert gap["turns"] == 10
    assert 800 < gap["p50_ms"] < 1100
    assert run_command(capsys, *recordings, "--max-response-gap-p50", "1100")[0] == 0
    status, told = run_command(capsys, *recordings, "--max-response-gap-p50", "700")
    assert (status, told["limit_exceeded"]) == (1, True)


@pytest.mark.usefixtures("report")
def test_an_earlier_report_is_compared_with(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The earlier one is the first, this run the second."""
    status, told = run_command(capsys, *(str(folder / f"first-{n}.wav") for n in range(10)))
    assert status == 0
    (tmp_path / "report.json").write_text(json.dumps(told), encoding="utf-8")
    slower = [str(folder / f"first-{n}.wav") for n in range(10)]
    _, told = run_command(capsys, *slower, "--compare", str(tmp_path / "report.json"))
    assert told["comparisons"][0]["verdict"] == "no evidence"


def test_silence_has_no_figure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing to measure is no success."""
    write_wav(tmp_path / "s.wav", np.zeros((16_000, 2), dtype=np.int16), 16_000)
    status, told = run_command(capsys, str(tmp_path / "s.wav"))
    assert status == 1
    assert told["agents"][0]["figures"]["response_gap"]["p50_ms"] is None


def test_one_channel_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The message says what a recording holds."""
    write_wav(tmp_path / "m.wav", np.zeros(16_000, dtype=np.int16), 16_000)
    assert main(["latency", str(tmp_path / "m.wav")]) == 1
    assert "expected two, the user in the left" in capsys.readouterr().err


def test_the_schema_is_published(capsys: pytest.CaptureFixture[str]) -> None:
    """By a command."""
    assert main(["latency", "--schema"]) == 0
    assert json.loads(capsys.readouterr().out) == schema()
