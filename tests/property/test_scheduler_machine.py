"""The order of turns, under joins and leaves at any moment: bounded, complete and fair."""

import random
from dataclasses import dataclass

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from voiceagent.decoding.scheduler import Scheduler


@dataclass(eq=False)
class Reply:
    """A double: a prompt that shrinks as it is read, then rounds without end."""

    unread: int


class Turns(RuleBasedStateMachine):
    """Replies come and go; rounds happen in between."""

    @initialize(batch=st.integers(1, 5), beside=st.integers(1, 8), alone=st.integers(1, 20))
    def begin(self, batch: int, beside: int, alone: int) -> None:
        self.batch, self.beside, self.alone = batch, beside, alone
        self.scheduler: Scheduler[Reply] = Scheduler(batch=batch, beside=beside, alone=alone)
        self.replies: list[Reply] = []

    @rule(unread=st.integers(0, 60))
    def join(self, unread: int) -> None:
        reply = Reply(unread)
        self.replies.append(reply)
        self.scheduler.join(reply)

    @rule(luck=st.randoms(use_true_random=False))
    def leave(self, luck: random.Random) -> None:
        if self.replies:
            reply = luck.choice(self.replies)
            self.replies.remove(reply)
            self.scheduler.leave(reply)

    @rule()
    def round(self) -> None:
        answered = any(not each.unread for each in self.replies)
        turns = self.scheduler.next_turns()
        taking = [reply for reply, _ in turns]
        assert len(set(map(id, taking))) == len(taking) <= self.batch
        assert bool(taking) is bool(self.replies)
        room = self.beside if answered else self.alone
        assert sum(tokens for _, tokens in turns) <= room
        for reply, tokens in turns:
            assert (tokens > 0) is (reply.unread > 0)
            assert tokens <= reply.unread
            reply.unread -= tokens
        if len(taking) < self.batch:
            left = [each for each in self.replies if each not in taking]
            assert all(each.unread for each in left), "there was room, and nothing in the way"
            assert not left or sum(tokens for _, tokens in turns) == room

    @rule()
    def several_rounds(self) -> None:
        """Nobody waits longer than it takes all the others to have one turn each."""
        count = len(self.replies)
        if not count:
            return
        waited = {id(each): 0 for each in self.replies}
        for _ in range(2 * count):
            taking = {id(reply) for reply, _ in self.scheduler.next_turns()}
            for each in self.replies:
                waited[id(each)] = 0 if id(each) in taking else waited[id(each)] + 1
            assert max(waited.values()) < count

    @invariant()
    def everybody_is_known(self) -> None:
        if hasattr(self, "scheduler"):
            assert set(map(id, self.scheduler.members)) == set(map(id, self.replies))


TestTurns = Turns.TestCase
TestTurns.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)


def test_a_short_prompt_is_served_before_the_rest_of_a_long_one() -> None:
    """Whoever found no room goes first in the next round."""
    scheduler: Scheduler[Reply] = Scheduler(batch=4, beside=8, alone=8)
    long, short = Reply(100), Reply(3)
    scheduler.join(long)
    scheduler.join(short)
    assert scheduler.next_turns() == [(long, 8)]
    assert scheduler.next_turns() == [(short, 3), (long, 5)]


def test_a_round_has_room() -> None:
    """For one reply and one token at least."""
    for wrong in ({"batch": 0}, {"beside": 0}, {"alone": 0}):
        with pytest.raises(ValueError, match="room"):
            Scheduler(**wrong)
