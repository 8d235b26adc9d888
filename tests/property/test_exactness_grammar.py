"""With a grammar: the text always fits, whatever is drafted, and depends on no drafter and no K."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from decoding_doubles import (
    ScriptedDrafter,
    TableModel,
    adversary,
    empty,
    eos_happy,
    gambler,
    headed,
    modelled,
    oracle,
    reply,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from voiceagent.decoding.grammar import GrammarError, Grammars, RowMasks
from voiceagent.decoding.sampling import Sampling

PIECES = ["[", "]", "{", "}", '"', "a", "b", ":", ",", "1", "2", "true", '"a', '":', "[1", '",', ""]
EOS = PIECES.index("")
SCHEMA = {
    "type": "object",
    "properties": {
        "a": {"enum": [1, 2, "ab", True]},
        "b": {"type": "array", "items": {"enum": ["a", "b", 12]}, "maxItems": 3},
    },
    "required": ["a", "b"],
    "additionalProperties": False,
}
LARK = "start: %json " + json.dumps(SCHEMA | {"x-guidance": {"whitespace_flexible": False}})
LONGEST = 60
"""More tokens than any text of the schema has."""


class Pieces:
    """A vocabulary of short pieces of JSON."""

    vocabulary_size = len(PIECES)
    eos_ids = frozenset([EOS])

    def encode(self, text: str) -> list[int]:
        """Longest piece first."""
        tokens = []
        while text:
            piece = max(filter(text.startswith, filter(None, PIECES)), key=len)
            tokens.append(PIECES.index(piece))
            text = text.removeprefix(piece)
        return tokens

    def decode_bytes(self, token: int) -> bytes:
        return PIECES[token].encode()


GRAMMARS = Grammars(Pieces())


def written(drafter: Any, *, target: TableModel, sampling: Sampling, **more: Any) -> Any:
    """One reply under the grammar."""
    return reply(
        target,
        drafter,
        sampling=sampling,
        max_tokens=LONGEST,
        eos=EOS,
        decode_bytes=Pieces().decode_bytes,
        grammar=RowMasks(GRAMMARS.begin(LARK)),
        **more,
    )


def destroyer(ids: list[int], count: int) -> Sequence[int]:
    """Closes what is not open."""
    return [PIECES.index(piece) for piece in ("}", "]", "}", "]", "}", "]")][:count]


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 1 << 30),
    temperature=st.sampled_from([0.0, 0.8, 2.0]),
    windows=st.lists(st.integers(0, 6), min_size=1, max_size=3),
    acceptance=st.sampled_from(["coupled", "rejection"]),
)
def test_what_is_written_always_parses(
    seed: int, temperature: float, windows: list[int], acceptance: str
) -> None:
    """Against drafters that propose what no JSON could go on with, under both rules."""
    target = TableModel(len(PIECES), seed=seed)
    sampling = Sampling(temperature=temperature, seed=seed)
    for drafter in (
        ScriptedDrafter("destroyer", destroyer),
        gambler(len(PIECES), seed=seed),
        headed(target),
        eos_happy(len(PIECES), EOS, seed=seed),
        modelled(TableModel(len(PIECES), seed=seed + 1, like=target, distance=1.0)),
    ):
        told = written(
            drafter, target=target, sampling=sampling, windows=windows, acceptance=acceptance
        )
        value = json.loads(told.text)
        assert set(value) == {"a", "b"}
        assert value["a"] in SCHEMA["properties"]["a"]["enum"]  # type: ignore[index]
        assert len(value["b"]) <= 3


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1 << 30), temperature=st.sampled_from([0.0, 0.8, 2.0]))
def test_the_text_depends_on_no_drafter_and_no_window(seed: int, temperature: float) -> None:
    """Coupled acceptance stays exact under a grammar: rejected guesses leave nothing in it."""
    target = TableModel(len(PIECES), seed=seed)
    sampling = Sampling(temperature=temperature, seed=seed)
    plain = written(empty(), target=target, sampling=sampling).tokens
    whole = (0, 1, *plain)
    for drafter in (
        oracle(whole),
        adversary(whole, len(PIECES)),
        gambler(len(PIECES), seed=seed),
        headed(target),
        modelled(TableModel(len(PIECES), seed=seed + 1, like=target, distance=0.5)),
    ):
        for windows in (1, 3, (0, 6, 2)):
            told = written(drafter, target=target, sampling=sampling, windows=windows)
            assert told.tokens == plain, (drafter.name, windows)


def test_a_good_draft_is_accepted_under_a_grammar() -> None:
    """The mask is the same for both models: the target's own sequence is accepted whole."""
    target = TableModel(len(PIECES), seed=3)
    plain = written(empty(), target=target, sampling=Sampling()).tokens
    told = written(oracle((0, 1, *plain)), target=target, sampling=Sampling(), windows=4)
    assert (told.tokens, told.rejected) == (plain, 0)
    assert told.accepted > 0


def test_the_grammar_wins_over_what_forbids_every_token_it_allows() -> None:
    """A minimum length cannot keep a finished object open: nothing else would fit."""
    target = TableModel(len(PIECES), seed=5)
    told = written(empty(), target=target, sampling=Sampling(min_tokens=LONGEST))
    assert set(json.loads(told.text)) == {"a", "b"}


@pytest.mark.parametrize("text", ["start: nowhere", "start: %json {", 'start: %json {"$ref": "x"}'])
def test_what_is_no_grammar_is_refused_before_anything_is_promised(text: str) -> None:
    """With a reason on one line."""
    with pytest.raises(GrammarError) as refusal:
        GRAMMARS.begin(text)
    assert "\n" not in str(refusal.value)
