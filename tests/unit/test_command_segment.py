"""``voiceagent segment``: text in, segments out as soon as they are certain, reasons on demand."""

import io
import json
import subprocess
import sys
from typing import Any

import pytest

from voiceagent.cli import main


class Standard(io.TextIOWrapper):
    """Standard input that is or is not a terminal."""

    def __init__(self, data: bytes, *, terminal: bool = False) -> None:
        super().__init__(io.BufferedReader(io.BytesIO(data)))  # type: ignore[arg-type]  # a raw stream
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


def segment(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], data: bytes, *flags: str
) -> tuple[int, list[str], str]:
    """Exit status, lines of output, and what was said on standard error."""
    monkeypatch.setattr(sys, "stdin", Standard(data))
    status = main(["segment", *flags])
    out, err = capsys.readouterr()
    return status, out.splitlines(), err


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    def call(data: bytes, *flags: str) -> tuple[int, list[str], str]:
        return segment(monkeypatch, capsys, data, *flags)

    return call


def test_one_segment_a_line(run: Any) -> None:
    """Sentences by default, without the blanks around them."""
    assert run(b"Pi is 3.14. Dr. Lee knows. ") == (0, ["Pi is 3.14.", "Dr. Lee knows."], "")


def test_line_breaks_and_backslashes_inside_a_segment_are_escaped(run: Any) -> None:
    """One line is one segment, whatever it holds."""
    _, lines, _ = run("a line\nthat C:\\x goes\r\non\u2028ok".encode())
    assert lines == ["a line\\nthat C:\\\\x goes\\r\\non\\u2028ok"]


def test_json_has_the_exact_text(run: Any) -> None:
    """The segments concatenate to the input, blanks after the last one included."""
    status, lines, _ = run(b"Yes. No.\n", "--json")
    report = json.loads(lines[-1])
    assert status == 0
    assert lines[:-1] == ["Yes.", "No."]
    assert report["segments"] == ["Yes.", " No.\n"]
    assert (report["language"], report["kind"]) == ("en", "sentence")
    assert [(c["start"], c["end"], c["kind"]) for c in report["commits"]] == [
        (0, 4, "sentence"),
        (4, 8, "sentence"),
        (8, 9, "silent"),
    ]
    assert "decisions" not in report


@pytest.mark.parametrize("data", [b"", b"\n", b"  \n\n"])
def test_nothing_to_say(run: Any, data: bytes) -> None:
    """An empty input has no segments; blanks alone print nothing."""
    status, lines, err = run(data, "--json")
    assert (status, err) == (0, "")
    assert "".join(json.loads(lines[-1])["segments"]) == data.decode()
    assert len(lines) == 1


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        ("sentence", ["If so, go.", '{"a": 1}']),
        ("clause", ["If so,", "go.", '{"a": 1}']),
        ("structured", ["If so, go.", '{"a": 1}']),
        ("voice", ["If so, go.", '{"a": 1}']),
        ("markdown", ["If so, go.", '{"a": 1}']),
        ("form", ["If so, go.", '{"a": 1', "}"]),
        ("code", ["If so, go.", '{"a": 1}']),
    ],
)
def test_each_kind_cuts_where_it_says(run: Any, kind: str, wanted: list[str]) -> None:
    """The kind of segment is a flag."""
    assert run(b'If so, go. {"a": 1}', "--kind", kind)[1] == wanted


def test_the_language_is_a_flag(run: Any) -> None:
    """A German ordinal is no end; a tag with a region is fine, nonsense is wrong usage."""
    text = "Am 14. März. Gut.".encode()
    assert run(text, "--lang", "de-AT")[1] == ["Am 14. März.", "Gut."]
    assert run(text)[1] == ["Am 14.", "März.", "Gut."]
    with pytest.raises(SystemExit) as exit_info:
        run(text, "--lang", "d e")
    assert exit_info.value.code == 2


def test_buffered_sound_is_a_flag(run: Any) -> None:
    """With little sound waiting, a voice is cut at clauses."""
    text = b"Yes. When the boat comes back tonight, we will see it."
    assert len(run(text, "--kind", "voice")[1]) == 2
    assert len(run(text, "--kind", "voice", "--buffered-ms", "0")[1]) == 3


