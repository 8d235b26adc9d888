"""Spoken form: from written text to what should be said, with the way back."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from voiceagent.speech import chinese, english, german
from voiceagent.speech.mapped import Mapped, Replacement, Rule
from voiceagent.speech.markup import strip_formula_borders, strip_markup

LONGEST_PIECE = 2000
"""Characters that the rules see at once. Some of them take the square of a text's length, and only
a block or a span that was never closed is longer."""
_LONGEST_RUN = 8
"""Of one mark: more says nothing more, and a model may be stuck on it."""


@dataclass(frozen=True, slots=True)
class _Rules:
    """How one language is said."""

    before_markup: Iterable[Rule] = ()
    """Applied before the markup goes: what they know only looks like Markdown."""
    words: Iterable[Rule] = ()


_LANGUAGES = {
    "de": _Rules(before_markup=german.BEFORE_MARKUP, words=german.RULES),
    "en": _Rules(before_markup=english.BEFORE_MARKUP, words=english.RULES),
    "zh": _Rules(words=chinese.RULES),
}
_NO_RULES = _Rules()
"""The text of any other language only loses its markup."""


def _shortened(match: re.Match[str]) -> Replacement:
    return [(match.start(), match.start() + _LONGEST_RUN)]


_SHORTEN_RUNS = Rule(re.compile(rf"([^\w\n]|_)\1{{{_LONGEST_RUN},}}"), _shortened)


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """One word of the spoken text and the written text that it speaks for."""

    text: str
    start: int
    end: int
    """The source's code points; several spoken words may share them (``$5``: five dollars)."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """What is said for one segment."""

    text: str
    words: tuple[SpokenWord, ...]
    """The blank-separated words of ``text``, in order; sources never go back."""

    @property
    def silent(self) -> bool:
        """Whether nothing is left to say: no letter and no digit."""
        return not any(character.isalnum() for character in self.text)


def spoken_form(text: str, *, language: str = "en") -> Spoken:
    """What should be said for ``text``, one committed segment; ``language`` as in ``en-US``."""
    rules = _LANGUAGES.get(language.replace("_", "-").split("-")[0].lower(), _NO_RULES)
    words = tuple(
        SpokenWord(word, begin + start, begin + end)
        for begin, piece in _pieces(text)
        for word, start, end in _rewritten(piece, rules)
    )
    return Spoken(text=" ".join(word.text for word in words), words=words)


def _rewritten(text: str, rules: _Rules) -> list[tuple[str, int, int]]:
    mapped = Mapped(text)
    mapped.apply([_SHORTEN_RUNS])
    strip_formula_borders(mapped)
    mapped.apply(rules.before_markup)
    strip_markup(mapped)
    mapped.apply(rules.words)
    return mapped.words()


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """Where each piece begins, and the piece; cut at a line, else at a blank, if there is one."""
    begin = 0
    while len(text) - begin > LONGEST_PIECE:
        middle, end = begin + LONGEST_PIECE // 2, begin + LONGEST_PIECE
        cuts = (text.rfind(mark, middle, end) + 1 for mark in "\n ")
        cut = next((cut for cut in cuts if cut), end)
        yield begin, text[begin:cut]
        begin = cut
    yield begin, text[begin:]
