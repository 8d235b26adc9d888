"""German abbreviations, numbered kings, addresses and signs."""

import re

from voiceagent.speech.german.dates import ending_after
from voiceagent.speech.german.numbers import cardinal, digits, ordinal
from voiceagent.speech.german.units import PERIODS
from voiceagent.speech.mapped import Replacement
from voiceagent.speech.patterns import (
    ADDRESS_4,
    ADDRESS_6,
    CARD,
    HARDWARE_ADDRESS,
    HASH,
    PATH,
    UUID,
)
from voiceagent.speech.punctuation import punctuation
from voiceagent.speech.rules import alternatives, blank, nothing, rule

_ABBREVIATIONS = {
    "z. B.": "zum Beispiel",
    "d. h.": "das heißt",
    "u. a.": "unter anderem",
    "u. a. m.": "und anderes mehr",
    "p. a.": "pro Jahr",
    "Bsp.": "Beispiel",
    "Mio.": "Millionen",
    "Mrd.": "Milliarden",
    "i. d. R.": "in der Regel",
    "o. ä.": "oder ähnlich",
    "o. Ä.": "oder Ähnliches",
    "u. v. m.": "und vieles mehr",
    "s. o.": "siehe oben",
    "s. u.": "siehe unten",
    "m. E.": "meines Erachtens",
    "v. a.": "vor allem",
    "z. T.": "zum Teil",
    "h. c.": "honoris causa",
    "ff.": "folgende",
    "v. Chr.": "vor Christus",
    "n. Chr.": "nach Christus",
    "usw.": "und so weiter",
    "etc.": "et cetera",
    "bzw.": "beziehungsweise",
    "ca.": "circa",
    "zw.": "zwischen",
    "evtl.": "eventuell",
    "ggf.": "gegebenenfalls",
    "inkl.": "inklusive",
    "exkl.": "exklusive",
    "zzgl.": "zuzüglich",
    "bspw.": "beispielsweise",
    "vgl.": "vergleiche",
    "sog.": "sogenannt",
    "mind.": "mindestens",
    "max.": "maximal",
    "geb.": "geboren",
    "gest.": "gestorben",
    "Jh.": "Jahrhundert",
    "Hr.": "Herr",
    "Dr.": "Doktor",
    "Prof.": "Professor",
    "Dipl.-Ing.": "Diplomingenieur",
    "St.": "Sankt",
    "Tel.": "Telefon",
    "Str.": "Straße",
    "Hbf.": "Hauptbahnhof",
    "Hbf": "Hauptbahnhof",
    "Nr.": "Nummer",
}
_ABBREVIATIONS |= {
    short[0].upper() + short[1:]: said[0].upper() + said[1:]
    for short, said in _ABBREVIATIONS.items()
    if short[0].islower()
}
_BEFORE_NUMBER = {
    "S.": "Seite",
    "Abs.": "Absatz",
    "Art.": "Artikel",
    "Bd.": "Band",
    "Kap.": "Kapitel",
    "Abb.": "Abbildung",
    "Kl.": "Klasse",
}
_NEVER_LAST = frozenset("Dr. Prof. Hr. St. Nr. Dipl.-Ing. Tel.".split())
"""What stands behind these belongs to them: their dot never ends a sentence."""
_RULERS = (
    "Ludwig|Friedrich|Wilhelm|Karl|Heinrich|Otto|Johannes|Paul|Benedikt|Pius|Leo|Napoleon|Philipp|"
    "Georg|Eduard|Franz|Joseph|Alexander|Nikolaus|Peter|Ramses|Konrad|Rudolf|Leopold|Maximilian|"
    "Gustav|Adolf|Christian|Charles|Iwan|Franziskus"
)
_QUEENS = "Elisabeth|Katharina|Maria|Margarethe|Anna|Christina"
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


def _abbreviation(match: re.Match[str]) -> Replacement:
    """Written out; the dot stays where it ended the sentence too."""
    short = re.sub(r"\s+", " ", re.sub(r"\.(?=[^\W\d_])", ". ", match.group()))
    short = short if short in _ABBREVIATIONS else match.group()
    rest = match.string[match.end() :]
    ends = short not in _NEVER_LAST and not rest.strip(" \n\"“”«»'")
    return _ABBREVIATIONS[short] + ("." if ends and short.endswith(".") else "")


def _mrs(match: re.Match[str]) -> Replacement:
    return "Frau"


def _one_large(match: re.Match[str]) -> Replacement:
    return "Million" if match.group() == "Mio." else "Milliarde"


def _part(match: re.Match[str]) -> Replacement:
    """``Kapitel IV`` -> ``Kapitel vier``."""
    return [match.span("part"), (f" {cardinal(roman(match['roman']))}", *match.span("roman"))]


