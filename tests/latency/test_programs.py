"""Agents as programs: started, listened to, ended; and what is refused before anything is
started."""

import os
import sys
from pathlib import Path

import pytest

from voiceagent.cli import main
from voiceagent.latency.agents import Command, observed_ms
from voiceagent.latency.programs import ProgramError, running

WAITS = "import signal, threading; print('listening', flush=True); threading.Event().wait()"


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_a_program_is_ended_by_ctrl_c() -> None:
    """It is there while it is needed, and not a moment longer."""
    with running(python(WAITS), environment=os.environ, name="it", ready="listening") as program:
        assert program.lines() == []
    assert program.is_over


@pytest.mark.parametrize(
    ("code", "told"), [("print('no models')", "no models"), ("pass", "it said nothing")]
)
def test_a_program_that_does_not_start(code: str, told: str) -> None:
    """The message has its last words."""
    with (
        pytest.raises(ProgramError, match=told),
        running(python(code), environment=os.environ, name="it", ready="listening"),
    ):
        pass


def test_a_program_that_is_not_there() -> None:
    """One line."""
    with (
        pytest.raises(ProgramError, match="cannot be started"),
        Command(command="/no/such/program").start(os.environ),
    ):
        pass


def test_what_an_observer_says_is_found_among_other_lines() -> None:
    """Only objects with its figure count."""
    lines = ["ready", "{}", "[1]", "3", '{"user_to_bot_ms": "x"}', '{"user_to_bot_ms": 812.5}']
    assert observed_ms(lines) == [812.5]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--peer", "somebody"], "no peer 'somebody'"),
        (["--scenarios", "nothing"], "no set of scenarios"),
        (["--scenarios", "telephone"], "use --call"),
        (["--call", "http://localhost"], "an address begins with"),
        (["--fixtures", "/nowhere"], "holds no recordings"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    arguments: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With one line, and before an agent is started."""
    assert main(["latency", "--out", str(tmp_path / "out"), *arguments]) == 1
    assert told in capsys.readouterr().err
