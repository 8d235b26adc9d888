"""A text as the rules of severity read it: its answer, its negators, its names, its content."""

import re

from voiceagent.core import severity_words as lexicon

_CONTRACTIONS = (
    (r"\bwon['’]t\b", "will not"),
    (r"\bcan['’]t\b", "can not"),
    (r"\bcannot\b", "can not"),
    (r"\bshan['’]t\b", "shall not"),
    (r"n['’]t\b", " not"),
    (r"\blet['’]s\b", "let us"),
    (r"['’]re\b", " are"),
    (r"['’]ll\b", " will"),
    (r"['’]ve\b", " have"),
    (r"['’]m\b", " am"),
    (r"\b(it|that|there|he|she|what|who|here|where)['’]s\b", r"\1 is"),
    (r"\bno longer\b", "not now"),
    (r"\bnot bad\b", "good"),
    (r"\bcould not agree more\b", "agree"),
    (r"\bcosts? nothing\b", "is free"),
    (r"\bsold out\b|\bout of stock\b", "not available"),
    (r"\bnon[- ](?=[^\W\d_])", "non"),
    (r"-free\b", " without"),
    (r"\bno one\b", "nobody"),
)
_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?|[%$€£¥°]")


_OPENING = re.compile(
    r"(?:(?:that|this|it) is |you are |i am |of |oh |well,? |i )?(not )?([^\W\d_]+)(.?)"
)


_REFUSAL = re.compile(
    r"(?:(?:i am |it is )?(?:afraid|definitely|certainly|absolutely|of course|probably|maybe) not"
    r"|not (?:quite|really|exactly|at all|necessarily|any ?more))\b"
)


class Reading:
    """One text, as the rules want it."""

    def __init__(self, text: str) -> None:
        self.text = text.strip()
        plain = self.text.lower()
        for pattern, expanded in _CONTRACTIONS:
            plain = re.sub(pattern, expanded, plain)
        self.plain = plain
        self.tokens = _WORD.findall(plain)

    @property
    def opener(self) -> str | None:
        """``yes`` or ``no``, if the text begins with one or is one."""
        plain = _without_idioms(self.plain)
        if opinion := re.match(r"i (do not )?(?:think|hope|believe|guess|suppose) so\b", plain):
            return "no" if opinion[1] else "yes"
        if _REFUSAL.match(plain):
            return "no"
        opening = _OPENING.match(plain)
        if opening is not None and (answer := _answer(opening)) is not None:
            return answer
        standing = set(re.findall(r"\b(yes|no)\b(?=\W*(?:$|[,.;!?]))", plain))
        return standing.pop() if len(standing) == 1 else None

    @property
    def negations(self) -> list[str]:
        """The negators, without openers and idioms."""
        plain = re.sub(r"^(?:no|nope|nah)\b\s*(?:[,.!—–-]\s*|$)", "", _without_idioms(self.plain))
        negators = lexicon.NEGATORS | lexicon.LIKE_NEGATORS
        return [word for word in _WORD.findall(plain) if word in negators]

    @property
    def names(self) -> set[str]:
        """Capitalised words that are not so because a sentence begins with them."""
        inner = re.findall(r"(?<=[\w,;:’'\"”)] )[\"“(]?([^\W\d_][\w’'-]*)", self.text)
        titled = re.findall(r"\b(?:Mr|Mrs|Ms|Dr|Prof|St)\. ([^\W\d_]+)", self.text)
        return {name for name in inner + titled if _is_name(name)}

    @property
    def subject(self) -> str | None:
        """The first word, where it may be a name: "Paris is ..."."""
        match = re.match(r"([^\W\d_][\w’'-]*) (?:is|was|has|will|had|won|wrote)\b", self.text)
        return match[1] if match and _is_name(match[1]) else None

    @property
    def initials(self) -> str:
        """The first letters of capitalised words, in order."""
        words = re.findall(r"\b[^\W\d_]\w*", self.text)
        return "".join(word[0] for word in words if word[0].isupper())

    @property
    def acronyms(self) -> list[str]:
        """Words of two to four capitals."""
        return [word for word in re.findall(r"\b[^\W\d_]{2,4}\b", self.text) if word.isupper()]

    def mentions(self, name: str, *, of: "Reading") -> bool:
        """Whether a name of another text is here, or its initials, or what they stand for."""
        if stem(name.lower()) in map(stem, self.tokens):
            return True
        if name.isupper() and len(name) > 1 and name in self.initials:
            return True
        return any(name[0] in each and each in of.initials for each in self.acronyms)


def _without_idioms(plain: str) -> str:
    for idiom in lexicon.IDIOMS:
        plain = re.sub(idiom, " ", plain)
    return plain.strip(" ,.;:!")


def _answer(opening: re.Match[str]) -> str | None:
    negated, word, follows = opening[1], opening[2], opening[3]
    if word in ("correct", "right", "true", "wrong", "false", "exactly") and follows == " ":
        return None  # "right turn", "true story"
    if word == "course" or word in lexicon.YES:
        return "no" if negated else "yes"
    if word in lexicon.NO and (word != "no" or follows in (",", ".", "!", "")):
        return "yes" if negated else "no"
    return None


def _is_name(word: str) -> bool:
    lower = word.lower()
    known = lexicon.TITLES | lexicon.DAYS | lexicon.STARTERS | lexicon.UNITS.keys()
    return word[0].isupper() and lower not in known and lower not in ("may", "am", "pm")


def content(tokens: list[str]) -> set[str]:
    """The words that say what a text is about."""
    idle = lexicon.FUNCTION | lexicon.NEGATORS | lexicon.LIKE_NEGATORS | lexicon.YES | lexicon.NO
    return {stem(token) for token in tokens if token not in idle and token[0] != "<"}


def stem(word: str) -> str:
    """The word without a plural's or a possessor's ending."""
    return re.sub(r"(?:['’]s|s|['’])$", "", word)