def _before_number(match: re.Match[str]) -> Replacement:
    return _BEFORE_NUMBER[match["short"]]


def _street(match: re.Match[str]) -> Replacement:
    return "straße" if match.group()[0] == "s" else "Straße"


def _compound_street(match: re.Match[str]) -> Replacement:
    return "straße"


def _ruler(match: re.Match[str]) -> Replacement:
    """``Ludwig XIV.`` -> ``Ludwig der Vierzehnte``."""
    article = "die" if re.fullmatch(_QUEENS, match["name"]) else "der"
    said = f" {article} {ordinal(roman(match['roman']), 'e').capitalize()}"
    ends = not match.string[match.end() :].strip()
    end = match.end("name")
    return [match.span("name"), (said + ("." if ends else ""), end, match.end())]


def _century(match: re.Match[str]) -> Replacement:
    return ordinal(roman(match.group().rstrip(". ")), "en") + " "


def _roman_ordinal(match: re.Match[str]) -> Replacement:
    """``im II. Weltkrieg``."""
    begin = match.start("roman")
    said = ordinal(roman(match["roman"]), ending_after(match["before"]))
    return [(match.start(), begin), (f"{said} ", begin, match.end())]


def roman(text: str) -> int:
    """``XIV`` -> 14."""
    values = [_ROMAN[letter] for letter in text]
    after = [*values[1:], 0]
    return sum(-value if value < then else value for value, then in zip(values, after, strict=True))


# Addresses ------------------------------------------------------------------------------------

_SYMBOLS = {
    ".": "Punkt",
    "/": "Schrägstrich",
    "\\": "Rückstrich",
    "-": "Bindestrich",
    "_": "Unterstrich",
    ":": "Doppelpunkt",
    "@": "at",
    "?": "Fragezeichen",
    "=": "gleich",
    "&": "und",
    "#": "Raute",
    "+": "plus",
    "%": "Prozent",
    "~": "Tilde",
}
_SPELLED = frozenset("http https www ftp html htm php css js ts py md pdf csv xml de at ch".split())


def _spell(text: str) -> str:
    said = []
    for piece in re.findall(r"[^\W\d_]+|\d|[^\w\s]|_", text):
        if piece.isdecimal():
            said.append(digits(piece))
        elif piece in _SYMBOLS:
            said.append(_SYMBOLS[piece])
        elif piece[0].isalpha():
            said.append(piece.upper() if piece.lower() in _SPELLED else piece)
    return " ".join(said)


def _address(match: re.Match[str]) -> Replacement:
    """A web or e-mail address, or a file; the mark that ends the sentence is not part of it."""
    address = match.group().rstrip(".,;:!?")
    begin, end = match.start(), match.start() + len(address)
    return [(_spell(address), begin, end), (end, match.end())]


def _by_characters(match: re.Match[str]) -> Replacement:
    """``fe80::1``: each letter, digit and sign by itself."""
    return " ".join(
        _SYMBOLS.get(character)
        or (digits(character) if character.isdecimal() else character.upper())
        for character in match.group()
    )


def _spelled_address(match: re.Match[str]) -> Replacement:
    return _spell(match.group())


def _path(match: re.Match[str]) -> Replacement:
    path = match.group().rstrip(".,;:!?")
    begin, end = match.start(), match.start() + len(path)
    return [(_spell(path), begin, end), (end, match.end())]


def _telephone(match: re.Match[str]) -> Replacement:
    """Digit by digit, with a pause where the groups meet."""
    groups = re.findall(r"\d+", match.group())
    plus = "plus " if match.group().lstrip("(").startswith("+") else ""
    return plus + ", ".join(digits(group) for group in groups)


def _version(match: re.Match[str]) -> Replacement:
    numbers = " Punkt ".join(digits(part) for part in match["numbers"].split("."))
    return f"Version {numbers}" if match["v"] else numbers


