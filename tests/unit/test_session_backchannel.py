"""Backchannels: listening noises in, a yes or no out."""

import pytest

from voiceagent.session.backchannel import is_backchannel, is_listening_noise


@pytest.mark.parametrize(
    "text", ["Mhm.", "mm-hmm", "Uh-huh!", "Okay.", "Right, right.", "I see.", "Oh, wow."]
)
def test_listening_noises_are_backchannels(text: str) -> None:
    """Whatever their case and marks."""
    assert is_backchannel(text)


@pytest.mark.parametrize(
    "text", ["", "Yes.", "No!", "Okay, stop.", "Right right right right", "Mhm, but why?", "..."]
)
def test_answers_and_sentences_are_not(text: str) -> None:
    """Yes and no answer, and more than a few words are a turn."""
    assert not is_backchannel(text)


def test_an_unknown_language_has_none() -> None:
    """Better an interruption too many than words that are not heard."""
    assert not is_backchannel("okay", language="xx")
    assert is_backchannel("okay", language="en-GB")


@pytest.mark.parametrize("text", ["Mhm.", "mm-m-h-m-m.", "Uh-huh", "Um", "Hmm, ah."])
def test_a_noise_is_no_turn_anywhere(text: str) -> None:
    """However it is spelled: nobody asked anything."""
    assert is_listening_noise(text)
    assert is_backchannel(text)


@pytest.mark.parametrize("text", ["Okay.", "Yeah.", "", "Mhm, what?"])
def test_a_word_may_be_an_answer(text: str) -> None:
    """Behind a question of the agent's it is a turn."""
    assert not is_listening_noise(text)
