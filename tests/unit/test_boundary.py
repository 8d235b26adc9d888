"""Where sentences and clauses end, in each language, and why; decided once, from the left."""

import json
from pathlib import Path
from typing import Any

import pytest

from voiceagent.core.boundary import WINDOW, Boundary, Scanner
from voiceagent.core.committer import Committer, Policy
from voiceagent.core.kinds import Kind
from voiceagent.core.languages import language

VECTORS = Path(__file__).parent.parent / "vectors" / "boundaries.jsonl"
POLICIES = {
    "sentence": Policy.sentences,
    "clause": Policy.clauses,
    "structured": Policy.structured,
}


def cases() -> list[dict[str, Any]]:
    return [json.loads(line) for line in VECTORS.read_text().splitlines()]


def segments(
    text: str, *, lang: str = "en", kind: str = "sentence", chunks: Any = None
) -> list[str]:
    """The segments of a text that arrives in chunks, by default character by character."""
    committer = Committer(reply="r", epoch=0, language=lang, policy=POLICIES[kind]())
    made = []
    for chunk in text if chunks is None else chunks:
        committer.verify(chunk)
        made += committer.commits()
    committer.end()
    made += committer.commits()
    assert "".join(commit.text for commit in made) == text
    return [commit.text.strip() for commit in made if commit.text.strip()]


def check(lang: str, marked: str, *, kind: str = "sentence") -> None:
    """A bar in ``marked`` is a cut with a blank, ``||`` one without."""
    text = marked.replace("||", "").replace("|", " ")
    wanted = marked.replace("||", "|").split("|")
    assert segments(text, lang=lang, kind=kind) == wanted
    assert segments(text, lang=lang, kind=kind, chunks=[text]) == wanted


def reasons(text: str, *, lang: str = "en") -> dict[int, tuple[bool, str]]:
    scanner = Scanner(language=lang, explain=True)
    scanner.feed(text)
    scanner.end()
    return {d.position: (d.cut, d.reason) for d in scanner.decisions()}


@pytest.mark.parametrize("case", cases(), ids=lambda case: str(case["id"]))
def test_the_published_cases_are_cut_right(case: dict[str, Any]) -> None:
    """Every case of the vectors, by characters, at once and by its own nasty tokens."""
    for chunks in (None, [case["text"]], case.get("chunks")):
        got = segments(case["text"], lang=case["lang"], kind=case["kind"], chunks=chunks)
        assert got == case["cuts"]


