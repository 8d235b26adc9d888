"""How finished words are: read up to the last word, with the recognizer's mark left out."""

from collections.abc import Sequence

import pytest
import torch

from voiceagent.core.history import Message, Role
from voiceagent.decoding.endings import EndingJudge, ending_tokens, last_word

TEXTS = ["a", " b", "?", " .", "\n\n", "?!", "", "x."]


def test_endings_are_marks_and_ends_of_messages() -> None:
    """A token that goes on behind a blank or a letter is no ending."""
    endings = ending_tokens(
        lambda token: TEXTS[token].encode(), vocabulary_size=len(TEXTS), eos_ids=frozenset({6})
    )
    assert endings.tolist() == [2, 3, 4, 5, 6]
    judge = EndingJudge(0, endings)
    assert judge.probability(torch.zeros(len(TEXTS))) == pytest.approx(5 / 8)


def render(messages: Sequence[Message]) -> list[int]:
    """One token a letter, but a digit and a full stop behind it are one."""
    letters = [each for message in messages for each in f"<{message.content}>"]
    return list(map(ord, "".join(letters).replace("7.", "\u2488")))


@pytest.mark.parametrize("text", ["Go on", "Go on.", "Go on?!", "Go on ..."])
def test_the_mark_is_not_read(text: str) -> None:
    """It says nothing: a recognizer puts one behind everything."""
    messages = (Message(Role.SYSTEM, "Hi."), Message(Role.USER, text))
    prompt = render(messages)
    at = last_word(prompt, messages, render=render)
    assert at is not None
    assert "".join(map(chr, prompt[: at + 1])) == "<Hi.><Go on"


def test_a_word_in_one_token_with_its_mark_is_not_judged() -> None:
    """No row of logits stands behind the word then."""
    messages = (Message(Role.USER, "It is 7."),)
    assert last_word(render(messages), messages, render=render) is None
    messages = (Message(Role.USER, "It is 7"),)
    assert last_word(render(messages), messages, render=render) == len("<It is 7") - 1
