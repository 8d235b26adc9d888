"""Dataclasses to JSON objects and back, every field checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import pytest

from voiceagent.core.codec import (
    MAX_WHOLE,
    CodecError,
    from_fields,
    parse_object,
    to_fields,
    to_line,
)


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True)
class Leaf:
    size: float


@dataclass(frozen=True)
class Tree:
    start: int = field(metadata={"wire": "from"})
    colour: Colour
    leaves: tuple[Leaf, ...]
    green: bool
    notes: Mapping[str, Any]
    root: Leaf | None = None
    name: str = "oak"


FIELDS = {"from": 1, "colour": "red", "leaves": [{"size": 2.5}], "green": True, "notes": {"a": []}}


def test_fields_come_back_as_they_went() -> None:
    """Every kind of field survives the way there and back."""
    tree = from_fields(Tree, FIELDS | {"root": {"size": 1}, "name": "elm"})
    assert tree.root == Leaf(1.0)
    assert from_fields(Tree, to_fields(tree)) == tree


def test_what_is_none_is_left_out_and_what_is_not_there_has_its_default() -> None:
    """A missing field takes its default; None is not written."""
    tree = from_fields(Tree, FIELDS | {"root": None})
    assert (tree.root, tree.name) == (None, "oak")
    assert "root" not in to_fields(tree)


def test_fields_not_understood_are_ignored() -> None:
    """A newer sender may say more."""
    assert from_fields(Tree, FIELDS | {"new": 1}) == from_fields(Tree, FIELDS)


def test_any_mapping_is_written_as_an_object() -> None:
    """A read-only mapping is as good as a dictionary."""
    tree = from_fields(Tree, FIELDS | {"notes": {"b": 1}})
    frozen = Tree(1, Colour.RED, (), True, MappingProxyType({"b": 1}))
    assert to_fields(frozen)["notes"] == tree.notes


@pytest.mark.parametrize(
    ("name", "value", "saying"),
    [
        ("from", -1, "from is not a whole number"),
        ("from", True, "from is not a whole number"),
        ("from", 1.0, "from is not a whole number"),
        ("from", MAX_WHOLE + 1, "from is not a whole number"),
        ("colour", "blue", "colour is none of red"),
        ("colour", [], "colour is none of red"),
        ("leaves", {}, "leaves is not a list"),
        ("leaves", [1], r"leaves\[0\] is not an object"),
        ("leaves", [{"size": "big"}], "size is not a number"),
        ("leaves", [{"size": True}], "size is not a number"),
        ("leaves", [{"size": 10**400}], "size is not a number"),
        ("leaves", [{}], "size is missing"),
        ("green", 1, "green is neither"),
        ("notes", [], "notes is not an object"),
        ("name", 3, "name is not a string"),
        ("name", None, "name is not a string"),
    ],
)
def test_a_field_that_is_something_else_is_named(name: str, value: Any, saying: str) -> None:
    """The error says which field and what it should be."""
    with pytest.raises(CodecError, match=saying):
        from_fields(Tree, FIELDS | {name: value})


@pytest.mark.parametrize(
    ("line", "saying"),
    [
        (b"\xff{}", "UTF-8"),
        ('{"a": "\\ud800"}', "Unicode"),
        ("\ud800", "Unicode"),
        ("", r"not JSON: Expecting value \(column 1\)"),
        ('{"a": 1', "not JSON"),
        ('{"a": NaN}', "NaN is no number"),
        ('{"a": ' + "1" * 5000 + "}", "not JSON"),
        ("[" * 50_000, "nested too deeply"),
        ("[]", "not a JSON object"),
        ("x" * 101, "larger than"),
    ],
)
def test_a_line_that_is_no_object_is_refused(line: str | bytes, saying: str) -> None:
    """Whatever arrives, the error is the codec's own."""
    limit = 100_000 if len(line) != 101 else 100
    with pytest.raises(CodecError, match=saying):
        parse_object(line, max_bytes=limit)


def test_lines_hold_text_as_it_is() -> None:
    """Nothing is escaped that need not be, and a line is one line."""
    line = to_line({"text": "né\n\u2028"})
    assert line == '{"text":"né\\n\u2028"}'
    assert parse_object(line.encode(), max_bytes=100) == {"text": "né\n\u2028"}
