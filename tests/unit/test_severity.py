"""Severity: what the rules find, what they let pass, and what a stream's retractions weigh.

The pairs were written before the rules (``pairs.jsonl``), or before the rules had seen them
(``held.jsonl``: 62 of 67 found, 11 of 65 false on first sight; ``third.jsonl``: 40 of 42 and 7 of
42; ``fourth.jsonl``: 68 of 70 and 5 of 70; ``fifth.jsonl``: 53 of 68 and 11 of 73;
``sixth.jsonl``: 65 of 70 and 8 of 73; ``seventh.jsonl``: 57 of 60 and 7 of 60). What was found
then to be wrong was mended, so that today's figures are better than what unseen text will give.
"""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from voiceagent.core import frames as wire
from voiceagent.core.churn import ChurnMeter
from voiceagent.core.events import Author, EndReason, RollbackCause, Turn, VoidCause
from voiceagent.core.frames import Frame, StreamProtocol, TextState
from voiceagent.core.severity import Severity, assess, judge

SETS = ("pairs", "held", "third", "fourth", "fifth", "sixth", "seventh")
FOLDER = Path(__file__).parents[1] / "vectors" / "severity"


def rows(name: str) -> list[dict[str, str]]:
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("name", SETS)
def test_inversions_are_found_and_rewordings_are_let_pass(name: str) -> None:
    """At least nine of ten inversions, with at most one false alarm in ten rewordings."""
    found: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for row in rows(name):
        total[row["kind"]] += 1
        found[row["kind"]] += judge(row["before"], row["after"]).severity is Severity.INVERSION
    assert found["inversion"] / total["inversion"] >= 0.9
    assert found["rewording"] / total["rewording"] <= 0.1


@pytest.mark.parametrize("name", SETS)
def test_a_judgement_is_the_same_in_both_directions(name: str) -> None:
    """What was shown and what replaced it can change places."""
    for row in rows(name):
        one = judge(row["before"], row["after"])
        other = judge(row["after"], row["before"])
        assert one.severity is other.severity, row
        assert one.string_distance == other.string_distance


