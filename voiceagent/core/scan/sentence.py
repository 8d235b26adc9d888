"""Whether a stop ends its sentence: one decision, from the word before it and what follows.

A decision is made once, from text that is already there, and holds for every continuation. Where
the text so far does not decide, the answer is ``None``: wait for more.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

from voiceagent.core.languages import AFTER_CLOCK, Language
from voiceagent.core.scan.characters import LEADING_DOTS, OPENERS, WORD


class Verdict(NamedTuple):
    """A decision about one mark, with the rule that made it."""

    cut: bool
    reason: str
    numbers_item: bool = False
    """Whether the word before the mark numbers a list item."""


@dataclass(slots=True, kw_only=True)
class Stop:
    """A run of stops in its surroundings."""

    run: str
    """The stops themselves."""
    word: str
    """What stands before the run, back to a blank or an opening mark."""
    before: str
    """Some text before that word, in the same sentence."""
    opens_unit: bool
    """Whether the word is the first of its sentence or line."""
    closed: str
    """The closing marks between the run and the blank."""
    rest: str
    """What follows, from the first visible character."""
    complete: bool
    """Whether ``rest`` will not change: the text has ended, or enough of it is known."""


_INITIALISM = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,3}")
_CLOCK = re.compile(r"[ap]\.m", re.IGNORECASE)
_ROMAN = re.compile(r"[IVXLCDM]+")
_NUMBER = re.compile(r"\d+")
_AT_A_TIME = re.compile(
    r"\W*(?:at|by|on|around|about|until|till|since|from|before|after)\s+[\d:.]+\s*$", re.IGNORECASE
)
_ANNOUNCE_NUMBER = frozenset(
    "is was equals answer total score result count value number sum step page level".split()
)
_ARABIC_LETTER = re.compile(r"[\u0620-\u06ff]")
_ROMAN_AFTER_WORD = re.compile(r"[IVX]{2,}|[VX]")


_END = Verdict(True, "a stop, a blank and no lower-case letter")


def judge(stop: Stop, language: Language) -> Verdict | None:
    """Decides a soft stop (one that needs a blank after it) that a blank follows."""
    follow = _follow(stop, language)
    if follow is None or isinstance(follow, Verdict):
        return follow
    if stop.run == "." and not stop.closed:
        return _after_word(stop, follow, language)
    if stop.run == "." and stop.closed == ")" and stop.opens_unit and _NUMBER.fullmatch(stop.word):
        return Verdict(False, "a number that numbers a list item", numbers_item=True)
    return _END


def _follow(stop: Stop, language: Language) -> str | Verdict | None:
    """The rest from its first telling character, or the decision that needs no more."""
    rest = stop.rest
    if not rest:
        return Verdict(True, "the text ends") if stop.complete else None
    if rest[0] in ",;:%)]}”’":
        return Verdict(False, f"{rest[0]!r} carries the sentence on")
    dots = LEADING_DOTS.match(rest)
    skipped = OPENERS.match(rest, dots.end() if dots else 0)
    assert skipped is not None  # the expression matches the empty string
    begin = skipped.end()
    if begin == len(rest):
        return None if not stop.complete else Verdict(False, "only marks follow")
    first = rest[begin]
    if first.islower() and ("¿" in rest[:begin] or "¡" in rest[:begin]) and "…" not in stop.run:
        return rest[begin:] if ".." not in stop.run else Verdict(False, "an ellipsis goes on")
    if first.islower():
        return _lower(rest, begin, stop)
    if language.dialogue_dash and any(dash in rest[:begin] for dash in "-–—―"):
        return Verdict(False, "a dash carries the quotation on")
    if first == "№":
        return Verdict(False, "a number sign carries the sentence on")
    return rest[begin:]


def _lower(rest: str, begin: int, stop: Stop) -> Verdict | None:
    """A lower-case letter carries on, but "iPhone" and "eBay" open sentences."""
    if begin + 1 >= len(rest) and not stop.complete:
        return None
    if rest[begin + 1 : begin + 2].isupper():
        return Verdict(True, "a name that begins with a lower-case letter")
    return Verdict(False, "a lower-case letter follows")


def _after_word(stop: Stop, follow: str, language: Language) -> Verdict | None:
    """Decides a single full stop by the word before it."""
    word = stop.word
    if _NUMBER.fullmatch(word):
        return _after_number(stop, follow, language)
    if len(word) == 1 and word.isalpha():
        return _after_letter(stop, follow, language)
    listed = _listed_form(word, language.listed)
    if listed:
        verdict = _after_abbreviation(stop, follow, language, listed)
        if verdict is None or verdict.reason:
            return verdict
    if _CLOCK.fullmatch(word):
        return _after_clock(stop, follow)
    if _INITIALISM.fullmatch(word):
        return _opens(stop, follow, language, f"initialism {word!r}")
    if language.ordinals and _ROMAN.fullmatch(word):
        return _opens(stop, follow, language, f"ordinal {word!r}")
    return _END


def _after_abbreviation(stop: Stop, follow: str, language: Language, word: str) -> Verdict | None:
    """Decides after a word of the lists; a verdict without a reason says that it is like others."""
    if word in language.numbered:
        number = _is_number(stop, follow)
        if number is None:
            return None
        if number:
            return Verdict(False, f"{stop.word!r} belongs to the number")
    if word in language.never:
        return Verdict(False, f"{stop.word!r} belongs to the next word")
    if word in language.maybe:
        return _opens(stop, follow, language, f"abbreviation {stop.word!r}")
    return Verdict(True, "")


def _after_letter(stop: Stop, follow: str, language: Language) -> Verdict | None:
    """A single letter: a list number, an initial, or what "option A" is called."""
    word = stop.word
    small = word.islower()
    if stop.opens_unit:
        return Verdict(False, "a letter that numbers a list item, or an initial", small)
    if word in language.numbered and (number := _is_number(stop, follow)) is not False:
        return None if number is None else Verdict(False, f"{word!r} belongs to the number")
    if word in language.never or _ARABIC_LETTER.fullmatch(word):
        return Verdict(False, f"{word!r} belongs to the next word")
    previous = stop.before.split()[-1:] or [""]
    if word.isupper() and previous[0].lower() in language.designators:
        return Verdict(True, f"{word!r} names a {previous[0]}")
    if not (small or word.isupper()):  # a script without case
        return _END
    return _opens(stop, follow, language, f"initial {word!r}")


def _after_number(stop: Stop, follow: str, language: Language) -> Verdict | None:
    if (stop.opens_unit and len(stop.word) <= 3) or (
        stop.word == "1" and introduces_list(stop.before)
    ):
        return Verdict(False, "a number that numbers a list item", numbers_item=True)
    if language.ordinals and len(stop.word) <= 3:
        if follow[0].isdigit():
            return Verdict(False, "an ordinal before a number")
        return _opens(stop, follow, language, "ordinal")
    return Verdict(True, "a number ends the sentence")


def introduces_list(before: str) -> bool:
    """Whether "Steps: " stands before the number; "The answer is: " announces the number itself."""
    words = before.split()
    return bool(words) and words[-1][-1] in ":：" and words[-1][:-1].lower() not in _ANNOUNCE_NUMBER


def _after_clock(stop: Stop, follow: str) -> Verdict | None:
    word = _word(stop, follow)
    if word is None:
        return None
    if word in AFTER_CLOCK:
        return Verdict(False, f"{word!r} belongs to the time of day")
    if _AT_A_TIME.fullmatch(stop.before):
        return Verdict(False, "nothing but a time of day so far")
    return Verdict(True, "a time of day and a capital")


def _opens(stop: Stop, follow: str, language: Language, what: str) -> Verdict | None:
    """Cuts only if the whole next word is one that opens sentences."""
    word = _word(stop, follow)
    if word is None:
        return None
    if len(word) == 1 and follow[1:2] == ".":
        return Verdict(False, f"{what}, another initial follows")
    whole = word.replace("’", "'")
    if whole in language.openers or whole.partition("'")[0] in language.openers:
        return Verdict(True, f"{what}, but {word!r} opens a sentence")
    return Verdict(False, f"{what}, {word or follow[0]!r} opens no sentence")


def _word(stop: Stop, follow: str) -> str | None:
    """The whole next word, or None while it may still grow."""
    match = WORD.match(follow)
    if match is None:
        return ""
    grows = match.end() == len(follow) or (
        follow[match.end()] in "'’" and match.end() + 1 == len(follow)
    )
    if grows and not stop.complete:
        return None
    return match.group()


def _listed_form(word: str, listed: frozenset[str]) -> str:
    """The form of the word, or of what follows its last hyphen, that is listed; else ""."""
    if word in listed:
        return word
    lower = word.lower()
    if lower in listed:
        return lower
    if lower.endswith("str") and "str" in listed:
        return "str"  # German streets: "Hauptstr. 5"
    if "-" in word:
        return _listed_form(word.rpartition("-")[2], listed)
    return ""


def _is_number(stop: Stop, follow: str) -> bool | None:
    """Whether digits or a Roman numeral follow; None while that is open."""
    if follow[0].isdigit():
        return True
    if follow[0] not in "IVX":
        return False
    word = _word(stop, follow)
    return None if word is None else bool(_ROMAN_AFTER_WORD.fullmatch(word))
