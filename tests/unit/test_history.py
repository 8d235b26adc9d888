"""History: what was heard, and nothing else; shortened by its rule."""

from collections.abc import Sequence

import pytest
from conversations import Talk, commit_of, good_trace

from voiceagent.core.events import Recorded
from voiceagent.core.history import History, HistoryError, Message, Role
from voiceagent.core.kinds import Kind
from voiceagent.core.ledger import Draft, EndReason, Finish, Ledger, Turn, Verify, VoidCause
from voiceagent.core.trace import TurnRecord

SYSTEM = Message(Role.SYSTEM, "Be kind.")


def user(text: str) -> Message:
    return Message(Role.USER, text)


def agent(text: str) -> Message:
    return Message(Role.ASSISTANT, text)


class Told:
    """A history that follows a talk."""

    def __init__(self) -> None:
        self.history = History(system_prompt="Be kind.")
        self.talk = Talk()

    def open(self, reply: str, *, epoch: int = 0, turn: Turn = Turn.CONFIRMED) -> Ledger:
        ledger = self.talk.open(reply, epoch=epoch, turn=turn)
        self.follow()
        return ledger

    def write(self, ledger: Ledger, text: str, *, kind: Kind = Kind.SENTENCE) -> None:
        end = ledger.drafted + len(text)
        self.talk.say(ledger, Draft(text=text), Verify(to=end))
        self.talk.do(ledger, "commit", commit_of(ledger, end, kind=kind))
        self.talk.do(ledger, "synthesize", end)
        self.follow()

    def hear(self, ledger: Ledger, to: int) -> None:
        self.talk.do(ledger, "release", to)
        self.talk.do(ledger, "hear", to)
        self.follow()

    def do(self, ledger: Ledger, step: str, *arguments: object) -> None:
        self.talk.do(ledger, step, *arguments)
        self.follow()

    def follow(self) -> None:
        for event in self.talk.events:
            self.history.feed(event)
        self.talk.events.clear()

    def exchange(self, number: int) -> None:
        self.history.hear_user(f"question {number}", turn=f"t{number}")
        reply = self.open(f"r{number}")
        self.write(reply, f"answer {number}")
        self.talk.say(reply, Finish())
        self.hear(reply, reply.committed)
        self.do(reply, "end", EndReason.STOP)


def test_a_new_history_is_its_system_prompt() -> None:
    """Without one, it is empty."""
    assert History(system_prompt="Be kind.").messages() == (SYSTEM,)
    assert History(system_prompt="").messages() == ()


def test_a_heard_reply_becomes_a_turn_as_it_is_heard() -> None:
    """The assistant's message grows with the ear, not with the text."""
    told = Told()
    told.history.hear_user(" Is it far? ", turn="t1")
    reply = told.open("r")
    told.write(reply, "No, it is near. ")
    assert told.history.messages() == (SYSTEM, user("Is it far?"))
    told.hear(reply, 3)
    assert told.history.messages() == (SYSTEM, user("Is it far?"), agent("No,"))
    assert told.history.heard_text("r") == "No,"
    told.hear(reply, 16)
    assert told.history.messages()[-1] == agent("No, it is near.")


def test_an_interrupted_reply_ends_where_it_was_heard() -> None:
    """What was said after that never happened."""
    told = Told()
    told.history.hear_user("Tell me.", turn="t1")
    reply = told.open("r")
    told.write(reply, "It began long ago. ")
    told.hear(reply, 8)
    told.do(reply, "end", EndReason.INTERRUPTED)
    told.history.hear_user("Stop.", turn="t2")
    assert told.history.messages()[1:] == (user("Tell me."), agent("It began"), user("Stop."))


