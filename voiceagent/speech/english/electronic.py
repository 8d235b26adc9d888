"""Addresses that machines read: web, e-mail, files, versions, telephone numbers."""

import re

from voiceagent.speech.english.numbers import cardinal, digits
from voiceagent.speech.mapped import Replacement
from voiceagent.speech.rules import rule

_SYMBOLS = {
    ".": "dot",
    "/": "slash",
    "\\": "backslash",
    "-": "dash",
    "_": "underscore",
    ":": "colon",
    "@": "at",
    "?": "question mark",
    "=": "equals",
    "&": "and",
    "#": "hash",
    "+": "plus",
    "%": "percent",
    "~": "tilde",
}
_SPELLED = frozenset(
    "http https www ftp html htm php css js ts py md pdf csv xml sql jpg png".split()
)
"""Letter by letter: capitals make the synthesizer do so."""
_ENDINGS = (
    "py|js|ts|md|txt|json|yaml|yml|toml|html?|css|csv|xml|pdf|docx?|xlsx?|pptx?|png|jpe?g|gif|svg|"
    "mp3|mp4|wav|flac|ogg|zip|tar|gz|exe|dll|sh|bat|cpp|hpp|rs|go|java|rb|php|sql|ini|cfg|log|onnx|gguf"
)


def _spell(text: str) -> str:
    """Each run of letters as a word, each digit and sign by name."""
    said = []
    for piece in re.findall(r"[^\W\d_]+|\d|[^\w\s]|_", text):
        if piece.isdecimal():
            said.append(digits(piece))
        elif piece in _SYMBOLS:
            said.append(_SYMBOLS[piece])
        elif piece[0].isalpha():
            said.append(piece.upper() if piece.lower() in _SPELLED or _is_country(piece) else piece)
    return " ".join(said)


def _is_country(piece: str) -> bool:
    return len(piece) == 2 and piece.lower() not in ("io", "me", "tv", "am", "my", "go", "to", "us")


def _address(match: re.Match[str]) -> Replacement:
    """A web or e-mail address; the mark that ends the sentence is not part of it."""
    address = match.group().rstrip(".,;:!?")
    begin, end = match.start(), match.start() + len(address)
    return [(_spell(address), begin, end), (end, match.end())]


def _file(match: re.Match[str]) -> Replacement:
    return _spell(match.group())


def _version(match: re.Match[str]) -> Replacement:
    word = "version " if match["v"] else ""
    return word + _version_numbers(match["numbers"])


def _named_version(match: re.Match[str]) -> Replacement:
    """``Python 3.12`` -> ``Python three point twelve``."""
    said = _version_numbers(match["numbers"])
    return [match.span("name"), match.span("blank"), (said, match.end("blank"), match.end())]


def _version_numbers(text: str) -> str:
    return " point ".join(
        digits(part) if part[0] == "0" < part[1:] else cardinal(int(part))
        for part in text.split(".")
    )


def _internet_address(match: re.Match[str]) -> Replacement:
    return " dot ".join(digits(part) for part in match.group().split("."))


def _telephone(match: re.Match[str]) -> Replacement:
    """Digit by digit, with a pause where the groups meet; "800" is said as one number."""
    groups = re.findall(r"\d+", match.group())
    said = ["eight hundred" if group == "800" else digits(group) for group in groups]
    plus = "plus " if match.group().startswith("+") else ""
    return plus + ", ".join(said)


def _vanity_telephone(match: re.Match[str]) -> Replacement:
    letters = re.sub(r"\d", lambda digit: f" {digits(digit.group())},", match["letters"])
    said = " ".join(letters.replace("-", " ").split())
    return f"{digits(match['country'])}, eight hundred, {said}"


def _handle(match: re.Match[str]) -> Replacement:
    return f"at {_words(match['name'])}"


def _hashtag(match: re.Match[str]) -> Replacement:
    return f"hashtag {_words(match['name'])}"


def _words(name: str) -> str:
    """``openAI_news`` -> ``open AI news``; numbers are left for the number rules."""
    return " ".join(re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_a-zA-Z]+", name))


