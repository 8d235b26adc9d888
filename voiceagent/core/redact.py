"""Traces without words: every letter, mark and digit becomes an x of the same size."""

import unicodedata
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar, cast

from voiceagent.core.trace import Header, Record, RoundRecord, TroubleRecord, TurnRecord

_X_OF_BYTES = {1: "x", 2: "х", 3: "ｘ", 4: "𝗑"}
"""One code point for each length in UTF-8: positions and byte counts stay what they were."""

_SAFE_IN_ROUNDS = ("drafter", "outcome", "why")
"""Strings of a round that are words of the program's, not of the conversation."""

R = TypeVar("R")


def redact_text(text: str) -> str:
    """The text with every letter, mark and digit replaced; blanks and punctuation stay.

    Code points and bytes keep their number, so that every position and every figure stays true.
    """
    return "".join(map(_redact_character, text))


def redact(record: Record) -> Record:
    """The record without words; structure, positions, times and counts stay.

    Whole numbers in lists become 0: they may be token identifiers, which spell the words.
    """
    match record:
        case Header():
            hidden = cast(Mapping[str, Any], _redact_value(record.config))
            return replace(record, config=hidden, redacted=True)
        case RoundRecord():
            return replace(record, fields=_redact_round(record.fields))
        case TurnRecord():
            return replace(record, text=redact_text(record.text))
        case TroubleRecord():
            return replace(record, line=redact_text(record.line))
        case _:
            return _redact_field(record)


def _redact_field(value: R) -> R:
    """A dataclass whose ``text`` is redacted, and that of the dataclasses in it."""
    changes: dict[str, Any] = {}
    for each in fields(cast(Any, value)):
        held = getattr(value, each.name)
        if each.name == "text":
            changes["text"] = redact_text(held)
        elif isinstance(held, tuple):
            changes[each.name] = tuple(_redact_field(item) for item in held)
    return cast(R, replace(cast(Any, value), **changes))


def _redact_round(given: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value if name in _SAFE_IN_ROUNDS else _redact_value(value)
        for name, value in given.items()
    }


def _redact_value(value: Any) -> Any:
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, Mapping):
        return {name: _redact_value(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [0 if isinstance(item, int) else _redact_value(item) for item in value]
    return value


def _redact_character(character: str) -> str:
    if unicodedata.category(character)[0] in "LMN":
        return _X_OF_BYTES[len(character.encode())]
    return character
