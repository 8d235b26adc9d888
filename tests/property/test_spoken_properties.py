"""Spoken form of any text at all."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from voiceagent.speech.spoken import spoken_form

PIECES = st.sampled_from(
    "Dr. | St. |5|$3.50|10 a.m.|1/2|2024|-|–|—|...|**|`|[x](y)|<b>|| |#|# |\n|\n\n|- |1. |°C|kg|%|"
    ":|Jan. |may |IV|Henry VIII|e.g. |U.S. |a@b.co|www.x.org|v1.2.3|'90s|²|½|🎉|(|)|\"|'|/|=|+|*|x|"
    "_|@|hello |Hello |é|你好|٣|\u200d|$|€|1,234|.5|007|99999999999999999999|5'10\"|&amp;|\\|"
    "3. Mai|am |14:30 Uhr|1,5 Mio. €|z. B. |XIV.|2024年|3月|14:30|两|2个|第|万|元|℃|。|，|《"
    "".split("|")
)
WORDS = st.from_regex(r"[a-z]{2,9}", fullmatch=True).filter(lambda word: word not in ("aka", "vs"))
LANGUAGES = st.sampled_from(["en", "de", "zh"])
TEXTS = st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=14).map("".join))


@settings(max_examples=400, deadline=None)
@example("²", "en")
@example("1/0", "en")
@example("$.", "en")
@example("00:99:99", "en")
@given(TEXTS, LANGUAGES)
def test_any_text_has_a_spoken_form(text: str, language: str) -> None:
    """It never fails; every word has a source inside the text; sources never go back."""
    spoken = spoken_form(text, language=language)
    assert [word.text for word in spoken.words] == spoken.text.split()
    before = 0
    for word in spoken.words:
        assert 0 <= word.start <= word.end <= len(text)
        assert word.start >= before
        before = word.start


@settings(max_examples=200, deadline=None)
@given(TEXTS, LANGUAGES)
def test_no_ascii_digit_is_left_to_the_voice(text: str, language: str) -> None:
    """Every number is said in words: how a voice reads digits is not left to chance."""
    assert not any(digit in spoken_form(text, language=language).text for digit in "0123456789")


@settings(max_examples=100, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=12), LANGUAGES)
def test_plain_words_are_left_alone(words: list[str], language: str) -> None:
    """A sentence of lower-case words is said as it is written, each word from its own place."""
    text = " ".join(words)
    spoken = spoken_form(text, language=language)
    assert spoken.text == text
    assert [text[word.start : word.end] for word in spoken.words] == words