def _digits_after(match: re.Match[str]) -> Replacement:
    begin, end = match.span("number")
    return [(match.start(), begin), (digits(match["number"]), begin, end)]


_LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_DOMAIN = rf"(?:{_LABEL}\.)+[a-zA-Z]{{2,}}"


def _called(match: re.Match[str]) -> Replacement:
    """``list.append()`` -> ``list dot append``."""
    return match["name"].replace(".", " dot ").replace("_", " ")


def _join(match: re.Match[str]) -> Replacement:
    return ""


RULES = [
    # Thousands set apart by narrow or unbreakable blanks.
    rule(r"(?<=\d)[\u00a0\u202f\u2009](?=\d{3}(?!\d))", _join),
    rule(r"(?<![\w.])(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\(\)", _called),
    rule(r"\b(?:https?|ftp|file|mailto)://?[^\s<>\"”»)\]]+", _address, re.I),
    rule(r"\bwww\.[^\s<>\"”»)\]]+", _address, re.I),
    rule(rf"(?<![\w.])[\w+-]+(?:\.[\w+-]+)*@{_DOMAIN}(?:/[\w./-]*)?", _address),
    rule(rf"(?<!\w)\.[\w+-]+@{_DOMAIN}", _address),
    rule(
        rf"(?<![\w.@/\\])(?:[\w-]+[/\\])*[\w-]+(?:\.[\w-]+)*\.(?:{_ENDINGS})\b(?!\.?\w)",
        _file,
        re.I,
    ),
    rule(r"(?<![\w./])(?:[a-z0-9][a-z0-9-]+\.)+[a-z]{2,5}(?:/[\w./?=&%#-]*)?(?![\w@])", _address),
    rule(
        r"(?<![\w.-])(?:\+\d{1,3}[ -]?)?(?:\(\d{3}\)[ -]?|\d{3}[-. ])\d{3}[-. ]\d{4}(?:-\d+)?"
        r"(?![\w-])",
        _telephone,
    ),
    rule(r"(?<![\w.-])\+\d{1,3}(?:[ -]\d{2,4}){2,5}(?![\w-])", _telephone),
    rule(r"(?<![\w.-])(?:1-)?\d{3}-\d{3}-\d{4}(?![\w-])", _telephone),
    rule(r"(?<![\w.-])\d{3}-\d{2}-\d{4}(?![\w-])", _telephone),
    # Without an area code; two round numbers are a range.
    rule(r"(?<![\w.,$-])\d{3}-\d{3}[1-9](?![\w-])", _telephone),
    rule(
        r"\b(?:ending in|code is|pin is|OTP is|otp is|PIN is) (?P<number>\d{3,})\b", _digits_after
    ),
    rule(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]\d|\w)", _internet_address),
    rule(
        r"\b(?P<name>(?i:version|release)|Python|iOS|macOS|Ubuntu|Debian|Node|Java|PHP|Ruby|CUDA|Android"
        r"|Windows|Firefox|Chrome)(?P<blank> )[vV]?\.?(?P<numbers>\d+(?:\.\d+)+)\b",
        _named_version,
    ),
    rule(r"(?<![\w.])(?P<v>[vV])\.? ?(?P<numbers>\d+(?:\.\d+)+)\b", _version),
    rule(
        r"(?<![\w.])(?P<v>)(?!\d\d?\.\d\d?\.(?:19|20)\d\d\b)(?P<numbers>\d+(?:\.\d+){2,})(?![\w.]\d|\w)",
        _version,
    ),
    rule(
        r"\b(?P<country>1)-800-(?P<letters>[A-Z0-9-]*[A-Z][A-Z0-9-]*[A-Z0-9])\b", _vanity_telephone
    ),
    rule(
        r"(?:(?<=[Cc]all )|(?<=[Dd]ial ))(?P<number>\d{3})\b"
        r"(?=[.,;!?)]|$| (?:for|if|or|and|in|now)\b)",
        _digits_after,
    ),
    rule(r"(?<![\w@])@(?P<name>[A-Za-z]\w+)", _handle),
    rule(r"(?<![\w#&])#(?P<name>[A-Za-z]\w+)", _hashtag),
]
