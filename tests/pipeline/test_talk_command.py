"""``voiceagent talk`` as it is typed, on doubles of the models."""

import contextlib
import errno
import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from talk_doubles import ScriptedSource, models, recording

from voiceagent import cli
from voiceagent.core.audit import audit
from voiceagent.session.models import Models
from voiceagent.sound.files import read_channels, read_sound, write_wav

SPEECH = recording(("pause", 0.3), ("voice", 1.0), ("pause", 0.3))


@pytest.fixture
def question(tmp_path: Path) -> Path:
    """A recording with one utterance."""
    path = tmp_path / "question.wav"
    write_wav(path, SPEECH.pcm, SPEECH.rate_hz)
    return path


@pytest.fixture
def with_models(monkeypatch: pytest.MonkeyPatch) -> Callable[[Models], None]:
    """Replaces the models that the command loads."""

    def use(given: Models) -> None:
        @contextlib.contextmanager
        def load_models(*args: Any, **kwargs: Any) -> Iterator[Models]:
            yield given

        monkeypatch.setattr("voiceagent.session.models.load_models", load_models)

    return use


def talk(*arguments: object) -> int:
    """Runs the command."""
    return cli.main(["talk", *map(str, arguments), "--preset", "tiny"])


def test_the_last_line_and_the_files(
    question: Path,
    with_models: Callable[[Models], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One JSON object that names everything, and every file that was asked for."""
    with_models(models(hears=["How are you?"], replies=["I am fine. And you?"]))
    folder = question.parent
    files = {"wav": "reply.wav", "record": "both.wav", "trace": "t.jsonl", "report": "page.html"}
    paths = {name: folder / file for name, file in files.items()}
    status = talk(
        *("--in", question, "--out", paths["wav"], "--record", paths["record"]),
        *("--trace", paths["trace"], "--report", paths["report"]),
        *("--no-greeting", "--json"),
    )
    assert status == 0
    summary = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert {name: summary[name] for name in paths} == {n: str(p) for n, p in paths.items()}
    assert summary["user_text"] == "How are you?"
    assert summary["reply_text"] == "I am fine. And you?"
    assert "".join(summary["commits"]) == "I am fine. And you?"
    assert summary["churn"] > 1
    assert 0 < summary["response_gap_ms"] < 5000
    both = read_channels(paths["record"])
    assert both.pcm.shape[1] == 2
    assert np.array_equal(
        read_sound(paths["wav"]).pcm, both.pcm[: len(read_sound(paths["wav"]).pcm), 1]
    )
    assert {stat.S_IMODE(path.stat().st_mode) for path in paths.values()} == {0o600}
    with paths["trace"].open(encoding="utf-8") as lines:
        assert audit(lines) == []
    page = paths["report"].read_text(encoding="utf-8")
    assert "How are you?" in page
    assert "http" not in page


def test_fast_has_no_gap(
    question: Path, with_models: Callable[[Models], None], capsys: pytest.CaptureFixture[str]
) -> None:
    """A gap is measured from sound in real time, or not at all."""
    with_models(models(hears=["How are you?"], replies=["Fine."]))
    assert talk("--in", question, "--fast", "--no-greeting", "--json") == 0
    summary = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert summary["response_gap_ms"] is None
    assert summary["reply_text"] == "Fine."


def test_plain_lines_without_a_terminal(
    question: Path, with_models: Callable[[Models], None], capsys: pytest.CaptureFixture[str]
) -> None:
    """Who said what, one line each, and a closing line."""
    with_models(models(hears=["How are you?"], replies=["Fine."]))
    assert talk("--in", question, "--fast", "--greeting", "Hello!") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["Agent: Hello!", "You:   How are you?", "Agent: Fine."]
    assert lines[3].startswith("1 turn; ")


@pytest.mark.parametrize(
    "signals",
    [[signal.SIGINT], [signal.SIGTERM], [signal.SIGINT] * 2, [signal.SIGTERM, signal.SIGINT]],
)
def test_a_signal_leaves_no_file(
    signals: list[signal.Signals],
    question: Path,
    with_models: Callable[[Models], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Broken off in the middle of a reply: status 130, one line, nothing half-written."""

    class Interrupting(ScriptedSource):
        def write(self, messages: Any, *, on_event: Any) -> Any:
            for number in signals:
                os.kill(os.getpid(), number)
            return super().write(messages, on_event=on_event)

    with_models(models(hears=["Hello?"], source=Interrupting(["One two three."], pace_s=0.05)))
    folder = question.parent
    arguments = ["--out", folder / "o.wav", "--trace", folder / "t", "--report", folder / "r"]
    assert talk("--in", question, *arguments, "--fast", "--no-greeting") == 130
    assert capsys.readouterr().err == "voiceagent: stopped.\n"
    assert [entry.name for entry in folder.iterdir()] == ["question.wav"]


@pytest.mark.parametrize(
    ("content", "why"),
    [(None, "cannot read"), (b"", "empty"), (b"this is no sound at all", "not a sound file")],
)
def test_bad_input_is_one_clear_line(
    content: bytes | None, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before any model is loaded, and without a file left behind."""
    path = tmp_path / "bad.wav"
    if content is not None:
        path.write_bytes(content)
    assert talk("--in", path, "--out", tmp_path / "reply.wav") == 1
    error = capsys.readouterr().err
    assert why in error
    assert str(path) in error
    assert error.count("\n") == 1
    assert not (tmp_path / "reply.wav").exists()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--out", "/no/such/folder/x.wav"], "no folder"),
        (["--out", "/tmp"], "is a folder"),
        (["--out", "/dev/null"], "a device or a pipe"),
        (["--out", "x.wav", "--record", "./x.wav"], "same name"),
        (["--config", "/no/such.toml"], "cannot read"),
    ],
)
def test_wrong_options_are_one_clear_line(
    arguments: list[str], why: str, question: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Found before the conversation, not after it."""
    assert talk("--in", question, *arguments) == 1
    error = capsys.readouterr().err
    assert why in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("command", [["talk", "--in", "x.wav"], ["decode", "Hello"]])
@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("--temperature", value) for value in ("-1", "nan", "inf", "warm")),
        *(("-k", value) for value in ("-1", "1.5", "17")),
        ("--max-tokens", "0"),
    ],
)
def test_numbers_out_of_range_are_wrong_usage(
    command: list[str], option: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Found while the command line is read, long before a model is; told in one line."""
    with pytest.raises(SystemExit) as exit_:
        cli.main([*command, option, value])
    assert exit_.value.code == 2
    error = capsys.readouterr().err
    assert f"argument {option}: '{value}' is" in error
    assert error.endswith("--help\n")
    assert error.count("\n") == 1


@pytest.mark.parametrize("value", ["nan", "inf", "loud"])
def test_an_echo_has_a_finite_loudness(value: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Anything else would make the sound no sound."""
    with pytest.raises(SystemExit) as exit_:
        talk("--in", "x.wav", "--echo", value)
    assert exit_.value.code == 2
    assert f"argument --echo: '{value}' is" in capsys.readouterr().err


@pytest.mark.parametrize(
    "line",
    [
        *("decoding.temperature = -1", "decoding.temperature = nan", "decoding.top_p = 2"),
        *("decoding.top_k = -5", "decoding.window = -1", "decoding.max_tokens = 0"),
        *("decoding.window = 17", "tools = [{name = 'x'}]"),
        *("voice.gain = inf", "voice.length_scale = 0", "voice.noise_scale = -1"),
    ],
)
def test_a_configured_number_out_of_range_is_named(
    line: str, question: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line with the key, before a model is loaded."""
    settings = question.with_name("settings.toml")
    settings.write_text(line, encoding="utf-8")
    assert talk("--in", question, "--config", settings) == 1
    error = capsys.readouterr().err
    assert f"{settings}: configuration key {line.split()[0]}" in error
    assert "it has to be" in error
    assert error.count("\n") == 1


def test_a_pipe_is_no_recording(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody may ever write to it: it is refused, not waited for."""
    os.mkfifo(tmp_path / "pipe.wav")
    assert talk("--in", tmp_path / "pipe.wav") == 1
    assert "is a device or a pipe" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--in", "--out", "--trace", "--config"])
def test_a_file_has_a_name(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    """An empty one, as of a variable that was never set, is wrong usage."""
    with pytest.raises(SystemExit) as exit_:
        talk("--in", "x.wav", option, "")
    assert exit_.value.code == 2
    assert "the name of the file is empty" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--out", "--record", "--trace", "--report"])
@pytest.mark.parametrize("name", ["question.wav", "link.wav", "hard.wav", "sub/../question.wav"])
def test_the_recording_is_never_an_output(
    option: str, name: str, question: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By whatever name: refused before anything is done, and the recording stays as it was."""
    folder, before = question.parent, question.read_bytes()
    (folder / "sub").mkdir()
    (folder / "link.wav").symlink_to(question)
    (folder / "hard.wav").hardlink_to(question)
    assert talk("--in", question, option, folder / name) == 1
    assert "would be overwritten" in capsys.readouterr().err
    assert question.read_bytes() == before


def test_a_recording_or_the_microphone(capsys: pytest.CaptureFixture[str]) -> None:
    """One of them, not both and not none: wrong usage."""
    for arguments in ([], ["--mic", "--in", "x.wav"]):
        with pytest.raises(SystemExit) as exit_:
            talk(*arguments)
        assert exit_.value.code == 2


def test_a_file_that_fails_is_named_with_those_that_are_kept(
    question: Path,
    with_models: Callable[[Models], None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The disk is full at the last file: one line with it and with what was written before."""
    with_models(models(hears=["Hello?"], replies=["Fine."]))
    folder = question.parent

    def full(path: Path, text: str, **options: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_text", full)
    arguments = ["--out", folder / "o.wav", "--trace", folder / "t", "--report", folder / "r"]
    assert talk("--in", question, *arguments, "--fast", "--no-greeting") == 1
    assert capsys.readouterr().err == (
        f"voiceagent: cannot write {folder / 'r'}: No space left on device; "
        f"already written, and kept: {folder / 'o.wav'}, {folder / 't'}\n"
    )
    assert {entry.name for entry in folder.iterdir()} == {"question.wav", "o.wav", "t"}


STUBBORN = """
import os, signal
from voiceagent.commands._stopping import Stopping
with Stopping() as stopping:
    stopping.on_stop = lambda: None
    stopping.leave_nothing = lambda: os.unlink("partial")
    open("partial", "w").close()
    for _ in range(3):
        os.kill(os.getpid(), signal.SIGINT)
    signal.pause()
"""
IMPORTING = """
import builtins, os, signal, sys
from voiceagent.__main__ import run
real = builtins.__import__
def interrupted(name, *rest):
    if name == "voiceagent.cli":
        os.kill(os.getpid(), signal.SIGINT)
    return real(name, *rest)
builtins.__import__ = interrupted
sys.exit(run())
"""


@pytest.mark.parametrize("program", [STUBBORN, IMPORTING, IMPORTING.replace("SIGINT", "SIGTERM")])
def test_ctrl_c_is_one_line_at_any_moment(program: str, tmp_path: Path) -> None:
    """While modules are imported, and when what was to stop hangs: no traceback, no file."""
    environment = os.environ | {"PYTHONPATH": str(Path(cli.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "voiceagent: stopped.\n")
    assert list(tmp_path.iterdir()) == []
