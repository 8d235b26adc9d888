"""Redaction: no word is left, and every length, position and figure stays."""

import json
from typing import Any

import pytest
from conversations import good_trace

from voiceagent.core.redact import redact, redact_text
from voiceagent.core.trace import Header, Record, RoundRecord, TroubleRecord, encode


def strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [each for item in items for each in strings(item)]


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("Yes, 3.14!", "xxx, x.xx!"),
        ("né", "xх"),
        ("日本。", "ｘｘ。"),
        ("𝒜 👍", "𝗑 👍"),
        ("हिन्दी", "ｘｘｘｘｘｘ"),
        ("", ""),
    ],
)
def test_every_letter_mark_and_digit_becomes_an_x_of_its_size(text: str, redacted: str) -> None:
    """Code points and bytes keep their number, in every script."""
    assert redact_text(text) == redacted
    assert len(redacted) == len(text)
    assert len(redacted.encode()) == len(text.encode())
    assert redact_text(redacted) == redacted


def test_no_word_of_a_conversation_is_left() -> None:
    """Neither in text nor in turns, sound, troubles, tokens or the persona."""
    words = {"hello", "there", "yes", "miles", "far", "tell", "enough", "microphone", "kind"}
    for record in good_trace():
        line = json.loads(encode(redact(record)))
        said = " ".join(strings(line)).lower()
        assert not words & set(said.replace(".", " ").replace(",", " ").split())


def test_positions_times_and_models_stay() -> None:
    """Structure is what a redacted trace is for."""
    records = good_trace()
    for before, after in zip(records, map(redact, records), strict=True):
        old, new = json.loads(encode(before)), json.loads(encode(after))
        assert old.keys() == new.keys()
        for key in old.keys() & {"at_s", "to", "at", "start", "end", "samples", "models", "kind"}:
            assert old[key] == new[key]


def test_tokens_of_rounds_are_hidden_and_counts_stay() -> None:
    """Token identifiers spell words; how many there were, and how likely, does not."""
    fields = {
        "drafted": [5, 6],
        "emitted": (5, 7),
        "drafted_text": [" a", None],
        "draft_probabilities": [0.5, None],
        "accepted": 1,
        "drafter": "ngram",
        "note": "free text",
        "times_ms": {"draft": 1.5},
    }
    record = redact(RoundRecord(reply="r", epoch=0, at_s=0.0, fields=fields))
    assert isinstance(record, RoundRecord)
    assert record.fields == {
        "drafted": [0, 0],
        "emitted": [0, 0],
        "drafted_text": [" x", None],
        "draft_probabilities": [0.5, None],
        "accepted": 1,
        "drafter": "ngram",
        "note": "xxxx xxxx",
        "times_ms": {"draft": 1.5},
    }


def test_headers_say_that_they_are_redacted() -> None:
    """A reader of the trace knows what is missing."""
    header = redact(Header(preset="tiny", config={"persona": {"prompt": "Be kind.", "n": 1}}))
    assert isinstance(header, Header)
    assert header.redacted
    assert header.config == {"persona": {"prompt": "xx xxxx.", "n": 1}}


def test_troubles_may_quote_and_are_hidden() -> None:
    """An error message can hold what somebody said."""
    hidden: Record = redact(TroubleRecord(at_s=0.0, line="cannot say 'No'"))
    assert isinstance(hidden, TroubleRecord)
    assert hidden.line == "xxxxxx xxx 'xx'"
