"""The gender of German nouns, as far as endings and lists of common words tell it."""

import re

_FEMININE_ENDING = re.compile(
    r"\w+(?:e|ung|heit|keit|ion|tät|schaft|ik|enz|anz|ur)"
    r"|\w+(?:er|ent|ant|ist|eur|or|nd|st|log)in|\w{3,}ei"
)
_FEMININE_LAST_PART = tuple(
    """
    frau stadt hand tür fahrt arbeit zeit welt nummer zahl wahl kraft nacht macht gefahr regel tafel
    gabel schüssel person mutter tochter schwester feder mauer steuer dauer kammer ziffer uhr milch
    wurst haut bahn schrift sicht schicht pflicht nachricht antwort mail zwiebel kartoffel nudel
    brezel frist kunst post luft hilfe bank firma
    """.split()
)
"""Also at the end of a compound."""
_FEMININE = frozenset(
    """
    wand leinwand maus kuh insel oper pizza cola limo kiwi app sms dvd cd wg couch party city show
    story mandel nuss walnuss haselnuss axt gans bitte angst last ferien medizin box burg form jagd
    kur mark not polizei saat schuld spur tat bar bibliothek
    """.split()
)
_NOT_FEMININE = frozenset(
    """
    name nachname vorname junge kollege kunde käse buchstabe gedanke affe löwe hase neffe experte
    zeuge franzose wille funke glaube ende wochenende jahresende auge interesse gebäude gemüse
    gebirge gelände getreide gewebe gesicht brei flur abitur
    """.split()
)
_MASCULINE_LAST_PART = tuple(
    """
    tag monat termin löffel punkt platz meter abend kurs raum schlüssel wagen kuchen saft artikel
    fehler koffer schritt liter becher teller bus film test brief baum salat tisch
    """.split()
)
_MASCULINE = frozenset(
    """
    mann hund apfel stuhl bruder sohn freund gast zug block name nachname vorname junge kollege
    kollegen kunde kunden buchstabe gedanke affe löwe hase neffe experte zeuge morgen nachmittag
    vormittag sommer winter weg ort computer drucker kaffee tee wein euro dollar cent service
    versuch grund teil satz
    """.split()
)


def is_feminine(noun: str) -> bool:
    """Whether "eine" stands before it; compounds are judged by their last part."""
    low = noun.lower()
    if low in _NOT_FEMININE:
        return False
    if low in _FEMININE or low.endswith(_FEMININE_LAST_PART):
        return True
    return _FEMININE_ENDING.fullmatch(low) is not None


def is_masculine(noun: str) -> bool:
    """Whether "einen" stands before it in the accusative; what is not listed, is not."""
    low = noun.lower()
    return low in _MASCULINE or low.endswith(_MASCULINE_LAST_PART)
