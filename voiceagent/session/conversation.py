"""One conversation: its history, the replies that are open, and who is told.

The only owner of what is true. Processors call it on the event loop; it decides nothing about
sound and waits for nothing. History is written here and nowhere else: the user's turns as they
are confirmed, the agent's as they were heard.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypedDict

from voiceagent.core.committer import Policy
from voiceagent.core.errors import VoiceAgentError
from voiceagent.core.events import Author, EndReason, Recorded, Turn, VoidCause
from voiceagent.core.history import History, Message
from voiceagent.core.reply import Reply
from voiceagent.session.attempts import Attempt, Attempts
from voiceagent.session.bell import Bell
from voiceagent.session.clock import Clock
from voiceagent.session.happenings import (
    Happening,
    Listener,
    SpeechHappened,
    Trouble,
    TurnHappened,
)
from voiceagent.session.open_reply import OpenReply
from voiceagent.session.playout import Playout
from voiceagent.session.user_words import UserWords
from voiceagent.sound.playout import Heard
from voiceagent.speech.frames import context_id
from voiceagent.speech.synthesizer import Speech


class Conversation:
    """What was said and what is being said.

    Args:
        history: what every prompt is built from.
        clock: stamps everything that happens.
        playout: the stream to the ear.
        language: of the replies, as a BCP 47 primary tag.
        policy: where replies are cut; by default as for a voice.
        count_tokens: tokens that messages take in a prompt.
        budget_tokens: tokens that a prompt may take; older exchanges are dropped beyond it.
    """

    def __init__(
        self,
        *,
        history: History,
        clock: Clock,
        playout: Playout,
        language: str = "en",
        policy: Policy | None = None,
        count_tokens: Callable[[Sequence[Message]], int] | None = None,
        budget_tokens: int | None = None,
    ) -> None:
        self.history = history
        self.clock = clock
        self.playout = playout
        self.changed = Bell()
        """Rings whenever anything here, or anything that is waited for, has changed."""
        self.broken = asyncio.Event()
        """Set when the conversation cannot go on."""
        self.breakdown = ""
        self.steps = 0
        """Counts what has happened: it stands still when nothing moves any more."""
        self.user_has_floor = False
        self.turns_begun = 0
        self.thinking: set[str] = set()
        """What is being worked out about the user's sound; see ``begin`` and ``done``."""
        self.waiting_ms = 0.0
        """Sound at the release gate that has not gone to the output."""
        self._language = language
        self._policy = policy
        self._count_tokens = count_tokens
        self._budget_tokens = budget_tokens if count_tokens is not None else None
        self.input_samples = 0
        """Samples of the user's sound that have been through VAD and turn taking."""
        self._listeners: list[Listener] = []
        self._replies: list[OpenReply] = []
        self._owed = 0
        self._waiting: Counter[str] = Counter()
        """Speeches of each open reply that have not begun to sound."""
        self._attempts = Attempts()
        self._words = UserWords(history, on_turn=self._publish_turn)

    # Listening --------------------------------------------------------------------------------

    def subscribe(self, listener: Listener) -> None:
        """``listener`` is told everything from now on."""
        self._listeners.append(listener)

    def publish(self, happening: Happening) -> None:
        """Tells the history, then every listener."""
        self.steps += 1
        if isinstance(happening, Recorded):
            self.history.feed(happening)
        for listener in list(self._listeners):
            try:
                listener(happening)
            except VoiceAgentError as error:  # a trace on a full disk, say
                self._listeners.remove(listener)
                self.break_down(str(error))
        self.changed.ring()

    def break_down(self, line: str) -> None:
        """The conversation cannot go on; ``line`` says why, for a person. The first one counts."""
        self.breakdown = self.breakdown or line
        self.broken.set()

    def trouble(self, line: str) -> None:
        """Something failed and was dealt with."""
        self.publish(Trouble(at_s=self.clock.now_s(), line=line))

    # Who has the floor ------------------------------------------------------------------------

    @property
    def agent_has_floor(self) -> bool:
        """Whether a reply is owed, or is being prepared or heard on a confirmed turn."""
        return self._owed > 0 or any(map(_is_confirmed, self._replies))

    @property
    def buffered_ms(self) -> float:
        """Sound made and not yet played."""
        in_flight_ms = 1000 * self.playout.in_flight_samples / self.playout.rate_hz
        return self.waiting_ms + in_flight_ms

    @property
    def is_busy(self) -> bool:
        """Whether something is being worked out that the conversation waits for."""
        return bool(self.thinking) or self._owed > 0 or self._is_opening or self._is_hungry

    @property
    def _is_opening(self) -> bool:
        """Whether a reply was asked for and nobody has begun to write it."""
        attempt = self._attempts.current
        return attempt is not None and attempt.reply is None

    @property
    def _is_hungry(self) -> bool:
        """Whether the next reply to be heard has no sound to play, and is going to."""
        if not self._replies or self.buffered_ms > 0:
            return False
        reply = self._replies[0]
        if not _is_confirmed(reply):
            return not (reply.is_written or reply.is_mute)
        return not reply.ledger.paused

    def begin(self, work: str) -> None:
        """``work`` on the user's sound has begun."""
        self.thinking.add(work)

    def done(self, work: str) -> None:
        """``work`` is over."""
        if work in self.thinking:
            self.thinking.discard(work)
            self.steps += 1
        self.changed.ring()

    def heard_input(self, samples: int) -> None:
        """``samples`` more of the user's sound have been dealt with."""
        self.input_samples += samples
        self.changed.ring()

    # Turns of the user ------------------------------------------------------------------------

    def turn_began(self) -> None:
        """The user can be heard."""
        self.user_has_floor = True
        self.turns_begun += 1
        self._words.begin()

    def turn_so_far(self, text: str, *, certain: str) -> tuple[Message, ...] | None:
        """The user is still speaking: what was made out, and which of it will have been said.

        Returns how the next prompt begins; None while the models are busy with a reply.
        """
        self._words.hear_so_far(text)
        if not certain or self.agent_has_floor or self._attempts.current is not None:
            return None
        with self._words.supposing(certain):
            return self.prompt()

    def turn_paused(self) -> None:
        """The user has fallen silent."""
        self._words.fall_silent()

    def turn_may_end(self, text: str) -> int:
        """The user has paused behind these words: a reply may be prepared, under this number."""
        attempt = self._attempts.make(text, confirmed=False)
        self._words.try_out(text)
        return attempt.number

    def turn_revised(self) -> Attempt | None:
        """The turn was not over: the reply that was prepared vanishes; returns what it was."""
        attempt = self._attempts.withdraw()
        if attempt is None:
            return None
        if attempt.reply is not None:
            attempt.reply.void(VoidCause.TURN_REVISED)
        if attempt.confirmed:
            self._owed = 0
        else:
            self._words.take_back()
        return attempt

    def turn_ended(self, text: str) -> int | None:
        """The user's words are final: a reply is owed. Returns the number under which to write it;
        None if one is prepared already."""
        self.user_has_floor = False
        attempt = self._attempts.current
        prepared = attempt is not None
        if attempt is None:
            attempt = self._attempts.make(text, confirmed=True)
        attempt.confirmed = True
        self._words.confirm(attempt.text)
        if attempt.reply is None:
            self._owed += 1
        else:
            attempt.reply.confirm()
        self._attempts.settle()
        self.changed.ring()
        return None if prepared else attempt.number

    def turn_dropped(self, cause: str) -> int | None:
        """There were no words; the number of a reply if that to those before was broken off."""
        if (said := self._words.again()) is not None:
            return self.turn_ended(said)
        self.user_has_floor = False
        self._words.drop(cause)
        return None

    def is_wanted(self, attempt: int) -> bool:
        """Whether a reply is still to be written for that attempt."""
        current = self._attempts.current
        return current is not None and current.number == attempt and current.reply is None

    def _publish_turn(self, number: int, text: str, state: str) -> None:
        now_s = self.clock.now_s()
        self.publish(TurnHappened(turn=number, at_s=now_s, text=text, state=state))

    # Replies ----------------------------------------------------------------------------------

    def owe(self) -> None:
        """A reply that no turn asked for is on its way."""
        self._owed += 1

    def forgive(self) -> None:
        """No reply will come of what was owed."""
        self._owed = max(0, self._owed - 1)
        self.changed.ring()

    def prompt(self) -> tuple[Message, ...]:
        """What a reply is decoded from: heard history, shortened to what fits."""
        return self.history.messages(
            budget_tokens=self._budget_tokens, count_tokens=self._count_tokens
        )

    def open_answer(self, attempt: int) -> OpenReply | None:
        """Opens the reply of an attempt; None if it is not wanted any more."""
        current = self._attempts.current
        if current is None or not self.is_wanted(attempt):
            return None
        if current.confirmed:
            self._owed = max(0, self._owed - 1)
        turn = Turn.CONFIRMED if current.confirmed else Turn.EAGER
        core = self._written(current.name, epoch=current.epoch, turn=turn)
        current.reply = self._open(core)
        self._attempts.settle()
        return current.reply

    def open_reply(self, *, script: str | None = None, turn: Turn = Turn.CONFIRMED) -> OpenReply:
        """Opens a reply that is owed without an attempt; ``script`` for one no model writes."""
        self._owed = max(0, self._owed - 1)
        name = self._attempts.new_name()
        if script is None:
            return self._open(self._written(name, epoch=0, turn=turn))
        return self._open(Reply.scripted(script, reply=name, turn=turn, **self._manner))

    def _written(self, name: str, *, epoch: int, turn: Turn) -> Reply:
        return Reply(reply=name, epoch=epoch, turn=turn, author=Author.MODEL, **self._manner)

    @property
    def _manner(self) -> "_Manner":
        return _Manner(now_s=self.clock.now_s(), language=self._language, policy=self._policy)

    def _open(self, core: Reply) -> OpenReply:
        reply = OpenReply(
            core,
            clock=self.clock,
            publish=self.publish,
            over=self._over,
            sounding=self._is_sounding,
        )
        self._replies.append(reply)
        return reply

    def find(self, name: str, *, epoch: int) -> OpenReply | None:
        """The open reply of that name; None once it is over."""
        open_ = {(reply.name, reply.ledger.epoch): reply for reply in self._replies}
        return open_.get((name, epoch))

    def find_by(self, context: str) -> OpenReply | None:
        """The open reply of which pipecat speaks so."""
        named = {context_id(each.name, epoch=each.ledger.epoch): each for each in self._replies}
        return named.get(context)

    async def certain(self, reply: OpenReply) -> bool:
        """Waits until the turn that ``reply`` answers is certain; false if it was withdrawn."""
        while reply.alive and not _is_confirmed(reply):
            await self.changed.wait()
        return _is_confirmed(reply)

    def spoken(self, speech: Speech) -> None:
        """Sound was made of a commit."""
        reply = self.find(speech.commit.reply, epoch=speech.commit.epoch)
        if reply is not None:
            self._waiting[reply.name] += 1
            self.publish(SpeechHappened(at_s=self.clock.now_s(), speech=speech))
            reply.synthesized(speech.commit.end)

    def begun(self, speech: Speech) -> None:
        """Its sound is on its way to the ear."""
        self._waiting[speech.commit.reply] -= 1

    def pause(self) -> None:
        """The user can be heard: hold every reply that could be."""
        self.playout.ear.hold()
        for reply in filter(_is_confirmed, self._replies):
            reply.pause()
        self.changed.ring()

    def resume(self) -> None:
        """It was nothing: go on."""
        self.playout.ear.let_go()
        for reply in self._replies:
            reply.resume()
        self.changed.ring()

    def listen(self) -> None:
        """Asks the ear how far the replies were heard."""
        self._note(self.playout.listen())
        for reply in list(self._replies):
            reply.settle()

    def interrupt(self) -> None:
        """Silence, and history ends where it was heard."""
        self._note(self.playout.cut())
        self._owed = 0
        self.turn_revised()
        for reply in list(self._replies):
            reply.end(EndReason.INTERRUPTED)
        self.changed.ring()

    def take_floor(self) -> None:
        """The user has taken the floor from the agent.

        Where hardly anything was heard yet, the user has gone on rather than cut in: it is the
        turn before that goes on, and what was said belongs to it.
        """
        self._note(self.playout.cut())
        heard = self._words_of_the_answer()
        self.interrupt()
        if heard is not None:
            self._words.go_on(heard_words=heard)

    def _words_of_the_answer(self) -> int | None:
        """How many words of the answer to the latest turn were heard; None if it is over."""
        answers = [each for each in self._replies if each.ledger.author is Author.MODEL]
        if not answers and self._attempts.current is None:
            return None
        return sum(len(self.history.heard_text(each.name).split()) for each in answers)

    def _note(self, news: list[Heard]) -> None:
        for heard in news:
            reply = self.find(heard.reply, epoch=heard.epoch)
            if reply is not None:
                reply.hear(heard.to)

    def _is_sounding(self, reply: OpenReply) -> bool:
        waits, epoch = self._waiting[reply.name] > 0, reply.ledger.epoch
        return waits or self.playout.is_sounding(reply.name, epoch=epoch)

    def _over(self, reply: OpenReply) -> None:
        self._replies.remove(reply)
        del self._waiting[reply.name]
        self.changed.ring()


class _Manner(TypedDict):
    now_s: float
    language: str
    policy: Policy | None


def _is_confirmed(reply: OpenReply) -> bool:
    return reply.ledger.turn is Turn.CONFIRMED