def test_chunks_are_fed_one_by_one(run: Any) -> None:
    """One JSON string a line; blank lines do not count; a torn surrogate pair is joined."""
    data = b'"Pi is 3"\n"."\n\n"14. Yes \\ud83d"\n"\\ude00."\n'
    assert run(data, "--chunks")[1] == ["Pi is 3.14.", "Yes 😀."]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'"a"\n5\n', "line 2 of the input is not a JSON string"),
        (b'"a"\nb\n', "line 2 of the input is not JSON"),
        (b'"\xff"\n', "line 1 of the input is not JSON"),
        (b'"\\ude00"\n', "line 1 of the input ends or begins in half a character"),
        (b'"\\ud83d"\n', "line 1 of the input ends or begins in half a character"),
        (b"[" * 100_000 + b"\n", "line 1 of the input is nested too deeply"),
    ],
)
def test_bad_chunks_name_their_line(run: Any, data: bytes, message: str) -> None:
    """What is no chunk gets one clear line."""
    status, _, err = run(data, "--chunks")
    assert status == 1
    assert message in err
    assert err.count("\n") == 1


def test_what_is_no_utf_8_is_named_by_its_byte(run: Any) -> None:
    """What came before it is segmented all the same."""
    status, lines, err = run("é! Ok. ".encode() + b"\xff and", "--json")
    assert (status, lines) == (1, ["é!"])
    assert "not UTF-8: byte 8 " in err


@pytest.mark.parametrize("value", ["-5", "nan", "much"])
def test_buffered_sound_is_no_less_than_nothing(
    run: Any, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Anything else is wrong usage."""
    with pytest.raises(SystemExit) as exit_:
        run(b"Hello.", "--buffered-ms", value)
    assert exit_.value.code == 2
    assert f"argument --buffered-ms: '{value}' is" in capsys.readouterr().err


@pytest.mark.parametrize("flags", [[], ["--whole"]])
def test_spoken_reads_utf_8_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], flags: list[str]
) -> None:
    """Read the same way: lines end as they may, and what is no UTF-8 is named by its byte."""
    monkeypatch.setattr(sys, "stdin", Standard("Caf\u00e9\r\nNo. 5".encode()))
    assert main(["spoken", *flags]) == 0
    assert capsys.readouterr().out.split() == ["Caf\u00e9", "Number", "five"]
    monkeypatch.setattr(sys, "stdin", Standard(b"ab\xff"))
    assert main(["spoken", *flags]) == 1
    assert "standard input is not UTF-8: byte 2" in capsys.readouterr().err


def test_explained_marks_are_lines_that_begin_with_a_tab(run: Any) -> None:
    """Each mark is told before the segment it lies in, and again in the report."""
    _, lines, _ = run(b"Pi is 3.14. Well", "--explain", "--json")
    assert lines[:4] == [
        '\t7\tkept\t"."\tno blank follows',
        '\t10\tcut \t"."\ta stop, a blank and no lower-case letter',
        "Pi is 3.14.",
        "Well",
    ]
    assert json.loads(lines[-1])["decisions"][0] == {
        "position": 7,
        "mark": ".",
        "cut": False,
        "reason": "no blank follows",
    }
    assert run(b"Pi is 3.1", "--explain")[1] == ['\t7\tkept\t"."\tno blank follows', "Pi is 3.1"]


def test_a_terminal_is_told_how_to_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Somebody who types is not left wondering."""
    monkeypatch.setattr(sys, "stdin", Standard(b"Yes.", terminal=True))
    assert main(["segment"]) == 0
    assert "end with Ctrl-D" in capsys.readouterr().err


def test_a_segment_is_printed_as_soon_as_it_is_certain() -> None:
    """Not when the input ends: whoever waits for it, waits for this segment."""
    with subprocess.Popen(
        [sys.executable, "-m", "voiceagent", "segment"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("Früh da. U".encode()[:-1] + b"U")
        process.stdin.flush()
        assert process.stdout.readline() == "Früh da.\n".encode()
        process.stdin.close()
        assert process.stdout.read() == b"U\n"
    assert process.returncode == 0


def test_a_reader_that_leaves_is_no_error_to_report() -> None:
    """``voiceagent segment | head -1`` ends quietly."""
    process = subprocess.run(
        f"yes 'Yes. No.' | head -50000 | {sys.executable} -m voiceagent segment | head -1",
        shell=True,
        capture_output=True,
        check=False,
    )
    assert (process.stdout, process.stderr) == (b"Yes.\n", b"")