@pytest.mark.parametrize(
    ("before", "after", "rule", "evidence"),
    [
        ("Yes, it is.", "No, it isn't.", "yes_no", "yes / no"),
        ("I think so.", "I don't think so.", "yes_no", "yes / no"),
        ("Not really.", "Yes.", "yes_no", "no / yes"),
        ("That's not right.", "That's right.", "yes_no", "no / yes"),
        ("That isn't wrong.", "That's wrong.", "yes_no", "yes / no"),
        ("It is probably no.", "It is probably yes.", "yes_no", "no / yes"),
        ("It leaves at 5:40.", "It leaves at 6:40.", "number", "5:40 / 6:40"),
        ("Paris is nice.", "Lyon is nice.", "name", "Paris / Lyon"),
        ("Ask IBM about it.", "Ask Microsoft about it.", "name", "IBM / Microsoft"),
        ("Call Dr. Patel now.", "Call Dr. Gomez now.", "name", "Patel / Gomez"),
        ("Maria approved it today.", "Daniel approved it today.", "name", "Maria / Daniel"),
        ("Paris was nice.", "James was nice.", "name", "Paris / James"),
        ("You're in seat 14C.", "You're in seat 14A.", "number", "14c / 14a"),
        ("It can fly.", "It can't fly.", "negation", "- / not"),
        ("You can park. It is free.", "You can't park. It isn't free.", "negation", "- / not"),
        ("He forgot the date.", "He remembered the date.", "antonym", "forgot / remembered"),
        ("I believe it is. Wait.", "I don't believe it is. Don't wait.", "yes_no", "yes / no"),
        ("It is possible.", "It is impossible.", "negation", "- / impossible"),
        ("So it is.", "So it is not.", "negation", "- / not"),
        ("Turn left here.", "Turn right here.", "antonym", "left / right"),
        ("Prices are rising.", "Prices are falling.", "antonym", "rising / falling"),
        ("It is stopped.", "It is started.", "antonym", "stopped / started"),
        ("It was careful.", "It was careless.", "antonym", "careful / careless"),
        ("It is legible.", "It is illegible.", "antonym", "legible / illegible"),
        ("The dog bit the man.", "The man bit the dog.", "reordering", "dog / man"),
        ("Gold is heavier than lead.", "Lead is heavier than gold.", "reordering", "gold / lead"),
        (
            "Rome is much bigger than Oslo.",
            "Oslo, it is bigger than Rome.",
            "reordering",
            "than oslo",
        ),
    ],
)
def test_an_inversion_names_its_rule_and_its_words(
    before: str, after: str, rule: str, evidence: str
) -> None:
    """A report can be checked by eye."""
    judgement = judge(before, after)
    assert (judgement.severity, judgement.rule) == (Severity.INVERSION, rule)
    assert judgement.evidence == evidence


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("It is not difficult.", "It is easy."),
        ("Anna is taller than Ben.", "Ben is shorter than Anna."),
        ("He is younger than his sister.", "His sister is older than he is."),
        ("Bread and butter.", "Butter and bread."),
        ("Paris is the capital of France.", "The capital of France is Paris."),
        ("Tomorrow it will rain.", "It will rain tomorrow."),
        ("It is open.", "It is open, but not on Sundays."),
        ("The US won.", "The United States won."),
        ("The United States lost.", "The US lost."),
        ("Right turns are hard.", "Right turns are difficult."),
        ("It sold better than ever.", "Better sales than ever, they say."),
        ("Honey never spoils.", "Sugar lasts."),
        ("Go in by the gate.", "Get out your ticket at the gate."),
        ("We have run out of milk.", "There is no milk left."),
        ("The soup is too hot to eat.", "The soup is so hot that you can't eat it."),
        ("It's free for children.", "Children don't pay."),
        ("The glass is half empty.", "The glass is half full."),
        ("My aunt sold them the house.", "They bought the house from my aunt."),
        ("The bank is next to the post office.", "The post office is next to the bank."),
        ("After the rain, the sun came out.", "It rained before the sun came out."),
        ("Lucy is Ben's sister.", "Ben is Lucy's brother."),
        ("Rent is cheaper here than there.", "Rent is more expensive there than here."),
        ("In France, it's a holiday.", "It is a French holiday."),
        ("No, it's the other one.", "Not that one, the other."),
        ("Honestly, I'll do it.", "Sure, I'll take care of it."),
        ("Tom is taller than Jim.", "Jim isn't as tall as Tom."),
        ("I live in the USA.", "My home is in the United States."),
        ("Everyone agreed to it.", "Everybody agreed to it."),
        ("Dinner is served at six.", "Supper is served at six."),
        ("Dogs barked all night.", "Hounds barked all night."),
        ("He lost it. It was cheap.", "He had lost it, and it was cheap."),
    ],
)
def test_another_way_to_say_it_is_a_rewording(before: str, after: str) -> None:
    """Two turns cancel out, and what is indifferent may change places."""
    judgement = judge(before, after)
    assert (judgement.severity, judgement.rule) == (Severity.REWORDING, None)


def test_case_and_punctuation_are_nothing() -> None:
    """What no reader would notice weighs nothing; the strings still differ."""
    judgement = judge("yes it is", "Yes, it is.")
    assert judgement.severity is Severity.NONE
    assert judgement.string_distance > 0


@pytest.mark.parametrize(
    ("before", "after", "distance"),
    [
        ("", "", 0.0),
        ("same", "same", 0.0),
        ("abc", "xyz", 1.0),
        ("", "two words", 1.0),
        ("It is far away", "It is not far", 0.5),
        ("a b c d", "b c d a", 0.5),
        ("one two three", "one too", 0.6667),
    ],
)
def test_the_distance_of_strings_counts_words(before: str, after: str, distance: float) -> None:
    """To insert, delete or replace, as a share of the longer one's."""
    assert judge(before, after).string_distance == distance


