"""American street addresses: house numbers, streets, directions, states."""

import re

from voiceagent.speech.english.numbers import cardinal, digits, year
from voiceagent.speech.english.rule import ends_sentence
from voiceagent.speech.mapped import Replacement
from voiceagent.speech.rules import alternatives, numeric, rule

_STREETS = {
    "St": "Street",
    "st": "Street",
    "Ave": "Avenue",
    "ave": "Avenue",
    "Blvd": "Boulevard",
    "blvd": "Boulevard",
    "Rd": "Road",
    "rd": "Road",
    "Dr": "Drive",
    "Ln": "Lane",
    "ln": "Lane",
    "Ct": "Court",
    "ct": "Court",
    "Pl": "Place",
    "Sq": "Square",
    "Hwy": "Highway",
    "hwy": "Highway",
    "Pkwy": "Parkway",
    "Ter": "Terrace",
    "Cir": "Circle",
}
_DIRECTIONS = {"N": "North", "S": "South", "E": "East", "W": "West"}
_PLACES = {
    "Hwy": "Highway",
    "Rte": "Route",
    "Apt": "Apartment",
    "Rm": "Room",
    "Bldg": "Building",
}
_STATES = {
    "AL": "Alabama",
    "AK": "Alaska",
    "AZ": "Arizona",
    "CA": "California",
    "CO": "Colorado",
    "CT": "Connecticut",
    "FL": "Florida",
    "GA": "Georgia",
    "IL": "Illinois",
    "KS": "Kansas",
    "KY": "Kentucky",
    "LA": "Louisiana",
    "MA": "Massachusetts",
    "MD": "Maryland",
    "MI": "Michigan",
    "MN": "Minnesota",
    "MO": "Missouri",
    "NC": "North Carolina",
    "NJ": "New Jersey",
    "NM": "New Mexico",
    "NV": "Nevada",
    "NY": "New York",
    "PA": "Pennsylvania",
    "SC": "South Carolina",
    "TN": "Tennessee",
    "TX": "Texas",
    "UT": "Utah",
    "VA": "Virginia",
    "WA": "Washington",
    "WI": "Wisconsin",
}
_SHORT_STATES = {
    "Ala.": "Alabama",
    "Ariz.": "Arizona",
    "Ark.": "Arkansas",
    "Calif.": "California",
    "Colo.": "Colorado",
    "Conn.": "Connecticut",
    "Fla.": "Florida",
    "Ga.": "Georgia",
    "Ill.": "Illinois",
    "Kan.": "Kansas",
    "Mass.": "Massachusetts",
    "Mich.": "Michigan",
    "Minn.": "Minnesota",
    "Mo.": "Missouri",
    "Neb.": "Nebraska",
    "Nev.": "Nevada",
    "Okla.": "Oklahoma",
    "Ore.": "Oregon",
    "Pa.": "Pennsylvania",
    "Tenn.": "Tennessee",
    "Tex.": "Texas",
    "Va.": "Virginia",
    "Wash.": "Washington",
    "Wis.": "Wisconsin",
}
_NO_STREETS = frozenset(
    "Mount Port Fort Lake Sault Bay Cape Old Great Saint The "
    "Ask Call Contact Dear Email Find Hello Hi Invite Meet Phone Please See Sorry Tell Thank "
    "Thanks Visit With Yes".split()
)
"""Before these "St." is a saint, "Dr." a doctor: "Mount St. Helens", "Ask Dr. No"."""


def _street(match: re.Match[str]) -> Replacement:
    """``708 N 1st St`` -> ``seven zero eight North 1st Street``."""
    parts: list[tuple[int, int] | tuple[str, int, int]] = [
        (_house_number(match["house"]), *match.span("house")),
        (" ", match.end("house"), match.end("house")),
    ]
    if match["direction"]:
        parts += [
            (_DIRECTIONS[match["direction"]], *match.span("direction")),
            (" ", match.end("direction"), match.end("direction")),
        ]
    stop = "." if match["dot"] and re.match(r"\s+[A-Z]|\s*$", match.string[match.end() :]) else ""
    kind = _STREETS[match["kind"]] + stop
    return [*parts, match.span("name"), (kind, match.start("kind"), match.end())]


def _street_of_a_name(match: re.Match[str]) -> Replacement:
    """``Elm Dr.``, ``42nd St.``: behind a name, and no name follows, or on the way to it."""
    after = match.string[match.end() :]
    if match["named"] and after[1:2].isupper() and not (ends_sentence(after) or match["way"]):
        return None
    if match["name"] in _NO_STREETS:
        return None
    stop = "." if not after.strip() or after[1:2].isupper() else ""
    begin, end = match.span("dotted")
    return [(match.start(), begin), (f" {_STREETS[match['kind']]}{stop}", begin, end)]


