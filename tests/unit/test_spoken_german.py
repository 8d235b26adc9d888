"""Spoken form of German: numbers with their endings, dates, times, money, abbreviations."""

import pytest

from voiceagent.speech.german.numbers import cardinal, number, ordinal, year
from voiceagent.speech.german.words import roman
from voiceagent.speech.spoken import spoken_form

SAID = {
    "Das kostet 3,50 €.": "Das kostet drei Euro fünfzig.",
    "Nur 0,99 €!": "Nur neunundneunzig Cent!",
    "1 € reicht.": "ein Euro reicht.",
    "Er zahlte 1.234,56 €.": "Er zahlte tausendzweihundertvierunddreißig Euro sechsundfünfzig.",
    "€ 20 oder $5": "zwanzig Euro oder fünf Dollar",
    "2,5 Mio. € Umsatz": "zwei Komma fünf Millionen Euro Umsatz",
    "1 Mio. Menschen": "eine Million Menschen",
    "3 Mrd. Euro": "drei Milliarden Euro",
    "Am 3. Oktober 1990": "Am dritten Oktober neunzehnhundertneunzig",
    "der 14. März": "der vierzehnte März",
    "3. Mai 2024": "dritter Mai zweitausendvierundzwanzig",
    "am 03.10.1990": "am dritten Oktober neunzehnhundertneunzig",
    "bis zum 5.6.": "bis zum fünften Juni",
    "vom 3.-5. Mai": "vom dritten bis fünften Mai",
    "2024-03-14": "vierzehnter März zweitausendvierundzwanzig",
    "Mo., den 7. Jan.": "Montag, den siebten Januar",
    "die 1990er Jahre": "die neunzehnhundertneunziger Jahre",
    "die 80er": "die achtziger",
    "1939–1945": "neunzehnhundertneununddreißig bis neunzehnhundertfünfundvierzig",
    "Im Jahr 1848 war Krieg.": "Im Jahr achtzehnhundertachtundvierzig war Krieg.",
    "um 14:30 Uhr": "um vierzehn Uhr dreißig",
    "um 8 Uhr": "um acht Uhr",
    "um 1 Uhr nachts": "um ein Uhr nachts",
    "um 7:05": "um sieben Uhr fünf",
    "Von 9–17 Uhr geöffnet.": "Von neun bis siebzehn Uhr geöffnet.",
    "9:30-11:00 Uhr": "neun Uhr dreißig bis elf Uhr",
    "Der Zug fährt 18.45 Uhr.": "Der Zug fährt achtzehn Uhr fünfundvierzig.",
    "5 kg Mehl": "fünf Kilogramm Mehl",
    "120 km/h": "einhundertzwanzig Kilometer pro Stunde",
    "-5 °C": "minus fünf Grad Celsius",
    "20 % Rabatt": "zwanzig Prozent Rabatt",
    "3,14": "drei Komma eins vier",
    "1 h 20 min": "eine Stunde zwanzig Minuten",
    "10–15 Min.": "zehn bis fünfzehn Minuten",
    "50 m²": "fünfzig Quadratmeter",
    "21 Kinder": "einundzwanzig Kinder",
    "1 Tag": "ein Tag",
    "1 Woche": "eine Woche",
    "101 Dalmatiner": "einhunderteins Dalmatiner",
    "1.000.000": "eine Million",
    "im 19. Jahrhundert": "im neunzehnten Jahrhundert",
    "das 2. Mal": "das zweite Mal",
    "in der 3. Klasse": "in der dritten Klasse",
    "zum 1. Mal": "zum ersten Mal",
    "Ludwig XIV. regierte.": "Ludwig der Vierzehnte regierte.",
    "Elisabeth II.": "Elisabeth die Zweite.",
    "Das ist der 3.": "Das ist der dritte.",
    "3/4 der Leute": "drei Viertel der Leute",
    "1/2 Liter": "ein halb Liter",
    "1 1/2 Stunden": "eineinhalb Stunden",
    "½ TL Salz": "ein halb Teelöffel Salz",
    "Es steht 2:1.": "Es steht zwei zu eins.",
    "3x täglich": "dreimal täglich",
    "3 x 4 = 12": "drei mal vier gleich zwölf",
    "5 + 3 = 8": "fünf plus drei gleich acht",
    "10 - 3 = 7": "zehn minus drei gleich sieben",
    "5-jährig": "fünfjährig",
    "z. B. Äpfel": "zum Beispiel Äpfel",
    "z.B. Äpfel": "zum Beispiel Äpfel",
    "Äpfel, Birnen usw.": "Äpfel, Birnen und so weiter.",
    "d. h. morgen": "das heißt morgen",
    "Dr. Meier und Prof. Schulz": "Doktor Meier und Professor Schulz",
    "Nr. 5": "Nummer fünf",
    "S. 12, Abs. 3": "Seite zwölf, Absatz drei",
    "ca. 100 Leute": "circa einhundert Leute",
    "300 v. Chr.": "dreihundert vor Christus.",
    "Hauptstr. 5": "Hauptstraße fünf",
    "§ 5 BGB": "Paragraph fünf BGB",
    "Müller & Söhne": "Müller und Söhne",
    "und/oder": "und oder",
    "www.beispiel.de": "WWW Punkt beispiel Punkt DE",
    "info@firma.de": "info at firma Punkt DE",
    "+49 30 1234567": "plus vier neun, drei null, eins zwei drei vier fünf sechs sieben",
    "030 / 123456": "null drei null, eins zwei drei vier fünf sechs",
    "0170-1234567": "null eins sieben null, eins zwei drei vier fünf sechs sieben",
    "Version 3.11": "Version drei Punkt eins eins",
    "007": "null null sieben",
    "A380": "A dreihundertachtzig",
    "**Wichtig:** `code`": "Wichtig: code",
    "- Milch": "Milch.",
    "„Ja“, sagte er – leise.": "Ja, sagte er, leise.",
    "Na ja... vielleicht": "Na ja, vielleicht",
    "Er (mein Bruder) kam.": "Er, mein Bruder, kam.",
    "Ruf 110 an.": "Ruf einhundertzehn an.",
    "10.000 Schritte": "zehntausend Schritte",
    "2 Hunde und 1 Katze": "zwei Hunde und eine Katze",
    "20 °": "zwanzig Grad",
    "Es sind 3. Danach kommt nichts.": "Es sind drei. Danach kommt nichts.",
    "WLAN mit 100 Mbit/s": "WLAN mit einhundert Megabit pro Sekunde",
    "8 GB RAM": "acht Gigabyte RAM",
    "Kommst du? 😀 Ja!": "Kommst du? Ja!",
    "1. Mehl sieben": "eins, Mehl sieben.",
    "2 Euro 50": "zwei Euro fünfzig",
    "Das kostet 5,- €.": "Das kostet fünf Euro.",
    "100 €/Monat": "einhundert Euro pro Monat",
    "Art. 1 Abs. 2 GG": "Artikel eins Absatz zwei GG",
    "Fr. Müller und Hr. Schmidt": "Frau Müller und Herr Schmidt",
    "3 % p. a.": "drei Prozent pro Jahr.",
    "eine Mio. mehr": "eine Million mehr",
    "24/7 offen": "vierundzwanzig sieben offen",
    "Mo–Fr 8–18 Uhr": "Montag bis Freitag acht bis achtzehn Uhr",
    "Sa./So. zu": "Samstag und Sonntag zu",
    "3 m x 4 m": "drei Meter mal vier Meter",
    "2024/25": "zweitausendvierundzwanzig fünfundzwanzig",
    "Kapitel IV": "Kapitel vier",
    "PLZ 10115": "PLZ eins null eins eins fünf",
    "IBAN DE89 3704 0044": "IBAN DE acht neun, drei sieben null vier, null null vier vier",
    "Da war 1 Frau und 1 Mann.": "Da war eine Frau und ein Mann.",
    "Mit 1 Frau und 1 Mann.": "Mit einer Frau und einem Mann.",
    "in 1 Sekunde": "in einer Sekunde",
    "vor 1 Jahr": "vor einem Jahr",
    "für 1 Tag": "für einen Tag",
    "für 1 Stunde": "für eine Stunde",
    "für 1 Kunden": "für einen Kunden",
    "1 Pizza und 1 Ei": "eine Pizza und ein Ei",
    "1 Lehrerin, 1 Termin": "eine Lehrerin, ein Termin",
    "1 Wochenende, 1 Legende": "ein Wochenende, eine Legende",
    "in 1 h": "in einer Stunde",
    "Platz 1": "Platz eins",
    "5-10 Euro.": "fünf bis zehn Euro.",
    "3,50–7,25 €.": "drei Euro fünfzig bis sieben Euro fünfundzwanzig.",
    "50 ct": "fünfzig Cent",
    "50 MB/s": "fünfzig Megabyte pro Sekunde",
    "9,81 m/s²": "neun Komma acht eins Meter pro Sekunde zum Quadrat",
    "5 l/100 km": "fünf Liter pro einhundert Kilometer",
    "1,20 €/kg": "ein Euro zwanzig pro Kilogramm",
    "fe80::1": "F E acht null Doppelpunkt Doppelpunkt eins",
    "Kartennummer 4111 1111 1111 1111.": (
        "Kartennummer vier eins eins eins, eins eins eins eins, eins eins eins eins, "
        "eins eins eins eins."
    ),
    "Öffne ~/.bashrc.": "Öffne Tilde Schrägstrich Punkt bashrc.",
    "Dr. h. c. Meier": "Doktor honoris causa Meier",
    "im II. Weltkrieg": "im zweiten Weltkrieg",
    "2 x 3 m": "zwei mal drei Meter",
    "10 : 2 = 5": "zehn geteilt durch zwei gleich fünf",
    "CO₂": "CO zwei",
    "S. 12 ff.": "Seite zwölf folgende.",
    "A/B-Test": "A B-Test",
    "Schüler/innen und Lehrer*innen": "Schüler innen und Lehrer innen",
    "C# und C++": "C sharp und C plus plus",
    "Am Mo. und Di.": "Am Montag und Dienstag",
    "Jan.–März": "Januar bis März",
    "1000000": "eine Million",
    "Heute ist der 5.": "Heute ist der fünfte.",
    "Sie wurde 2. im Rennen.": "Sie wurde zweite im Rennen.",
    "x² + 3x - 4 = 0": "x hoch zwei plus drei x minus vier gleich null",
    "5! = 120": "fünf Fakultät gleich einhundertzwanzig",
    "Ca. 70% davon": "Circa siebzig Prozent davon",
    "3,5-Zimmer-Wohnung": "drei Komma fünf Zimmer-Wohnung",
    "Am Sa., 5.10. um 9 Uhr": "Am Samstag, fünfter Oktober um neun Uhr",
    "7. Klasse": "siebte Klasse",
    "zw. 5 und 10": "zwischen fünf und zehn",
    "Der 1. FC Köln gewann 3:0.": "Der erste FC Köln gewann drei zu null.",
}


