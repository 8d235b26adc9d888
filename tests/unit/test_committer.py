"""The committer: the only maker of commits, and where its policies cut."""

import copy
import dataclasses
import pickle
import re
from pathlib import Path

import pytest

import voiceagent
from voiceagent.core.committer import Commit, Committer, CommitterError, Kind, Policy
from voiceagent.core.errors import VoiceAgentError
from voiceagent.core.scan.characters import weight

LONG = "so the thing about the old harbour is that nobody really remembers who built it and why "


def commits(
    text: str, *, policy: Policy, lang: str = "en", buffered_ms: float | None = None
) -> list[Commit]:
    """The commits of a text that comes character by character, and the same at once."""
    made: list[list[Commit]] = []
    for chunks in (list(text), [text]):
        committer = Committer(reply="r", epoch=3, language=lang, policy=policy)
        found = []
        for chunk in chunks:
            committer.verify(chunk)
            found += committer.commits(buffered_ms=buffered_ms)
        committer.end()
        made.append(found + committer.commits(buffered_ms=buffered_ms))
    assert made[0] == made[1]
    return made[0]


def texts(
    text: str, *, policy: Policy, lang: str = "en", buffered_ms: float | None = None
) -> list[str]:
    made = commits(text, policy=policy, lang=lang, buffered_ms=buffered_ms)
    assert "".join(commit.text for commit in made) == text
    return [commit.text for commit in made]


# The type that is a gate


def test_a_commit_says_what_it_is_of() -> None:
    """Reply, epoch, positions, text, kind and number; blanks at a join lead the next segment."""
    first, second = commits("Yes. No", policy=Policy.sentences())
    assert dataclasses.asdict(first) == {
        "reply": "r",
        "epoch": 3,
        "start": 0,
        "end": 4,
        "text": "Yes.",
        "kind": "sentence",
        "segment": 0,
    }
    assert (second.start, second.end, second.text, second.kind) == (4, 7, " No", Kind.END)


def test_nobody_else_can_make_a_commit() -> None:
    """A forged commit is refused when it is made, and so is a changed copy of a real one."""
    with pytest.raises(CommitterError, match="only a Committer"):
        Commit(reply="r", epoch=0, start=0, end=1, text="x", kind=Kind.END, segment=0)
    real = commits("Yes.", policy=Policy.sentences())[0]
    with pytest.raises((CommitterError, ValueError)):
        dataclasses.replace(real, text="No.")
    with pytest.raises(dataclasses.FrozenInstanceError):
        real.text = "No."  # type: ignore[misc]  # that is the point
    assert copy.copy(real) == pickle.loads(pickle.dumps(real)) == real


def test_no_other_module_makes_commits() -> None:
    """Nothing in the package calls the constructor but the committer."""
    package = Path(voiceagent.__file__).parent
    makers = [
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if re.search(r"(?<![\w.])Commit\(", path.read_text())
    ]
    assert makers == ["core/committer.py"]


def test_text_after_the_end_is_refused() -> None:
    """A reply ends once; saying so again changes nothing."""
    committer = Committer(reply="r", epoch=0)
    committer.verify("Yes.")
    committer.end()
    committer.end()
    with pytest.raises(VoiceAgentError, match="has ended"):
        committer.verify(" No.")
    assert [commit.text for commit in committer.commits()] == ["Yes."]
    assert committer.commits() == []


def test_nothing_makes_no_commit() -> None:
    """An empty reply has no segments, and blanks alone are silent."""
    assert commits("", policy=Policy.voice()) == []
    assert [commit.kind for commit in commits(" \n\n ", policy=Policy.voice())] == [Kind.SILENT]


def test_what_has_nothing_to_say_is_silent() -> None:
    """A segment without a letter or a digit never reaches a synthesizer."""
    made = commits("Yes!\n\n😀\n\n---\n\nNo.\n", policy=Policy.sentences())
    assert [(commit.text, commit.kind.value) for commit in made] == [
        ("Yes!", "sentence"),
        ("\n\n😀", "silent"),
        ("\n\n---", "silent"),
        ("\n\nNo.", "sentence"),
        ("\n", "silent"),
    ]


