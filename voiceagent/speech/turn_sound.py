"""The sound of a turn so far, as a recognizer wants it: whole while it is short. Pure.

A recognizer hears words better in one piece than cut at every pause. So a turn is read anew at
each pause, until it has grown long: then what was read stays, and reading goes on behind it.
"""

LEAD_IN_S = 0.5
"""Kept from before an onset: the VAD notices it late, and a first "h" or "f" is quieter still."""
GLANCE_EVERY_S = 1.0
"""Of speech: how often what is being said is looked at before it is over."""
WHOLE_S = 8.0
"""Longer than this a turn is not read anew: with a second of silence it fills the recognizer's
short window."""
_BYTES = 2


class TurnSound:
    """Collects 16-bit samples; between turns it keeps the last half second."""

    def __init__(self, *, rate_hz: int) -> None:
        self.utterances = 0
        """Utterances that are over, ever."""
        self._rate_hz = rate_hz
        self._pcm = bytearray()
        self._is_open = self._is_speaking = False
        self._utterance_at = 0
        """Where the present utterance begins, its lead-in included."""
        self._read_words, self._read_to = "", 0
        """What was read, up to where."""
        self._unseen = 0
        """Bytes of the present utterance that came since the latest glance."""
        self._hush_at: int | None = None
        """Where the voice stopped last, in the present utterance."""
        self._has_hushed = False
        """Whether it did since the latest glance."""
        self.words = ""
        """Words that are settled: they come before the sound."""

    def add(self, pcm: bytes) -> None:
        """More sound."""
        self._pcm += pcm
        self._unseen += len(pcm) * self._is_speaking
        if not self._is_open:
            del self._pcm[: -self._lead_in or None]

    def begin(self) -> None:
        """The user speaks."""
        self._is_speaking, self._unseen = True, 0
        self._hush_at, self._has_hushed = None, False
        self._utterance_at = max(0, len(self._pcm) - self._lead_in)
        if not self._is_open:
            self._is_open, self._utterance_at = True, 0
        elif self._read_to > self._whole and self._utterance_at >= self._read_to:
            self.words = f"{self.words} {self._read_words}".strip()
            self._drop(self._utterance_at)

    def hush(self) -> None:
        """The voice has stopped, perhaps for a moment only."""
        self._hush_at, self._has_hushed = len(self._pcm), self._is_speaking

    @property
    def is_worth_a_glance(self) -> bool:
        """Whether the user is still speaking and has said more, or has just stopped."""
        has_said_more = self._unseen >= self._bytes_of(GLANCE_EVERY_S)
        return self._is_speaking and (has_said_more or self._has_hushed)

    def glance(self) -> bytes:
        """The sound so far of a turn that is not over; up to where the voice has just stopped."""
        end = self._hush_at if self._has_hushed else None
        self._unseen, self._has_hushed = 0, False
        return bytes(self._pcm[:end])

    def end(self) -> bytes:
        """The user is silent: the sound to read, up to where the voice stopped."""
        self._is_speaking = False
        self.utterances += 1
        return bytes(self._pcm[: self._hush_at])

    def read(self, words: str, *, length: int) -> None:
        """The first ``length`` bytes of the sound say ``words``."""
        if length <= len(self._pcm):
            self._read_words, self._read_to = words, length

    def forget(self) -> None:
        """The turn is over; an utterance that has begun since belongs to the next one."""
        if self._is_speaking:
            self._drop(self._utterance_at)
        else:
            self._is_open = False
            self._drop(max(0, len(self._pcm) - self._lead_in))
        self.words = ""

    def _drop(self, count: int) -> None:
        del self._pcm[:count]
        self._hush_at, self._has_hushed = None, False
        self._utterance_at = 0
        self._read_words, self._read_to = "", 0

    @property
    def _lead_in(self) -> int:
        return self._bytes_of(LEAD_IN_S)

    @property
    def _whole(self) -> int:
        return self._bytes_of(WHOLE_S)

    def _bytes_of(self, length_s: float) -> int:
        return int(length_s * self._rate_hz) * _BYTES
