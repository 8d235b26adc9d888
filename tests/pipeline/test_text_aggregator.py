"""The committer inside pipecat's own text processor, in a pipeline without a synthesizer."""

import pytest
from pipecat.frames.frames import (
    AggregatedTextFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
)
from pipecat.processors.aggregators.llm_text_processor import LLMTextProcessor
from pipecat.tests.utils import run_test

from voiceagent.core.policy import Policy
from voiceagent.speech.aggregator import CommitAggregator

Spoken = list[tuple[str, str]]


async def spoken(aggregator: CommitAggregator, *replies: list[str]) -> Spoken:
    """Type and text of what comes out behind the processor."""
    frames: list[object] = []
    for tokens in replies:
        frames += [LLMFullResponseStartFrame(), *map(LLMTextFrame, tokens)]
        frames += [LLMFullResponseEndFrame()]
    down, _ = await run_test(LLMTextProcessor(text_aggregator=aggregator), frames_to_send=frames)
    return [
        (str(frame.text_type), frame.text)
        for frame in down
        if isinstance(frame, AggregatedTextFrame)
    ]


@pytest.mark.parametrize("length", [1, 3, 1000])
async def test_replies_come_out_in_sentences_however_they_are_chopped(length: int) -> None:
    """Titles, decimals and initials hold together, the end flushes, the next reply is apart."""
    first = "Dr. Smith paid $3.50. It was J. K. Rowling's! Really"
    tokens = [first[at : at + length] for at in range(0, len(first), length)]
    assert await spoken(CommitAggregator(policy=Policy.sentences()), tokens, ["Yes.", " No."]) == [
        ("sentence", "Dr. Smith paid $3.50."),
        ("sentence", "It was J. K. Rowling's!"),
        ("sentence", "Really"),
        ("sentence", "Yes."),
        ("sentence", "No."),
    ]


async def test_the_first_clause_comes_early() -> None:
    """As the default policy for voices has it."""
    text = "As far as I can tell from here, it will rain, and then it will stop. Take a coat."
    assert [piece for _, piece in await spoken(CommitAggregator(), [text])] == [
        "As far as I can tell from here,",
        "it will rain, and then it will stop.",
        "Take a coat.",
    ]


async def test_what_is_not_for_the_ear_is_marked() -> None:
    """A speech service skips the type, the context keeps the text."""
    text = "<think>Hm. Rain?</think>Like this:\n```python\nprint('a. B')\n```\nDone."
    pieces = await spoken(CommitAggregator(policy=Policy.sentences()), [text])
    assert [kind for kind, _ in pieces] == ["silent", "sentence", "silent", "sentence"]
    assert pieces[2][1] == "```python\nprint('a. B')\n```"
    assert await spoken(CommitAggregator(), ["```\ncode\n```"]) == [("silent", "```\ncode\n```")]
    assert await spoken(CommitAggregator(), ["```\ncode\n```\nSaid"]) == [
        ("silent", "```\ncode\n```"),
        ("sentence", "Said"),
    ]


async def test_other_languages_have_their_own_rules() -> None:
    """The language is chosen at the beginning, or by the service before a reply."""
    text = "Am 14. März. Gut."
    aggregator = CommitAggregator(language="de-AT", policy=Policy.sentences())
    assert [piece for _, piece in await spoken(aggregator, [text])] == ["Am 14. März.", "Gut."]
    aggregator.set_language("zh")
    assert await spoken(aggregator, ["你好。再见"]) == [
        ("sentence", "你好。"),
        ("sentence", "再见"),
    ]


async def test_an_interruption_forgets_what_waits() -> None:
    """Nothing of the old reply leads the next one; a language chosen in its middle waits."""
    aggregator = CommitAggregator()
    assert [each async for each in aggregator.aggregate("It will")] == []
    assert aggregator.text.text == "It will"
    await aggregator.handle_interruption()
    assert await spoken(aggregator, ["Yes."]) == [("sentence", "Yes.")]
    assert [each async for each in aggregator.aggregate("Half a")] == []
    aggregator.set_language("de")
    assert aggregator.text.text == "Half a"
    await aggregator.reset()
    assert (aggregator.text.text, await aggregator.flush()) == ("", None)
