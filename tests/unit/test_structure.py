"""Structure inside a reply: blocks are one piece, spans are never entered, parts are complete."""

import pytest

from voiceagent.core.committer import Commit, Committer, Policy


def cut(text: str, policy: Policy | None = None) -> list[tuple[str, str]]:
    """Kind and text of each commit, the same by characters, at once and by threes."""
    made = [_cut(chunks, policy) for chunks in (list(text), [text], _threes(text))]
    assert made[0] == made[1] == made[2]
    assert "".join(commit.text for commit in made[0]) == text
    return [(commit.kind.value, commit.text) for commit in made[0]]


def _threes(text: str) -> list[str]:
    return [text[at : at + 3] for at in range(0, len(text), 3)]


def _cut(chunks: list[str], policy: Policy | None) -> list[Commit]:
    policy = Policy.structured() if policy is None else policy
    committer = Committer(reply="r", epoch=0, policy=policy)
    made = []
    for chunk in chunks:
        committer.verify(chunk)
        made += committer.commits()
    committer.end()
    return made + committer.commits()


def texts(text: str, policy: Policy | None = None) -> list[str]:
    return [part.strip() for _, part in cut(text, policy) if part.strip()]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "Code:\n```py\nx = 1. Y\n```\nDone. Bye.",
            ["Code:", "```py\nx = 1. Y\n```", "Done.", "Bye."],
        ),
        ("````\n```\nA. B\n`````  \nDone.", ["````\n```\nA. B\n`````", "Done."]),
        ("~~~\nA. B\n~~~ no\n~~~\nDone.", ["~~~\nA. B\n~~~ no\n~~~", "Done."]),
        ("```\nA. B", ["```\nA. B"]),
        ("```\nA\n```", ["```\nA\n```"]),
        ("Run this: ```sh\nls. A\n```\nOk.", ["Run this:", "```sh\nls. A\n```", "Ok."]),
        ("Say ```x. Y``` now. Ok.", ["Say ```x. Y``` now.", "Ok."]),
        ("~~No. Yes~~ ok. ~a", ["~~No.", "Yes~~ ok. ~a"]),
        ("~", ["~"]),
        ("``` " + "a" * 320 + ". B", ["``` " + "a" * 320 + ".", "B"]),
        ("Use `a. B` or ``c`d. E`` here. Ok.", ["Use `a. B` or ``c`d. E`` here.", "Ok."]),
        ("It is `open. Here\nyes.", ["It is `open.", "Here\nyes."]),
        ("A `b", ["A `b"]),
    ],
)
def test_code_is_one_piece(text: str, wanted: list[str]) -> None:
    """Fenced code is one segment, inline code lies inside one; an unclosed tick is a tick."""
    assert texts(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "T:\n| a | b |\n|---|---|\n| 1. X | 2 |\nDone.",
            ["T:", "| a | b |\n|---|---|\n| 1. X | 2 |", "Done."],
        ),
        ("| a. B |", ["| a. B |"]),
        ("| a |\n\nDone.", ["| a |", "Done."]),
        ("F:\n$$\nE = m. C\n$$.\nDone.", ["F:", "$$\nE = m. C\n$$.", "Done."]),
        ("\\[ a. B \\]\nDone.", ["\\[ a. B \\]", "Done."]),
        (
            "\\begin{align}\na. B\n\\end{align}\nDone.",
            ["\\begin{align}\na. B\n\\end{align}", "Done."],
        ),
        ("\\begin{a+b} no. Yes.", ["\\begin{a+b} no.", "Yes."]),
        ("$$ a. B\n\nDone. Ok.", ["$$ a. B", "Done.", "Ok."]),
        ("$$ a. B", ["$$ a. B"]),
        ("$$a$$", ["$$a$$"]),
        ("$$a. B$$ is it. Ok.", ["$$a. B$$", "is it.", "Ok."]),
    ],
)
def test_tables_and_display_maths_are_one_piece(text: str, wanted: list[str]) -> None:
    """They begin with their line; what is no formula after all goes on as text."""
    assert texts(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("So $x = 1. Y$ holds. Ok.", ["So $x = 1. Y$ holds.", "Ok."]),
        ("So $2x. Y$ holds. Ok.", ["So $2x. Y$ holds.", "Ok."]),
        (
            "It costs $5. Then $6 more. Fine, $7.50. Ok.",
            ["It costs $5.", "Then $6 more.", "Fine, $7.50.", "Ok."],
        ),
        ("Pay $5", ["Pay $5"]),
        ("A $ go. C $do. E", ["A $ go.", "C $do.", "E"]),
        ("A $", ["A $"]),
        ("Is $$a. B$$ it? Ok.", ["Is $$a. B$$ it?", "Ok."]),
        ("Is \\(a. B\\) or \\[c. D\\]? Ok.", ["Is \\(a. B\\) or \\[c. D\\]?", "Ok."]),
        ("A \\* go. C \\qq. D \\", ["A \\* go.", "C \\qq.", "D \\"]),
        ("Not \\(aa. B\nok.", ["Not \\(aa.", "B\nok."]),
        ("Is $x$", ["Is $x$"]),
        ("Is $x$1. Ok", ["Is $x$1.", "Ok"]),
    ],
)
def test_inline_maths_is_no_place_to_cut_and_money_is_no_maths(
    text: str, wanted: list[str]
) -> None:
    """Formulas between dollars or escaped brackets are spans; sums of money are not."""
    assert texts(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("<think>A. B</think>Hi. You.", ["<think>A. B</think>", "Hi.", "You."]),
        ("Hm <think>A. B", ["Hm", "<think>A. B"]),
        ("<THINK>A. B</THINK>", ["<THINK>A. B</THINK>"]),
        ("<think/>A. B", ["<think/>A.", "B"]),
        ("Call <function=x>{}</function> now.", ["Call", "<function=x>{}</function>", "now."]),
        ("<!-- A. B -->Hi.", ["<!-- A. B -->", "Hi."]),
        ("<! go. B", ["<! go.", "B"]),
        ("One.<br/>Two.<b>Three</b>. Four.", ["One.", "<br/>Two.<b>Three</b>.", "Four."]),
        ("One.<", ["One.<"]),
        ("One.<br", ["One.<br"]),
        ("One.<b>x</b>", ["One.<b>x</b>"]),
        ("A <b>b. C</b> go. E", ["A <b>b. C</b> go.", "E"]),
        ("A <b>go. C", ["A <b>go.", "C"]),
        ("A <p>go. C</p> d.", ["A <p>go.", "C</p> d."]),
        ('A <img alt="x. Y>"> go. C', ['A <img alt="x. Y>"> go.', "C"]),
        ('A <img alt="go. Y', ['A <img alt="go.', "Y"]),
        ("a <b and <co. The", ["a <b and <co.", "The"]),
        (
            "See <https://a.b/c. d> or <https://a.b/c.>. Ok <http://a",
            ["See <https://a.b/c. d> or <https://a.b/c.>.", "Ok <http://a"],
        ),
        ("He said <b>stop.</b> Then.", ["He said <b>stop.</b>", "Then."]),
        ("<b>He said stop. </b> Then.", ["<b>He said stop. </b> Then."]),
    ],
)
def test_tags(text: str, wanted: list[str]) -> None:
    """What is not for the ear is one piece; short elements are spans; a bare sign is a sign."""
    assert texts(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('Ok {"a": "b. C"}. Then.', ["Ok", '{"a": "b. C"}', ". Then."]),
        ('[{"a": [1, -2.5e3, true, null, {}, []]}]', ['[{"a": [1, -2.5e3, true, null, {}, []]}]']),
        ('["a. B", "c"]\nOk.', ['["a. B", "c"]', "Ok."]),
        ("{}\nOk.", ["{}", "Ok."]),
        ("Use {} and {x}. Or a{. B", ["Use {} and {x}.", "Or a{.", "B"]),
        ("[go. B] or x[1]. Ok.", ["[go.", "B] or x[1].", "Ok."]),
        ('{"a": 1,}\nOk.', ['{"a": 1,}', "Ok."]),
        ('{"a\\"}": "\\\\"}\nOk.', ['{"a\\"}": "\\\\"}', "Ok."]),
        ('A {"b": xx. C', ["A", '{"b": xx.', "C"]),
        ('A {"b" go. D', ["A", '{"b" go.', "D"]),
        ('A {"b": ?. D', ["A", '{"b": ?.', "D"]),
        ('A {"b": 1] go. D', ["A", '{"b": 1] go.', "D"]),
        ('A {"b": 01} go. D', ["A", '{"b": 01} go.', "D"]),
        ('A {"b\ngo. D', ["A", '{"b\ngo.', "D"]),
        ('A {"b": "c', ["A", '{"b": "c']),
        ('A {"b": "c\\', ["A", '{"b": "c\\']),
        ('A {"b": 1', ["A", '{"b": 1']),
        ('A {"b"  ', ["A", '{"b"']),
        ("A {", ["A {"]),
    ],
)
def test_json_ends_at_its_matching_bracket(text: str, wanted: list[str]) -> None:
    """Braces and stops in strings mean nothing; what is no JSON is text again."""
    assert texts(text) == wanted


