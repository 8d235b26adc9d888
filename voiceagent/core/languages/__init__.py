"""What the boundary rules must know about a language: abbreviations, sentence openers, ordinals.

The tables are facts about spelling, kept as plain word lists, written for this project. A word in
lower case matches in any case; a word with a capital matches only as it is written, which keeps
"Gen." apart from "gen." and "Sun." from "the sun.". Dots inside an abbreviation are kept, the last
one is left out. English is part of every language, because replies in other languages quote English
names and titles. A language without an entry is judged by English words and Unicode properties.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from voiceagent.core.languages.english import ENGLISH
from voiceagent.core.languages.germanic import GERMANIC
from voiceagent.core.languages.others import OTHERS
from voiceagent.core.languages.romance import ROMANCE
from voiceagent.core.languages.slavic import SLAVIC


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TABLES: Mapping[str, Mapping[str, str]] = {**GERMANIC, **ROMANCE, **SLAVIC, **OTHERS}
_ORDINALS = _words("de da nb nn no fi cs sk pl hu sl hr sr bs et lv tr is fo lb dsb hsb")
_DIALOGUE_DASH = _words("ru uk be kk bg")
_REVERSED_GUILLEMETS = _words("de da sv fi hu cs sk sl hr sr bs")
_OWN_STOPS = {"el": ";", "hy": ":"}
"""Greek asks with a semicolon; the Armenian full stop is often typed as a colon."""


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
    listed: frozenset[str]
    """The words of these three sets."""
    openers: frozenset[str]
    """Capitalised words that open sentences and are hardly ever part of a name."""
    designators: frozenset[str]
    """Words before a single capital that is no initial: "option A.", "vitamin C."."""
    ordinals: bool
    """Whether a stop after a number makes it an ordinal: "am 14. März"."""
    stops: str
    """Characters that end a sentence in this language only: the Greek question mark."""
    dialogue_dash: bool
    """Whether a dash after a stop carries a quotation on: "— Да. — Он встал."."""
    late_closers: str
    """Quotation marks that close although a blank stands before them: "« Oui. »"."""
    function_words: frozenset[str]
    """Words that lean on the next one: articles, prepositions, auxiliaries."""
    phrase_words: frozenset[str]
    """Words that begin a phrase, before which a pause is natural: "and", "because", "in"."""


@lru_cache(maxsize=64)
def language(code: str) -> Language:
    """The words of a BCP 47 tag; only its primary part counts, and unknown ones are allowed."""
    primary = code.replace("_", "-").partition("-")[0].lower()
    own = {kind: _words(words) for kind, words in _TABLES.get(primary, {}).items()}
    none: frozenset[str] = frozenset()

    def both(kind: str) -> frozenset[str]:
        return _words(ENGLISH[kind]) | own.get(kind, none)

    never = both("never") - own.get("maybe", none)
    maybe = both("maybe") - own.get("never", none)
    numbered = both("numbered")
    return Language(
        code=primary,
        never=never,
        maybe=maybe,
        numbered=numbered,
        listed=never | maybe | numbered,
        openers=both("openers"),
        designators=both("designators"),
        ordinals=primary in _ORDINALS,
        stops=_OWN_STOPS.get(primary, ""),
        dialogue_dash=primary in _DIALOGUE_DASH,
        late_closers="«" if primary in _REVERSED_GUILLEMETS else "»",
        function_words=both("function_words"),
        phrase_words=both("phrase_words"),
    )


MONTHS = _words(
    """
    January February March April May June July August September October November December
    Januar Februar März Mai Juni Juli Oktober Dezember Jänner
    Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Okt Dez
    """
)
WEEKDAYS = _words(
    """
    Monday Tuesday Wednesday Thursday Friday Saturday Sunday
    Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag Sonnabend
    """
)
AFTER_CLOCK = (
    MONTHS
    | WEEKDAYS
    | _words("EST EDT CST CDT MST MDT PST PDT GMT UTC BST CET CEST ET PT Eastern Pacific Central")
)
"""What may follow "10 a.m." inside one sentence."""
SUFFIXES_OF_NAMES = _words("Inc Ltd Jr Sr LLC LLP Corp Co PhD MD Esq II III IV")
"""What a comma may separate from the name it belongs to: "Acme, Inc."."""
