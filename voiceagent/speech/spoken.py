"""Spoken form: from written text to what should be said, with the way back."""

from collections.abc import Iterable
from dataclasses import dataclass

from voiceagent.speech import english
from voiceagent.speech.mapped import Mapped, Rule
from voiceagent.speech.markup import strip_markup

_LANGUAGES: dict[str, Iterable[Rule]] = {"en": english.RULES}
"""Rules by language; the text of others only loses its markup."""


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
    mapped = Mapped(text)
    strip_markup(mapped)
    mapped.apply(_LANGUAGES.get(language.replace("_", "-").split("-")[0].lower(), ()))
    words = tuple(SpokenWord(*word) for word in mapped.words())
    return Spoken(text=" ".join(word.text for word in words), words=words)