def test_a_json_string_may_be_torn_anywhere() -> None:
    """A backslash at the end of what is known waits for what it escapes."""
    text = '{"a": "' + "\\\\" * 200 + '\\"}", "b": 1}'
    assert cut(text) == [("silent", text)]


def test_a_form_field_is_final_when_it_arrives() -> None:
    """Each completed value of a member, at any depth; a number when it cannot grow any more."""
    text = 'Here: {"n": "A. B", "a": 31, "t": ["x", {"k": true}], "e": {}} Ok.'
    assert cut(text, Policy.form()) == [
        ("paragraph", "Here:"),
        ("value", ' {"n": "A. B"'),
        ("value", ', "a": 31'),
        ("value", ', "t": ["x", {"k": true'),
        ("value", "}]"),
        ("value", ', "e": {}'),
        ("value", "}"),
        ("sentence", " Ok."),
    ]
    committer = Committer(reply="r", epoch=0, policy=Policy.form())
    committer.verify('{"n": "A"')
    assert [commit.text for commit in committer.commits()] == ['{"n": "A"']
    committer.verify(', "a": 31')
    assert committer.commits() == []


PYTHON = '''\
import os; x = """a
b"""
y = [1,
  2]  # (

# note
@dec
def f(a):
    """Doc. X

    y"""
    return "\\"(" \\
        + 'it\\'s'

if a: pass
elif b:
    c()
else:
    d()
z = 'open
w = 1 + \\
    2
try:
    pass
finally: pass
class A: pass
'''


