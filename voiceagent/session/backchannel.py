"""Backchannels: what a listener says without wanting the floor.

"yes" and "no" are missing on purpose: they answer, and an answer is a turn.
"""

import re

_ENGLISH = frozenset(
    {"mhm", "mm", "mmm", "mm-hm", "mm-hmm", "mmhmm", "hm", "hmm", "uh-huh", "uhhuh", "huh"}
    | {"ah", "aha", "oh", "wow", "okay", "ok", "right", "alright", "sure", "yeah", "yep"}
)
_PHRASES = {"i see", "got it", "all right", "uh huh", "oh okay", "of course"}
_BACKCHANNELS = {"en": _ENGLISH}
MAX_WORDS = 3
"""More words than this are a turn, whatever they are."""


def is_backchannel(text: str, *, language: str = "en") -> bool:
    """Whether ``text`` is only listening noises in ``language``."""
    words = re.findall(r"[\w'-]+", text.lower())
    if not words or len(words) > MAX_WORDS:
        return False
    known = _BACKCHANNELS.get(language.split("-")[0], frozenset())
    return " ".join(words) in _PHRASES or all(word in known for word in words)
