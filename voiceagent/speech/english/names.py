"""Titles, abbreviations, initials, Roman numerals, street addresses."""

import re

from voiceagent.speech.english.numbers import cardinal, ordinal
from voiceagent.speech.english.rule import ends_sentence
from voiceagent.speech.mapped import Replacement
from voiceagent.speech.rules import alternatives, rule

_TITLES = {
    "Dr": "Doctor",
    "Mr": "Mister",
    "Mrs": "Misses",
    "Ms": "Miz",
    "Prof": "Professor",
    "Gen": "General",
    "Col": "Colonel",
    "Maj": "Major",
    "Capt": "Captain",
    "Cpt": "Captain",
    "Lt": "Lieutenant",
    "Sgt": "Sergeant",
    "Cmdr": "Commander",
    "Adm": "Admiral",
    "Rev": "Reverend",
    "Fr": "Father",
    "Hon": "Honorable",
    "Gov": "Governor",
    "Sen": "Senator",
    "Rep": "Representative",
    "Pres": "President",
    "Supt": "Superintendent",
    "Messrs": "Messieurs",
    "Mt": "Mount",
    "Ft": "Fort",
    "St": "Saint",
}
"""Before a name."""

_ABBREVIATIONS = {
    "e.g.": "for example",
    "i.e.": "that is",
    "etc.": "et cetera",
    "vs.": "versus",
    "vs": "versus",
    "cf.": "compare",
    "approx.": "approximately",
    "appt.": "appointment",
    "apt.": "apartment",
    "dept.": "department",
    "Dept.": "Department",
    "est.": "established",
    "incl.": "including",
    "excl.": "excluding",
    "max.": "maximum",
    "min.": "minimum",
    "misc.": "miscellaneous",
    "tel.": "telephone",
    "Tel.": "Telephone",
    "n/a": "not applicable",
    "N/A": "not applicable",
    "c/o": "care of",
    "b/c": "because",
    "s/he": "she or he",
    "temp.": "temperature",
    "w/o": "without",
    "w/": "with",
    "a.k.a.": "also known as",
    "aka": "also known as",
    "c.f.": "compare",
    "et al.": "et al",
    "Inc.": "Incorporated",
    "Ltd.": "Limited",
    "Corp.": "Corporation",
    "Co.": "Company",
    "Bros.": "Brothers",
    "Assn.": "Association",
    "Univ.": "University",
    "Jr.": "Junior",
    "Sr.": "Senior",
    "Esq.": "Esquire",
    "ca.": "circa",
}
"""Words that a dot ends without ending the sentence."""

_BEFORE_NUMBERS = {
    "No": "Number",
    "no": "number",
    "Nos": "Numbers",
    "nos": "numbers",
    "p": "page",
    "pp": "pages",
    "vol": "volume",
    "Vol": "Volume",
    "ch": "chapter",
    "Ch": "Chapter",
    "chap": "chapter",
    "sec": "section",
    "Sec": "Section",
    "fig": "figure",
    "Fig": "Figure",
    "eq": "equation",
    "Eq": "Equation",
    "ver": "version",
    "Art": "Article",
    "art": "article",
    "Rm": "Room",
    "Hwy": "Highway",
    "Rte": "Route",
    "Bldg": "Building",
    "Ste": "Suite",
    "Apt": "Apartment",
    "ext": "extension",
    "Ext": "Extension",
    "nr": "number",
    "Nr": "number",
    "Op": "Opus",
    "approx": "approximately",
    "ca": "circa",
    "c": "circa",
}

_DEGREES = {
    "Ph.D.": "PhD",
    "M.D.": "MD",
    "B.A.": "BA",
    "M.A.": "MA",
    "B.Sc.": "BSc",
    "M.Sc.": "MSc",
}


def _title(match: re.Match[str]) -> Replacement:
    return _TITLES[match["title"]]


def _abbreviation(match: re.Match[str]) -> Replacement:
    """The dot also ends the sentence where nothing, or a new sentence, comes after it."""
    written = match["written"]
    ends = written.endswith(".") and ends_sentence(match.string[match.end() :])
    return _ABBREVIATIONS[written] + ("." if ends else "")


def _before_number(match: re.Match[str]) -> Replacement:
    return _BEFORE_NUMBERS[match["word"]] + " "


def _degree(match: re.Match[str]) -> Replacement:
    return _DEGREES[match["degree"]] + _stop(match)


