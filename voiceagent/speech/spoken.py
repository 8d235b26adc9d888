"""Spoken form: from written text to what should be said, with the way back."""

from collections.abc import Iterable
from dataclasses import dataclass

from voiceagent.speech import chinese, english, german
from voiceagent.speech.mapped import Mapped, Rule
from voiceagent.speech.markup import strip_formula_borders, strip_markup


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
    mapped = Mapped(text)
    strip_formula_borders(mapped)
    mapped.apply(rules.before_markup)
    strip_markup(mapped)
    mapped.apply(rules.words)
    words = tuple(SpokenWord(*word) for word in mapped.words())
    return Spoken(text=" ".join(word.text for word in words), words=words)
