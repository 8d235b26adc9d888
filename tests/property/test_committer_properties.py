"""Commits never move: how a text is chopped, and what follows a cut, change nothing."""

import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voiceagent.core.committer import Commit, Committer, Kind, Policy

POLICIES = {
    "sentence": Policy.sentences,
    "clause": Policy.clauses,
    "structured": Policy.structured,
    "voice": Policy.voice,
    "markdown": Policy.markdown,
    "form": Policy.form,
    "code": Policy.code,
}
LANGUAGES = (
    (
        "en",
        "Dr. |U.S. |p.m. |No. |He |the |option A. |Yahoo! |iPhone |J. R. R. Tolkien |Inc. |word ",
    ),
    ("zh", "你好|。|?|（|）|🎉|，|！？|“|”|……|《书！》|3.5|元|、|："),
    ("ja", "彼は|?|「|。」|と|でも|３．１４|です|！|、|って"),
    ("ko", "안녕하세요. |3.5시간|? |감사|, |“네.” "),
    ("hi", "डॉ. |है।|नमस्ते |? |॥|, |ए. पी. जे. "),
    ("ar", "د. |؟ |، |نعم |. |٣٫٥|؛ "),
    ("ur", "ہے۔|؟ |، |شکریہ |ڈاکٹر. "),
    ("bn", "ধন্যবাদ।|ড. |? |, |আপনার "),
    ("th", "สวัสดีครับ |วันนี้อากาศดีมาก |แต่ |พ.ศ. 2567 |ราคา |ค่ะ "),
    ("ru", "г. |т. д. |Он |А. С. |« |» |— Да. — |№ 5|руб. |слово "),
    ("el", "; |κ. |Είναι |π.χ. |, |λέξη |· "),
    ("de", "am 14. |März |z. B. |„|“ |Der |v. Chr. |22,5 |Wort |XIV. "),
    ("fr", "M. |« |. » |! |Mme. |Il |C'est |etc. |14 h 30. "),
    ("es", "¿|¡|Sra. |EE. UU. |? |Es |a. C. |palabra |… ¿y "),
    ("pt", "Sr. |O |Dra. |? |palavra |por ex. "),
    ("it", "Sig. |Il |dott. |? |parola |ecc. "),
    ("pl", "prof. |r. |np. |To |14. |słowo "),
    ("nl", "Dhr. |bijv. |Hij |woord |? "),
    ("tr", "2. |Dr. |O |vb. |sözcük |? "),
    ("hy", ": |. |Ոչինչ|՞|, |։"),
    ("xx", "ꯃ꯫|།|¿|ქართული. |։|word. "),
)
MARKS = [
    *". |! |? |…|...| . . . |. . . . |, |; |: |)|(|[|]|{|}|\"|'|“|”|**|*|_|`|``|—|–| - ".split("|"),
    *"$|$5. |$x. Y$|\\( |\\) |\\[ |\\] |\\begin{align} |\\end{align} |<|>|<b>|</b>|<br/>".split(
        "|"
    ),
    *"<think>|</think>|<!-- |-->|<3|<spell>a.b</spell>|1. |2. |1) |2) |a. |b. |- |• ".split("|"),
    *"# |---|[1]|😀|e\u0301|\u200d|3|3.14|14|a.b|x@y.z|https://a.b/c. |\ufeff| |  |\t|| a ".split(
        "|"
    ),
    '{"a": "b. C"',
    ', "d": 2',
    "[a. B](http://x.y/z) ",
    "](",
    "![picture. P](p.png)",
    " 🎉 ",
    '[{"k": ',
    "|",
]
LINES = [
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\u2028",
    "\n| a | b |\n",
    "\n```py\n",
    "\n```\n",
    "\n~~~\n",
    "\n$$\n",
]
CODE = [
    "x = 1\n",
    "def f():\n    y\n",
    "if a: b\n",
    "else:\n",
    '"""',
    "# c. D\n",
    "SELECT 1;",
    "begin;",
    "end;",
]


STRETCHES = [
    *("word " * 60, "x" * 300 + " word" * 60, "字" * 90, " " * 70, "." * 70, "-" * 70),
    *("<think>" + "so it is " * 30, "\n```py\n" + "x = 1\n" * 40, "\n$$\n" + "a + " * 60),
    *('{"a": "' + "word " * 50, "**" + "word " * 50, "`" + "word " * 50, "\n| a |\n" * 40),
]
"""What makes a segment grow too long, in prose and where no cut may enter."""


@st.composite
def replies(draw: st.DrawFn) -> tuple[str, str]:
    """A language and a text made of what is hard in it."""
    language, words = draw(st.sampled_from(LANGUAGES))
    pieces = [*words.split("|"), *MARKS, *LINES, *CODE]
    parts = draw(st.lists(st.sampled_from(pieces) | st.text(max_size=3), max_size=40))
    stretch = draw(st.sampled_from(["", "", *STRETCHES]))
    at = draw(st.integers(0, len(parts)))
    return language, "".join([*parts[:at], stretch, *parts[at:]])


def commits(
    chunks: list[str], *, language: str, kind: str, buffered_ms: float | None, end: bool = True
) -> list[Commit]:
    committer = Committer(reply="r", epoch=0, language=language, policy=POLICIES[kind]())
    made: list[Commit] = []
    for chunk in chunks:
        committer.verify(chunk)
        made += committer.commits(buffered_ms=buffered_ms)
    if end:
        committer.end()
        made += committer.commits(buffered_ms=buffered_ms)
    return made


def chopped(text: str, *, sizes: list[int]) -> list[str]:
    chunks, at = [], 0
    for size in sizes:
        chunks.append(text[at : at + size])
        at += size
    return [*chunks, text[at:]]


