"""Addresses that machines read: web, e-mail, files, versions, telephone numbers."""

import re

from voiceagent.speech.english.numbers import cardinal, digits
from voiceagent.speech.mapped import Replacement
from voiceagent.speech.patterns import ADDRESS_6, CARD, HARDWARE_ADDRESS, HASH, PATH, UUID
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
    "*": "star",
}
_SPELLED = frozenset(
    "http https www ftp html htm php css js ts py md pdf csv xml sql jpg png".split()
)
"""Letter by letter: capitals make the synthesizer do so."""
_ENDINGS = (
    "py|js|ts|md|txt|json|yaml|yml|toml|html?|css|csv|xml|pdf|docx?|xlsx?|pptx?|png|jpe?g|gif|svg|"
    "mp3|mp4|wav|flac|ogg|zip|tar|gz|exe|dll|sh|bat|cpp|hpp|rs|go|java|rb|php|sql|ini|cfg|log|onnx|gguf|conf|env|lock|tsx?|jsx"
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


def _path(match: re.Match[str]) -> Replacement:
    """``~/.bashrc``, ``C:\\Users``; the mark that ends the sentence is not part of it."""
    path = match.group().rstrip(".,;:!?")
    begin, end = match.start(), match.start() + len(path)
    return [(_spell(path), begin, end), (end, match.end())]


def _dotted(match: re.Match[str]) -> Replacement:
    """``.NET``, ``.gitignore``: the dot begins the name."""
    return " dot " if match.start() and match.string[match.start() - 1].isalnum() else "dot "


def _characters(text: str) -> str:
    """Each letter, digit and sign by itself; capitals make the synthesizer name letters."""
    return " ".join(
        _SYMBOLS.get(character) or (character.upper() if character.isalpha() else digits(character))
        for character in text
    )


def _by_characters(match: re.Match[str]) -> Replacement:
    """``fe80::1``, a hash: nobody reads a number in it."""
    return _characters(match.group())


def _by_groups(match: re.Match[str]) -> Replacement:
    """A UUID, the address of a network card: what the dashes or colons set apart pauses."""
    return ", ".join(map(_characters, re.split("[-:]", match.group())))


def _colour(match: re.Match[str]) -> Replacement:
    return f"hash {_characters(match['code'])}"


def _order(match: re.Match[str]) -> Replacement:
    """``Order #12345``: a name made of digits."""
    return f"number {digits(match.group())}"


def _hexadecimal(match: re.Match[str]) -> Replacement:
    return f"zero x {_characters(match.group()[2:])}"


def _card(match: re.Match[str]) -> Replacement:
    """``4111 1111 1111 1111``: digit by digit, the groups apart."""
    return ", ".join(map(digits, re.findall(r"\d+", match.group())))


def _flag(match: re.Match[str]) -> Replacement:
    """``--verbose``, ``-v``: a dash that pauses would hide what to type."""
    return "dash " * len(match.group())


def _comparison(match: re.Match[str]) -> Replacement:
    return f" {_COMPARISONS[match.group()]} "


def _blank(match: re.Match[str]) -> Replacement:
    return " "


def _grouped(match: re.Match[str]) -> Replacement:
    """``1 000 000`` and ``1.000.000``: thousands set apart."""
    return re.sub("[ .]", "", match.group())


def _version(match: re.Match[str]) -> Replacement:
    word = "version " if match["v"] else ""
    return word + _version_numbers(match["numbers"]) + _stage(match)


def _stage(match: re.Match[str]) -> str:
    """``-rc.1``, ``-beta2``: what a version is not yet."""
    if not match["stage"]:
        return ""
    name = {"rc": "RC"}.get(match["stage"], match["stage"])
    return f" {name}" + (f" {cardinal(int(match['step']))}" if match["step"] else "")


def _named_version(match: re.Match[str]) -> Replacement:
    """``Python 3.12`` -> ``Python three point twelve``."""
    said = _version_numbers(match["numbers"])
    said += _stage(match)
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


_STAGE = r"(?:[-.]?(?P<stage>rc|alpha|beta|dev|preview|post)[-.]?(?P<step>\d*))?"
_COMPARISONS = {
    "===": "equals",
    "==": "equals",
    "!=": "is not equal to",
    ">=": "at least",
    "<=": "at most",
    "&&": "and",
    "||": "or",
}
_HEX = r"[0-9a-fA-F]"


RULES = [
    # Thousands set apart by narrow or unbreakable blanks.
    rule(r"(?<=\d)[\u00a0\u202f\u2009](?=\d{3}(?!\d))", _join),
    rule(r"(?<![\w.,-])[1-9]\d{0,2}(?: \d{3})* 000(?!\d| \d)", _grouped),
    rule(r"(?<![\w.,-])[1-9]\d{0,2}(?:\.\d{3}){2}(?![\w-]|\.\d)", _grouped),
    rule(UUID, _by_groups),
    rule(HARDWARE_ADDRESS, _by_groups),
    rule(ADDRESS_6, _by_characters),
    rule(HASH, _by_characters),
    rule(rf"(?<![\w#&])#(?P<code>(?=\d*[A-Fa-f])(?=[A-Fa-f]*\d){_HEX}{{6}})\b", _colour),
    rule(CARD, _card),
    rule(r"(?<!\S)(?:--(?=[a-z])|-(?=[a-zA-Z]{1,2}(?:[\s,.;]|$)))", _flag),
    rule(r"===?|!=|>=|<=|&&|\|\|", _comparison),
    rule(r"(?<=\w)::(?=[A-Za-z])", _blank),
    rule(r"(?<![\w.])(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\(\)", _called),
    rule(r"\b(?:https?|ftp|file|mailto)://?[^\s<>\"”»)\]]+", _address, re.I),
    rule(r"\bwww\.[^\s<>\"”»)\]]+", _address, re.I),
    rule(rf"(?<![\w.])[\w+-]+(?:\.[\w+-]+)*@{_DOMAIN}(?:/[\w./-]*)?", _address),
    rule(rf"(?<!\w)\.[\w+-]+@{_DOMAIN}", _address),
    rule(PATH, _path),
    rule(rf"(?<![\w*])\*\.(?:{_ENDINGS})\b", _file),
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
    rule(r"(?<![\w.-])\+\d{1,3}(?:[ -]?\(0?\d{1,4}\))?(?:[ -]\d{2,8}){1,5}(?![\w-])", _telephone),
    rule(r"(?<![\w.-])\+\d{8,15}(?![\w-])", _telephone),
    rule(r"(?<![\w.-])\+\d{1,3}(?:[ .-]\d{1,4}){4,7}(?![\w-])", _telephone),
    rule(r"(?<![\w.-])\(?0\d{1,4}\)?[ -]\d{3,4}[ -]?\d{3,4}(?![\w-])", _telephone),
    rule(
        r"(?:(?<=[Ff]ax: )|(?<=[Tt]el: )|(?<=[Pp]hone: )|(?<=[Cc]all )|(?<=[Dd]ial ))"
        r"\d{3}-\d{4}(?![\w-])",
        _telephone,
    ),
    rule(r"(?<!\w)#\d{4,}\b(?![.,]\d)", _order),
    rule(rf"\b0x{_HEX}+\b", _hexadecimal),
    rule(r"(?<![\w.-])(?:1-)?\d{3}-\d{3}-\d{4}(?![\w-])", _telephone),
    rule(r"(?<![\w.-])1\.\d{3}\.\d{3}\.\d{4}(?![\w-])", _telephone),
    rule(r"(?<![\w.-])\d{3}-\d{2}-\d{4}(?![\w-])", _telephone),
    rule(r"(?<![\w.-])\d{5}-\d{4}(?![\w-])", _telephone),
    # Without an area code; two round numbers are a range.
    rule(r"(?<![\w.,$-])\d{3}-\d{3}[1-9](?![\w-])", _telephone),
    rule(
        r"\b(?:end(?:ing|s) in|code is|pin is|OTP is|otp is|PIN is) (?P<number>\d{3,})\b",
        _digits_after,
    ),
    rule(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]\d|\w)", _internet_address),
    rule(
        r"\b(?P<name>(?i:version|release)|Python|iOS|macOS|Ubuntu|Debian|Node|Java|PHP|Ruby|CUDA|Android"
        r"|Windows|Firefox|Chrome)(?P<blank> )[vV]?\.?(?P<numbers>\d+(?:\.\d+)+)"
        rf"{_STAGE}\b",
        _named_version,
    ),
    rule(rf"(?<![\w.])(?P<v>[vV])\.? ?(?P<numbers>\d+(?:\.\d+)+){_STAGE}\b", _version),
    rule(
        r"(?<![\w.])(?P<v>)(?!\d\d?\.\d\d?\.(?:19|20)\d\d\b)(?P<numbers>\d+(?:\.\d+){2,})"
        rf"{_STAGE}(?![\w.]\d|\w)",
        _version,
    ),
    rule(
        r"\b(?P<country>1)-800-(?P<letters>[A-Z0-9-]*[A-Z][A-Z0-9-]*[A-Z0-9])\b", _vanity_telephone
    ),
    rule(
        r"(?:(?<=[Cc]all )|(?<=[Dd]ial )|(?<=[Cc]all \d{3} or )|(?<=[Dd]ial \d{3} or ))"
        r"(?P<number>\d{3})\b(?=[.,;!?)]|$| (?:for|if|or|and|in|now)\b)",
        _digits_after,
    ),
    rule(r"(?<![\w@])@(?P<name>[A-Za-z]\w+)", _handle),
    rule(r"(?<![\w#&])#(?P<name>[A-Za-z]\w+)", _hashtag),
    rule(r"(?<=[A-Z])\.(?=NET\b)|(?<![^\s(\"'`“/])\.(?=[A-Za-z][\w-]+)", _dotted),
]