@pytest.mark.parametrize("info", ["python", "py title=x", "{.python}"])
def test_python_is_cut_at_complete_statements(info: str) -> None:
    """A compound statement ends where the next one begins; strings and brackets hold it open."""
    made = texts(f"```{info}\n{PYTHON}```\nDone.", Policy.code())
    assert made[0] == f'```{info}\nimport os; x = """a\nb"""'
    assert made[1:3] == [
        "y = [1,\n  2]  # (",
        '# note\n@dec\ndef f(a):\n    """Doc. X\n\n    y"""\n'
        "    return \"\\\"(\" \\\n        + 'it\\'s'",
    ]
    assert made[3:] == [
        "if a: pass\nelif b:\n    c()\nelse:\n    d()",
        "z = 'open",
        "w = 1 + \\\n    2",
        "try:\n    pass\nfinally: pass",
        "class A: pass",
        "```",
        "Done.",
    ]


def test_an_unfinished_line_of_python_ends_with_its_fence() -> None:
    """Nothing after the fence belongs to the code."""
    assert texts("```py\nx = 1)\n\n```", Policy.code()) == ["```py\nx = 1)", "```"]
    assert texts("```py\rx = 1\r```", Policy.code()) == ["```py\rx = 1", "```"]
    assert texts("```py\nx = 1", Policy.code()) == ["```py\nx = 1"]


def test_sql_is_cut_at_semicolons_that_end_statements() -> None:
    """Not in strings, comments, dollar quotes, CASE or BEGIN ... END."""
    code = (
        "SELECT 'a;b', \"c;\", `d;` FROM t -- e;\n/* f; */ WHERE x;\n"
        "BEGIN; UPDATE t SET a = CASE WHEN b THEN 1 END; END;\n"
        "CREATE TRIGGER t BEGIN SELECT 1; END;\n"
        "DO $$ a; $b$ $$; SELECT 'it''s;'; SELECT 2"
    )
    assert texts(f"```sql\n{code}\n```", Policy.code()) == [
        "```sql\nSELECT 'a;b', \"c;\", `d;` FROM t -- e;\n/* f; */ WHERE x;",
        "BEGIN;",
        "UPDATE t SET a = CASE WHEN b THEN 1 END;",
        "END;",
        "CREATE TRIGGER t BEGIN SELECT 1; END;",
        "DO $$ a; $b$ $$;",
        "SELECT 'it''s;';",
        "SELECT 2\n```",
    ]
    assert texts("```sql\nSELECT 1;", Policy.code()) == ["```sql\nSELECT 1;"]


def test_what_is_not_for_the_ear_is_silent() -> None:
    """Thinking, tool calls and code are silent for a voice; a page shows the code, not the rest."""
    text = 'A.\n<think>b</think>\n```\nc\n```\n{"d": 1}\n| e |\n$$f$$\nG.'
    voice = [kind for kind, _ in cut(text)]
    assert voice == ["sentence", "silent", "silent", "silent", "block", "block", "sentence"]
    page = [kind for kind, _ in cut(text, Policy.markdown())]
    assert page == ["paragraph", "silent", "block", "value", "block", "block", "end"]


def test_a_page_is_cut_at_its_blocks() -> None:
    """Paragraphs, items, headings; sentences inside a paragraph stay together."""
    text = "# T\nOne. Two.\nthree, four.\n\n- a. B\n- c\n\nEnd. Now"
    assert texts(text, Policy.markdown()) == [
        "# T",
        "One. Two.\nthree, four.",
        "- a. B",
        "- c",
        "End. Now",
    ]


def test_an_unclosed_block_is_never_spoken() -> None:
    """A reply that ends inside its thinking or its code ends silently."""
    assert cut("<think>A. B") == [("silent", "<think>A. B")]
    assert cut("<think>A. B", Policy.markdown()) == [("silent", "<think>A. B")]
    assert cut("```\nA. B") == [("silent", "```\nA. B")]
    assert cut("```\nA. B", Policy.markdown()) == [("end", "```\nA. B")]