ENGLISH = """
We make a good team, you and I.|Did you see Albert I. Jones yesterday?
That is JFK Jr.'s book.
He lives in the U.S.A. now.|She does not.
Is it open?|No.|It is closed.
No. 5 is alive.|It is well.
See vol. II of it.|See vol. Intro of it.
Read vol. X now.|Then vol. V too.
We met at 10 a.m. Monday.|He was late.
We met at 10 a.m.|Nobody came.
At 5 p.m. Nobody came.
She lives on Main St. near the park.|It is quiet.
J.K. Rowling wrote it.|J. K. Rowling signed it.
He moved to Washington, D.C.|He likes it.
World War II.|It was long.
We use Node.js.|It is fast.
Do you like .NET?|I do.
Wait, what?!|No way!!!|Really.
Meet Mr. O'Neil.|He is nice.
He said 'Stop.'|Then he left.
Buy it.|iPhone sales rose.
Say i. Then stop.
We sell pens, etc.|Come by.
He has a B.A. in history.|She has a Ph.D.|They met.
Lt. Col. Parker came.|He saw ex-Gov. Smith.
Sept. 11 was a Tuesday.|We remember.
It is 5 ft. 3 in. tall.|Nice.
Go to gate B.|Board now.
It was by J. I. Smith.|It’s good.
It is true.[1]|Then go.
Rated 4.5/5.|Good.
I was there in 1999.|3 people came.
Sure.|**Note:** this is fine.
"Bohr [...] used it [...]" (Smith 55).
Look (here.) and there.|Stop.
Well . . . I did not. . . . The rest|did not.
Hm, well . . . . Then go.
Then . . .5 of it.|It is . .NET or so.
1. Mix it 2. Bake it 3. Eat it.
1.) First one 2.) Second one
1) First one 2) Second one.
a. First one b. Second one
A. First point.|B. Second point.
1. Cut the pie in 4. Then eat.
Call 911) now.|Look: x) is it.
It is (2) here.|Fine.
Fruit: • apples • pears
He's from the U.S. Senate.|He paid the U.S. $5 of it.
Ask DR. Who.|Then go.
So it was. , and then.
He said (it is so. ) Then
Stop. "
Close it》 now.|Then go.
She left the U.S.|Contact her there.
See [this. And that](http://x.y/z. "A. B").|Next.
See [it (c. d) here](http://x.y/a_(b)).|Next.
[Read this. It is good.](http://x.y)|Next.
**[Stop!](http://x.y)** Then go.
See ![Alt. Text](a.png).|Next.
A [note.|With stops] here.
See [[this]](x. y).|A [b]c d.
Steps: 1. Mix. 2. Bake it.
Do this: 1) Mix 2) Bake
The answer is: 1.|Then it ended.
That's great! 🎉🎊 ❤️
That's great!|🎉 Let's go.
"""
EXPECTED = {
    "Say i. Then stop.": ["Say i.", "Then stop."],
    "At 5 p.m. Nobody came.": ["At 5 p.m. Nobody came."],
    "Well . . . I did not. . . . The rest|did not.": [
        "Well . . . I did not.",
        ". . . The rest did not.",
    ],
    "Hm, well . . . . Then go.": ["Hm, well . . . .", "Then go."],
    "Then . . .5 of it.|It is . .NET or so.": [
        "Then . .",
        ".5 of it.",
        "It is .",
        ".NET or so.",
    ],
    "1. Mix it 2. Bake it 3. Eat it.": ["1. Mix it", "2. Bake it", "3. Eat it."],
    "1.) First one 2.) Second one": ["1.) First one", "2.) Second one"],
    "1) First one 2) Second one.": ["1) First one", "2) Second one."],
    "a. First one b. Second one": ["a. First one", "b. Second one"],
    "1. Cut the pie in 4. Then eat.": ["1. Cut the pie in 4.", "Then eat."],
    "Steps: 1. Mix. 2. Bake it.": ["Steps: 1. Mix.", "2. Bake it."],
    "**[Stop!](http://x.y)** Then go.": ["**[Stop!](http://x.y)**", "Then go."],
    "Do this: 1) Mix 2) Bake": ["Do this: 1) Mix", "2) Bake"],
    "Fruit: • apples • pears": ["Fruit:", "• apples", "• pears"],
    "A. First point.|B. Second point.": ["A. First point.", "B. Second point."],
    "See vol. II of it.|See vol. Intro of it.": ["See vol. II of it.", "See vol.", "Intro of it."],
}


@pytest.mark.parametrize("marked", ENGLISH.strip().splitlines())
def test_english_sentences_end_where_a_reader_ends_them(marked: str) -> None:
    """Abbreviations, initials, numbers, quotes, ellipses and lists in running English."""
    text = marked.replace("|", " ")
    wanted = EXPECTED.get(marked, marked.split("|"))
    assert segments(text) == segments(text, chunks=[text]) == wanted