def _initials(match: re.Match[str]) -> Replacement:
    """``U.S.`` -> ``US``, ``J. K. Rowling`` -> ``JK Rowling``: capitals are read one by one."""
    letters = re.sub(r"[.\s]", "", match["letters"])
    return (letters.upper() if letters in ("am", "pm") else letters) + _stop(match)


def _initials_of_a_name(match: re.Match[str]) -> Replacement:
    """``J. K. Rowling`` -> ``JK Rowling``; "the U.S. It" is no name."""
    after = match.string[match.end() :]
    return re.sub(r"[.\s]", "", match["letters"]) + (". " if ends_sentence(after) else " ")


def _hash(match: re.Match[str]) -> Replacement:
    return "number "


def _stop(match: re.Match[str]) -> str:
    """A last dot that also ended the sentence."""
    after = match.string[match.end() :]
    return "." if match.group().endswith(".") and ends_sentence(after) else ""


# Roman numerals ------------------------------------------------------------------------------

_ROMAN = r"(?=[IVXLC]+\b)(?![LC]\b)(?:C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})"
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_NUMBERED = (
    "Number|Chapter|Part|Section|Volume|Book|Act|Scene|Article|Appendix|Phase|Type|Class|Level|Stage|"
    "Title|Episode|Grade|War|Bowl|Mark|Apollo|Rocky|Final Fantasy|Windows"
)
_ONE_FOLLOWS = re.compile(
    r"\s*(?:$|[.,;:!?)\]\"'”])|\s(?:of|was|is|and|or|in|ended|began|error|diabetes|to)\b"
)
"""What may come after "Part I" that shows that the "I" is no pronoun."""
_CROWNED = (
    "Henry|Louis|Charles|George|Edward|Richard|James|William|Elizabeth|Mary|Philip|Frederick|"
    "Napoleon|Nicholas|Alexander|Catherine|John|Paul|Pius|Benedict|Leo|Francis|Peter|Ivan|"
    "Wilhelm|Ramses|Ptolemy|Gregory|Innocent|Clement|Urban|Otto|Ferdinand|Juan Carlos"
)


def _roman(match: re.Match[str]) -> Replacement:
    """``Part IV``; ``the part I like`` is none."""
    if match["roman"] == "I" and not _ONE_FOLLOWS.match(match.string, match.end()):
        return None
    if match["roman"] == "X" and match["word"].islower():  # "of type X"
        return None
    return [match.span("word"), (f" {cardinal(_value(match['roman']))}", *match.span("roman"))]


def _crowned(match: re.Match[str]) -> Replacement:
    said = f" the {ordinal(_value(match['roman']))}"
    return [match.span("word"), (said, *match.span("roman"))]


def _value(roman: str) -> int:
    values = [_ROMAN_VALUES[letter] for letter in roman.upper()]
    return sum(
        -value if any(later > value for later in values[i + 1 : i + 2]) else value
        for i, value in enumerate(values)
    )


BEFORE_NUMBER_RULES = [
    rule(
        rf"(?<![\w.])(?P<word>{alternatives(_BEFORE_NUMBERS)})\.(?P<blank> ?)"
        r"(?=\d|(?:[IVX]{2,}|[VX])\b|I[,.;:)])",
        _before_number,
    ),
]

RULES = [
    rule(rf"\b(?P<title>{alternatives(_TITLES)})\.(?= (?:[A-Z]|and [A-Z]))", _title),
    rule(r"\b(?P<title>Dr|Mr|Mrs|Ms)(?= (?:[A-Z][a-z]|(?:&|and) (?:Dr|Mrs?|Ms)\b))", _title),
    rule(r"(?<!\w)(?P<hash>#|№ ?)(?=\d)", _hash),
    rule(rf"(?<![\w.])(?P<degree>{alternatives(_DEGREES)})", _degree),
    rule(rf"(?<![\w.@])(?P<written>{alternatives(_ABBREVIATIONS)})(?![\w.])", _abbreviation),
    rule(r"(?<![\w.])(?P<letters>(?:[A-Z]\. ?){2,})(?=[A-Z][a-z])", _initials_of_a_name),
    rule(r"(?<![\w.])(?P<letters>(?:[A-Za-z]\.){2,}[A-Za-z]?)(?!\w)", _initials),
    rule(r"(?<![\w.])(?P<letters>[A-Z])\.(?= [A-Z][a-z])", _initials),
    rule(rf"\b(?P<word>(?i:{_NUMBERED})) (?P<roman>{_ROMAN}|[ivx]{{2,5}})\b(?!['’])", _roman),
    rule(rf"\b(?P<word>{_CROWNED}) (?P<roman>{_ROMAN})\b(?!['’]m)", _crowned),
]
