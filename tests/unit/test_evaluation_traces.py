"""Recorded conversations: stream logs of any engine, surfaces, usual practice, and explanations."""

import json
import random
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from conversations import Talk
from made_rounds import guessed

from voiceagent.cli import main
from voiceagent.core.events import Draft, Finish, Rollback, Verify
from voiceagent.core.streams import StreamProtocol
from voiceagent.core.trace import Header, RoundRecord, TraceError, encode
from voiceagent.evaluation.churn import ChurnReport
from voiceagent.evaluation.explain import ExplainError, explain
from voiceagent.evaluation.logs import records_of, replies_of
from voiceagent.evaluation.shown import Timed, UsualPractice, ledger_events, show
from voiceagent.evaluation.stages import STAGES, stage_tables
from voiceagent.evaluation.sweep import by_position, closed_form, surfaces_shown

SAID: list[Timed] = [
    (0.10, Draft(text="It can fly")),
    (0.14, Rollback(to=3)),
    (0.14, Draft(text="cannot fly. ")),
    (0.20, Verify(to=15)),
    (0.30, Draft(text="It is a penguin.")),
    (0.40, Verify(to=31)),
    (0.40, Finish()),
]
LOG: list[dict[str, Any]] = [
    {"type": "stream_log", "version": 1},
    {"reply": "r", "at_s": 0.10, "event": "draft", "text": "It can fly"},
    {"reply": "r", "at_s": 0.14, "event": "rollback", "to": 3},
    {"reply": "r", "at_s": 0.14, "event": "draft", "text": "cannot fly. "},
    {"reply": "r", "at_s": 0.20, "event": "verify", "to": 15},
    {"reply": "r", "at_s": 0.20, "event": "round", "drafted": 4, "accepted": 1},
    {"reply": "r", "at_s": 0.30, "event": "draft", "text": "It is a penguin."},
    {"reply": "r", "at_s": 0.40, "event": "verify", "to": 31},
    {"reply": "r", "at_s": 0.40, "event": "finish"},
]