def test_a_reply_of_which_nothing_was_heard_leaves_no_turn() -> None:
    """The user's turns around it become one message."""
    told = Told()
    told.history.hear_user("What is the", turn="t1")
    reply = told.open("r")
    told.write(reply, "Do you mean ")
    told.do(reply, "end", EndReason.INTERRUPTED)
    told.history.hear_user("capital of France?", turn="t2")
    assert told.history.messages()[1:] == (user("What is the capital of France?"),)
    assert told.history.heard_text("r") == ""


def test_a_withdrawn_epoch_leaves_nothing() -> None:
    """The next epoch takes its place."""
    told = Told()
    told.history.hear_user("is it", turn="t1")
    wrong = told.open("r", turn=Turn.EAGER)
    told.write(wrong, "No. ")
    told.do(wrong, "void", VoidCause.TURN_REVISED)
    told.history.hear_user("is it far?", turn="t1")
    reply = told.open("r", epoch=1)
    told.write(reply, "Yes. ")
    told.hear(reply, 5)
    assert told.history.messages()[1:] == (user("is it far?"), agent("Yes."))


def test_silent_text_is_not_heard() -> None:
    """Thinking that the ear passed over is in no prompt."""
    told = Told()
    reply = told.open("r")
    told.write(reply, "<think>hm</think>", kind=Kind.SILENT)
    told.hear(reply, 17)
    assert told.history.messages() == (SYSTEM,)
    told.write(reply, "Yes.")
    told.hear(reply, 21)
    assert told.history.messages() == (SYSTEM, agent("Yes."))


def test_neighbours_of_one_role_are_joined() -> None:
    """A greeting and an idle notice are one message of the agent."""
    told = Told()
    for name, text in (("greeting", "Hello."), ("idle", "Are you there?")):
        reply = told.open(name)
        told.write(reply, text)
        told.hear(reply, len(text))
    assert told.history.messages() == (SYSTEM, agent("Hello. Are you there?"))


def test_a_turn_is_revised_until_it_is_answered() -> None:
    """An eager transcript may grow; once a reply to it was heard it stands."""
    told = Told()
    told.history.hear_user("is", turn="t1")
    told.history.hear_user("is it far?", turn="t1")
    reply = told.open("r")
    told.write(reply, "No. ")
    told.history.hear_user("is it very far?", turn="t1")
    told.hear(reply, 3)
    with pytest.raises(HistoryError, match="t1 was answered"):
        told.history.hear_user("never mind", turn="t1")
    with pytest.raises(HistoryError, match="t1 was answered"):
        told.history.withdraw_user(turn="t1")
    assert told.history.messages()[1] == user("is it very far?")


def test_a_turn_before_another_stands() -> None:
    """The user went on: what was said before is not revised any more."""
    history = History(system_prompt="")
    history.hear_user("one", turn="t1")
    history.hear_user("two", turn="t2")
    with pytest.raises(HistoryError, match="answered"):
        history.hear_user("won", turn="t1")


def test_a_noise_is_withdrawn() -> None:
    """A turn that came to nothing leaves nothing; an unknown one is an error."""
    history = History(system_prompt="")
    history.hear_user("hm", turn="t1")
    history.withdraw_user(turn="t1")
    assert history.messages() == ()
    with pytest.raises(HistoryError, match="t1 is not known"):
        history.withdraw_user(turn="t1")


def test_a_turn_has_words() -> None:
    """Silence is no turn."""
    with pytest.raises(HistoryError, match="no text"):
        History(system_prompt="").hear_user("  ", turn="t1")


def test_events_of_a_reply_that_is_not_under_way_are_refused() -> None:
    """After its end, and before its start, a reply makes no history."""
    told = Told()
    reply = told.open("r")
    told.write(reply, "Yes. ")
    told.hear(reply, 5)
    late = told.talk.records[-1]
    assert isinstance(late, Recorded)
    told.do(reply, "end", EndReason.INTERRUPTED)
    with pytest.raises(HistoryError, match="not under way"):
        told.history.feed(late)


