"""Whose turn it is: which replies take part in the next round, and how much of a prompt is read.

Up to 16 replies share a round; of more, each waits for as few rounds as any other. Prompts are read
in pieces beside the others' rounds, so that a long one holds nobody up. Knows nothing of models.
"""

from typing import Generic, Protocol, TypeVar

BATCH = 16
"""Replies in one round: with five rows each they fill the block that the CPU kernels work on."""
PROMPT_BESIDE = 64
"""Prompt tokens in one round while somebody is being answered: a few times the time of a plain
round, which the listener does not hear, because speech is slower than decoding."""
PROMPT_ALONE = 256
"""The same while everybody waits for a prompt: larger pieces are read faster."""


class Member(Protocol):
    """A reply that takes turns."""

    @property
    def unread(self) -> int:
        """Prompt tokens to be read before it can be answered; 0 once it is."""


M = TypeVar("M", bound=Member)


class Scheduler(Generic[M]):
    """The order of turns.

    Args:
        batch: replies in one round.
        beside, alone: prompt tokens in one round; see above.
    """

    def __init__(
        self, *, batch: int = BATCH, beside: int = PROMPT_BESIDE, alone: int = PROMPT_ALONE
    ) -> None:
        if min(batch, beside, alone) < 1:
            raise ValueError("a round needs room for one reply and one token at least")
        self._batch, self._beside, self._alone = batch, beside, alone
        self._queue: list[M] = []

    @property
    def members(self) -> tuple[M, ...]:
        """All replies, who is next first."""
        return tuple(self._queue)

    def join(self, member: M) -> None:
        """Takes part from the next round on, behind everybody else."""
        self._queue.append(member)

    def leave(self, member: M) -> None:
        """Takes part no more."""
        self._queue.remove(member)

    def next_turns(self) -> list[tuple[M, int]]:
        """Who takes part in the next round, each with the prompt tokens it may read.

        Whoever gets a turn goes to the end of the queue. Whoever has a prompt to read and finds no
        room for it keeps the place, and so is served before those who had their turn.
        """
        answered = any(not member.unread for member in self._queue)
        room = self._beside if answered else self._alone
        turns: list[tuple[M, int]] = []
        passed: list[M] = []
        for member in self._queue:
            tokens = min(member.unread, room)
            if len(turns) == self._batch or (member.unread and not tokens):
                passed.append(member)
                continue
            room -= tokens
            turns.append((member, tokens))
        self._queue = passed + [member for member, _ in turns]
        return turns
