"""The caller's sound in the order in which it was spoken. Pure.

Some lines promise no order (Telnyx: "Media frame order is not guaranteed"), and a peer may repeat
itself. A piece that comes out of turn waits for those before it, not for long; one that comes again
or too late is dropped.
"""

from typing import Final

from voiceagent.sound.pcm import Int16
from voiceagent.telephony.events import Sound

MOST_WAITING: Final = 5
"""100 ms of a line that sends 20 ms a piece: longer would be heard as a slow agent."""
LOST_AFTER: Final = 50
"""So many pieces in a row that are all too late mean that the peer counts anew."""


class Arrivals:
    """Puts numbered pieces of sound in order; what has no number passes as it comes."""

    def __init__(self) -> None:
        self._next: int | None = None
        self._waiting: dict[int, Int16] = {}
        self._late_in_a_row = 0
        self.dropped = 0
        """Pieces that came twice or too late."""

    def take(self, sound: Sound) -> list[Int16]:
        """What can be heard now that ``sound`` has come."""
        number = sound.number
        if number is None:
            return [sound.pcm]
        if self._next is None:
            self._next = number
        if self._counts_anew(number):
            self._next, self._waiting = number, {}
        if number < self._next or number in self._waiting:
            self.dropped += 1
            return []
        self._waiting[number] = sound.pcm
        return self._in_order()

    def _counts_anew(self, number: int) -> bool:
        is_late = self._next is not None and number < self._next
        self._late_in_a_row = self._late_in_a_row + 1 if is_late else 0
        return self._late_in_a_row > LOST_AFTER

    def _in_order(self) -> list[Int16]:
        assert self._next is not None
        ready: list[Int16] = []
        while self._waiting:
            if self._next not in self._waiting:
                if len(self._waiting) <= MOST_WAITING:
                    break
                self._next = min(self._waiting)
            ready.append(self._waiting.pop(self._next))
            self._next += 1
        return ready
