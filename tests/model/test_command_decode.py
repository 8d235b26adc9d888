"""``voiceagent decode`` from the command line, with the tiny preset's real model."""

import io
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from voiceagent.cli import main
from voiceagent.commands._rounds import LiveRounds, paint
from voiceagent.core.events import Draft, Rollback, Verify
from voiceagent.core.trace import Header, RoundRecord, read
from voiceagent.decoding.record import Outcome, Round, StageTimes

PROMPT = "Say hello to Anna Maria Lopez, Anna Maria Lopez and Anna Maria Lopez."


def decode(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """Runs the command and reads its last line."""
    assert main(["decode", PROMPT, "--preset", "tiny", "--json", *arguments]) == 0
    figures: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return figures


def test_the_figures_add_up(capsys: pytest.CaptureFixture[str]) -> None:
    """Drafted tokens were accepted or rejected, and every token came from a round."""
    figures = decode(capsys, "--draft", "ngram", "-k", "4", "--max-tokens", "40")
    assert figures["text"]
    assert figures["drafted"] == figures["accepted"] + figures["rejected"] > 0
    assert figures["tokens"] <= 40
    assert figures["rounds"] <= figures["tokens"] == figures["accepted"] + figures["rounds"]
    assert figures["tokens_per_s"] > 0
    assert len(figures["acceptance_by_position"]) <= 4
    assert set(figures["stage_ms"]) == {"draft", "score", "accept", "resample", "advance"}
    plain = decode(capsys, "--draft", "none", "--max-tokens", "40")
    assert plain["text"] == figures["text"]
    assert plain["drafted"] == 0


@pytest.mark.parametrize("acceptance", ["coupled", "rejection"])
def test_a_seed_repeats_a_sampled_reply(
    capsys: pytest.CaptureFixture[str], acceptance: str
) -> None:
    """The same seed and window give the same text, another seed another one."""
    asked = ("--temperature", "1", "--top-p", "0.95", "--max-tokens", "12", "-k", "2")
    once, again, other = (
        decode(capsys, *asked, "--acceptance", acceptance, "--seed", seed)["text"]
        for seed in ("1", "1", "2")
    )
    assert once == again != other


def test_a_trace_is_private_and_can_be_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A header, then every round with the tokens of all five stages."""
    path = tmp_path / "rounds.jsonl"
    figures = decode(capsys, "--draft", "ngram", "-k", "3", "--trace", str(path))
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]
    records = [record for _, record in read(path.read_text().splitlines())]
    assert isinstance(records[0], Header)
    assert set(records[0].models) == {"target"}
    rounds = [record.fields for record in records[1:] if isinstance(record, RoundRecord)]
    assert len(rounds) == figures["rounds"]
    assert sum(len(each["drafted"]) for each in rounds) == figures["drafted"]
    assert "".join("".join(each["emitted_text"]) for each in rounds) == figures["text"]


def test_without_json_the_figures_are_for_reading(capsys: pytest.CaptureFixture[str]) -> None:
    """Not a terminal: the verified text, then the figures in plain lines."""
    command = ["decode", PROMPT, "--preset", "tiny", "--draft", "ngram", "-k", "3"]
    assert main([*command, "--max-tokens", "30"]) == 0
    text, *figures = capsys.readouterr().out.split("\n\n")
    assert text
    assert "tokens/s over" in figures[-1]
    assert "acceptance at position" in figures[-1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--draft", "model"], "no drafter 'model' here"),
        (["--trace", "/nonexistent/t.jsonl"], "there is no folder /nonexistent; make it first"),
    ],
)
def test_what_cannot_be_done_gets_one_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    """Exit status 1 and a line that names it."""
    assert main(["decode", "Hello", "--preset", "tiny", *arguments]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize(
    ("option", "value"),
    [("--top-p", "2"), ("--top-p", "0"), ("--top-k", "-5"), ("--min-p", "nan")],
)
def test_a_number_out_of_range_is_wrong_usage(
    option: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit status 2, before a model is loaded."""
    with pytest.raises(SystemExit) as exit_:
        main(["decode", "Hello", option, value])
    assert exit_.value.code == 2
    assert f"argument {option}: " in capsys.readouterr().err


def a_round(**changes: Any) -> Round:
    """Two accepted, one rejected, one recovered."""
    values: dict[str, Any] = {
        "index": 1,
        "start": 1,
        "fed": 1,
        "drafter": "model",
        "window": 3,
        "why": "fixed",
        "drafted": (1, 2, 3),
        "draft_probabilities": (0.9, 0.8, 0.7),
        "target_probabilities": (0.9, 0.8, 0.1),
        "accepted": 2,
        "emitted": (1, 2, 4),
        "outcome": Outcome.RECOVERED,
        "times": StageTimes(0.01, 0.02, 0.0, 0.0, 0.0),
        "drafted_text": (" the", " big", " dog"),
        "emitted_text": (" the", " big", " cat"),
    }
    return Round(**{**values, **changes})


def test_every_fate_has_a_mark_of_its_own() -> None:
    """Told apart without colours too."""
    assert paint(a_round()).plain == " the big[ dog]> cat"
    bonus = a_round(
        accepted=3, outcome=Outcome.BONUS, emitted_text=(" the", " big", " dog", " ran")
    )
    assert paint(bonus).plain == " the big dog+ ran"
    plain = a_round(
        drafted=(), accepted=0, outcome=Outcome.PLAIN, drafted_text=(), emitted_text=("A",)
    )
    assert paint(plain).plain == "A"
    ended = a_round(accepted=1, dropped=1, outcome=Outcome.END, emitted_text=(" the",))
    assert paint(ended).plain == " the[ dog]"


def test_a_terminal_sees_drafts_before_their_fate() -> None:
    """Provisional text is drawn dim, then replaced by what came of it."""
    output = io.StringIO()
    console = Console(file=output, force_terminal=True, width=60)
    with LiveRounds(console) as view:
        view(Draft(text=" the big dog"))
        view(Rollback(to=8))
        view(Verify(to=8))
        view(a_round())
    drawn = output.getvalue()
    assert "\x1b[2m the big dog" in drawn
    assert drawn.index("\x1b[2m the big dog") < drawn.index("[ dog]")
    assert "> cat" in drawn
