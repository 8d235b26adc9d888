"""How the rules of every language are written down."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from voiceagent.speech.mapped import Replacement, Rule


def rule(pattern: str, say: Callable[[re.Match[str]], Replacement], flags: int = 0) -> Rule:
    """One rule; blanks in the pattern count, letters match as they are written."""
    return Rule(re.compile(pattern, flags), say)


def numeric(rules: Iterable[Rule]) -> list[Rule]:
    """The same rules, passed over where there is no digit."""
    return [replace(rule, needs=frozenset("0123456789")) for rule in rules]


def alternatives(words: Iterable[str]) -> str:
    """A pattern for any of the words, the longest first."""
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


def nothing(match: re.Match[str]) -> Replacement:
    """The match is not said."""
    return ""


def blank(match: re.Match[str]) -> Replacement:
    """The match only keeps words apart."""
    return " "