_DOMAIN = r"(?:[\w-]+\.)+[a-zA-Z]{2,}"
ADDRESS_RULES = [
    rule(r"(?<=\d)[\u00a0\u202f\u2009](?=\d{3}(?!\d))", nothing),
    rule(r"\b(?:https?|ftp|mailto)://?[^\s<>\"”“»)\]]+|\bwww\.[^\s<>\"”“»)\]]+", _address, re.I),
    rule(rf"(?<![\w.])[\w.+-]+@{_DOMAIN}", _address),
    rule(PATH, _path),
    rule(UUID, _by_characters),
    rule(HARDWARE_ADDRESS, _by_characters),
    rule(ADDRESS_6, _by_characters),
    rule(HASH, _by_characters),
    rule(CARD, _telephone),
    rule(rf"(?<![\w.]){ADDRESS_4}(?::\d{{2,5}})?(?!\w)", _spelled_address),
    rule(
        r"(?<![\w.@/])(?:[a-z0-9][a-z0-9-]+\.)+(?:de|at|ch|com|org|net|eu|info|io)\b(?:/[\w./-]*)?",
        _address,
    ),
    rule(r"(?<![\w.])[\w-]+\.(?:py|md|txt|json|pdf|docx?|xlsx?|csv|png|jpe?g|zip|mp3)\b", _address),
    rule(
        r"(?<![\w.,+-])(?:\+\d{2,3}[ /-]?)(?:\(?0?\)?[ ]?)(?:\d{2,}[ /-]?){1,6}\d+(?![\w-])",
        _telephone,
    ),
    rule(r"(?<![\w.,+-])\(?0\d{2,5}\)?(?: ?[/-] ?| )\d{2,}(?:[ -]?\d{2,})*(?![\w-])", _telephone),
    rule(r"(?<![\w.])(?P<v>[vV]|[Vv]ersion )(?P<numbers>\d+(?:\.\d+)+)\b", _version),
]

_SPACED = alternatives(_ABBREVIATIONS).replace(r"\.\ ", r"\.\s?")
RULES = [
    rule(r"\bFr\.(?= [A-ZÄÖÜ])", _mrs),
    rule(r"(?<=\beine )(?:Mio|Mrd)\.", _one_large),
    rule(r"\b(?P<part>Kapitel|Teil|Band|Akt|Stufe|Phase|Typ) (?P<roman>[IVX]+)\b", _part),
    rule(rf"(?<![\w.])(?:{_SPACED})(?!\w)", _abbreviation),
    rule(rf"(?<!\w)(?P<short>{alternatives(_BEFORE_NUMBER)})(?= ?\d)", _before_number),
    rule(r"(?<=[a-zäöüß])str\.(?= ?\d|,|$)", _compound_street),
    rule(rf"\b(?P<name>{_RULERS}|{_QUEENS}) (?P<roman>[IVXL]+)\b\.?", _ruler),
    rule(r"\b[IVXL]+\. (?=Jahrhundert)", _century),
    rule(
        r"(?:\b(?P<before>der|den|dem|des|im|am|vom|zum|das|die) )?\b(?P<roman>[IVX]+)\. "
        r"(?=Weltkrieg|Quartal|Akt\b|Klasse|Vatikan)",
        _roman_ordinal,
    ),
]

_SIGNS = {
    "&": "und",
    "%": "Prozent",
    "@": "at",
    "$": "Dollar",
    "€": "Euro",
    "£": "Pfund",
    "§": "Paragraph",
    "°": "Grad",
    "+": "plus",
    "=": "gleich",
    "×": "mal",
    "÷": "geteilt durch",
    "≈": "ungefähr",
    "~": "ungefähr",
    "≠": "ungleich",
    "≤": "höchstens",
    "≥": "mindestens",
    "±": "plus minus",
    "√": "Wurzel aus",
    "π": "Pi",
    "²": "hoch zwei",
    "³": "hoch drei",
    "<": "kleiner als",
    ">": "größer als",
    "#": "Raute",
    "*": "Sternchen",
    "\\": "Rückstrich",
    "^": "hoch",
    "©": "Copyright",
    "®": "",
    "™": "",
    "_": "",
    "|": "",
}


def _slash(match: re.Match[str]) -> Replacement:
    return " Schrägstrich "


def _per(match: re.Match[str]) -> Replacement:
    """``Euro/Monat``, ``Euro zwanzig/kg``."""
    name = PERIODS.get(match["per"], match["per"])
    return [match.span("sum"), (f" pro {name}", match.end("sum"), match.end())]


def _sections(match: re.Match[str]) -> Replacement:
    return "Paragraphen "


def _sharp(match: re.Match[str]) -> Replacement:
    return " sharp"


MARK_RULES = [
    rule(r"(?<=[a-zäöüß])[/*:_]-?(?=in(?:nen)?\b)", blank),
    rule(r"(?<=\b[A-Z])/(?=[A-Z]\b)", blank),
    rule(r"(?<=\b[CF])#(?!\w)", _sharp),
    rule(
        r"(?P<sum>\b(?:Euro|Cent|Dollar|Franken)(?: [a-zäöüß]+)?) ?/ ?"
        rf"(?P<per>{alternatives(PERIODS)}|[^\W\d_]+)(?!\w)",
        _per,
    ),
    rule(r"(?<=\bund)/(?=oder\b)", blank),
    rule(r"(?<=\w)/(?=\w)", _slash),
    rule(r"§§ ?", _sections),
    *punctuation(_SIGNS),
]
