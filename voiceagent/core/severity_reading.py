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
    (r"\b(?:(?:have|has|had) )?r[ua]ns? out of\b", "have no"),
    (r"\b(?:do|does|did|need) not pay\b|\bpays? nothing\b", "free"),
    (r"\btoo (\w+) (?=to\b|for \w+ to\b)", r"too \1 not "),
    (r"\b(?:an? lot(?: of)?|lots of|a great deal of)(?= |\b)", "much"),
    (r"\bjust about\b", "about"),
    (r"(?<=\bnot )(?:as|so) (\w+) as\b", r"\1 than"),
    (r"\bno one\b", "nobody"),
)
_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?|[%$€£¥°]")
_FRONTED = re.compile(
    r"((?:before|after|when|if|unless|until|once|while|because|since|although|as soon as)\b"
    r"[^,.]+), (?:then )?([^,.]+)"
)
_SENTENCE = re.compile(r"(?<=[a-z\d][.!?]) +(?=[A-Z])")

_OPENING = re.compile(
    r"(?:(?:that|this|it) is |you are |i am |of |oh |well,? |i )?(not )?([^\W\d_]+)(.?)"
)


_OPINION = re.compile(
    r"i (do not )?(?:think|hope|believe|guess|suppose) (?:so\b|(?:it|that|they|you) \w+[.,;!])"
)
_REFUSAL = re.compile(
    r"(?:(?:i am |it is )?(?:afraid|definitely|certainly|absolutely|of course|probably|maybe) not"
    r"|not (?:quite|really|exactly|at all|necessarily|any ?more|that one|this one|those|these))\b"
)


_NO = re.compile(r"^(?:(?:no|nope|nah)\b\s*(?:[,.!—–-]\s*|$)|not (?=th(?:at|is) one|th[eo]se))")
_SINGULAR = re.compile(r"(?:is|(?!this\b|his\b|its\b|as\b)\w{2,}s)\b")
_FINITE = re.compile(rf"{_SINGULAR.pattern}|(?:will|had|can|\w+ed|{'|'.join(lexicon.IRREGULAR)})\b")
"""What may follow a name at the beginning: a verb in the third person, or in the past."""


class Reading:
    """One text, as the rules want it."""

    def __init__(self, text: str) -> None:
        self.text = re.sub(r"\bU\.?S\.?(?:A\b\.?)?(?!\w)", "US", text.strip())
        plain = self.text.lower()
        for pattern, expanded in _CONTRACTIONS:
            plain = re.sub(pattern, expanded, plain)
        self.plain = plain
        self.tokens = _WORD.findall(plain)

    @property
    def sentences(self) -> list["Reading"]:
        """Each sentence by itself."""
        return [Reading(part) for part in _SENTENCE.split(self.text)]

    @property
    def clauses(self) -> list[str]:
        """The tokens as they would stand with the main clause first, possessors apart."""
        plain = re.sub(r"\bher (?=[^\W\d_]{4})", "", re.sub(r"['’]s\b", " of ", self.plain))
        plain = _FRONTED.sub(r"\2 \1", plain)
        tokens = (lexicon.SUBJECTS.get(token, token) for token in _WORD.findall(plain))
        return [token for token in tokens if token not in lexicon.DETERMINERS]

    @property
    def opener(self) -> str | None:
        """``yes`` or ``no``, if the text begins with one or is one."""
        plain = _without_idioms(self.plain)
        if opinion := _OPINION.match(plain):
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
        plain = _NO.sub("", _without_idioms(self.plain))
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
        first, _, rest = self.text.partition(" ")
        may_be = re.fullmatch(r"[^\W\d_][\w’'-]*(?<!ly)(?<!ing)", first)
        if not may_be or not _is_name(first) or first.lower() in lexicon.NOUNS:
            return None
        # "Dogs barked" speaks of many, "Paris was" and "James sings" of one.
        finite = _SINGULAR if first.endswith("s") else _FINITE
        return first if finite.match(rest) else None

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
        if _place(name.lower()) in map(_place, self.tokens):
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
    lower = re.sub(r"['’].*", "", word.lower())  # "I'll"
    known = lexicon.TITLES | lexicon.DAYS | lexicon.STARTERS | lexicon.UNITS.keys()
    return word[0].isupper() and lower not in known and lower not in ("may", "am", "pm")


_IDLE = lexicon.FUNCTION | lexicon.NEGATORS | lexicon.LIKE_NEGATORS | lexicon.YES | lexicon.NO


def content(tokens: list[str]) -> set[str]:
    """The words that say what a text is about."""
    return {stem(token) for token in tokens if token not in _IDLE and token[0] != "<"}


def parties(tokens: list[str]) -> set[str]:
    """The words of content, and who and where: what can change places around a verb."""
    return content(tokens) | (set(tokens) & lexicon.PLACES)


def _place(word: str) -> str:
    """The stem of a word, and of a country's name where it speaks of one."""
    singular = re.sub(r"(?<=an)s$", "", word)
    return stem(lexicon.PEOPLES.get(singular, word))


def stem(word: str) -> str:
    """The word without the ending of a plural, a possessor or a verb's form."""
    word = re.sub(r"['’]s?$", "", word)
    return re.sub(r"(?<=\w{3})(?:es|ed|ing|e)$|s$", "", word)
