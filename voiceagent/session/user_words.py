"""What the user has said, turn by turn: on record, and in the history as far as it counts there."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from voiceagent.core.history import History

OnTurn = Callable[[int, str, str], None]
"""Told the number, the words and the state of a turn whenever anything becomes known of it."""


RESUMED_WORDS = 3
"""Who goes on before more words of the reply than this were heard has not been answered: the turn
goes on, and the reply to its beginning is interrupted (docs/adr/0015)."""


@dataclass(frozen=True, slots=True)
class _Confirmed:
    number: int
    text: str
    part: str


class UserWords:
    """The present turn, and the one before it, which it may turn out to continue."""

    def __init__(self, history: History, *, on_turn: OnTurn) -> None:
        self._history = history
        self._on_turn = on_turn
        self._numbers = itertools.count(1)
        self._number = 0
        self._said = ""
        """Words of the present turn that were answered too early."""
        self._parts = itertools.count(1)
        self._part = ""
        """The history's name for what is being said."""
        self._joined = ""
        """Words of the present turn that are in this part of the history already."""
        self._confirmed: _Confirmed | None = None

    def begin(self) -> None:
        """A turn begins."""
        self._number, self._part = next(self._numbers), f"p{next(self._parts)}"
        self._said = self._joined = ""
        self._tell("", state="began")

    def hear_so_far(self, text: str) -> None:
        """The user is still speaking; these words were made out."""
        self._tell(text, state="partial")

    @contextmanager
    def supposing(self, text: str) -> Iterator[None]:
        """The history as it would be if the turn began with these words."""
        self._hear(text)
        yield
        self._unhear()

    def fall_silent(self) -> None:
        """The user has paused; what was said is not known yet."""
        self._tell("", state="silent")

    def try_out(self, text: str) -> None:
        """The turn may be over behind these words: a prompt holds them."""
        self._hear(text)
        self._tell(text, state="eager")

    def take_back(self) -> None:
        """It was not over."""
        self._unhear()
        self._tell("", state="revised")

    def confirm(self, text: str) -> None:
        """The turn is over, with these words."""
        self._hear(text)
        self._confirmed = _Confirmed(self._number, f"{self._said} {text}".strip(), self._part)
        self._tell(text, state="confirmed")

    def drop(self, cause: str) -> None:
        """The turn had no words."""
        self._tell("", state=f"dropped: {cause}")

    def go_on(self, *, heard_words: int) -> None:
        """The present turn may continue the one before, of whose answer so many words were heard.

        If it does, those words stay between its two halves.
        """
        before = self._confirmed
        if before is None or heard_words > RESUMED_WORDS:
            return
        self.drop("part of the turn before")
        self._number, self._said = before.number, before.text
        if not heard_words:
            self._part, self._joined = before.part, before.text
        self._tell("", state="revised")

    def again(self) -> str | None:
        """The words before, if the present turn continues them in vain; they count by themselves
        then."""
        if not self._joined:
            return None
        said, self._said, self._joined = self._joined, "", ""
        return said

    def _hear(self, text: str) -> None:
        self._history.hear_user(f"{self._joined} {text}".strip(), turn=self._part)

    def _unhear(self) -> None:
        if self._joined:
            self._history.hear_user(self._joined, turn=self._part)
        else:
            self._history.withdraw_user(turn=self._part)

    def _tell(self, text: str, *, state: str) -> None:
        whole = f"{self._said} {text}".strip() if text else ""
        self._on_turn(self._number, whole, state)
