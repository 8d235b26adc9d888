"""A conversation in the terminal: lines where nothing can be taken back, spans where it can."""

import io

import pytest
from conversations import Talk, answer, barge_in, greet
from rich.console import Console

from voiceagent.commands._terminal import (
    LiveTerminal,
    PlainTerminal,
    Terminal,
    open_terminal,
)
from voiceagent.core.display import LINGER_S
from voiceagent.core.events import Released
from voiceagent.core.ledger import Draft, EndReason, Rollback, Turn, Verify, VoidCause


def console(*, live: bool) -> Console:
    return Console(
        file=io.StringIO(),
        force_terminal=live,
        color_system="standard" if live else None,
        width=100,
        highlight=False,
        legacy_windows=False,
        _environ={},
    )


def written(terminal_console: Console) -> str:
    file = terminal_console.file
    assert isinstance(file, io.StringIO)
    return file.getvalue()


def play(terminal: Terminal, talk: Talk) -> None:
    for event in talk.events:
        terminal.feed(event)
        terminal.refresh(now_s=event.at_s)
    talk.events.clear()


def test_the_console_decides() -> None:
    """Live where there is a terminal, plain lines elsewhere."""
    assert isinstance(open_terminal(console(live=True)), LiveTerminal)
    assert isinstance(open_terminal(console(live=False)), PlainTerminal)


def test_plain_lines_say_what_was_committed_and_heard() -> None:
    """One line a commit, none for silent or withdrawn text, and how a broken reply ended."""
    plain = console(live=False)
    with open_terminal(plain) as terminal:
        talk = Talk()
        greet(talk)
        play(terminal, talk)
        terminal.user("is it", final=False)
        terminal.user("is it far?")
        answer(talk)
        barge_in(talk)
        play(terminal, talk)
        terminal.note("The microphone went away.")
    assert written(plain).splitlines() == [
        "Agent: Hello there!",
        "You:   is it far?",
        "Agent: Yes, it is.",
        "Agent: Two miles.",
        "Agent: There is a lot to tell.",
        "Agent: (interrupted; heard: There is)",
        "The microphone went away.",
    ]


@pytest.mark.parametrize(
    ("reason", "line"),
    [
        (EndReason.INTERRUPTED, "Agent: (interrupted; heard: nothing)"),
        (EndReason.ERROR, "Agent: (error)"),
    ],
)
def test_plain_lines_say_how_a_reply_broke_off(reason: EndReason, line: str) -> None:
    """Before anything of it could be heard."""
    plain = console(live=False)
    with open_terminal(plain) as terminal:
        talk = Talk()
        talk.do(talk.open("r"), "end", reason)
        play(terminal, talk)
    assert written(plain).splitlines() == [line]


@pytest.mark.parametrize("live", [True, False])
def test_an_event_out_of_place_shows_nothing(live: bool) -> None:
    """A trace that lies can still be shown."""
    target = console(live=live)
    with open_terminal(target) as terminal:
        terminal.feed(Released(reply="r", epoch=0, at_s=0.0, to=1))
        terminal.refresh(now_s=0.0)
    assert "Agent" not in written(target)


def test_live_spans_are_dim_bold_underlined_and_struck() -> None:
    """Provisional, committed, heard and retracted text look like what they are."""
    live = console(live=True)
    with open_terminal(live) as terminal:
        talk = Talk()
        reply = talk.open("r")
        talk.say(reply, Draft(text="abcdef"), Verify(to=4), Rollback(to=5))
        talk.commit(reply, 3)
        talk.do(reply, "synthesize", 3)
        talk.do(reply, "release", 3)
        talk.do(reply, "hear", 2)
        play(terminal, talk)
    text = written(live)
    assert "\x1b[1;4mab\x1b[0m\x1b[1mc\x1b[0md\x1b[2me\x1b[0m" in text
    assert "\x1b[9;31mf\x1b[0m" in text


def test_live_replies_that_are_over_stay_above() -> None:
    """They are written for good once nothing of them is struck through any more."""
    live = console(live=True)
    with open_terminal(live) as terminal:
        talk = Talk()
        reply = talk.open("r")
        talk.say(reply, Draft(text="Yes, it is."), Verify(to=11), Draft(text=" Or"))
        talk.do(reply, "end", EndReason.ERROR)
        ended_s = talk.events[-1].at_s
        play(terminal, talk)
        lingering = written(live)
        terminal.refresh(now_s=ended_s + LINGER_S)
        done = written(live)
    assert "Yes, it is.\n" not in lingering
    assert "Yes, it is.\n" in done


def test_live_withdrawn_epochs_leave_nothing() -> None:
    """Struck through for a moment, then gone."""
    live = console(live=True)
    with open_terminal(live) as terminal:
        talk = Talk()
        reply = talk.open("r", turn=Turn.EAGER)
        talk.say(reply, Draft(text="No."))
        talk.do(reply, "void", VoidCause.SUPERSEDED)
        ended_s = talk.events[-1].at_s
        play(terminal, talk)
        assert "\x1b[9;31mNo.\x1b[0m" in written(live)
        before = len(written(live))
        terminal.refresh(now_s=ended_s + LINGER_S)
    assert "No." not in written(live)[before:]
    assert "Agent" not in written(live)[before:]


def test_live_words_of_the_user_are_dim_until_they_are_final() -> None:
    """An eager transcript may change."""
    live = console(live=True)
    with open_terminal(live) as terminal:
        terminal.user("is it", final=False)
        terminal.refresh(now_s=0.0)
        terminal.user("is it far?")
        terminal.note("Something failed.")
    text = written(live)
    assert "\x1b[2mis it\x1b[0m" in text
    assert "is it far?\n" in text
    assert "\x1b[33mSomething failed.\x1b[0m" in text


def test_an_unfinished_reply_is_left_on_the_screen() -> None:
    """When the conversation stops, what was said does not vanish."""
    live = console(live=True)
    with open_terminal(live) as terminal:
        talk = Talk()
        talk.say(talk.open("r"), Draft(text="Yes"))
        play(terminal, talk)
    assert "\x1b[2mYes\x1b[0m\n" in written(live)
