"""Turn taking: what was noticed goes in, decisions come out, on the time of the sound alone."""

import pytest

from voiceagent.session.turn_taking import (
    Began,
    Decision,
    Dropped,
    Ended,
    Interrupt,
    Judge,
    Limits,
    Pause,
    Prepare,
    Resume,
    Revise,
    TurnTaking,
)

LIMITS = Limits(
    judge_after_ms=(200, 500),
    finished_words_ms=600,
    silence_ends_turn_ms=1000,
    speech_interrupts_ms=700,
    same_speech_ms=250,
    most_prepared=2,
)


def taking() -> TurnTaking:
    """Turn taking with round limits."""
    return TurnTaking(limits=LIMITS)


def utterance(
    turns: TurnTaking, *, begin_ms: int, end_ms: int, agent_has_floor: bool = False
) -> list[Decision]:
    """Sound from one time to another; what followed."""
    turns.onset(at_ms=begin_ms, agent_has_floor=agent_has_floor)
    turns.passed(at_ms=end_ms)
    turns.offset(at_ms=end_ms)
    return turns.decisions()


def said(turns: TurnTaking, text: str, *, finished: float | None, end_ms: int = 900) -> None:
    """An utterance whose words are known and read; its first decisions are drained."""
    utterance(turns, begin_ms=end_ms - 600, end_ms=end_ms)
    turns.heard(text)
    turns.read(text, finished=finished)
    turns.decisions()


def test_a_reply_is_prepared_at_the_first_pause_and_the_verdict_ends_the_turn() -> None:
    """Words alone end nothing: they are prepared for; the turn ends once they are read too."""
    turns = taking()
    assert utterance(turns, begin_ms=0, end_ms=900) == [Began()]
    assert turns.is_deciding
    turns.heard("Hello?")
    assert turns.decisions() == [Prepare("Hello?")]
    turns.judged(complete=True)
    assert turns.decisions() == []
    turns.read("Hello?", finished=0.5)
    assert turns.decisions() == [Ended("Hello?")]
    assert not turns.is_open


def test_the_verdict_may_come_first() -> None:
    """Before the words are known nothing ends."""
    turns = taking()
    utterance(turns, begin_ms=0, end_ms=900)
    turns.judged(complete=True)
    turns.heard("Hello?")
    turns.read("Hello?", finished=None)
    assert turns.decisions() == [Prepare("Hello?"), Ended("Hello?")]


@pytest.mark.parametrize(
    ("finished", "complete", "ends_at_ms"),
    [
        (0.0, True, 1900),  # "Could you please tell me" sounds finished and is not
        (0.9, False, 1500),  # a question that a flat voice asks
        (0.1, False, 1900),
        (None, False, 1900),
        (0.1, True, 900),
    ],
)
def test_how_long_the_silence_lasts_depends_on_sound_and_words(
    finished: float | None, complete: bool, ends_at_ms: int
) -> None:
    """Both say finished: at once. Only the words do: soon. The words do not: late."""
    ends_after(ends_at_ms, "Well then?", finished=finished, complete=complete)


@pytest.mark.parametrize("words", ["Well then", "I am planning a long trip.", "行きましょう。"])
def test_what_asks_nothing_may_go_on(words: str) -> None:
    """Sentences of a story sound finished, each of them: the breath between them ends no turn."""
    ends_after(1500, words, finished=0.9, complete=True)
    ends_after(1900, words, finished=0.0, complete=True)


def ends_after(ends_at_ms: int, words: str, *, finished: float | None, complete: bool) -> None:
    """Asserts that a turn with these words, silent from 900 ms on, ends then and not before."""
    turns = taking()
    said(turns, words, finished=finished)
    turns.judged(complete=complete)
    for at_ms in range(900, ends_at_ms, 20):
        assert Ended(words) not in turns.decisions(), at_ms
        turns.passed(at_ms=at_ms)
    turns.passed(at_ms=ends_at_ms)
    assert turns.decisions()[-1] == Ended(words)


def test_a_button_that_is_let_go_ends_the_turn_whatever_its_words_sound_like() -> None:
    """As soon as they are known; it says nothing about speech that follows."""
    turns = taking()
    turns.onset(at_ms=0, agent_has_floor=False)
    turns.yielded()
    turns.passed(at_ms=900)
    turns.offset(at_ms=900)
    turns.heard("Could you please")
    assert turns.decisions() == [Began(), Prepare("Could you please"), Ended("Could you please")]
    turns.yielded()
    said(turns, "Could you please", finished=0.0, end_ms=2000)
    turns.passed(at_ms=2500)
    assert Ended("Could you please") not in turns.decisions()


def test_more_words_withdraw_what_was_prepared() -> None:
    """The turn goes on: the first reply vanishes, another is prepared to all the words."""
    turns = taking()
    said(turns, "I would like", finished=0.0)
    assert utterance(turns, begin_ms=1500, end_ms=2000) == []
    turns.heard("I would like some tea.")
    assert turns.decisions() == [Revise(), Prepare("I would like some tea.")]


def test_a_cough_leaves_what_was_prepared_alone() -> None:
    """The same words, however they are written now: the reply stays, and may be confirmed."""
    turns = taking()
    said(turns, "How are you?", finished=0.9)
    assert utterance(turns, begin_ms=1300, end_ms=1400) == []
    turns.heard("How are you")
    turns.judged(complete=True)
    assert turns.decisions() == [Ended("How are you")]


