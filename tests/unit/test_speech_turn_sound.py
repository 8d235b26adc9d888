"""The sound of a turn: whole while it is short, settled behind that, and forgotten in time."""

from voiceagent.speech.turn_sound import GLANCE_EVERY_S, LEAD_IN_S, WHOLE_S, TurnSound

RATE_HZ = 1000
LEAD_IN = int(LEAD_IN_S * RATE_HZ) * 2


def sound(letter: bytes, seconds: float) -> bytes:
    """So many seconds of one value."""
    return letter * int(seconds * RATE_HZ) * 2


def test_a_turn_begins_with_a_little_of_what_was_before() -> None:
    """The VAD notices late; between turns no more is kept."""
    turn = TurnSound(rate_hz=RATE_HZ)
    turn.add(sound(b".", 9.0))
    turn.begin()
    turn.add(sound(b"a", 1.0))
    assert turn.end() == sound(b".", LEAD_IN_S) + sound(b"a", 1.0)


def test_a_short_turn_is_read_as_a_whole() -> None:
    """A pause is part of the sound."""
    turn = TurnSound(rate_hz=RATE_HZ)
    for letter in (b"a", b"b"):
        turn.begin()
        turn.add(sound(letter, 1.0))
        whole = turn.end()
        turn.read("words", length=len(whole))
        turn.add(sound(b".", 1.0))
    assert whole == sound(b"a", 1.0) + sound(b".", 1.0) + sound(b"b", 1.0)
    assert (turn.words, turn.utterances) == ("", 2)


def test_a_long_turn_settles_what_was_read() -> None:
    """Behind its first eight seconds only what is new is read, its lead-in included."""
    turn = TurnSound(rate_hz=RATE_HZ)
    turn.begin()
    turn.add(sound(b"a", WHOLE_S + 1))
    turn.read("the first part", length=len(turn.end()))
    turn.add(sound(b".", 1.0))
    turn.begin()
    turn.add(sound(b"b", 1.0))
    assert turn.end() == sound(b".", LEAD_IN_S) + sound(b"b", 1.0)
    assert turn.words == "the first part"


def test_a_long_turn_that_was_not_read_yet_stays_whole() -> None:
    """Nothing is settled unheard."""
    turn = TurnSound(rate_hz=RATE_HZ)
    turn.begin()
    turn.add(sound(b"a", WHOLE_S + 1))
    turn.end()
    turn.begin()
    assert turn.end() == sound(b"a", WHOLE_S + 1)


def test_a_turn_that_is_over_leaves_the_next_one_alone() -> None:
    """Speech that began before the end was decided belongs to the next turn."""
    turn = TurnSound(rate_hz=RATE_HZ)
    turn.begin()
    turn.add(sound(b"a", 1.0) + sound(b".", 1.0))
    turn.end()
    turn.begin()
    turn.add(sound(b"b", 0.2))
    turn.forget()
    turn.add(sound(b"b", 0.3))
    assert turn.end() == sound(b".", LEAD_IN_S) + sound(b"b", 0.5)
    turn.forget()
    assert turn.end() == sound(b"b", 0.5)


def test_a_glance_is_due_while_the_user_speaks_on() -> None:
    """It sees the whole of the turn, changes nothing of it, and is not due in a pause."""
    turn = TurnSound(rate_hz=RATE_HZ)
    turn.add(sound(b".", 9.0))
    turn.begin()
    assert not turn.is_worth_a_glance
    turn.add(sound(b"a", GLANCE_EVERY_S))
    assert turn.is_worth_a_glance
    seen = turn.glance()
    assert not turn.is_worth_a_glance
    turn.add(sound(b"b", GLANCE_EVERY_S))
    assert turn.is_worth_a_glance
    assert turn.end() == seen + sound(b"b", GLANCE_EVERY_S)
    turn.add(sound(b".", 9.0))
    assert not turn.is_worth_a_glance


def test_a_turn_is_read_up_to_where_the_voice_stopped() -> None:
    """The first quiet window calls for a glance, and the pause that comes of it reads the same."""
    turn = TurnSound(rate_hz=RATE_HZ)
    turn.begin()
    turn.add(sound(b"a", 0.3))
    turn.hush()
    assert turn.is_worth_a_glance
    turn.add(sound(b".", 0.1))
    seen = turn.glance()
    assert seen == sound(b"a", 0.3)
    assert not turn.is_worth_a_glance
    assert turn.end() == seen


def test_a_voice_that_goes_on_is_read_on() -> None:
    """A stop that was none cuts nothing off, in this utterance or the next."""
    turn = TurnSound(rate_hz=RATE_HZ)
    turn.begin()
    turn.add(sound(b"a", 0.3))
    turn.hush()
    turn.glance()
    turn.add(sound(b"b", 0.3))
    turn.hush()
    assert turn.end() == sound(b"a", 0.3) + sound(b"b", 0.3)
    turn.add(sound(b".", 0.1))
    turn.begin()
    turn.add(sound(b"c", 0.3))
    whole = sound(b"a", 0.3) + sound(b"b", 0.3) + sound(b".", 0.1) + sound(b"c", 0.3)
    assert turn.end() == whole
