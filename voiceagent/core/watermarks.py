"""The six positions that every reply is in, and their order."""

from dataclasses import astuple, dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True, kw_only=True)
class Watermarks:
    """Six positions in code points, each at most the one before."""

    drafted: int = 0
    verified: int = 0
    committed: int = 0
    synthesized: int = 0
    released: int = 0
    heard: int = 0

    @property
    def in_order(self) -> bool:
        """Whether each is at most the one before, and none is negative."""
        marks = astuple(self)
        return marks[-1] >= 0 and all(high >= low for high, low in pairwise(marks))

    def __str__(self) -> str:
        return " <= ".join(f"{name} {getattr(self, name)}" for name in reversed(self.__slots__))
