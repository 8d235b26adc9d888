"""The six positions that every reply is in, and their order."""

from typing import NamedTuple


class Watermarks(NamedTuple):
    """Six positions in code points, each at most the one before.

    A tuple, because one is made at every step of every reply.
    """

    drafted: int = 0
    verified: int = 0
    committed: int = 0
    synthesized: int = 0
    released: int = 0
    heard: int = 0

    @property
    def in_order(self) -> bool:
        """Whether each is at most the one before, and none is negative."""
        upper = self.synthesized <= self.committed <= self.verified <= self.drafted
        return 0 <= self.heard <= self.released <= self.synthesized and upper

    def __str__(self) -> str:
        return " <= ".join(f"{name} {getattr(self, name)}" for name in reversed(self._fields))
