"""The replay command: shows a trace again, proves it, or says which line lies."""

import errno
import json
import os
import stat
import sys
from pathlib import Path

import pytest
from conversations import good_trace

from voiceagent.cli import main
from voiceagent.commands import replay
from voiceagent.core.events import Heard
from voiceagent.core.trace import encode


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.jsonl"
    path.write_text("".join(encode(record) + "\n" for record in good_trace()), encoding="utf-8")
    return path


@pytest.fixture
def lying_trace(tmp_path: Path) -> Path:
    path = tmp_path / "lie.jsonl"
    records = good_trace()
    index = next(i for i, record in enumerate(records) if isinstance(record, Heard))
    records[index] = Heard(reply="greeting", epoch=0, at_s=records[index].at_s, to=13)  # type: ignore[union-attr]  # it is a Heard
    path.write_text("".join(encode(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_an_honest_trace_is_proven(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit status 0, and one line that says what was proven."""
    assert main(["replay", "--audit", str(trace)]) == 0
    output = capsys.readouterr()
    assert output.out.startswith("PROVEN over ")
    assert output.err == ""


def test_a_trace_without_replies_proves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An empty conversation is honest, and no evidence."""
    path = tmp_path / "empty.jsonl"
    path.write_text(encode(good_trace()[0]) + "\n", encoding="utf-8")
    assert main(["replay", "--audit", str(path)]) == 0
    assert capsys.readouterr().out.startswith("Nothing to prove: 1 record, 0 replies")


def test_a_lie_is_named_with_its_line(
    lying_trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit status 1, the line and the kind of lie."""
    assert main(["replay", "--audit", str(lying_trace)]) == 1
    output = capsys.readouterr()
    assert output.err.startswith("voiceagent: line 10: unreleased: ")
    assert output.out.startswith("NOT PROVEN")


def test_json_is_the_last_line(lying_trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Turns, replies, commits, churn and the verdict, for programs."""
    assert main(["replay", "--audit", "--json", str(lying_trace)]) == 1
    summary = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert summary["honest"] is False
    assert summary["turns"] == 3
    assert summary["churn"]["accept_then_flush"]["churn"] == 1.0


def test_a_trace_is_shown_without_waiting_where_nobody_watches(
    trace: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Into a file or a pipe it goes at once."""
    monkeypatch.setattr(replay.time, "sleep", lambda _: pytest.fail("slept"))
    assert main(["replay", str(trace)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "You:   is it far?" in lines
    assert "Agent: Two miles." in lines


def test_a_trace_is_shown_in_its_own_time_on_a_terminal(
    trace: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or as much faster as was asked for."""
    slept: list[float] = []
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(replay.time, "sleep", slept.append)
    assert main(["replay", "--speed", "2", str(trace)]) == 0
    times = [record.at_s for record in good_trace() if hasattr(record, "at_s")]
    assert sum(slept) == pytest.approx((times[-1] - times[0]) / 2)


def test_long_silence_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody watches a screen on which nothing happens."""
    slept: list[float] = []
    monkeypatch.setattr(replay.time, "sleep", slept.append)

    class Still:
        def refresh(self, *, now_s: float) -> None:
            pass

    replay._wait(Still(), since_s=0.0, until_s=100.0, speed=2.0)  # type: ignore[arg-type]  # all it needs
    assert sum(slept) == pytest.approx(replay.LONGEST_GAP_S)


def test_a_lying_trace_can_be_shown(lying_trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Showing is no judgement."""
    assert main(["replay", str(lying_trace)]) == 0
    assert "Agent: Hello there!" in capsys.readouterr().out


def test_a_redacted_copy_has_no_words_and_one_reader(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It can be given away, it still proves, and only its owner can read it."""
    copy = tmp_path / "public.jsonl"
    assert main(["replay", "--audit", "--redact", str(copy), str(trace)]) == 0
    text = copy.read_text(encoding="utf-8")
    assert "miles" not in text
    assert '"text":"xxxxx xxxxx!"' in text
    assert "PROVEN" in capsys.readouterr().out
    assert stat.S_IMODE(os.stat(copy).st_mode) == 0o600


def test_a_broken_trace_leaves_no_copy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The error names file and line, and nothing half-written stays."""
    broken = tmp_path / "broken.jsonl"
    broken.write_text(encode(good_trace()[0]) + "\n" + '{"type":"led', encoding="utf-8")
    assert main(["replay", "--redact", str(tmp_path / "copy"), str(broken)]) == 1
    assert f"{broken} is not a trace: line 2: not JSON" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["broken.jsonl"]


def test_a_trace_is_not_overwritten_by_its_copy(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The words would be gone for good."""
    assert main(["replay", "--redact", str(trace), str(trace)]) == 1
    assert "is the trace itself" in capsys.readouterr().err


def test_a_full_disk_is_named_by_the_copy(
    trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line names the file that was asked for, and nothing half-written stays."""

    def full(*paths: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.replace", full)
    copy = tmp_path / "public.jsonl"
    assert main(["replay", "--redact", str(copy), str(trace)]) == 1
    wanted = f"voiceagent: cannot write {copy}: No space left on device\n"
    assert capsys.readouterr().err == wanted
    assert list(tmp_path.glob(".*")) == []


def test_a_missing_trace_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The file and what is wrong with it."""
    assert main(["replay", str(tmp_path / "nothing")]) == 1
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("speed", ["0", "-1", "nan", "inf", "fast"])
def test_a_speed_is_a_number_above_zero(speed: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Anything else is wrong usage."""
    with pytest.raises(SystemExit) as stopped:
        main(["replay", "--speed", speed, "trace"])
    assert stopped.value.code == 2
    assert "--speed" in capsys.readouterr().err
