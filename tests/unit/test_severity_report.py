"""How bad the retractions of a trace were, by rules, with both distances beside the class."""

import json
from pathlib import Path

import pytest
from conversations import Talk

from voiceagent.cli import main
from voiceagent.core.ledger import Author, Draft, EndReason, Finish, Rollback, RollbackCause, Verify
from voiceagent.core.trace import encode
from voiceagent.evaluation.severity import SeverityReport


def talk() -> Talk:
    """One reply of a model, two of its guesses taken back, and a scripted one."""
    held = Talk()
    script = held.open("hello", author=Author.SCRIPT)
    held.say(script, Draft(text="Hello."), Verify(to=6), Finish(reason=EndReason.STOP))
    ledger = held.open("r")
    held.say(
        ledger,
        *(
            Draft(text="It cannot fly"),
            Verify(to=3),
            Rollback(to=3, cause=RollbackCause.DRAFT_REJECTED),
        ),
        *(
            Draft(text="can fly far"),
            Verify(to=11),
            Rollback(to=11, cause=RollbackCause.DRAFT_REJECTED),
        ),
        *(Draft(text="away."), Verify(to=16), Finish(reason=EndReason.STOP)),
    )
    return held


def test_each_retraction_names_its_rule_its_words_and_its_distances() -> None:
    """The heaviest first; a judge of meaning is asked about the same texts."""
    asked: list[tuple[str, str]] = []

    def meaning(before: str, after: str) -> float:
        asked.append((before, after))
        return 0.75

    report = SeverityReport(meaning=meaning)
    report.add(talk().records)
    first, second = report.to_object()["retractions"]
    assert (first["severity"], first["rule"], first["evidence"]) == (
        *("inversion", "negation"),
        "not / -",
    )
    assert (first["retracted"], first["replacement"]) == ("cannot fly", "can fly ")
    assert (first["string_distance"], first["meaning_distance"]) == (0.3333, 0.75)
    assert (second["severity"], second["retracted"]) == ("rewording", "far")
    assert report.classes == {"none": 0, "rewording": 1, "inversion": 1}
    assert asked == [("It cannot fly", "It can fly "), ("It can fly far", "It can fly away.")]


def test_the_command_prints_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As a table, and in the JSON object."""
    trace = tmp_path / "trace.jsonl"
    trace.write_text("".join(encode(record) + "\n" for record in talk().records))
    assert main(["eval", "churn", "--json", str(trace)]) == 0
    *printed, last = capsys.readouterr().out.splitlines()
    assert "  inversion by negation (not / -): 'cannot fly' became 'can fly '" in printed
    assert "    distance of strings 0.33, visible for 200 ms" in printed
    assert json.loads(last)["severity"]["classes"]["inversion"] == 1
