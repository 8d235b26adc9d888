"""Attempts at an answer: one for each time that a turn of the user may be over."""

import itertools
from dataclasses import dataclass

from voiceagent.session.open_reply import OpenReply


@dataclass(slots=True)
class Attempt:
    """A reply that was asked for, from the asking until it is opened and its turn confirmed."""

    number: int
    text: str
    """The user's words that it answers."""
    name: str
    epoch: int
    """Of the reply that will come of it."""
    confirmed: bool = False
    reply: OpenReply | None = None
    """None until somebody has begun to write it."""


class Attempts:
    """At most one attempt at a time; the one before it is withdrawn or has been opened."""

    def __init__(self) -> None:
        self._names = itertools.count(1)
        self._numbers = itertools.count(1)
        self._current: Attempt | None = None
        self._withdrawn: tuple[str, int] | None = None

    @property
    def current(self) -> Attempt | None:
        """The attempt that is neither withdrawn nor both opened and confirmed."""
        return self._current

    def new_name(self) -> str:
        """The name of the next reply; names of withdrawn ones are used again for their turn."""
        return f"r{next(self._names)}"

    def make(self, text: str, *, confirmed: bool) -> Attempt:
        """A new attempt; a turn's later ones are later epochs of the same reply."""
        name, epoch = self._withdrawn or (self.new_name(), 0)
        self._withdrawn = None
        self._current = Attempt(next(self._numbers), text, name, epoch, confirmed=confirmed)
        return self._current

    def withdraw(self) -> Attempt | None:
        """Forgets the current attempt; what was forgotten."""
        gone, self._current = self._current, None
        if gone is not None:
            self._withdrawn = gone.name, gone.epoch + 1
        return gone

    def settle(self) -> None:
        """Lets go of an attempt that is opened and confirmed: it is an ordinary reply now."""
        current = self._current
        if current is not None and current.confirmed and current.reply is not None:
            self._current = None