@pytest.mark.parametrize("written", SAID)
def test_german_is_said_as_it_is_read(written: str) -> None:
    """In words, without marks, in whatever region of the language."""
    assert spoken_form(written, language="de").text == SAID[written]
    assert spoken_form(written, language="de-AT").text == SAID[written]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0, "null"),
        (1, "eins"),
        (16, "sechzehn"),
        (17, "siebzehn"),
        (21, "einundzwanzig"),
        (30, "dreißig"),
        (101, "einhunderteins"),
        (1001, "tausendeins"),
        (21_000, "einundzwanzigtausend"),
        (1_000_001, "eine Million eins"),
        (2_500_000, "zwei Millionen fünfhunderttausend"),
        (10**9, "eine Milliarde"),
        (3 * 10**12, "drei Billionen"),
        (10**15, "eins" + " null" * 15),
    ],
)
def test_cardinals(value: int, said: str) -> None:
    """One word below a million, the scales apart; what is too large, digit by digit."""
    assert cardinal(value) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (1, "erste"),
        (2, "zweite"),
        (3, "dritte"),
        (7, "siebte"),
        (8, "achte"),
        (19, "neunzehnte"),
        (20, "zwanzigste"),
        (21, "einundzwanzigste"),
        (101, "einhunderterste"),
        (100, "einhundertste"),
    ],
)
def test_ordinals(value: int, said: str) -> None:
    """A t below twenty, st from there on, and the four irregular ones."""
    assert ordinal(value, "e") == said


def test_years_numbers_and_roman_numerals() -> None:
    """Hundreds up to 1999; a comma before decimals, a dot between thousands."""
    assert [year(1100), year(1999), year(2000)] == [
        "elfhundert",
        "neunzehnhundertneunundneunzig",
        "zweitausend",
    ]
    assert number("-1.234,50") == "minus tausendzweihundertvierunddreißig Komma fünf null"
    assert number("3.5") == "drei Punkt fünf"
    assert [roman("XIV"), roman("IX"), roman("VIII")] == [14, 9, 8]


def test_every_word_knows_what_it_was_written_as() -> None:
    """An amount is one stretch of source, an article keeps its own."""
    text = "Am 3. Mai zahlte er z. B. 3,50 €."
    words = spoken_form(text, language="de").words
    sources = [(word.text, text[word.start : word.end]) for word in words]
    assert sources[:3] == [("Am", "Am"), ("dritten", "3. Mai"), ("Mai", "3. Mai")]
    assert ("Beispiel", "z. B.") in sources
    assert sources[-1] == ("fünfzig.", "3,50 €.")
