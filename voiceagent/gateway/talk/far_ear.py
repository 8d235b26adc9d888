"""How far the far end has played: its own reports, counted in samples. Pure arithmetic, no clock.

The page counts the samples that its sound card has played since the latest cut; a report of before
a cut says nothing about what was sent after it, so every report names the cut that it counts from.
"""


class FarEar:
    """What was sent to a client that reports, and what of it has sounded.

    Args:
        rate_hz: of the conversation's sound, in which the answer counts.
        wire_hz: of the sound as it is sent, in which reports count.
    """

    def __init__(self, *, rate_hz: int, wire_hz: int) -> None:
        self._rate_hz, self._wire_hz = rate_hz, wire_hz
        self.cuts = 0
        """How often sound was dropped."""
        self._before = 0
        """Samples that had sounded when it was last cut."""
        self._written = self._sent = self._reported = self._played = 0
        """Since then: samples written, the same at the wire's rate, and how far they sounded."""

    @property
    def is_waiting(self) -> bool:
        """Whether a report is owed: something was sent that has not sounded."""
        return self._reported < self._sent

    def write(self, samples: int, *, sent: int) -> None:
        """``samples`` more went out, as ``sent`` samples of the wire."""
        self._written += samples
        self._sent += sent

    def report(self, played: int, *, cuts: int) -> None:
        """The far end has played ``played`` samples since the cut of that number.

        An old report, one that goes back, or one of more than was sent is worth nothing more.
        """
        if cuts != self.cuts:
            return
        self._reported = max(self._reported, min(played, self._sent))
        at = self._reported * self._rate_hz // self._wire_hz
        # A resampler keeps the last few samples until others push them out.
        at = self._written if self._reported == self._sent else min(at, self._written)
        self._played = max(self._played, at)

    def played_samples(self) -> int:
        """How many of the samples written have sounded; never falls."""
        return self._before + self._played

    def cut(self) -> None:
        """What has not sounded never will."""
        self._before = self.played_samples()
        self._written = self._sent = self._reported = self._played = 0
        self.cuts += 1