def _direction(match: re.Match[str]) -> Replacement:
    return _DIRECTIONS[match["direction"]] + " "


def _unit_of_an_address(match: re.Match[str]) -> Replacement:
    return _PLACES[match["word"]]


def _avenue(match: re.Match[str]) -> Replacement:
    """``5th Ave``, ``MLK Jr. Blvd.``: these are never short for anything else."""
    stop = "." if match["dot"] and ends_sentence(match.string[match.end() :]) else ""
    return [
        match.span("name"),
        (f" {_STREETS[match['kind']]}{stop}", match.end("name"), match.end()),
    ]


def _house(match: re.Match[str]) -> Replacement:
    """``221B Baker Street``."""
    letter = f" {match['letter']}" if match["letter"] else ""
    return _house_number(match["house"]) + letter


def _house_number(text: str) -> str:
    """By pairs, as Americans say them: ``1428`` -> ``fourteen twenty eight``."""
    if len(text) == 4 and text.endswith("00"):
        return year(int(text))
    if len(text) < 3 or text.endswith("00"):
        return cardinal(int(text))
    if "0" in text[-2:-1] or len(text) > 4:
        return digits(text)
    return f"{cardinal(int(text[:-2]))} {cardinal(int(text[-2:]))}"


def _state(match: re.Match[str]) -> Replacement:
    code = digits(match["code"])
    return f", {_STATES[match['state']]}, {code}"


def _state_alone(match: re.Match[str]) -> Replacement:
    """``Austin, TX``, ``St. Louis, Mo.``"""
    state = match["state"]
    stop = "." if state.endswith(".") and ends_sentence(match.string[match.end() :]) else ""
    return (_STATES.get(state) or _SHORT_STATES[state]) + stop


_HOUSE_RULES = [
    rule(
        r"(?<![\w.,$])(?P<house>\d{1,5}) (?:(?P<direction>[NSEW])\.? )?"
        r"(?P<name>(?:(?:[A-Z][\w'-]*|\d+(?:st|nd|rd|th)) ){1,3})"
        rf"(?P<kind>{alternatives(_STREETS)})\b(?P<dot>\.?)",
        _street,
    ),
    rule(
        r"(?<![\w.,$])(?P<house>[1-9]\d{2,4})(?P<letter>[A-Z]?)(?= (?:[A-Z][\w'-]* ){1,2}"
        r"(?:Street|Avenue|Road|Lane|Drive|Boulevard|Place|Court|Square)\b)",
        _house,
    ),
    rule(rf", (?P<state>{alternatives(_STATES)}),? (?P<code>\d{{5}})\b", _state),
]
RULES = [
    *numeric(_HOUSE_RULES),
    rule(
        r"(?<![\w.])(?P<direction>[NSEW])\.? (?=(?:[A-Z][a-z]+|\d+(?:st|nd|rd|th)) "
        r"(?:St|Ave|Blvd|Rd|Dr|Ln|Street|Avenue|Road)\b)",
        _direction,
    ),
    rule(rf"\b(?P<word>{alternatives(_PLACES)})(?= \d)", _unit_of_an_address),
    rule(
        r"(?P<way>\b(?:[Oo]n|[Aa]long|[Dd]own|up|off|onto|[Aa]cross|cross(?:es)?|and) |& )?"
        r"(?<![\w-])"
        r"(?P<name>[A-Z][a-z]+|\d+(?:st|nd|rd|th))"
        r"(?P<dotted> (?P<kind>(?P<named>St|Dr)|Ave|Blvd|Rd|Ln|Hwy|Pkwy)\.)"
        r"(?=\s*$|[,;:!?]|,? [A-Za-z&])",
        _street_of_a_name,
    ),
    rule(
        r"(?P<name>\b[A-Z][\w'-]*\.?|\b\d+(?:st|nd|rd|th)) "
        r"(?P<kind>Ave|Blvd|Pkwy)\b(?P<dot>\.?)",
        _avenue,
    ),
    rule(
        r"(?<![\w.])(?P<name>[A-Z][a-z]+|\d+(?:st|nd|rd|th)) (?P<kind>St|Rd|Ln)(?P<dot>)"
        r"(?=$|[,;!?])",
        _avenue,
    ),
    rule(
        rf"(?<=[a-z], )(?P<state>{alternatives(_STATES)}|{alternatives(_SHORT_STATES)})"
        r"(?=[.,;:!?)]|$| [a-z(])",
        _state_alone,
    ),
]
