"""The evaluation set and its answer keys."""

import json
from collections import Counter
from pathlib import Path

import pytest

from voiceagent.evaluation.answers import AnswerKeyError, grade, tool_calls
from voiceagent.evaluation.prompts import DATA, POPULATIONS, Prompt, PromptError, PromptSet


def prompt(**check: object) -> Prompt:
    return Prompt(
        id="p",
        population="hard",
        group="g",
        surface="chat",
        user="?",
        check=check,
        severity="major",
    )


def test_the_set_is_large_enough_and_a_third_is_held_out() -> None:
    """At least 150 prompts in five populations, 24 of each in the frozen subset."""
    whole = PromptSet.load()
    assert len(whole.prompts) >= 150
    assert 0.32 <= sum(each.held_out for each in whole.prompts) / len(whole.prompts) <= 0.36
    quick = Counter(each.population for each in whole.quick().prompts)
    assert quick == dict.fromkeys(POPULATIONS, 24)
    held = Counter(each.population for each in whole.quick().prompts if each.held_out)
    assert set(held.values()) == {8}


def test_every_key_can_be_asked_about_any_reply() -> None:
    """No key has an unknown rule; an empty reply is right only where little or no call is asked."""
    for each in PromptSet.load().prompts:
        assert not grade("", each).right or each.check.keys() <= {"words_max", "calls"}, each.id
    assert "CC0-1.0" in (DATA / "README.md").read_text()


@pytest.mark.parametrize(
    ("check", "right", "wrong"),
    [
        ({"any": ["Rome"]}, "It is rome.", "It is Romeo."),
        ({"all": ["SELECT", "orders"]}, "select * from orders", "select 1"),
        ({"none": ["big"]}, "A bigger house", "A big house"),
        ({"begins": ["no"]}, "No, it is not.", "It is not."),
        ({"times": ["a b", 2]}, "a b, and a b", "a b"),
        ({"digits": "1200000"}, "1,200,000", "120,000"),
        ({"letters": "Ada"}, "A - d - a", "Ada"),
        ({"words_max": 2}, "Down it", "It is down"),
        ({"json": {"age": 34}}, 'Here: {"name": "M", "age": 34}', '{"age": "34"}'),
        ({"python": ["f"]}, "```python\ndef f(x):\n    return x\n```", "def f(x:"),
        ({"python": ["s"]}, "s = [n * n for n in range(3)]", "t = 1"),
        ({"refusal": True}, "I can\u2019t help with that.", "Sure: first, take a pipe."),
        ({"any": ["?"]}, "What do you mean?", "Fine."),
    ],
)
def test_a_key_tells_right_from_wrong(check: dict[str, object], right: str, wrong: str) -> None:
    """Each rule accepts what it is for and refuses what it is against."""
    assert grade(right, prompt(**check)).right
    judged = grade(wrong, prompt(**check))
    assert (judged.right, judged.severity, judged.failed) == (False, "major", tuple(check))


def test_calls_are_counted_against_what_is_permitted() -> None:
    """A forbidden call is wrong even beside the one that was expected."""
    key = prompt(calls={"allowed": ["look"], "expected": "look"})
    look, wipe = (json.dumps({"name": name, "arguments": {}}) for name in ("look", "wipe"))
    assert grade(look, key).right
    judged = grade(look + wipe, key)
    assert (judged.right, judged.calls, judged.calls_allowed) == (False, 2, 1)
    assert not grade("I will look.", key).right
    assert list(tool_calls('{"name": "x"} {"arguments": {}} {')) == []


def test_an_unknown_rule_is_named() -> None:
    """A misspelt key is no key that everybody passes."""
    with pytest.raises(AnswerKeyError, match="sounds_like"):
        grade("", prompt(sounds_like="Rome"))


@pytest.mark.parametrize("line", ["no JSON", "[1]", '{"id": "x"}', '{"id": "x", "colour": "red"}'])
def test_a_line_that_is_no_prompt_is_refused(line: str, tmp_path: Path) -> None:
    """The set does not shrink silently."""
    for name in POPULATIONS:
        (tmp_path / f"{name}.jsonl").write_text(line if name == "hard" else "")
    with pytest.raises(PromptError):
        PromptSet.load(tmp_path)


def test_two_prompts_of_one_id_are_refused(tmp_path: Path) -> None:
    """Runs are kept by id."""
    line = json.dumps(
        {"id": "x", "population": "hard", "group": "g", "surface": "chat", "user": "", "check": {}}
    )
    for name in POPULATIONS:
        (tmp_path / f"{name}.jsonl").write_text(f"{line}\n{line}\n" if name == "hard" else "")
    with pytest.raises(PromptError, match="two of that id"):
        PromptSet.load(tmp_path)


def test_a_deployment_brings_its_own_prompts(tmp_path: Path) -> None:
    """The set that ships for editing is read; one without held-out prompts is refused."""
    editing = DATA / "editing" / "prompts.jsonl"
    own = PromptSet.of_file(editing)
    assert {each.population for each in own.prompts} == set(POPULATIONS)
    assert {each.surface for each in own.prompts} == {"code", "form", "markdown"}
    assert not any(grade("", each).right for each in own.prompts)
    ids = [own.prompts[3].id, own.prompts[1].id]
    assert [each.id for each in own.named(ids).prompts] == ids[::-1]
    with pytest.raises(PromptError, match="not in this set"):
        own.named(["ordinary-01"])
    chosen = [line for line in editing.read_text().splitlines() if '"held_out": false' in line]
    (tmp_path / "own.jsonl").write_text("\n".join(chosen))
    with pytest.raises(PromptError, match="held out"):
        PromptSet.of_file(tmp_path / "own.jsonl")
    with pytest.raises(PromptError, match="cannot read"):
        PromptSet.of_file(tmp_path / "absent.jsonl")


def test_earlier_turns_come_before_the_question() -> None:
    """A contradiction is told turn by turn, and the salt stands where no cache can know it."""
    told = Prompt(
        id="p",
        population="hard",
        group="g",
        surface="chat",
        user="When?",
        check={},
        before=("At eight.", "At nine."),
    )
    said = told.messages(salt="7. ")
    assert said[0].content.startswith("7. ")
    assert [each.content for each in said[1:]] == [
        "At eight.",
        "Okay.",
        "At nine.",
        "Okay.",
        "When?",
    ]