# Policies


def test_sentences_and_clauses() -> None:
    """One policy cuts at sentences and lines, the other at every clause as well."""
    text = "First, we eat. Then:\n- walk, run\n- Rest"
    assert texts(text, policy=Policy.sentences()) == [
        "First, we eat.",
        " Then:",
        "\n- walk, run",
        "\n- Rest",
    ]
    assert texts(text, policy=Policy.clauses()) == [
        "First,",
        " we eat.",
        " Then:",
        "\n- walk,",
        " run",
        "\n- Rest",
    ]
    assert Policy.structured() == Policy.sentences()


def test_a_voice_begins_with_a_clause_and_goes_on_with_sentences() -> None:
    """The first spoken segment ends at a clause that is long enough; silent ones do not count."""
    text = (
        "<think>Hm, a long thought, and more.</think>Well, if you like, I can, of course. So, yes."
    )
    assert texts(text, policy=Policy.voice()) == [
        "<think>Hm, a long thought, and more.</think>",
        "Well, if you like,",
        " I can, of course.",
        " So, yes.",
    ]


def test_a_first_clause_is_long_enough_by_characters_or_by_words() -> None:
    """24 Latin characters, 6 Chinese ones or 4 words."""
    voice = Policy.voice()
    assert (
        texts("Extraordinarily well-done, he said.", policy=voice)[0]
        == "Extraordinarily well-done,"
    )
    assert texts("Oh no, he did it, he said.", policy=voice)[0] == "Oh no, he did it,"
    assert texts("好的，我明白了，谢谢你。", policy=voice, lang="zh")[0] == "好的，我明白了，"
    assert weight("好的，我") == 16


def test_clauses_return_when_sound_runs_low() -> None:
    """With enough sound waiting, sentences; with little, clauses that are long enough."""
    text = "Yes. When the boat comes back tonight, oh, we will all go down and see it. Good."
    assert texts(text, policy=Policy.voice(), buffered_ms=1500)[1:] == [
        " When the boat comes back tonight, oh, we will all go down and see it.",
        " Good.",
    ]
    assert texts(text, policy=Policy.voice(), buffered_ms=1499)[1:] == [
        " When the boat comes back tonight,",
        " oh, we will all go down and see it.",
        " Good.",
    ]


def test_a_clause_that_was_passed_over_is_cut_when_sound_runs_low_later() -> None:
    """The policy takes the buffered sound as an argument, at every drain anew."""
    committer = Committer(reply="r", epoch=0)
    committer.verify("Yes. When the boat comes back tonight, we will all")
    assert [c.text for c in committer.commits(buffered_ms=9000)] == ["Yes."]
    assert committer.commits(buffered_ms=8000) == []
    assert [c.text for c in committer.commits(buffered_ms=100)] == [
        " When the boat comes back tonight,"
    ]
    assert committer.commits(buffered_ms=100) == []


def test_a_policy_may_be_tuned_to_its_synthesizer() -> None:
    """The least length of a piece belongs to the voice that speaks it."""
    policy = Policy.voice(first_clause_min=40, clause_min=30, buffered_ms=500)
    assert policy.clause_below_buffered_ms == 500
    patient = dataclasses.replace(policy, first_clause_min_words=99, first_limit=None, limit=None)
    assert texts("Well, if you really like, I can, of course, do it. Yes.", policy=patient) == [
        "Well, if you really like, I can, of course,",
        " do it.",
        " Yes.",
    ]
    never = dataclasses.replace(patient, first_clause_min=None)
    assert len(texts("Well, if you really like, I can. So " + LONG * 9, policy=never)) == 2
    low = dataclasses.replace(never, clause_min=10)
    assert texts("Well, if you like, yes.", policy=low, buffered_ms=0) == [
        "Well, if you like, yes."
    ]


