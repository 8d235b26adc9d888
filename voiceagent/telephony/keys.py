"""Keys of a telephone become words of the user. Pure; time is an argument.

A press is one event from every line (a SIP peer sends it as a dozen packets, RFC 4733). Presses
that follow one another are one entry; ``#`` ends it, and so does a pause.
"""

PAUSE_S = 2.0
"""Between two keys of one entry: people read numbers off paper."""
MOST_KEYS = 32
"""A card number has 19, an IBAN 34 characters, not all of them digits."""


class Keys:
    """Collects presses into entries."""

    def __init__(self) -> None:
        self._pressed = ""
        self._latest_s = 0.0

    def press(self, digit: str, *, now_s: float) -> None:
        """A key was pressed."""
        if len(self._pressed) < MOST_KEYS:
            self._pressed += digit
        self._latest_s = now_s

    def entry(self, *, now_s: float) -> str | None:
        """The keys of an entry that is over, once; None while there is none."""
        is_over = self._pressed.endswith("#") or now_s - self._latest_s >= PAUSE_S
        if not self._pressed or not is_over:
            return None
        entry, self._pressed = self._pressed, ""
        return entry


def words_of(entry: str) -> str:
    """What the model is told: the keys, one by one, so that a number is read digit by digit."""
    return f"[pressed on the telephone: {' '.join(entry)}]"
