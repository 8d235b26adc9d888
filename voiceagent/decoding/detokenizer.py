"""Token ids to text, byte by byte, with every step reversible.

A code point whose bytes are spread over tokens appears with its last byte; until then it is not
text. Bytes that can never become UTF-8 appear as U+FFFD, as in every incremental decoder.
"""

import codecs
from collections.abc import Callable, Iterable


class Detokenizer:
    """The text of a growing and shrinking list of tokens.

    Args:
        decode_bytes: the bytes of one token id.
    """

    def __init__(self, decode_bytes: Callable[[int], bytes]) -> None:
        self._decode_bytes = decode_bytes
        self._pieces: list[str] = []
        self._pending: list[bytes] = []  # after each token: the bytes of an unfinished code point

    def push(self, tokens: Iterable[int]) -> str:
        """Appends tokens; returns the text that they completed."""
        before = len(self._pieces)
        for token in tokens:
            waiting = self._pending[-1] if self._pending else b""
            data = waiting + self._decode_bytes(token)
            piece, used = codecs.utf_8_decode(data, "replace", False)
            self._pieces.append(piece)
            self._pending.append(data[used:])
        return "".join(self._pieces[before:])

    def rollback(self, count: int) -> None:
        """Forgets all but the first ``count`` tokens."""
        del self._pieces[count:]
        del self._pending[count:]

    @property
    def count(self) -> int:
        """How many tokens were pushed and not taken back."""
        return len(self._pieces)

    @property
    def text(self) -> str:
        """The whole code points so far."""
        return "".join(self._pieces)
