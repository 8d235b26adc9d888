"""Quantities: numbers, times and days, however they are written."""

import pytest

from voiceagent.core.quantities import Quantity, quantities, unmatched


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("3 miles", ["3 mile"]),
        ("three miles", ["3 mile"]),
        ("forty-two", ["42"]),
        ("one hundred and five people", ["105"]),
        ("a thousand euros", ["1000 euro"]),
        ("€1,000", ["1000 euro"]),
        ("four million", ["4000000"]),
        ("2.5 million dollars", ["2500000 dollar"]),
        ("twelve hundred", ["1200"]),
        ("two thousand three hundred", ["2300"]),
        ("nine ten", ["9", "10"]),
        ("20%", ["20 percent"]),
        ("twenty percent", ["20 percent"]),
        ("half of them", ["50 percent"]),
        ("half an hour", ["30 minute"]),
        ("an hour and a half", ["90 minute"]),
        ("two and a half hours", ["5/2 hour"]),
        ("half a cup", ["1/2 cup"]),
        ("3/4 cup", ["3/4 cup"]),
        ("a dozen eggs", ["12"]),
        ("the third floor", ["3"]),
        ("March 3rd", ["march", "3"]),
        ("on Tuesdays", ["tuesday"]),
        ("in May", ["may_month"]),
        ("you may go", []),
        ("5:40", ["5:40"]),
        ("15:00", ["3:00 pm"]),
        ("9 p.m.", ["9:00 pm"]),
        ("nine in the evening", ["9:00 pm"]),
        ("half past three", ["3:30"]),
        ("a quarter past three", ["3:15"]),
        ("quarter to five", ["4:45"]),
        ("quarter to one", ["12:45"]),
        ("eight o'clock", ["8:00"]),
        ("noon", ["12:00 pm"]),
        ("the blue one", []),
        ("one of them", []),
        ("one ticket", ["1"]),
        ("6.30 pm", ["6:30 pm"]),
        ("$2.50", ["5/2 dollar"]),
        ("one is enough", []),
        ("wait a second", []),
        ("no number at all", []),
        ("minus five degrees", ["-5"]),
        ("five degrees below zero", ["-5"]),
        ("from 9-5", ["9", "5"]),
        ("the nineteenth century", ["19 century"]),
        ("the twenty-first of May", ["may_month", "21"]),
        ("seat 4B, gate C-7", ["4b", "c7"]),
        ("in the spring", ["spring"]),
        ("a spring in the bed", []),
        ("a quarter of the cake", ["25 percent"]),
        ("one in five people", ["20 percent"]),
        ("it's ten to four", ["3:50"]),
        ("at 20 past one", ["1:20"]),
        ("by five minutes past two", ["2:05"]),
        ("five to ten people", ["5", "10"]),
        ("at six this evening", ["6:00 pm"]),
        ("twice a day", ["2"]),
        ("a fortnight", ["1 fortnight"]),
    ],
)
def test_a_quantity_is_the_same_in_words_and_digits(text: str, found: list[str]) -> None:
    """Value and unit, a time of day, or a day."""
    assert [str(quantity) for quantity in quantities(text)] == found


@pytest.mark.parametrize(
    ("one", "other", "agree"),
    [
        (Quantity("5", "mile"), Quantity("5", "mile"), True),
        (Quantity("5", "mile"), Quantity("5"), True),
        (Quantity("5", "mile"), Quantity("5", "kilometer"), False),
        (Quantity("5", "mile"), Quantity("6", "mile"), False),
        (Quantity("24", "hour"), Quantity("1", "day"), True),
        (Quantity("24", "hour"), Quantity("2", "day"), False),
        (Quantity("1", "month"), Quantity("30", "day"), False),
        (Quantity("1/2", "kilometer"), Quantity("500", "meter"), True),
        (Quantity("5:40"), Quantity("5:40", "pm"), True),
        (Quantity("6"), Quantity("6:00"), True),
        (Quantity("6:00", "pm"), Quantity("6"), True),
        (Quantity("6", "mile"), Quantity("6:00"), False),
    ],
)
def test_units_have_to_agree_where_both_are_known(
    one: Quantity, other: Quantity, agree: bool
) -> None:
    """A bare number may have any unit."""
    assert one.agrees(other) is agree


def test_quantities_are_matched_once() -> None:
    """Two threes need two threes."""
    left, right = unmatched(quantities("3, 3 and 4"), quantities("3, 4 and 5"))
    assert (list(map(str, left)), list(map(str, right))) == (["3"], ["5"])
