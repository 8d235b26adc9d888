"""How bad a retraction was: nothing visible, other words, or the opposite of what was shown.

Rules, not a model: each judgement names the rule that fired and its evidence. They were written
after the pairs in ``tests/vectors/severity`` and are measured on them.

An inversion is a changed yes or no, a changed number or date, a changed name, or a changed
polarity: negators, antonyms and swapped roles are counted, and an odd number of changes turns the
meaning around while an even one is another way to say the same ("not difficult" is "easy").
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from voiceagent.core import severity_words as lexicon
from voiceagent.core.churn import Retraction
from voiceagent.core.quantities import quantities, unmatched
from voiceagent.core.severity_reading import Reading, content, parties

WEIGHTS = {"none": 0.0, "rewording": 1.0, "inversion": 10.0}
"""An inversion weighs as much as ten rewordings that stood as long."""


class Severity(StrEnum):
    """What a change of text did to its meaning, as far as rules can tell."""

    NONE = "none"
    """Equal but for case, punctuation and blanks: nothing that a reader would notice."""
    REWORDING = "rewording"
    INVERSION = "inversion"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What became of a text that was replaced by another."""

    severity: Severity
    rule: str | None
    """``yes_no``, ``number``, ``name``, ``negation``, ``antonym`` or ``reordering``."""
    evidence: str
    """The words that fired the rule."""
    string_distance: float
    """Words to insert, delete or replace, of the longer one's: from 0 (equal) to 1."""
    meaning_distance: float | None
    """By another judge, from 0 (says the same) to 1; None where none was asked."""


Meaning = Callable[[str, str], float]
"""How far apart two texts are in meaning, from 0 to 1, by a judge outside the core."""


def judge(before: str, after: str, *, meaning: Meaning | None = None) -> Judgement:
    """Compares what was shown with what replaced it; whole sentences are judged best.

    Args:
        before: what was shown.
        after: what replaced it.
        meaning: is asked for a distance that stands beside the class and changes nothing in it.
    """
    one, other = Reading(before), Reading(after)
    rule, evidence = None, ""
    severity = Severity.NONE if one.tokens == other.tokens else Severity.REWORDING
    if severity is Severity.REWORDING and not _is_continued(one.tokens, other.tokens):
        found = next(filter(None, (find(one, other) for find in _RULES)), None)
        if found is not None:
            severity, (rule, evidence) = Severity.INVERSION, found
    return Judgement(
        severity=severity,
        rule=rule,
        evidence=evidence,
        string_distance=string_distance(before.split(), after.split()),
        meaning_distance=None if meaning is None else round(meaning(before, after), 4),
    )


def string_distance(one: Sequence[str], other: Sequence[str]) -> float:
    """Levenshtein's distance of two sequences of words, as a share of the longer one."""
    row = list(range(len(other) + 1))
    for count, word in enumerate(one, start=1):
        diagonal, row[0] = row[0], count
        for at, another in enumerate(other, start=1):
            replaced = diagonal + (word != another)
            diagonal, row[at] = row[at], min(replaced, row[at] + 1, row[at - 1] + 1)
    return round(row[-1] / max(len(one), len(other), 1), 4)


def _is_continued(one: list[str], other: list[str]) -> bool:
    """Whether one only says more than the other, behind it, and does not begin with a "not"."""
    shorter, longer = sorted((one, other), key=len)
    more = longer[len(shorter) :]
    return longer[: len(shorter)] == shorter and more[0] not in lexicon.NEGATORS


# Rules ----------------------------------------------------------------------------------------

Finding = tuple[str, str]


def _yes_no(one: Reading, other: Reading) -> Finding | None:
    answers = one.opener, other.opener
    if None in answers or answers[0] == answers[1]:
        return None
    return "yes_no", f"{answers[0]} / {answers[1]}"


def _numbers(one: Reading, other: Reading) -> Finding | None:
    left, right = unmatched(quantities(one.text), quantities(other.text))
    if left and right:
        return "number", f"{left[0]} / {right[0]}"
    return None


def _names(one: Reading, other: Reading) -> Finding | None:
    names, others = set(one.names), set(other.names)
    if one.subject and other.subject and _alike(one.tokens[1:], other.tokens[1:]):
        names.add(one.subject)
        others.add(other.subject)
    left = sorted(name for name in names if not other.mentions(name, of=one))
    right = sorted(name for name in others if not one.mentions(name, of=other))
    if left and right:
        return "name", f"{' '.join(left)} / {' '.join(right)}"
    return None


def _alike(one: list[str], other: list[str]) -> bool:
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= 0.6


