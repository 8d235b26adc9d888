"""How finished words are: read up to the last word, with the recognizer's mark left out."""

from collections.abc import Sequence

import pytest
import torch

from voiceagent.core.history import Message, Role
from voiceagent.decoding.endings import ending_probability, ending_tokens, up_to_last_word

TEXTS = ["a", " b", "?", " .", "\n\n", "?!", "", "x."]


def test_endings_are_marks_and_ends_of_messages() -> None:
    """A token that goes on behind a blank or a letter is no ending."""
    endings = ending_tokens(
        lambda token: TEXTS[token].encode(), vocabulary_size=len(TEXTS), eos_ids=frozenset({6})
    )
    assert endings.tolist() == [2, 3, 4, 5, 6]
    logits = torch.zeros((1, len(TEXTS)))
    assert ending_probability(logits, endings) == pytest.approx(5 / 8)


@pytest.mark.parametrize("text", ["Go on", "Go on.", "Go on?!", "Go on ..."])
def test_the_mark_is_not_read(text: str) -> None:
    """It says nothing: a recognizer puts one behind everything."""

    def render(messages: Sequence[Message]) -> list[int]:
        return [ord(each) for message in messages for each in f"<{message.content}>"]

    read = up_to_last_word((Message(Role.SYSTEM, "Hi."), Message(Role.USER, text)), render=render)
    assert "".join(map(chr, read)) == "<Hi.><Go on"