@pytest.mark.parametrize(
    ("lang", "marked"),
    [
        ("de", "Das ist Dr. Müller.|Er ist Arzt."),
        ("de", "Am 3. Oktober ist Feiertag.|Die Läden sind zu."),
        ("de", "Es war 1990.|Danach kam viel."),
        ("de", "Wir haben 25.|Das reicht."),
        ("de", "Ludwig XIV. war König.|Er lebte um 300 v. Chr. in Rom."),
        ("de", "Es war Ludwig XIV.|Er lebte.|Es war Ludwig XIV. Kaiser."),
        ("de", "Ich wohne in der Hauptstr. 5.|Das ist Max.|Es sind max. 5."),
        ("de", "Siehe S. 12.|Dort steht es."),
        ("de", "Am 3. 5. kam er.|Sie rief »Halt!« und lief."),
        ("de", "Er rief »Halt! «|Dann ging er."),
        ("de", "1. Er spielt in der 2. Liga.|Gut."),
        ("de", "Er kommt am 3.|Ruf ihn an.|Vgl. Abb. 3.|Siehe Kap. 4."),
        ("fr", "Mme Curie est née en 1867.|Elle était polonaise."),
        ("fr", "« Bonjour. »|Il entra."),
        ("fr", "Il dit « oui. » puis sortit."),
        ("fr", "Il a dit.|»Non.|Bien."),
        ("es", "EE. UU. es grande.|Vive en el siglo V a. C. con él."),
        ("es", "¡Hola!|¿qué tal?|Pues... ¿qué más?"),
        ("es", "D. Juan vino.|Comió con el sr. Comey."),
        ("it", "Il dott. Rossi è qui.|Parla bene."),
        ("pt", "O Sr. Silva chegou.|Ele falou."),
        ("pl", "To jest prof. Kowalski.|Mam np. jabłka."),
        ("nl", "Dhr. Jansen komt.|Neem bijv. een appel."),
        ("tr", "2. Dünya Savaşı uzundu.|Dr. Yılmaz geldi."),
        ("cs", "Přijde 14. března.|Těším se."),
        ("ru", "А. С. Пушкин писал.|И т. д.|Он ушёл."),
        ("ru", "«Что? – спросила она. – Да», — сказал он.|Это 5 тыс. руб.|Дорого."),
        ("ru", "Дом стоит. № 5 закрыт.|Всё."),
        ("el", "Τι κάνεις;|Ο κ. Παπαδόπουλος ήρθε."),
        ("hy", "Ի՞նչ ես մտածում:|Ոչինչ:"),
        ("ja", "「はい。」||彼は笑った。||「いや。」と彼は泣いた。"),
        ("ja", "「はい。」||でも、彼は笑った。||モデルは「Ａ！」だ。"),
        ("ja", "値は３．１４です。||次。"),
        ("zh", "他说：“好。”||我走了。||（好的。）||去看《走吧！爸爸》好吗？||好！"),
        ("zh", "好。，但是不。||等等……我想想。"),
        ("zh", '他说："好。"||然后走了。||"新的"事。'),
        ("zh", "《未完。||"),
        ("zh", "是吗?||你好!||我是小明.||用Python3.11版。||他说“好!”然后走了。||Yahoo!知恵袋。"),
        ("zh", "太好了！🎉||我们走。||他（张三。）来了。||（完。）||走。"),
        ("zh", "他问：“真的？”||我说：“真的！”"),
        ("ja", "本当?||はい!||本当?と聞いた。||いい?って。||何?||とても。"),
        ("zh", "“你好！”他们说。||“走吧。”||她笑了。||“好。”||他"),
        ("ko", "안녕하세요.|저는 김 박사입니다."),
        ("ko", "그는 가.|나는 온다."),
        ("hi", "यह अच्छा है.|ए. पी. जे. अब्दुल कलाम आए।|वे महान थे।"),
        ("bn", "ড. ইউনূস এলেন।|তিনি খুশি।"),
        ("ar", "د. أحمد هنا.|كم السعر؟|3.5 دينار."),
        ("ur", "وہ آئے۔|وہ خوش ہیں۔"),
        ("th", "สวัสดีครับ|ผมชื่อสมชาย"),
        ("th", "วันนี้อากาศดีมาก|แต่ฝนอาจจะตก"),
        ("th", "ราคา 3.50 บาท ถูกมากค่ะ|ขอบคุณค่ะ"),
        ("th", "ไป เอา"),
        ("xx-Latn", "Uno.|Due.|I live in the U.S.|How are you?"),
        ("en", "Please say 你好。|Then wave.|The song is 夜に駆ける.|It is fast."),
    ],
)
def test_each_language_has_its_own_rules(lang: str, marked: str) -> None:
    """Ordinals, titles, quotes, particles, dandas and blanks, each where it is spoken."""
    if marked.endswith("||"):
        assert segments(marked[:-2], lang=lang) == [marked[:-2]]
    else:
        check(lang, marked)