def test_speech_withdraws_before_its_words_are_known() -> None:
    """Somebody who speaks on for 700 ms is not waiting for an answer."""
    turns = taking()
    said(turns, "How are you?", finished=0.9)
    turns.onset(at_ms=1300, agent_has_floor=False)
    turns.passed(at_ms=1990)
    assert turns.decisions() == []
    turns.passed(at_ms=2000)
    assert turns.decisions() == [Revise()]


def test_a_hesitant_speaker_is_not_prepared_for_without_end() -> None:
    """After so many replies the engine waits; the turn still ends."""
    turns = taking()
    for count in range(1, 4):
        end_ms = 1000 * count
        utterance(turns, begin_ms=end_ms - 400, end_ms=end_ms)
        turns.heard("and " * count)
    decisions = turns.decisions()
    assert decisions == [Revise(), Prepare("and and "), Revise()][-len(decisions) :]
    turns.judged(complete=True)
    turns.passed(at_ms=end_ms + 600)
    assert turns.decisions() == [Ended("and and and ")]


def test_words_that_are_read_late_say_nothing_about_others() -> None:
    """A reading of words that were revised is not taken for one of the new words."""
    turns = taking()
    utterance(turns, begin_ms=0, end_ms=900)
    turns.heard("I")
    utterance(turns, begin_ms=1300, end_ms=1600)
    turns.heard("I see the")
    turns.decisions()
    turns.read("I", finished=0.9)
    turns.judged(complete=True)
    assert turns.decisions() == []


def test_a_silence_is_judged_again() -> None:
    """The model is asked again when it can hear the silence itself."""
    turns = taking()
    said(turns, "Well", finished=0.1)
    turns.passed(at_ms=1090)
    assert turns.decisions() == []
    turns.passed(at_ms=1100)
    assert turns.decisions() == [Judge()]
    turns.passed(at_ms=1380)
    turns.passed(at_ms=1400)
    assert turns.decisions() == [Judge()]


def test_a_verdict_while_the_user_speaks_is_stale() -> None:
    """Speech after the silence that was judged makes its verdict worthless."""
    turns = taking()
    said(turns, "I", finished=0.1)
    turns.onset(at_ms=1000, agent_has_floor=False)
    turns.judged(complete=True)
    turns.offset(at_ms=1400)
    turns.heard("I see")
    turns.read("I see", finished=0.1)
    assert turns.decisions() == [Revise(), Prepare("I see")]


@pytest.mark.parametrize("cause", ["failed", "unsure", "nothing"])
def test_noise_is_dropped_after_a_moment(cause: str) -> None:
    """Words may still come behind it; then the turn without any is over, with its cause."""
    turns = taking()
    utterance(turns, begin_ms=0, end_ms=900)
    turns.unheard(cause)
    turns.passed(at_ms=1490)
    assert Dropped(cause) not in turns.decisions()
    turns.passed(at_ms=1500)
    assert turns.decisions()[-1] == Dropped(cause)
    assert not turns.is_open


def test_a_hum_alone_is_no_turn() -> None:
    """ "Mm-hmm" asks for nothing; "okay" may answer a question."""
    turns = taking()
    utterance(turns, begin_ms=0, end_ms=900)
    turns.heard("Mm-hmm.")
    turns.passed(at_ms=1500)
    assert Dropped("backchannel") in turns.decisions()
    said(turns, "Okay?", finished=0.5, end_ms=3000)
    turns.judged(complete=True)
    assert turns.decisions() == [Ended("Okay?")]


def test_sound_over_a_reply_pauses_and_a_backchannel_resumes() -> None:
    """The reply is held while it is unknown what the sound was, and nothing is prepared."""
    turns = taking()
    assert utterance(turns, begin_ms=0, end_ms=400, agent_has_floor=True) == [Began(), Pause()]
    turns.heard("Mm-hmm.")
    assert turns.decisions() == [Resume()]
    assert not turns.is_open


def test_noise_over_a_reply_resumes() -> None:
    """A cough does not end a reply."""
    turns = taking()
    utterance(turns, begin_ms=0, end_ms=400, agent_has_floor=True)
    turns.unheard("nothing")
    assert turns.decisions() == [Resume()]


def test_words_over_a_reply_interrupt_and_are_a_turn() -> None:
    """Short words that are no backchannel take the floor and are answered."""
    turns = taking()
    utterance(turns, begin_ms=0, end_ms=500, agent_has_floor=True)
    turns.heard("Stop please?")
    turns.read("Stop please?", finished=0.5)
    turns.judged(complete=True)
    assert turns.decisions() == [Interrupt(), Prepare("Stop please?"), Ended("Stop please?")]


def test_two_sounds_over_a_reply_wait_for_the_later() -> None:
    """What was said up to the first of two sounds decides nothing."""
    turns = taking()
    utterance(turns, begin_ms=0, end_ms=300, agent_has_floor=True)
    utterance(turns, begin_ms=600, end_ms=900, agent_has_floor=True)
    turns.unheard("nothing", utterance=1)
    assert turns.decisions() == []
    turns.heard("Right.", utterance=2)
    assert turns.decisions() == [Resume()]


def test_enough_speech_interrupts_before_its_words() -> None:
    """After 700 ms it is a turn, whatever the words turn out to be; a stop consonant is no end."""
    turns = taking()
    turns.onset(at_ms=0, agent_has_floor=True)
    turns.offset(at_ms=300)
    turns.onset(at_ms=400, agent_has_floor=True)
    turns.passed(at_ms=690)
    assert turns.decisions() == [Began(), Pause()]
    turns.passed(at_ms=700)
    assert turns.decisions() == [Interrupt()]
    turns.passed(at_ms=1700)
    assert turns.decisions() == []