def written(path: Path, lines: list[dict[str, Any]]) -> Path:
    """The log in a file."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_a_stream_log_of_any_engine_is_read_like_a_trace(tmp_path: Path) -> None:
    """Churn, acceptance and replies come out as from the same events in a trace."""
    records = records_of(written(tmp_path / "log.jsonl", LOG))
    report = ChurnReport()
    report.add(records)
    assert (report.replies, report.drafted, report.accepted) == (1, 4, 1)
    assert report.protocols["token_push"].erased == len("can fly")
    assert report.protocols["boundary_commit"].churn == 1.0
    assert replies_of(records) == [SAID]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ({"reply": "r", "at_s": 1.0, "event": "sing"}, "line 2"),
        ({"reply": "r", "at_s": 1.0, "event": "verify"}, "line 2"),
        ({"reply": "r", "at_s": "soon", "event": "finish"}, "line 2"),
        ({"reply": "r", "at_s": 1.0, "event": "verify", "to": 9}, "reply r"),
    ],
)
def test_a_log_that_cannot_be_true_is_refused(
    tmp_path: Path, line: dict[str, Any], complaint: str
) -> None:
    """The message names the line, or the reply whose steps do not follow."""
    with pytest.raises(TraceError, match=complaint):
        records_of(written(tmp_path / "log.jsonl", [LOG[0], line]))


def test_each_surface_is_derived_from_the_same_events() -> None:
    """Gated protocols never retract; a voice commits before a form does; a chat sees the flip."""
    shown = surfaces_shown([SAID], tokens=8)
    for name, found in shown.items():
        if not name.endswith("token_push"):
            assert found["churn"] == 1.0, name
            assert found["inversions"] == [], name
    chat = shown["chat/token_push"]
    assert chat["inversions"][0]["rule"] == "negation"
    assert chat["inversions"][0]["visible_ms"] == 40.0
    assert chat["inversions_per_1000"] == 125.0
    assert next(name for name, found in shown.items() if found["default"]) == "chat/token_push"
    voice, page = shown["voice/boundary_commit"], shown["markdown/boundary_commit"]
    assert voice["first_commit_ms"] <= page["first_commit_ms"]


def test_usual_practice_leaves_wrong_text_standing_and_says_it() -> None:
    """What was taken back counts as standing, and as sound at the rate of the trace."""
    usual = UsualPractice()
    events = ledger_events(SAID, surface="chat")
    usual.add(show(events, protocol=StreamProtocol.TOKEN_PUSH), ms_per_character=100)
    told = usual.to_object()
    assert told["wrong_text_left_standing"] == len("can fly")
    assert told["misspoken_ms"] == 700.0
    assert (told["replies_marred"], told["inversions_said"]) == (1, 1)


def test_the_command_shows_surfaces_and_usual_practice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A team can use it on its own logs; the last line is one JSON object."""
    path = written(tmp_path / "log.jsonl", LOG)
    assert main(["eval", "churn", "--json", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "7 wrong characters left standing in 1 of 1 replies" in printed
    told = json.loads(printed.splitlines()[-1])
    assert told["surfaces"]["chat/token_push"]["erased_bytes"] == 7
    assert told["usual_practice"]["inversions_said"] == 1


@pytest.mark.parametrize(("window", "acceptance"), [(1, 0.7), (4, 0.7), (8, 0.3), (3, 0.95)])
def test_the_closed_form_is_what_a_simulation_gives(window: int, acceptance: float) -> None:
    """Streamed over kept tokens of many rounds with independent guesses."""
    luck, kept, rounds = random.Random(1), 0, 20000
    for _ in range(rounds):
        accepted = 0
        while accepted < window and luck.random() < acceptance:
            accepted += 1
        kept += accepted + 1
    expected = closed_form(window, acceptance)
    assert expected == pytest.approx(rounds * (window + 1) / kept, rel=0.02)
    assert by_position(window, [acceptance] * window) == pytest.approx(expected)


def test_the_closed_form_has_ends() -> None:
    """No guess, no figure; never refused, no churn."""
    assert closed_form(0, 0.7) is None
    assert closed_form(4, None) is None
    assert closed_form(4, 1.0) == 1.0


def record(at: int, **changes: Any) -> RoundRecord:
    """A round in a trace: four guesses, one of which stood."""
    fields = guessed(4, 1, seconds=0.05, draft_s=0.02).as_record() | {"round": at} | changes
    return RoundRecord(reply="r", epoch=0, at_s=float(at), fields=fields)


def test_five_stages_each_with_its_whole_table() -> None:
    """Input, output, state, control, test, owner, time, uncertainty, alternatives, resources."""
    tables = stage_tables([record(1).fields, record(2).fields])
    assert [each["name"] for each in tables] == [each.name for each in STAGES]
    assert sum(each["time_ms"]["share"] for each in tables) == pytest.approx(1)
    for each in tables:
        for column in ("input", "output", "state", "control", "owner", "uncertainty"):
            assert column in each
        assert all((Path(__file__).parents[2] / test).exists() for test in each["test"].split(", "))
    assert tables[2]["resources"] == {"accepted": 2, "windows_accepted_whole": 0.0}


def test_a_slow_reply_is_read_back_to_its_round() -> None:
    """The slowest round, from what it emitted to who chose how much to guess."""
    slow = guessed(4, 1, seconds=0.5, draft_s=0.02).as_record() | {"round": 7, "why": "a try"}
    explained = explain([record(1), RoundRecord(reply="r", epoch=0, at_s=2.0, fields=slow)])
    assert "round 7" in explained.chosen
    assert "score" in explained.chosen
    assert [each["stage"] for each in explained.backwards] == [
        *("advance", "resample", "accept", "score", "draft")
    ]
    says = {each["stage"]: each["says"] for each in explained.backwards}
    assert "' d1' refused: the draft gave it 0.80, the target 0.50" in says["accept"]
    assert "a try" in says["draft"]


def test_the_rounds_of_a_conversation_are_read_too() -> None:
    """What `talk --trace` writes: the fields of a round as they are called in the engine."""
    fields = json.loads(json.dumps(asdict(guessed(4, 1, seconds=0.5, draft_s=0.2))))
    explained = explain([RoundRecord(reply="r", epoch=0, at_s=2.0, fields=fields)])
    assert "round 1: the slowest, 500.0 ms, most of it in stage score" in explained.chosen
    assert explained.forwards[2]["rejected_alternatives"] == "3 guessed tokens"
    assert explained.forwards[0]["time_ms"]["share"] == pytest.approx(0.4)


def test_a_wrong_text_is_read_back_to_its_round() -> None:
    """The round whose guess was shown and refused, or the one that emitted the text."""
    rounds = [record(1), record(2, drafted_text=[" a", " wrong", " b", " c"])]
    assert "round 2: its guess ' wrong'" in explain(rounds, text=" wrong").chosen
    assert "round 1: it emitted" in explain(rounds, text="own").chosen
    with pytest.raises(ExplainError, match="no round"):
        explain(rounds, text="never said")
    with pytest.raises(ExplainError, match="nothing was decoded"):
        explain(rounds, reply="another")
    with pytest.raises(ExplainError, match="lacks"):
        explain([RoundRecord(reply="r", epoch=0, at_s=1.0, fields={})])


def test_the_command_explains_a_trace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tables forwards, one round backwards, JSON at the end."""
    path = tmp_path / "trace.jsonl"
    lines = [Header(preset="tiny"), record(1), record(2)]
    path.write_text("".join(encode(each) + "\n" for each in lines))
    assert main(["eval", "explain", "--json", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "backwards from reply r" in printed
    assert len(json.loads(printed.splitlines()[-1])["forwards"]) == 5


def test_a_trace_of_a_conversation_is_read_whole(tmp_path: Path) -> None:
    """What stands in a trace of ours is told reply by reply, scripted ones left out."""
    held = Talk()
    ledger = held.open("m")
    held.say(ledger, Draft(text="Yes."), Verify(to=4), Finish())
    path = tmp_path / "trace.jsonl"
    path.write_text("".join(encode(each) + "\n" for each in held.records))
    (said,) = replies_of(records_of(path))
    assert [type(event).__name__ for _, event in said] == ["Draft", "Verify", "Finish"]
