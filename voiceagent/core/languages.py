"""What the boundary rules must know about a language: abbreviations, sentence openers, ordinals.

The tables are facts about spelling, kept as plain word lists. English is part of every language,
because replies in other languages quote English names and titles. A language without an entry is
judged by English words and by Unicode properties alone.
"""

from dataclasses import dataclass
from functools import lru_cache

from voiceagent.core import lexicon


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """The words one language adds to the rules. All sets hold words without their last stop."""

    code: str
    """BCP 47 primary tag, lower case."""
    never: frozenset[str]
    """Abbreviations that always belong to the word after them: titles, "e.g."."""
    maybe: frozenset[str]
    """Abbreviations that may end a sentence: only a word of ``openers`` after them proves it."""
    numbered: frozenset[str]
    """Abbreviations that do not end a sentence before a number: "No. 5", "Fig. 2"."""
    openers: frozenset[str]
    """Capitalised words that open sentences and are hardly ever part of a name."""
    designators: frozenset[str]
    """Words before a single capital that is no initial: "option A.", "vitamin C."."""
    ordinals: bool
    """Whether a stop after a number makes it an ordinal: "am 14. März"."""
    stops: str
    """Characters that end a sentence in this language only: the Greek question mark."""
    dialogue_dash: bool
    """Whether a dash after a stop continues a quotation: "— Да. — Он встал."."""
    late_closers: str
    """Quotation marks that close although a blank stands before them: "« Oui. »"."""
    function_words: frozenset[str]
    """Words after which no one pauses: articles, prepositions, auxiliaries."""


@lru_cache(maxsize=64)
def language(code: str) -> Language:
    """The rules' words for a BCP 47 tag; only its primary part counts, unknown ones are allowed."""
    primary = code.replace("_", "-").partition("-")[0].lower()
    own = lexicon.LANGUAGES.get(primary, {})
    return Language(
        code=primary,
        never=_words("never", own),
        maybe=_words("maybe", own) - _only(own, "never"),
        numbered=_words("numbered", own),
        openers=_words("openers", own),
        designators=_words("designators", own),
        ordinals=primary in lexicon.ORDINAL_LANGUAGES,
        stops=lexicon.OWN_STOPS.get(primary, ""),
        dialogue_dash=primary in lexicon.DIALOGUE_DASH_LANGUAGES,
        late_closers="«" if primary in lexicon.REVERSED_GUILLEMETS else "»",
        function_words=_words("function_words", own),
    )


def _words(kind: str, own: dict[str, str]) -> frozenset[str]:
    return _only(lexicon.ENGLISH, kind) | _only(own, kind)


def _only(table: dict[str, str], kind: str) -> frozenset[str]:
    return frozenset(table.get(kind, "").split())
