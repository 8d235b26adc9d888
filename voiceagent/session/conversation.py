"""One conversation: its history, the replies that are open, and who is told.

The only owner of what is true. Processors call it on the event loop; it decides nothing about
sound and waits for nothing. History is written here and nowhere else: the user's turns as they
are confirmed, the agent's as they were heard.
"""

import asyncio
import itertools
from collections import Counter
from collections.abc import Callable, Sequence

from voiceagent.core.committer import Policy
from voiceagent.core.errors import VoiceAgentError
from voiceagent.core.events import Author, EndReason, Recorded, Turn
from voiceagent.core.history import History, Message
from voiceagent.core.reply import Reply
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
from voiceagent.sound.playout import Heard
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
        self._numbers = itertools.count(1)
        self._turns = itertools.count(1)
        self._turn = 0

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
        """Whether a reply is owed, being prepared or being heard."""
        return self._owed > 0 or bool(self._replies)

    @property
    def buffered_ms(self) -> float:
        """Sound made and not yet played."""
        in_flight_ms = 1000 * self.playout.in_flight_samples / self.playout.rate_hz
        return self.waiting_ms + in_flight_ms

    @property
    def is_busy(self) -> bool:
        """Whether something is being worked out that the conversation waits for."""
        return bool(self.thinking) or self._owed > 0 or self._is_hungry

    @property
    def _is_hungry(self) -> bool:
        """Whether the next reply to be heard has no sound to play, and is going to."""
        return bool(self._replies) and self.buffered_ms == 0 and not self._replies[0].ledger.paused

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
        self._turn = next(self._turns)
        self.user_has_floor = True
        self._publish_turn("", state="began")

    def turn_ended(self, text: str) -> None:
        """The user's words are final: a reply is owed."""
        self.user_has_floor = False
        self.history.hear_user(text, turn=f"t{self._turn}")
        self._owed += 1
        self._publish_turn(text, state="confirmed")

    def turn_dropped(self, cause: str) -> None:
        """There were no words."""
        self.user_has_floor = False
        self._publish_turn("", state=f"dropped: {cause}")

    def _publish_turn(self, text: str, *, state: str) -> None:
        now_s = self.clock.now_s()
        self.publish(TurnHappened(turn=self._turn, at_s=now_s, text=text, state=state))

    # Replies ----------------------------------------------------------------------------------

    def owe(self) -> None:
        """A scripted reply is on its way."""
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

    def open_reply(self, *, script: str | None = None, turn: Turn = Turn.CONFIRMED) -> OpenReply:
        """Opens the reply that is owed; ``script`` for one that no model writes."""
        self._owed = max(0, self._owed - 1)
        name, now_s = f"r{next(self._numbers)}", self.clock.now_s()
        if script is not None:
            core = Reply.scripted(
                script,
                reply=name,
                now_s=now_s,
                turn=turn,
                language=self._language,
                policy=self._policy,
            )
        else:
            core = Reply(
                reply=name,
                epoch=0,
                turn=turn,
                author=Author.MODEL,
                now_s=now_s,
                language=self._language,
                policy=self._policy,
            )
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
        for reply in self._replies:
            if reply.name == name and reply.ledger.epoch == epoch:
                return reply
        return None

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
        """The user can be heard: hold every open reply."""
        for reply in self._replies:
            reply.pause()
        self.changed.ring()

    def resume(self) -> None:
        """It was nothing: go on."""
        for reply in self._replies:
            reply.resume()
        self.changed.ring()

    def listen(self) -> None:
        """Asks the ear how far the replies were heard."""
        self._note(self.playout.listen())
        for reply in list(self._replies):
            reply.settle()

    def interrupt(self) -> None:
        """The user has taken the floor: silence, and history ends where it was heard."""
        self._note(self.playout.cut())
        self._owed = 0
        for reply in list(self._replies):
            reply.end(EndReason.INTERRUPTED)
        self.changed.ring()

    def _note(self, news: list[Heard]) -> None:
        for heard in news:
            reply = self.find(heard.reply, epoch=heard.epoch)
            if reply is not None:
                reply.hear(heard.to)

    def _is_sounding(self, reply: OpenReply) -> bool:
        epoch = reply.ledger.epoch
        return self._waiting[reply.name] > 0 or self.playout.is_sounding(reply.name, epoch=epoch)

    def _over(self, reply: OpenReply) -> None:
        self._replies.remove(reply)
        del self._waiting[reply.name]
        self.changed.ring()