@pytest.mark.parametrize(
    ("lang", "marked"),
    [
        ("en", "It has 1,000 parts, and a,b is one:|so, in short, fine."),
        ("en", "On Monday, March 3, 2031,|we met."),
        ("en", "On Monday, 3 people came,|we met."),
        ("en", "On Monday,|we met."),
        ("en", "He, John Smith, Jr., came,|so did J. Smith, LLC."),
        ("en", "It is—well—good — or not."),
        ("en", "Pages 10–12 and 3—4 – or so."),
        ("en", "Dogs (big, small, all), cats."),
        ("en", "An **old, bold** one,|here; 2 * 3 = 6,|ok."),
        ("en", "A *b **c, d* e,|f."),
        ("en", '"Yes," he said,|"ok" :) and :-( too.'),
        ("en", "Wait:"),
        ("zh", "第一，||吃饭、睡觉；||10：30见，||“好，”||他说。"),
        ("ja", "朝、||昼、||夜。"),
        ("ar", "نعم،|شكرا؛|ثم 3،5."),
        ("th", "วันนี้อากาศดีมาก|ฝนไม่ตก"),
        ("th", "คุณสมชายเช่น ฝนไม่ตก abc"),
    ],
)
def test_clauses_end_at_marks_that_are_heard(lang: str, marked: str) -> None:
    """Never inside numbers, dates, names, emphasis or brackets."""
    expected = {
        "He, John Smith, Jr., came,|so did J. Smith, LLC.": [
            "He,",
            "John Smith, Jr.,",
            "came,",
            "so did J. Smith, LLC.",
        ],
        "It has 1,000 parts, and a,b is one:|so, in short, fine.": [
            "It has 1,000 parts,",
            "and a,b is one:",
            "so,",
            "in short,",
            "fine.",
        ],
        "On Monday, 3 people came,|we met.": ["On Monday, 3 people came,", "we met."],
        "It is—well—good — or not.": ["It is—", "well—", "good —", "or not."],
        "Pages 10–12 and 3—4 – or so.": ["Pages 10–12 and 3—4 –", "or so."],
        "Dogs (big, small, all), cats.": ["Dogs (big, small, all),", "cats."],
        "An **old, bold** one,|here; 2 * 3 = 6,|ok.": [
            "An **old, bold** one,",
            "here;",
            "2 * 3 = 6,",
            "ok.",
        ],
        '"Yes," he said,|"ok" :) and :-( too.': ['"Yes,"', "he said,", '"ok" :) and :-( too.'],
    }
    text = marked.replace("||", "").replace("|", " ")
    wanted = expected.get(marked, marked.replace("||", "|").split("|"))
    assert segments(text, lang=lang, kind="clause") == wanted
    assert segments(text, lang=lang, kind="clause", chunks=[text]) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("One\nTwo", ["One", "Two"]),
        ("a line that is\nwrapped here", ["a line that is\nwrapped here"]),
        ("He went to\nParis.", ["He went to\nParis."]),
        ("First,\nSecond.", ["First,\nSecond."]),
        ("x" * 60 + "\nParis.", ["x" * 60 + "\nParis."]),
        ("Dr.\nSmith came.", ["Dr.\nSmith came."]),
        ("One.\r\nTwo.\u2028Three.", ["One.", "Two.", "Three."]),
        ("- a\n  b\n- C", ["- a\n  b", "- C"]),
        ("- a\nb", ["- a", "b"]),
        ("# T\ntext", ["# T", "text"]),
        ("a\n---\nb", ["a", "---", "b"]),
        ("One" + " " * 80 + "\nTwo", ["One", "Two"]),
        ("One.\n" + " " * 80 + "two", ["One.", "two"]),
        ("one\n\n\n two", ["one", "two"]),
        ("Yes." + " " * 80 + "no.", ["Yes.", "no."]),
        ("yes," + " " * 80 + "no.", ["yes," + " " * 80 + "no."]),
        ("?" * 70 + " Yes.", ["?" * 70, "Yes."]),
        ("a" + "—" * 70 + " b", ["a" + "—" * 70 + " b"]),
        ("a " + "*" * 70 + " b", ["a " + "*" * 70 + " b"]),
        ("... Well.", ["... Well."]),
        ("1.5 1. A", ["1.5 1.", "A"]),
        ("• a\n• • b", ["• a", "• • b"]),
    ],
)
def test_lines_and_long_runs(text: str, wanted: list[str]) -> None:
    """Line ends that end something, wrapped lines that do not, and runs longer than any window."""
    assert segments(text) == segments(text, chunks=[text]) == wanted


