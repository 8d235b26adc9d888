"""Rounds as evidence: whether a model's verified text is what its rounds say the target emitted.

The text of a round's tokens is theirs one by one, so a code point that is spread over tokens stands
there as U+FFFD, once or more (``voiceagent/decoding/record.py``); verified text has it whole.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

BROKEN = "\ufffd"
MOST_PIECES = 4
"""A code point has at most so many bytes in UTF-8, hence at most so many U+FFFD for its pieces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    """The fields of a round that can be held against each other."""

    index: int
    start: int
    accepted: int
    outcome: str
    drafted: tuple[int, ...]
    emitted: tuple[int, ...]
    drafted_text: tuple[str, ...]
    emitted_text: tuple[str, ...]

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> "_Claim | None":
        """None if a field is missing or of another type."""
        numbers = {name: fields.get(name) for name in ("index", "start", "accepted")}
        tokens = {name: fields.get(name) for name in ("drafted", "emitted")}
        texts = {name: fields.get(name) for name in ("drafted_text", "emitted_text")}
        outcome = fields.get("outcome")
        sound = (
            isinstance(outcome, str)
            and all(isinstance(each, int) for each in numbers.values())
            and all(_is_list_of(int, each) for each in tokens.values())
            and all(_is_list_of(str, each) for each in texts.values())
        )
        if not sound:
            return None
        lists: dict[str, Any] = {name: tuple(each or ()) for name, each in (tokens | texts).items()}
        whole: dict[str, Any] = dict(numbers)
        return cls(outcome=str(outcome), **whole, **lists)

    def contradictions(self) -> Iterator[str]:
        """What cannot be true of it by itself."""
        if not 0 <= self.accepted <= len(self.drafted):
            yield f"accepted {self.accepted} of {len(self.drafted)} drafted tokens"
        if not self._outcome_fits:
            yield (
                f"outcome {self.outcome} with {self.accepted} of {len(self.drafted)} accepted "
                f"and {len(self.emitted)} emitted"
            )
        if len(self.drafted_text) != len(self.drafted) or len(self.emitted_text) != len(
            self.emitted
        ):
            yield "tokens without their texts"
        if (
            self.emitted[: self.accepted] != self.drafted[: self.accepted]
            or self.emitted_text[: self.accepted] != self.drafted_text[: self.accepted]
        ):
            yield "the accepted tokens are not those that were drafted"

    @property
    def _outcome_fits(self) -> bool:
        drafted, followed = len(self.drafted), len(self.emitted) - self.accepted
        match self.outcome:
            case "plain":
                return not drafted and followed == 1
            case "recovered":
                return self.accepted < drafted and followed == 1
            case "bonus":
                return 0 < drafted == self.accepted and followed == 1
            case "end":
                return self.accepted > 0 and followed == 0
            case _:
                return False


class Vocabulary:
    """The text of each token number, as far as the rounds of a trace have told."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}

    def learn(self, fields: Mapping[str, Any]) -> Iterator[str]:
        """Yields the tokens of a round that had another text before."""
        claim = _Claim.of(fields)
        if claim is None:
            return
        texts = (*claim.drafted_text, *claim.emitted_text)
        for token, text in zip((*claim.drafted, *claim.emitted), texts, strict=False):
            known = self._texts.setdefault(token, text)
            if known != text:
                yield f"token {token} is {text!r}, and was {known!r} before"


class RoundsAudit:
    """The rounds of one epoch so far."""

    def __init__(self) -> None:
        self._count = self._tokens = 0
        self._ended = False
        self._emitted = ""
        self._matched = 0
        self._reach = {0}
        """Where in the emitted text the verified text that was matched may end."""

    def take(self, fields: Mapping[str, Any]) -> Iterator[str]:
        """Yields what is wrong with the next round, then goes on from what it claims."""
        claim = _Claim.of(fields)
        if claim is None:
            yield "its fields are not those of a round"
            return
        if self._ended:
            yield "it follows the round that ended the reply"
        if (claim.index, claim.start) != (self._count, self._tokens):
            yield (
                f"round {claim.index} at token {claim.start}, "
                f"where round {self._count} at token {self._tokens} follows"
            )
        yield from claim.contradictions()
        self._ended = claim.outcome == "end"
        self._count, self._tokens = claim.index + 1, claim.start + len(claim.emitted)
        self._emitted += "".join(claim.emitted_text)

    def proves(self, verified: str) -> bool:
        """Whether the rounds so far emitted this text; it only grows from call to call."""
        for character in verified[self._matched :]:
            self._reach = {end for at in self._reach for end in self._ends(character, at)}
            self._matched += 1
        return bool(self._reach)

    def _ends(self, character: str, at: int) -> Iterator[int]:
        """Where the emitted text may go on behind a character that begins at ``at``."""
        if self._emitted[at : at + 1] == character:
            yield at + 1
        elif not character.isascii():
            for end in range(at + 1, min(at + MOST_PIECES, len(self._emitted)) + 1):
                if self._emitted[end - 1] != BROKEN:
                    return
                yield end


def _is_list_of(kind: type, value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(each, kind) for each in value)
