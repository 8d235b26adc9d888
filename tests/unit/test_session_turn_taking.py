"""Turn taking: what was noticed goes in, decisions come out, on the time of the sound alone."""

from voiceagent.session.turn_taking import (
    Began,
    Decision,
    Dropped,
    Ended,
    Interrupt,
    Judge,
    Limits,
    Pause,
    Resume,
    TurnTaking,
)

LIMITS = Limits(silence_ends_turn_ms=1000, speech_interrupts_ms=700, judge_again_ms=300)


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


def test_a_turn_ends_with_words_and_a_verdict() -> None:
    """Neither the words nor the verdict alone end a turn."""
    turns = taking()
    assert utterance(turns, begin_ms=0, end_ms=900) == [Began(), Judge()]
    turns.judged(complete=True)
    assert turns.decisions() == []
    assert turns.is_deciding
    turns.heard("Hello.")
    assert turns.decisions() == [Ended("Hello.")]
    assert not turns.is_open


def test_the_verdict_may_come_last() -> None:
    """Words first, verdict second: the same turn."""
    turns = taking()
    utterance(turns, begin_ms=0, end_ms=900)
    turns.heard("Hello.")
    turns.judged(complete=True)
    assert turns.decisions() == [Ended("Hello.")]


def test_utterances_of_one_turn_are_joined() -> None:
    """An unfinished sentence goes on after its pause; a stale verdict does not end it."""
    turns = taking()
    utterance(turns, begin_ms=0, end_ms=900)
    turns.heard("I would like")
    turns.judged(complete=False)
    assert utterance(turns, begin_ms=1500, end_ms=2000) == [Judge()]
    turns.heard("some tea.")
    turns.judged(complete=True)
    assert turns.decisions() == [Ended("I would like some tea.")]


def test_a_silence_is_judged_twice_and_then_timed_out() -> None:
    """The model is asked again when it can hear the silence; after a while nobody is asked."""
    turns = taking()
    utterance(turns, begin_ms=0, end_ms=900)
    turns.heard("Well")
    turns.judged(complete=False)
    turns.passed(at_ms=1190)
    assert turns.decisions() == []
    turns.passed(at_ms=1200)
    turns.passed(at_ms=1220)
    assert turns.decisions() == [Judge()]
    turns.passed(at_ms=1900)
    assert turns.decisions() == [Ended("Well")]


def test_a_verdict_while_the_user_speaks_is_stale() -> None:
    """Speech after the silence that was judged makes its verdict worthless."""
    turns = taking()
    utterance(turns, begin_ms=0, end_ms=900)
    turns.heard("I")
    turns.onset(at_ms=1000, agent_has_floor=False)
    turns.judged(complete=True)
    turns.offset(at_ms=1400)
    turns.heard("see")
    assert turns.decisions() == [Judge()]


def test_noise_is_dropped() -> None:
    """A turn without words ends as soon as that is known, with its cause."""
    turns = taking()
    utterance(turns, begin_ms=0, end_ms=900)
    turns.unheard("failed")
    assert turns.decisions() == [Dropped("failed")]


def test_sound_over_a_reply_pauses_and_a_backchannel_resumes() -> None:
    """The reply is held while it is unknown what the sound was."""
    turns = taking()
    assert utterance(turns, begin_ms=0, end_ms=400, agent_has_floor=True) == [
        Began(),
        Pause(),
        Judge(),
    ]
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
    turns.heard("Stop please.")
    turns.judged(complete=True)
    assert turns.decisions() == [Interrupt(), Ended("Stop please.")]


def test_a_backchannel_behind_words_is_part_of_the_turn() -> None:
    """Only a lone backchannel gives the floor back."""
    turns = taking()
    utterance(turns, begin_ms=0, end_ms=500, agent_has_floor=True)
    turns.heard("Stop.")
    turns.judged(complete=False)
    utterance(turns, begin_ms=900, end_ms=1200)
    turns.heard("Okay.")
    turns.judged(complete=True)
    assert turns.decisions()[-1] == Ended("Stop. Okay.")


def test_two_sounds_over_a_reply_wait_for_both() -> None:
    """While one of two utterances is not recognized yet, the reply stays held."""
    turns = taking()
    utterance(turns, begin_ms=0, end_ms=300, agent_has_floor=True)
    utterance(turns, begin_ms=600, end_ms=900, agent_has_floor=True)
    turns.unheard("nothing")
    assert turns.decisions() == []
    turns.heard("Right.")
    assert turns.decisions() == [Resume()]


def test_enough_speech_interrupts_before_its_words() -> None:
    """After 700 ms it is a turn, whatever the words turn out to be."""
    turns = taking()
    turns.onset(at_ms=0, agent_has_floor=True)
    turns.passed(at_ms=690)
    assert turns.decisions() == [Began(), Pause()]
    turns.passed(at_ms=700)
    assert turns.decisions() == [Interrupt()]
    turns.passed(at_ms=1700)
    assert turns.decisions() == []
