"""Backchannels: what a listener says without wanting the floor.

"yes" and "no" are missing on purpose: they answer, and an answer is a turn.
"""

import re

_NOISES = frozenset(
    {"mhm", "mm", "mmm", "mm-hm", "mm-hmm", "mmhmm", "hm", "hmm", "uh-huh", "uhhuh", "huh"}
    | {"ah", "aha", "oh", "um", "uh", "er"}
)
_HUM = re.compile(r"[mh]+(-[mh]+)*")
"""However a recognizer spells it: "mm-m-h-m-m"."""
_ENGLISH = _NOISES | {"wow", "okay", "ok", "right", "alright", "sure", "yeah", "yep"}
_PHRASES = {"i see", "got it", "all right", "uh huh", "oh okay", "of course"}
_BACKCHANNELS = {"en": _ENGLISH}
MAX_WORDS = 3
"""More words than this are a turn, whatever they are."""


def is_backchannel(text: str, *, language: str = "en") -> bool:
    """Whether ``text`` is only what a listener says, in ``language``."""
    words = _words(text)
    if not words or len(words) > MAX_WORDS:
        return False
    known = _BACKCHANNELS.get(language.split("-")[0], frozenset())
    if " ".join(words) in _PHRASES:
        return True
    return all(word in known or _HUM.fullmatch(word) for word in words)


def is_listening_noise(text: str, *, language: str = "en") -> bool:
    """Whether ``text`` is no word at all: no turn even where nobody else speaks.

    "okay" and "sure" are backchannels over a reply, but they answer a question behind it.
    """
    words = _words(text)
    known = _NOISES if language.split("-")[0] == "en" else frozenset()
    return bool(words) and all(word in known or _HUM.fullmatch(word) for word in words)


def _words(text: str) -> list[str]:
    return re.findall(r"[\w'-]+", text.lower())