def by_bytes(text: str) -> list[str]:
    decoder = codecs.getincrementaldecoder("utf-8")("surrogatepass")
    data = text.encode("utf-8", "surrogatepass")
    return [decoder.decode(data[at : at + 1]) for at in range(len(data))]


kinds = st.sampled_from(sorted(POLICIES))
buffers = st.sampled_from([None, 0.0, 10_000.0])


@settings(deadline=None, max_examples=150)
@given(replies(), kinds, buffers, st.lists(st.integers(0, 12), max_size=60))
def test_how_a_text_is_chopped_changes_nothing(
    reply: tuple[str, str], kind: str, buffered_ms: float | None, sizes: list[int]
) -> None:
    """All at once, by characters, by bytes, by any tokens: the same commits."""
    language, text = reply
    whole = commits([text], language=language, kind=kind, buffered_ms=buffered_ms)
    for chunks in (list(text), by_bytes(text), chopped(text, sizes=sizes)):
        assert commits(chunks, language=language, kind=kind, buffered_ms=buffered_ms) == whole


@settings(deadline=None, max_examples=150)
@given(replies(), kinds, buffers)
def test_commits_concatenate_to_the_text(
    reply: tuple[str, str], kind: str, buffered_ms: float | None
) -> None:
    """Nothing is lost, added or repeated, and the end flushes the tail."""
    language, text = reply
    made = commits([text], language=language, kind=kind, buffered_ms=buffered_ms)
    assert "".join(commit.text for commit in made) == text
    borders = [0, *(commit.end for commit in made)]
    assert [commit.start for commit in made] == borders[:-1]
    assert borders[-1] == len(text)
    assert [commit.segment for commit in made] == list(range(len(made)))
    assert all(commit.start < commit.end for commit in made)


@settings(deadline=None, max_examples=150)
@given(replies(), kinds, buffers, st.integers(0, 400))
def test_no_continuation_undoes_a_cut(
    reply: tuple[str, str], kind: str, buffered_ms: float | None, length: int
) -> None:
    """What was committed of a prefix is committed of every text that begins with it."""
    language, text = reply
    made = commits([text], language=language, kind=kind, buffered_ms=buffered_ms)
    early = commits(
        [text[:length]], language=language, kind=kind, buffered_ms=buffered_ms, end=False
    )
    assert made[: len(early)] == early


@settings(deadline=None, max_examples=60)
@given(replies(), st.lists(st.sampled_from([0.0, 500.0, 5_000.0, None]), min_size=1, max_size=30))
def test_whatever_is_buffered_a_cut_is_a_place_to_cut(
    reply: tuple[str, str], buffered: list[float | None]
) -> None:
    """Changing amounts of waiting sound choose among the boundaries; they never make new ones."""
    language, text = reply
    committer = Committer(reply="r", epoch=0, language=language, policy=Policy.voice())
    made: list[Commit] = []
    for at, character in enumerate(text):
        committer.verify(character)
        made += committer.commits(buffered_ms=buffered[at % len(buffered)])
    committer.end()
    made += committer.commits()
    assert "".join(commit.text for commit in made) == text


@pytest.mark.parametrize("language", [code for code, _ in LANGUAGES])
@pytest.mark.parametrize("kind", sorted(POLICIES))
def test_every_language_and_kind_holds_its_own_words(language: str, kind: str) -> None:
    """The pieces of each language in a row are cut alike by characters and at once."""
    words = dict(LANGUAGES)[language].split("|")
    text = "".join(a + b for a in words for b in (*words, "\n", "1. "))
    whole = commits([text], language=language, kind=kind, buffered_ms=0.0)
    assert commits(list(text), language=language, kind=kind, buffered_ms=0.0) == whole
    assert "".join(commit.text for commit in whole) == text


@settings(deadline=None, max_examples=60)
@given(replies())
def test_a_commit_that_is_spoken_holds_something_to_say(reply: tuple[str, str]) -> None:
    """For the ear, a segment without a letter or a digit is silent."""
    language, text = reply
    for commit in commits([text], language=language, kind="voice", buffered_ms=None):
        if commit.kind is not Kind.SILENT:
            assert any(character.isalnum() for character in commit.text)


BLOCKS = [
    "<think>" + "so it is, " * 40 + "</think>",
    "```py\n" + "x = 1\n" * 60 + "```",
    "$$\n" + "a + " * 80 + "b\n$$",
    '{"a": "' + "word, " * 60 + '", "b": [1, 2]}',
    "| a | b |\n|---|---|\n" + "| so it is | it is |\n" * 20,
]


@settings(deadline=None, max_examples=30)
@given(
    st.sampled_from(["", "It is so.\n", "Like this:\n", "word " * 30 + "\n"]),
    st.sampled_from(BLOCKS),
    st.integers(1, 40),
    buffers,
)
def test_no_cut_enters_a_block(
    before: str, block: str, size: int, buffered_ms: float | None
) -> None:
    """However long it is, and however much a voice would like to go on."""
    text = f"{before}{block}\nThen it goes on."
    chunks = [text[at : at + size] for at in range(0, len(text), size)]
    made = commits(chunks, language="en", kind="voice", buffered_ms=buffered_ms)
    inside = range(len(before) + 1, len(before) + len(block) - 1)
    assert not [commit for commit in made if commit.end in inside]


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_word_without_end_lets_the_rest_be_cut(size: int) -> None:
    """A stretch with no place to cut is passed over, and what follows it is cut as ever."""
    text = "x" * 300 + " then it goes on and on" * 30
    chunks = [text[at : at + size] for at in range(0, len(text), size)]
    made = commits(chunks, language="en", kind="voice", buffered_ms=None)
    assert all(len(commit.text) <= 240 for commit in made[1:])
    assert len(made) > 3
