"""Text that remembers where each of its characters comes from while rules rewrite it."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Kept: TypeAlias = "tuple[int, int]"
"""Characters of the text before the rule that stay as they are, with their own sources."""
Said: TypeAlias = "tuple[str, int, int]"
"""New text, and the characters of the text before the rule that it stands for; for none of them
where it only adds a mark (begin and end are equal)."""
Replacement: TypeAlias = "str | Sequence[Kept | Said] | None"
"""What a rule makes of a match: a string for the whole of it, or parts in turn; None leaves the
match as it is."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rewriting: what it matches and what is said instead."""

    pattern: re.Pattern[str]
    say: Callable[[re.Match[str]], Replacement]
    needs: frozenset[str] = frozenset()
    """Characters of which one at least is in every match: without them nothing is searched."""


class Mapped:
    """A text in the making, and for each character the stretch of source that it stands for."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = list(range(len(text)))
        self._ends = list(range(1, len(text) + 1))

    def apply(self, rules: Iterable[Rule]) -> None:
        """Rewrites the text by each rule in turn, from left to right, without overlaps."""
        for rule in rules:
            if not rule.needs or not rule.needs.isdisjoint(self.text):
                self._rewrite(rule)

    def words(self) -> list[tuple[str, int, int]]:
        """The blank-separated words with the stretch of source that each stands for."""
        return [
            (
                match.group(),
                min(self._starts[match.start() : match.end()]),
                max(self._ends[match.start() : match.end()]),
            )
            for match in re.finditer(r"\S+", self.text)
        ]

    def _rewrite(self, rule: Rule) -> None:
        changes = [
            (match, replacement)
            for match in rule.pattern.finditer(self.text)
            if (replacement := rule.say(match)) is not None
        ]
        if not changes:
            return
        build = _Build(self.text, self._starts, self._ends)
        for match, replacement in changes:
            build.keep(build.read, match.start())
            if isinstance(replacement, str):
                replacement = [(replacement, *match.span())]
            for part in replacement:
                if len(part) == 2:
                    build.keep(*part)
                else:
                    build.write(*part)
            build.read = match.end()
        build.keep(build.read, len(self.text))
        self.text = "".join(build.pieces)
        self._starts, self._ends = build.starts, build.ends


class _Build:
    """The next version of a text while it is put together."""

    def __init__(self, text: str, starts: list[int], ends: list[int]) -> None:
        self._text, self._starts, self._ends = text, starts, ends
        self.pieces: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.read = 0

    def keep(self, begin: int, end: int) -> None:
        self.pieces.append(self._text[begin:end])
        self.starts += self._starts[begin:end]
        self.ends += self._ends[begin:end]

    def write(self, text: str, begin: int, end: int) -> None:
        self.pieces.append(text)
        if begin < end:
            first, last = min(self._starts[begin:end]), max(self._ends[begin:end])
        else:
            first = last = self._ends[begin - 1] if begin else 0
        self.starts += [first] * len(text)
        self.ends += [last] * len(text)