# Segments that grow long without a mark


def test_a_first_segment_without_a_mark_is_cut_at_a_blank() -> None:
    """Within 80 characters, before a word that begins a phrase, never after one that leans on."""
    made = texts(LONG * 8, policy=Policy.voice())
    assert made[0] == "so the thing about the old harbour is that nobody really remembers"
    assert all(len(text.strip()) <= 240 for text in made)
    assert all(text.split()[-1] not in ("the", "of", "a") for text in made[:-1])
    assert len(made) > 3


def test_a_later_segment_prefers_a_clause_to_a_blank() -> None:
    """A sentence of more than 240 characters is cut at its last comma before that."""
    sentence = "Now " + LONG * 2 + "we sit, talk, and drink, " + LONG * 3 + "it is. "
    made = texts("Yes. " + sentence + "Good.", policy=Policy.voice())
    assert made[0] == "Yes."
    assert made[1].endswith("talk, and drink,")


@pytest.mark.parametrize(
    "together",
    [
        "5 May 2030 12 000 555 0100",
        "Ann Lee Bob May Sue Ray Kim",
        "J. R. R. Tolkien C. S. Lewis",
        "`one two three four five six`",
        "**one two three four five six**",
        "$one two three four five six$",
        "<spell>one two three four</spell>",
        "www.example.com/a/b/c/d/e/f/g/h",
    ],
)
def test_a_cut_at_a_blank_keeps_together_what_belongs_together(together: str) -> None:
    """Numbers, dates, names, initials and spans are not taken apart for their length."""
    for lead in range(40, 76):
        text = "word " * (lead // 5) + "x" * (lead % 5) + " " + together + " " + LONG * 2
        borders = [commit.end for commit in commits(text, policy=Policy.voice())]
        begin = text.index(together)
        assert not [border for border in borders if begin < border < begin + len(together)]


def test_emphasis_keeps_together_only_so_long() -> None:
    """A star that is never closed does not hold the stream for ever."""
    made = texts("**" + "word " * 120, policy=Policy.voice())
    assert len(made) > 1
    assert texts("a *b " + "word " * 60 + "*c d " + "word " * 60, policy=Policy.voice())


def test_a_word_without_an_end_is_never_cut() -> None:
    """No blank, no cut, however long it grows; the next blank between words is taken."""
    assert texts("a" * 1000, policy=Policy.voice()) == ["a" * 1000]
    made = texts("a" * 1000 + " and " + LONG, policy=Policy.voice())
    assert made[0].startswith("a" * 1000)


def test_chinese_without_a_mark_is_cut_after_a_particle() -> None:
    """After a particle or an enumeration comma; failing that between two characters."""
    particles = "我们今天去了公园看到很多漂亮的花朵和小鸟还有许多孩子在草地上玩耍"
    assert texts(particles, policy=Policy.voice(), lang="zh")[0] == "我们今天去了公园看到很多漂亮的"
    without = texts("天" * 200, policy=Policy.voice(), lang="zh")
    assert [len(text) for text in without[:2]] == [40, 120]
    assert texts("天" * 19 + "`" + "地" * 60 + "`" + "天" * 99, policy=Policy.voice(), lang="zh")


# Explaining


def test_every_cut_and_every_pass_is_explained() -> None:
    """Asked to explain, the committer says what was decided about each mark, in order."""
    committer = Committer(reply="r", epoch=0, explain=True)
    committer.verify("Dr. Lee, " + LONG * 2)
    committer.commits()
    decisions = committer.decisions()
    assert [d.position for d in decisions] == sorted(d.position for d in decisions)
    assert "'Dr' belongs to the next word" in [d.reason for d in decisions]
    assert "the segment grew long without a mark" in [d.reason for d in decisions if d.cut]
    assert committer.decisions() == []
    assert Committer(reply="r", epoch=0).decisions() == []