def test_the_history_of_a_whole_trace() -> None:
    """Fed with the ledger events and turns of a conversation, it says what the user lived."""
    history = History(system_prompt="")
    for record in good_trace():
        if isinstance(record, Recorded):
            history.feed(record)
        elif isinstance(record, TurnRecord):
            history.hear_user(record.text, turn=str(record.turn))
    assert history.messages() == (
        agent("Hello there!"),
        user("is it far?"),
        agent("Yes, it is. Two miles."),
        user("Tell me more."),
        agent("There is"),
        user("Enough."),
    )


# Shortening -----------------------------------------------------------------------------------


def test_what_was_said_before_comes_first() -> None:
    """Typed words and read replies; told again, they replace what was told before."""
    told = Told()
    told.history.hear_user("And now?", turn="t1")
    told.history.recall([user("Old."), agent("Older.")])
    told.history.recall([user("Hello."), agent(" Hi. ")])
    assert told.history.messages() == (SYSTEM, user("Hello."), agent("Hi."), user("And now?"))
    told.history.withdraw_user(turn="t1")
    assert told.history.messages() == (SYSTEM, user("Hello."), agent("Hi."))


def test_what_was_said_before_has_no_system_prompt() -> None:
    """Nobody gives the agent another one."""
    told = Told()
    with pytest.raises(HistoryError, match="system prompt"):
        told.history.recall([SYSTEM])
    assert told.history.messages() == (SYSTEM,)


def test_what_was_said_before_is_dropped_first() -> None:
    """It counts for the budget like everything else."""
    told = Told()
    told.history.recall([user("one two three"), agent("four five six")])
    told.history.hear_user("seven", turn="t1")
    assert told.history.messages(budget_tokens=8, count_tokens=words) == (SYSTEM, user("seven"))


def words(messages: Sequence[Message]) -> int:
    return sum(len(message.content.split()) for message in messages)


def test_within_its_budget_nothing_is_dropped() -> None:
    """A budget that suffices changes nothing."""
    told = Told()
    told.exchange(1)
    assert told.history.messages(budget_tokens=6, count_tokens=words) == told.history.messages()


def test_oldest_exchanges_go_first_and_whole() -> None:
    """Down to half of the budget; the system prompt and the last turn stay."""
    told = Told()
    for number in range(1, 6):
        told.exchange(number)
    told.history.hear_user("question 6", turn="t6")
    shortened = told.history.messages(budget_tokens=20, count_tokens=words)
    assert shortened == (
        SYSTEM,
        user("question 5"),
        agent("answer 5"),
        user("question 6"),
    )
    assert words(shortened) <= 10


def test_what_was_dropped_stays_dropped() -> None:
    """The prompt's beginning does not flicker, so that it can be kept in a cache."""
    told = Told()
    for number in range(1, 6):
        told.exchange(number)
    told.history.messages(budget_tokens=20, count_tokens=words)
    assert told.history.messages()[1] == user("question 4")
    told.exchange(6)
    assert told.history.messages(budget_tokens=20, count_tokens=words)[1] == user("question 4")


def test_the_last_turn_stays_whatever_it_weighs() -> None:
    """Better a prompt too long, which the engine refuses, than a question that nobody asked."""
    told = Told()
    told.exchange(1)
    told.history.hear_user("a very long question indeed", turn="t2")
    shortened = told.history.messages(budget_tokens=4, count_tokens=words)
    assert shortened == (SYSTEM, user("a very long question indeed"))


def test_a_greeting_is_an_exchange_of_its_own() -> None:
    """It is the first to go."""
    told = Told()
    greeting = told.open("greeting")
    told.write(greeting, "Hello there!")
    told.hear(greeting, 12)
    told.exchange(1)
    assert told.history.messages(budget_tokens=7, count_tokens=words)[1] == user("question 1")


def test_a_budget_needs_a_count() -> None:
    """Tokens are the engine's to count."""
    with pytest.raises(HistoryError, match="count"):
        History(system_prompt="").messages(budget_tokens=5)