def test_another_judge_may_be_asked_and_changes_nothing() -> None:
    """What it says of the meaning stands beside the class."""
    asked: list[tuple[str, str]] = []

    def meaning(before: str, after: str) -> float:
        asked.append((before, after))
        return 0.987654

    judgement = judge("It is far.", "It is near.", meaning=meaning)
    assert asked == [("It is far.", "It is near.")]
    assert judgement.meaning_distance == 0.9877
    assert replace(judgement, meaning_distance=None) == judge("It is far.", "It is near.")


# Streams --------------------------------------------------------------------------------------

HEAD = {"reply": "r", "epoch": 0, "seq": 0}


def shown(*texts: str | int | VoidCause) -> ChurnMeter:
    """A meter of appends, rollbacks (by position) and voids, half a second apart."""
    meter = ChurnMeter()
    start = wire.StartFrame(
        **HEAD, protocol=StreamProtocol.TOKEN_PUSH, turn=Turn.EAGER, author=Author.MODEL
    )
    meter.feed(start, at_s=0.0)
    length = 0
    for number, what in enumerate(texts, start=1):
        frame: Frame
        if isinstance(what, VoidCause):
            frame = wire.VoidFrame(**HEAD, cause=what)
        elif isinstance(what, str):
            frame = wire.AppendFrame(**HEAD, at=length, text=what, state=TextState.PROVISIONAL)
            length += len(what)
        else:
            frame = wire.RollbackFrame(**HEAD, to=what, cause=RollbackCause.DRAFT_REJECTED)
            length = what
        meter.feed(frame, at_s=number / 2)
    meter.feed(wire.EndFrame(**HEAD, at=0, reason=EndReason.STOP), at_s=99.0)
    return meter


def test_a_retraction_is_judged_by_the_words_that_replaced_it() -> None:
    """Read from the beginning of the sentence, and no further than it had come."""
    meter = shown("It is far. You cannot walk", 15, "can walk there, but not at night.")
    final = "It is far. You can walk there, but not at night."
    (assessment,) = assess(meter.retractions(), final={"r": final})
    assert assessment.replacement == "can walk "
    assert assessment.judgement.rule == "negation"
    assert assessment.score == len("cannot walk") * 500 * 10.0


def test_a_negator_takes_no_word_from_what_it_negates() -> None:
    """Else a "not" would push out the very word that shows what was turned around."""
    meter = shown("It is far", 6, "not far. Two miles.")
    (assessment,) = assess(meter.retractions(), final={"r": "It is not far. Two miles."})
    assert assessment.replacement == "not far. "
    assert assessment.judgement.rule == "negation"


def test_a_word_cut_in_two_is_judged_whole() -> None:
    """A rollback into the middle of a word changes the word."""
    meter = shown("Turn left", 5, "right.")
    (assessment,) = assess(meter.retractions(), final={"r": "Turn right."})
    assert assessment.judgement.evidence == "left / right"
    meter = shown("It is impossible", 8, "portant.")
    (assessment,) = assess(meter.retractions(), final={"r": "It is important."})
    assert assessment.judgement.severity is Severity.REWORDING


def test_text_that_came_back_was_no_change() -> None:
    """Rejected and emitted again, it weighs nothing."""
    meter = shown("Yes it", 4, "it is.")
    (assessment,) = assess(meter.retractions(), final={"r": "Yes it is."})
    assert assessment.judgement.severity is Severity.NONE
    assert assessment.score == 0.0


def test_a_reply_withdrawn_for_good_was_replaced_by_nothing() -> None:
    """Its text is compared with none."""
    meter = shown("No.", VoidCause.SUPERSEDED)
    (assessment,) = assess(meter.retractions(), final={})
    assert (assessment.replacement, assessment.judgement.severity) == ("", Severity.REWORDING)
