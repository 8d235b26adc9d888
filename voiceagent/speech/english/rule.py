"""What the English rules share: how numbers are written, where abbreviations end sentences."""

import re

NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d\d)+,\d{3}|\d+)(?:\.\d+)?|\.\d+"
"""A number without a sign: 1,234.5 or 1,00,000 (India) or 12 or .5."""
SIGNED = rf"(?:(?<![\w.)])[-−])?(?:{NUMBER})"
"""The same with its sign; a hyphen behind a word is none."""


_STARTERS = frozenset(
    "the he she it they we i you this that these those there but and so if what how when where why "
    "who then now my our his her its their your in on at for after before however also yes no not "
    "a an let please do did does is are was were can could will would".split()
)


def ends_sentence(after: str) -> bool:
    """Whether a dot that belongs to an abbreviation also ends the sentence: nothing, or a word
    that begins sentences, comes after it."""
    rest = after.lstrip(" \t\n\"'”’)")
    word = re.match(r"[A-Z][\w']*", rest)
    return not rest or (word is not None and word.group().lower() in _STARTERS)
