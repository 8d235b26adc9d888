"""The conversation as it was heard: the only truth that prompts are built from.

User turns are what was recognized. Assistant turns are what was *heard*: the history listens to
ledger events and keeps, of each reply, its committed text up to the heard position, without what is
not for the ear. An interrupted reply ends where it was heard; one of which nothing was heard leaves
no turn, and the user turns around it become one message. What was said before, by other means than
the voice, can be put in front.

Shortening: when the messages outgrow their budget, whole exchanges (a user turn and what was heard
after it) are dropped, oldest first, until they fit into half of it. Half, because every drop makes
the engine read the prompt anew (149 ms for 64 tokens on two cores, against 13 ms for an answer's
token): room is made rarely and generously. The system prompt and the last user turn always stay.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby
from typing import ClassVar

from voiceagent.core.errors import VoiceAgentError
from voiceagent.core.events import Committed, Ended, Heard, LedgerEvent, Started, Voided
from voiceagent.core.kinds import Kind

SHORTEN_TO = 0.5
"""Share of the budget that is left in use after shortening."""


class HistoryError(VoiceAgentError, ValueError):
    """A step that would make the history say what did not happen; nothing has changed."""


class Role(StrEnum):
    """Who speaks in a message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt."""

    role: Role
    content: str


@dataclass(slots=True)
class _Earlier:
    role: Role
    text: str
    dropped: bool = False


@dataclass(slots=True)
class _UserTurn:
    role: ClassVar[Role] = Role.USER
    turn: str
    text: str
    dropped: bool = False


@dataclass(slots=True)
class _Heard:
    """One reply, as far as it was committed and heard."""

    role: ClassVar[Role] = Role.ASSISTANT
    reply: str
    epoch: int
    commits: list[Committed] = field(default_factory=list)
    heard: int = 0
    over: bool = False
    dropped: bool = False

    @property
    def text(self) -> str:
        """What the ear got: committed text up to the heard position, silent text left out."""
        audible = (each for each in self.commits if each.kind is not Kind.SILENT)
        return "".join(each.text[: max(0, self.heard - each.start)] for each in audible).strip()


_Entry = _Earlier | _UserTurn | _Heard


class History:
    """User turns and heard replies, in order, behind one system prompt."""

    def __init__(self, *, system_prompt: str) -> None:
        self.system_prompt = system_prompt
        self._entries: list[_Entry] = []

    # What was said before -----------------------------------------------------------------------

    def recall(self, messages: Iterable[Message]) -> None:
        """Puts ``messages``, which were typed and read instead of spoken and heard, in front of
        everything, in place of those that were put there before.

        Raises:
            HistoryError: one of them is a system prompt; there is one already.
        """
        earlier = [_Earlier(role=each.role, text=each.content.strip()) for each in messages]
        if any(each.role is Role.SYSTEM for each in earlier):
            raise HistoryError("what was said before has no system prompt")
        self._entries = [
            *earlier,
            *(each for each in self._entries if not isinstance(each, _Earlier)),
        ]

    # What the user said -------------------------------------------------------------------------

    def hear_user(self, text: str, *, turn: str) -> None:
        """Adds the user's turn, or replaces its text while no reply to it was heard.

        Raises:
            HistoryError: there is no text, or the turn was answered already.
        """
        text = text.strip()
        if not text:
            raise HistoryError(f"turn {turn}: there is no text")
        entry = self._user_turn(turn)
        if entry is None:
            self._entries.append(_UserTurn(turn=turn, text=text))
        else:
            self._require_unanswered(entry)
            entry.text = text

    def withdraw_user(self, *, turn: str) -> None:
        """Forgets a user's turn that came to nothing, such as a noise taken for speech.

        Raises:
            HistoryError: there is no such turn, or it was answered already.
        """
        entry = self._user_turn(turn)
        if entry is None:
            raise HistoryError(f"turn {turn} is not known")
        self._require_unanswered(entry)
        self._entries.remove(entry)

    def _user_turn(self, turn: str) -> _UserTurn | None:
        turns = (each for each in self._entries if isinstance(each, _UserTurn))
        return next((each for each in turns if each.turn == turn), None)

    def _require_unanswered(self, entry: _UserTurn) -> None:
        later = self._entries[self._entries.index(entry) + 1 :]
        if any(isinstance(each, _UserTurn) or each.text for each in later):
            raise HistoryError(f"turn {entry.turn} was answered already")

    # What the user heard ------------------------------------------------------------------------

    def feed(self, event: LedgerEvent) -> None:
        """Takes one ledger event of any reply.

        Raises:
            HistoryError: the reply has not started here, or is over.
        """
        if isinstance(event, Started):
            self._entries.append(_Heard(reply=event.reply, epoch=event.epoch))
            return
        entry = self._heard(event)
        match event:
            case Committed():
                entry.commits.append(event)
            case Heard():
                entry.heard = event.to
            case Ended() | Voided():
                entry.over = True
                if not entry.text:
                    self._entries.remove(entry)
            case _:
                pass  # what nobody hears makes no history

    def _heard(self, event: LedgerEvent) -> _Heard:
        heard = (each for each in reversed(self._entries) if isinstance(each, _Heard))
        for entry in heard:
            if (entry.reply, entry.epoch) == (event.reply, event.epoch) and not entry.over:
                return entry
        raise HistoryError(f"reply {event.reply} epoch {event.epoch} is not under way")

    def heard_text(self, reply: str) -> str:
        """What was heard of a reply so far; empty if nothing was."""
        heard = [each for each in self._entries if isinstance(each, _Heard)]
        return next((each.text for each in reversed(heard) if each.reply == reply), "")

    # Prompts ------------------------------------------------------------------------------------

    def messages(
        self,
        *,
        budget_tokens: int | None = None,
        count_tokens: Callable[[Sequence[Message]], int] | None = None,
    ) -> tuple[Message, ...]:
        """The system prompt and the turns, neighbours of one role joined by a blank.

        Args:
            budget_tokens: tokens that the prompt may take; None for no limit.
            count_tokens: tokens that messages take; needed with a budget. Called a few times only.

        What was dropped once stays dropped. The result may exceed the budget where the system
        prompt and the last user turn alone do.
        """
        messages = self._prompt(self._kept())
        if budget_tokens is None:
            return messages
        if count_tokens is None:
            raise HistoryError("a budget needs a count of tokens")
        if count_tokens(messages) > budget_tokens:
            self._shorten(int(budget_tokens * SHORTEN_TO), count_tokens)
        return self._prompt(self._kept())

    def _kept(self) -> list[_Entry]:
        return [entry for entry in self._entries if not entry.dropped]

    def _shorten(self, tokens: int, count_tokens: Callable[[Sequence[Message]], int]) -> None:
        """Drops the fewest exchanges that make the rest fit, by bisection: more is never less."""
        kept = self._kept()
        starts = _exchange_starts(kept)
        first = bisect_left(
            starts,
            True,
            hi=len(starts) - 1,
            key=lambda start: count_tokens(self._prompt(kept[start:])) <= tokens,
        )
        for entry in kept[: starts[first]]:
            entry.dropped = True

    def _prompt(self, entries: Sequence[_Entry]) -> tuple[Message, ...]:
        spoken = [Message(entry.role, entry.text) for entry in entries]
        kept = [message for message in spoken if message.content]
        joined = tuple(
            Message(role, " ".join(message.content for message in group))
            for role, group in groupby(kept, key=lambda message: message.role)
        )
        system = (Message(Role.SYSTEM, self.system_prompt),) if self.system_prompt else ()
        return system + joined


def _exchange_starts(entries: Sequence[_Entry]) -> list[int]:
    """Where exchanges begin: at the first entry, and at user turns after something was heard."""
    starts = [0]
    answered = False
    for index, entry in enumerate(entries):
        if entry.role is Role.ASSISTANT:
            answered = answered or bool(entry.text)
        elif answered:
            starts.append(index)
            answered = False
    return starts
