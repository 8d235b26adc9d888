"""Spoken form: from written text to what should be said, with the way back."""

import re
from dataclasses import dataclass


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
    """What should be said for ``text``, one committed segment."""
    words = tuple(
        SpokenWord(match.group(), match.start(), match.end()) for match in re.finditer(r"\S+", text)
    )
    return Spoken(text=" ".join(word.text for word in words), words=words)