@pytest.mark.parametrize(
    ("text", "known", "position"),
    [
        ("Yes. N", 5, 4),
        ("Hello there.\n", 12, 12),
        ("你好。你", 3, 3),
        ("Well, i", 6, None),
        ("She left the U.S. How ", 21, 17),
    ],
)
def test_a_cut_comes_as_early_as_it_is_certain(text: str, known: int, position: int | None) -> None:
    """One character where the script allows it, at most the next word."""
    scanner = Scanner()
    scanner.feed(text[:known])
    assert [b for b in scanner.boundaries() if b.kind is Kind.SENTENCE] == []
    scanner.feed(text[known:])
    found = [b.position for b in scanner.boundaries() if b.kind is Kind.SENTENCE]
    assert found == ([] if position is None else [position])


def test_the_window_moves_and_positions_stay_absolute() -> None:
    """Positions count from the beginning of the text however long it is, and nothing is lost."""
    sentence = "This is *one* of many (so many) sentences 《x》. "
    scanner, text = Scanner(), sentence * 200
    found: list[Boundary] = []
    taken = ""
    for character in text:
        scanner.feed(character)
        found += scanner.boundaries()
    assert scanner.scan.base > WINDOW
    assert scanner.settled >= len(text) - 2
    assert scanner.peek(5) == "This "
    for boundary in found:
        taken += scanner.take(boundary.position)
    assert taken == text[: found[-1].position]
    assert len([b for b in found if b.kind is Kind.SENTENCE]) == 199


def test_text_is_handed_out_while_the_window_moves() -> None:
    """What was taken leaves the scanner; what was not is kept."""
    scanner, text, taken = Scanner(), "This is one of them. " * 200, ""
    for character in text:
        scanner.feed(character)
        for boundary in scanner.boundaries():
            taken += scanner.take(boundary.position)
            assert scanner.peek(boundary.position) == ""
    assert taken == text[:-1].rpartition(".")[0].rpartition(".")[0] + "."


def test_time_grows_with_the_text_and_not_faster() -> None:
    """The window stays small whatever an unbroken text does."""
    for text in (
        "word " * 2000,
        "a" * 9000,
        " " * 9000,
        "\n" * 9000,
        "." * 9000,
        "```\n" + "x" * 9000,
    ):
        scanner = Scanner()
        for at in range(0, len(text), 3):
            scanner.feed(text[at : at + 3])
            assert len(scanner.scan.text) < WINDOW + 600


def test_every_decision_has_its_reason() -> None:
    """Explained, each mark that was looked at says what was decided and why."""
    found = reasons("Pi is 3.14, Dr. Who. Yes (a, b).")
    assert found[7] == (False, "no blank follows")
    assert found[10] == (True, "a clause mark")
    assert found[14] == (False, "'Dr' belongs to the next word")
    assert found[19][0]
    assert found[27] == (False, "inside brackets")
    assert Scanner().decisions() == []


def test_a_language_is_its_primary_subtag_and_english_is_part_of_each() -> None:
    """ "pt-BR" is Portuguese, an unknown language is judged by English and Unicode."""
    assert language("pt-BR") == language("PT_br") == language("pt")
    assert "Dr" in language("tlh").never
    assert "Sra" in language("es").never
    assert language("de").ordinals
    assert not language("en").ordinals
    assert Scanner(language="de-AT").language.code == "de"
