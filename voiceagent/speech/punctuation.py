"""Punctuation for any voice: what makes a pause, what is for the eye, what signs are called."""

import re
from collections.abc import Mapping

from voiceagent.speech.mapped import Replacement, Rule
from voiceagent.speech.rules import blank, nothing, rule


def punctuation(signs: Mapping[str, str]) -> list[Rule]:
    """The rules, given what a language calls its signs; to be applied last.

    Args:
        signs: what is said for a character; empty for one that is passed over.
    """

    def sign(match: re.Match[str]) -> Replacement:
        return f" {signs[match.group()]} "

    return [
        rule(r"(?:\.[ ]?){2,}\.?|…+", _ellipsis),
        # Dashes between words, blank or not, pause; a hyphen inside a word does not.
        rule(r"\s*[—―]\s*|\s+[–-]{1,3}\s+|(?<=[^\W\d])–(?=[^\W\d])|\s*--+\s*", _comma),
        rule(r"\s*[(\[{]\s*", _opening),
        rule(r"\s*[)\]}]", _closing),
        rule(r"\s*(?:→|⇒|->|=>)\s*", _comma),
        rule(f"[{re.escape(''.join(signs))}]", sign),
        rule(r"[\"“”„«»‹›`]|(?<!\w)['‘’]|['’](?!\w)", blank),
        rule(r"[!?]{2,}", _first),
        rule(r"\s+(?=[,.;:!?](?:\s|$))", nothing),
        rule(r"(?:[,;:]\s*)+(?=[.!?])|(?:,\s*)+(?=[,;:])", nothing),
        rule(r"^\s*[,;:.]+\s*(?=\w)", nothing),
        rule(r"(?<=[,.;:!?])(?=[^\W\d])", blank),
    ]


def _comma(match: re.Match[str]) -> Replacement:
    """A pause that no word stands for."""
    return [(", ", match.start(), match.start())]


def _ellipsis(match: re.Match[str]) -> Replacement:
    """Three dots pause; at the end they end the sentence."""
    rest = match.string[match.end() :].lstrip(" \"'”’)")
    return "." if not rest else ", "


def _opening(match: re.Match[str]) -> Replacement:
    """An aside pauses before its first word, unless it opens the sentence."""
    before = match.string[: match.start()].rstrip()
    return " " if not before or before[-1] in ".!?:;,—(" else _comma(match)


def _closing(match: re.Match[str]) -> Replacement:
    rest = match.string[match.end() :].lstrip()
    return "" if not rest or rest[0] in ".!?:;,)" else _comma(match)


def _first(match: re.Match[str]) -> Replacement:
    return [(match.start(), match.start() + 1)]
