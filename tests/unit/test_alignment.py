"""Pairing what a phonemizer said of a sentence with what it says of each word."""

import pytest

from voiceagent.speech.alignment import AlignmentError, Link, align


def pairs(groups: str, words: str) -> list[tuple[str, str]]:
    """Links as text: groups and words joined by ``+``."""
    sounds, spoken = groups.split(), words.split()
    return [
        ("+".join(sounds[i] for i in link.groups), "+".join(spoken[i] for i in link.words))
        for link in align(sounds, spoken)
    ]


def test_equal_sequences_pair_one_to_one() -> None:
    """Where nothing is joined each group is its word."""
    assert align(["həloʊ", "ðɛɹ"], ["həloʊ", "ðɛɹ"]) == [
        Link(range(0, 1), range(0, 1)),
        Link(range(1, 2), range(1, 2)),
    ]


def test_joined_words_share_a_group() -> None:
    """espeak says "of the" and "to be" as one word."""
    assert pairs("wʌn ʌvðə bɛst ɪnðə wɜld təbi ʃʊɹ", "wʌn ʌv ðə bɛst ɪn ðə wɜld tə bi ʃʊɹ") == [
        ("wʌn", "wʌn"),
        ("ʌvðə", "ʌv+ðə"),
        ("bɛst", "bɛst"),
        ("ɪnðə", "ɪn+ðə"),
        ("wɜld", "wɜld"),
        ("təbi", "tə+bi"),
        ("ʃʊɹ", "ʃʊɹ"),
    ]


def test_a_word_of_several_groups() -> None:
    """A word that is spoken as several keeps them all."""
    assert pairs("ɪt ɪz twɛnti fɔɹ naʊ", "ɪt ɪz twɛntifɔɹ naʊ") == [
        ("ɪt", "ɪt"),
        ("ɪz", "ɪz"),
        ("twɛnti+fɔɹ", "twɛntifɔɹ"),
        ("naʊ", "naʊ"),
    ]


def test_a_join_and_a_split_in_one_sentence() -> None:
    """Equal counts are no proof: one word joined and one split are told apart."""
    assert pairs("ʌvðə twɛnti fɔɹ", "ʌv ðə twɛntifɔɹ") == [
        ("ʌvðə", "ʌv+ðə"),
        ("twɛnti+fɔɹ", "twɛntifɔɹ"),
    ]


def test_words_change_their_sound_in_a_sentence() -> None:
    """ "A" alone is another sound than in a sentence; it is the same word."""
    assert pairs("ɐ kæt", "eɪ kæt") == [("ɐ", "eɪ"), ("kæt", "kæt")]


@pytest.mark.parametrize(("groups", "words"), [(["a"] * 9, ["aaaaaaaaa"]), (["aaaa"], ["a"] * 30)])
def test_everything_is_covered(groups: list[str], words: list[str]) -> None:
    """However little fits, every group and every word is in exactly one link, in order."""
    links = align(groups, words)
    assert [i for link in links for i in link.groups] == list(range(len(groups)))
    assert [j for link in links for j in link.words] == list(range(len(words)))


def test_nothing_with_nothing() -> None:
    """Two empty sequences have no links; one alone cannot be aligned."""
    assert align([], []) == []
    with pytest.raises(AlignmentError, match="0 phoneme groups with 1 words"):
        align([], ["a"])