def _polarity(one: Reading, other: Reading) -> Finding | None:
    """Judges sentence by sentence where both have as many, else the whole."""
    parts = one.sentences, other.sentences
    if len(parts[0]) != len(parts[1]):
        return _turned(one, other)
    return next(filter(None, map(_turned, *parts)), None)


def _turned(one: Reading, other: Reading) -> Finding | None:
    """Counts what turns the meaning around; twice is not at all."""
    negators = one.negations, other.negations
    negated = (len(negators[0]) - len(negators[1])) % 2
    pairs = _antonyms(one.clauses, other.clauses)
    masked = _masked(one.clauses, pairs), _masked(other.clauses, pairs)
    swapped = (
        _swap(*masked, relation=bool(pairs))
        or _swap_around_than(*masked)
        or _swap_around_than(*masked[::-1])
        or _swap_around(pairs, *masked)
    )
    turns = negated + len(pairs) + bool(swapped)
    if turns % 2 == 0 or not _speak_of_the_same(*masked):
        return None
    if negated:
        return "negation", f"{' '.join(negators[0]) or '-'} / {' '.join(negators[1]) or '-'}"
    if pairs:
        return "antonym", ", ".join(f"{left} / {right}" for left, right in pairs)
    return "reordering", swapped


def _speak_of_the_same(one: list[str], other: list[str]) -> bool:
    """Whether most words of content are in both; else a count of negators says nothing."""
    contents = content(one), content(other)
    fewest = min(map(len, contents))
    if fewest:
        return len(contents[0] & contents[1]) / fewest >= 0.5
    return contents[0] == contents[1] or any(
        _are_opposites(left, right) for left in one for right in other
    )


def _antonyms(one: list[str], other: list[str]) -> list[tuple[str, str]]:
    """Opposites of which each stands in one text only."""
    gone = list((Counter(one) - Counter(other)).elements())
    come = list((Counter(other) - Counter(one)).elements())
    pairs = []
    for left in gone:
        fits = (
            word
            for word in come
            if not {left, word} & _COUNTED
            and _are_opposites(left, word)
            and (left not in lexicon.PARTICLES or _same_place(one, left, other, word))
            and not (_is_half(one, left) and _is_half(other, word))
        )
        right = next(fits, None)
        if right is not None:
            come.remove(right)
            pairs.append((left, right))
    return pairs


def _same_place(one: list[str], left: str, other: list[str], right: str) -> bool:
    """Whether a neighbour of both is the same."""
    at, to = one.index(left), other.index(right)
    before = one[at - 1 : at] == other[to - 1 : to] != []
    return before or one[at + 1 : at + 2] == other[to + 1 : to + 2] != []


def _is_half(tokens: list[str], word: str) -> bool:
    """Half empty is half full."""
    return tokens[tokens.index(word) - 1] == "half"


_COUNTED = lexicon.NEGATORS | lexicon.LIKE_NEGATORS
"""What counts as a negator does not count as an opposite too."""


def _are_opposites(left: str, right: str) -> bool:
    forms, others = _forms(left), _forms(right)
    if any(lexicon.ANTONYMS.get(form, set()) & others for form in forms):
        return True
    shorter, longer = sorted((left, right), key=len)
    if any(longer == prefix + shorter for prefix in lexicon.PREFIXES):
        return True
    return longer.endswith("less") and shorter.endswith("ful") and longer[:-4] == shorter[:-3]


def _forms(word: str) -> set[str]:
    """The word and what it may be a form of."""
    forms = {word, lexicon.IRREGULAR.get(word, word)}
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) > len(ending) + 2:
            stem = word[: -len(ending)]
            forms |= {stem + instead, stem + "e" if ending[0] in "aei" else stem}
            if len(stem) > 2 and stem[-1] == stem[-2]:
                forms.add(stem[:-1])
    return forms


_ENDINGS = (
    ("ies", "y"),
    ("ied", "y"),
    ("ier", "y"),
    ("iest", "y"),
    ("ily", "y"),
    ("es", ""),
    ("s", ""),
    ("ed", ""),
    ("d", ""),
    ("ing", ""),
    ("er", ""),
    ("est", ""),
    ("ly", ""),
)


def _masked(tokens: list[str], pairs: list[tuple[str, str]]) -> list[str]:
    """The tokens, with opposites made equal, so that a swap around them can be seen."""
    masks = {word: f"<{number}>" for number, pair in enumerate(pairs) for word in pair}
    return [masks.get(token, token) for token in tokens]


