"""What the far end of a line holds and has played of the sound that it was sent. Pure.

The far end plays what it gets in order and in real time. When it does so is known in two ways: by
the clock (no sound is played sooner than in real time after it was sent) and, on lines that
acknowledge, by marks that come back when the sound before them was played. A mark is late by the
way there and back, and by what the far end has stalled; that lateness stands for the way from us to
the ear.

A ``clear`` sends marks back too, those of sound that nobody heard (Twilio, "Media Streams -
WebSocket Messages", clear; Telnyx says the same). So marks carry an epoch, every clear begins a new
one, and marks of an old epoch prove nothing. A clear takes as long to get there as sound does:
until then the far end plays on, up to where it is by the clock.
"""

from collections import deque
from dataclasses import dataclass

from voiceagent.sound.pcm import Int16

TRAVEL_S = 0.1
"""From us to the ear, until a mark has said so: half of what a call across a continent takes."""
MOST_TRAVEL_S = 2.0
"""A mark that is later than that tells of a stall, not of a way."""
MOST_UNPROVEN_S = 0.5
"""On a line that acknowledges, so much of what is behind the last mark may count as heard."""
UNACKNOWLEDGED_S = 3.0
"""A far end that has sent no mark back after so long never will: the clock alone counts then."""
BUFFER_S = 0.3
"""The far end may hold so much: an event loop that is late by less is not heard."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """Sound of the present epoch."""

    at: int
    """Samples of the epoch before it."""
    pcm: Int16
    begin_s: float
    """When it begins to sound at the far end if the way there takes no time."""

    def end_s(self, rate_hz: int) -> float:
        return self.begin_s + len(self.pcm) / rate_hz


@dataclass(frozen=True, slots=True)
class Sounded:
    """Sound that was played, and from when on, by the clock."""

    begin_s: float
    pcm: Int16


class FarEnd:
    """Counts samples; told of everything that is sent and comes back.

    Args:
        rate_hz: of the line.
        acknowledges: whether it sends marks back.
        travel_s: from us to the ear, as long as no mark has told.
    """

    def __init__(self, *, rate_hz: int, acknowledges: bool, travel_s: float = TRAVEL_S) -> None:
        self.rate_hz = rate_hz
        self._acknowledges = acknowledges
        self._travel_s = travel_s
        self._least_travel_s: float | None = None
        self._epoch = 0
        self._before = 0
        """Samples that were played in earlier epochs."""
        self._pieces: deque[_Piece] = deque()
        self._end_s = 0.0
        self._sent = self._played = self._proven = 0
        """Samples of this epoch."""
        self._marks: deque[tuple[int, float]] = deque()
        """Place and time, by the clock, of those that have not come back."""
        self._sounded: list[Sounded] = []
        self.is_proven = False
        """Whether a mark has come back that proves something."""

    # What is sent -----------------------------------------------------------------------------

    @property
    def accepts_at_s(self) -> float:
        """When the far end has room for more."""
        return self._end_s - BUFFER_S

    def send(self, pcm: Int16, *, now_s: float) -> str:
        """``pcm`` (samples,) is on its way; returns the name of the mark to send behind it."""
        self.played_samples(now_s)
        self._keep_sounded(ends=False)
        begin_s = max(self._end_s, now_s)
        piece = _Piece(self._sent, pcm, begin_s)
        self._pieces.append(piece)
        self._sent += len(pcm)
        self._end_s = piece.end_s(self.rate_hz)
        if self._acknowledges:
            self._marks.append((self._sent, self._end_s))
        return f"{self._epoch}:{self._sent}"

    def settle(self, *, now_s: float) -> None:
        """What is on its way will be heard and is counted at once: nobody can take it back."""
        self._played = self._sent
        self.clear(now_s=now_s)

    def clear(self, *, now_s: float) -> list[Int16]:
        """All that will not have been heard is thrown away at the far end; returns it, in order."""
        self._played = max(self.played_samples(now_s) - self._before, self._reached_by_clear(now_s))
        unheard = [
            piece.pcm[max(0, self._played - piece.at) :]
            for piece in self._pieces
            if piece.at + len(piece.pcm) > self._played
        ]
        self._keep_sounded(ends=True)
        self._before += self._played
        self._epoch += 1
        self._sent = self._played = self._proven = 0
        self._end_s = min(self._end_s, now_s)
        self._pieces.clear()
        self._marks.clear()
        return unheard

    # What comes back --------------------------------------------------------------------------

    def marked(self, name: str, *, now_s: float) -> bool:
        """A mark came back; false if it proves nothing: of an old epoch, unknown, or a repetition.

        One that comes sooner than its sound can have been played proves only what can.
        """
        epoch, _, place = name.partition(":")
        if epoch != str(self._epoch) or not (place.isascii() and place.isdecimal()):
            return False
        places = [at for at, _ in self._marks]
        if len(place) > 18 or int(place) not in places:
            return False
        while self._marks:
            at, due_s = self._marks.popleft()
            self._proven = at
            if at == int(place):
                self._travel_s = min(max(0.0, now_s - due_s), MOST_TRAVEL_S)
                break
        least_s = self._travel_s if self._least_travel_s is None else self._least_travel_s
        self._least_travel_s = min(least_s, self._travel_s)
        self.is_proven = True
        return True

    def played_samples(self, now_s: float) -> int:
        """How many of all samples ever sent were heard; never falls."""
        at = self._believed(now_s - self._travel_s, now_s=now_s)
        if self._relies_on_marks(now_s):
            at = max(at, min(self._proven, self._reached(now_s)))
        self._played = max(self._played, at)
        return self._before + self._played

    def overdue_s(self, now_s: float) -> float:
        """For how long a far end that has sent marks back before has owed one; 0 for none."""
        owes = self.is_proven and self._relies_on_marks(now_s) and self._marks
        return max(0.0, now_s - self._marks[0][1] - self._travel_s) if owes else 0.0

    def paced_samples(self, now_s: float) -> int:
        """How many were due by the clock: those sent and not paced wait, the others travel."""
        return self._before + max(self._played, self._reached(now_s))

    def drain_sounded(self) -> list[Sounded]:
        """What was played since the last call, piece by piece; for a recording."""
        drained, self._sounded = self._sounded, []
        return drained

    def _reached_by_clear(self, now_s: float) -> int:
        """Samples of this epoch that the far end has played when a clear that is sent now comes."""
        stalled_s = 0.0
        if self._least_travel_s is not None:
            stalled_s = self._travel_s - self._least_travel_s
        return self._believed(now_s - stalled_s, now_s=now_s)

    def _believed(self, at_s: float, *, now_s: float) -> int:
        """What is reached by the clock, and not too far behind the last mark."""
        at = self._reached(at_s)
        if self._relies_on_marks(now_s):
            at = min(at, self._proven + round(MOST_UNPROVEN_S * self.rate_hz))
        return at

    def _relies_on_marks(self, now_s: float) -> bool:
        if not self._acknowledges:
            return False
        if not self.is_proven and self._marks and now_s - self._marks[0][1] > UNACKNOWLEDGED_S:
            self._acknowledges = False
            self._marks.clear()
        return self._acknowledges

    def _reached(self, at_s: float) -> int:
        """Samples of this epoch that are played by the clock at that time."""
        for piece in reversed(self._pieces):
            if piece.begin_s <= at_s:
                return piece.at + min(len(piece.pcm), round((at_s - piece.begin_s) * self.rate_hz))
        return self._pieces[0].at if self._pieces else self._sent

    def _keep_sounded(self, *, ends: bool) -> None:
        """Drops the pieces that were heard; if sound ends here, the heard part of the last too."""
        while self._pieces and self._pieces[0].at < self._played:
            piece = self._pieces[0]
            heard = piece.pcm[: self._played - piece.at]
            if len(heard) < len(piece.pcm) and not ends:
                return
            self._sounded.append(Sounded(piece.begin_s, heard))
            self._pieces.popleft()
