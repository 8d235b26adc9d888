"""Sets of scenarios: the shipped ones, and what is refused."""

import random

import pytest

from voiceagent.latency.exchange import CueKind
from voiceagent.latency.library import Library, LibraryError
from voiceagent.latency.scenario import ScenarioError, load_set, parse_set, shipped_sets


@pytest.mark.parametrize("name", shipped_sets())
def test_shipped_sets_can_be_played(name: str) -> None:
    """Each shipped set is one, and its recordings are there."""
    found = load_set(name)
    assert found.title
    Library().check(found.scenarios)


def test_the_shipped_sets_have_the_hard_cases() -> None:
    """Among them: interruptions, backchannels, noise, silence, pauses, keys."""
    kinds = {
        step.kind
        for name in shipped_sets()
        for scenario in load_set(name).scenarios
        for step in scenario.steps
    }
    assert kinds == set(CueKind)


def test_a_step_says_what_and_when() -> None:
    """A range is drawn from by the seed; a single number is itself."""
    found = parse_set(
        """
        [[scenario]]
        name = "stop"
        steps = [
          { say = "blue-sky", level_db = -6, transcript = "why" },
          { interrupt = "stop-please", after_ms = [500, 900] },
          { backchannel = "mhm", at_word = "light" },
          { silence_ms = 400 },
        ]
        """,
        origin="test",
    )
    say, interrupt, backchannel, silence = found.scenarios[0].steps
    assert (say.what, say.level_db, say.transcript) == ("blue-sky", -6, "why")
    assert not say.is_over_a_reply
    assert interrupt.is_over_a_reply
    drawn = [interrupt.draw_ms(random.Random(seed)) for seed in range(20)]
    assert all(500 <= each <= 900 for each in drawn)
    assert len(set(drawn)) > 10
    assert drawn[3] == interrupt.draw_ms(random.Random(3))
    assert backchannel.at_word == "light"
    assert silence.draw_ms(random.Random(0)) == 400


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "1 to 200"),
        ("scenario = 3", "1 to 200"),
        ("[[scenario]]", "a name has letters"),
        ("[[scenario]]\nname = '../x'\nsteps = [{ say = 'a' }]", "a name has letters"),
        ("[[scenario]]\nname = 'x'", "1 to 50 steps"),
        ("[[scenario]]\nname = 'x'\nsteps = [1]", "step 1: not a table"),
        ("[[scenario]]\nname = 'x'\nsteps = [{ say = 'a', press = '1' }]", "one verb"),
        ("[[scenario]]\nname = 'x'\nsteps = [{ say = 'a', loud = 1 }]", "unknown loud"),
        ("[[scenario]]\nname = 'x'\nsteps = [{ say = 1 }]", "say needs a text"),
        ("[[scenario]]\nname = 'x'\nsteps = [{ press = 'x' }]", "no keys"),
        ("[[scenario]]\nname = 'x'\nsteps = [{ silence_ms = [2, 1] }]", "2 is more than 1"),
        ("[[scenario]]\nname = 'x'\nsteps = [{ silence_ms = true }]", "no number"),
        ("[[scenario]]\nname = 'x'\nsteps = [{ silence_ms = 1e9 }]", "no number"),
        ("[[scenario]]\nname = 'x'\nsteps = [{ interrupt = 'a' }]", "no reply yet"),
        ("[[scenario", "test:"),
    ],
)
def test_what_is_no_set_is_refused(text: str, complaint: str) -> None:
    """The message says what is wrong, and where."""
    with pytest.raises(ScenarioError, match=complaint):
        parse_set(text, origin="test")


def test_unknown_names_are_refused() -> None:
    """A set that does not exist, and a recording that does not."""
    with pytest.raises(ScenarioError, match="questions"):
        load_set("answers")
    with pytest.raises(LibraryError, match="no recording 'nothing'"):
        Library().recording("nothing")