def _swap(one: list[str], other: list[str], *, relation: bool) -> str:
    """The two parts that changed places around a middle that is not indifferent to it, if any.

    Args:
        relation: whether opposites stand in the texts ("is her sister" / "is his brother").
    """
    if one == other or Counter(one) != Counter(other):
        return ""
    start = next(i for i, pair in enumerate(zip(one, other, strict=True)) if pair[0] != pair[1])
    rest = zip(reversed(one), reversed(other), strict=True)
    end = len(one) - next(i for i, pair in enumerate(rest) if pair[0] != pair[1])
    left, right = one[start:end], other[start:end]
    for first in range(1, len(left)):
        for last in range(1, len(left) - first):
            middle = left[first:-last]
            swapped = left[-last:] + middle + left[:first]
            if swapped == right and (relation or not _is_indifferent(middle)):
                return f"{' '.join(left[:first])} / {' '.join(left[-last:])}"
    return ""


def _is_indifferent(middle: list[str]) -> bool:
    """Whether what stands on both sides of it may change places."""
    return set(middle) <= lexicon.COMMUTATIVE or bool(set(middle) & lexicon.SYMMETRIC)


def _swap_around(pairs: list[tuple[str, str]], one: list[str], other: list[str]) -> str:
    """Whether what stood before an opposite stands behind the other one, and the reverse."""
    if len(pairs) != 1:
        return ""
    before, behind = _sides(one)
    before_then, behind_then = _sides(other)
    crossed, back = before & behind_then, behind & before_then
    if crossed and back and not before & before_then:
        return f"{' '.join(sorted(crossed))} / {' '.join(sorted(back))}"
    return ""


def _sides(tokens: list[str]) -> tuple[set[str], set[str]]:
    """What stands on one side only of the opposite."""
    before, behind = map(parties, _split(tokens, "<0>"))
    return before - behind, behind - before


def _swap_around_than(one: list[str], other: list[str]) -> str:
    """Whether what is compared and what it is compared with changed places."""
    if one.count("than") != 1 or other.count("than") != 1:
        return ""
    sides = [parties(part) for tokens in (one, other) for part in _split(tokens, "than")]
    compared, with_what, compared_then, with_what_then = sides
    crossed = with_what & compared_then - compared
    if crossed and not with_what & with_what_then:
        return f"than {' '.join(sorted(crossed))}"
    return ""


def _split(tokens: list[str], word: str) -> tuple[list[str], list[str]]:
    at = tokens.index(word)
    return tokens[:at], tokens[at + 1 :]


_RULES: tuple[Callable[[Reading, Reading], Finding | None], ...] = (
    _yes_no,
    _numbers,
    _names,
    _polarity,
)


# Streams --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """One retraction and how bad it was."""

    retraction: Retraction
    replacement: str
    """What stands in its place in the end."""
    judgement: Judgement

    @property
    def score(self) -> float:
        """Retracted bytes, times milliseconds visible, times the weight of the class."""
        size = len(self.retraction.text.encode())
        return size * self.retraction.visible_s * 1000 * WEIGHTS[self.judgement.severity]


def assess(
    retractions: Iterable[Retraction],
    *,
    final: Mapping[str, str],
    meaning: Meaning | None = None,
) -> list[Assessment]:
    """Judges what a stream took back against the replies' final texts.

    Both sides are read from the beginning of their sentence, and the final text no further than
    the words that stand where retracted ones stood: what comes later replaced nothing.

    Args:
        retractions: from :meth:`voiceagent.core.churn.ChurnMeter.retractions`.
        final: the text of each reply in the end; empty for one that was withdrawn for good.
        meaning: see :func:`judge`.
    """
    return [_assess(each, final.get(each.reply, ""), meaning) for each in retractions]


def _assess(retraction: Retraction, final: str, meaning: Meaning | None) -> Assessment:
    at = min(retraction.at, len(final))
    sentence = max(final.rfind(mark, 0, at) + 1 for mark in ".!?\n。！？")
    word = max(sentence, final.rfind(" ", 0, at) + 1)
    gone = (final[word:at] + retraction.text).split()
    words = _in_place_of(gone, re.findall(r"\S+\s*", final[word:]))
    before = final[sentence:at] + retraction.text
    after = final[sentence:word] + "".join(words)
    return Assessment(
        retraction=retraction,
        replacement="".join(words)[at - word :],
        judgement=judge(before, after, meaning=meaning),
    )


def _in_place_of(gone: Sequence[str], come: Sequence[str]) -> Sequence[str]:
    """As many words, and one more for each that only negates: "is far" became "is not far"."""
    extra = sum(map(_negates, come[: len(gone)])) - sum(map(_negates, gone))
    return come[: len(gone) + max(0, extra)]


def _negates(word: str) -> bool:
    return word.strip().lower().strip(".,;:!?") in lexicon.NEGATORS
