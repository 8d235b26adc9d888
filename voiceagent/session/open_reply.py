"""One reply that is being prepared or heard: the only way to move its ledger."""

from collections.abc import Callable

from voiceagent.core.committer import Commit
from voiceagent.core.events import EndReason, SourceEvent, Turn, VoidCause
from voiceagent.core.ledger import Ledger
from voiceagent.core.reply import Reply
from voiceagent.session.clock import Clock
from voiceagent.session.happenings import Listener


class OpenReply:
    """A reply until it is over; every step is stamped, told to the listeners, and may end it.

    Args:
        reply: the ledger and committer.
        clock: stamps every step.
        publish: is told every ledger event, in order.
        over: is told once that the reply has ended.
        sounding: whether sound of it is still to be played, be it only the pause at its end.
    """

    def __init__(
        self,
        reply: Reply,
        *,
        clock: Clock,
        publish: Listener,
        over: Callable[["OpenReply"], None],
        sounding: Callable[["OpenReply"], bool],
    ) -> None:
        self._reply = reply
        self._clock = clock
        self._publish = publish
        self._over = over
        self._sounding = sounding
        self.cancel_source: Callable[[], None] = lambda: None
        """Stops whatever writes the text; set by the source, harmless at any time."""
        self.is_mute = False
        """Whether a commit of it has no sound: it ends there."""
        self._when_certain: Callable[[], None] = lambda: None
        self._drain()

    @property
    def ledger(self) -> Ledger:
        """For reading only."""
        return self._reply.ledger

    @property
    def name(self) -> str:
        """The reply's identifier."""
        return self.ledger.reply

    @property
    def alive(self) -> bool:
        """Whether it has not ended."""
        return self.ledger.alive

    @property
    def may_release(self) -> bool:
        """Whether the release gate is open: turn confirmed, epoch alive, not paused."""
        return self.alive and self.ledger.turn is Turn.CONFIRMED and not self.ledger.paused

    @property
    def may_call(self) -> bool:
        """Whether its tool calls may run: all of it was said by the model, on a confirmed turn.

        A reply that is nothing but a call is over as soon as it is written; one that was broken
        off calls nothing.
        """
        finished = self.ledger.finished
        whole = finished is not None and finished.is_complete
        return (
            whole
            and self.ledger.turn is Turn.CONFIRMED
            and (self.alive or self.ledger.ended is finished)
        )

    @property
    def is_written(self) -> bool:
        """Whether no more text will come and all of it has its sound."""
        return self.ledger.finished is not None and (
            self.ledger.synthesized == self.ledger.committed
        )

    def take(self, event: SourceEvent, *, buffered_ms: float | None = None) -> list[Commit]:
        """What the source says; returns the commits that follow from it."""
        self._reply.apply(event, now_s=self._clock.now_s(), buffered_ms=buffered_ms)
        return self._advance()

    def take_written(self) -> list[Commit]:
        """The commits of a scripted reply, whose text was there from the start."""
        return self._advance()

    def synthesized(self, to: int) -> None:
        """There is sound up to ``to``."""
        self.ledger.synthesize(to, now_s=self._clock.now_s())
        self._advance()

    def release(self, to: int) -> None:
        """Sound up to ``to`` went to the output."""
        self.ledger.release(to, now_s=self._clock.now_s())
        self._drain()

    def hear(self, to: int) -> None:
        """The user has heard the text up to ``to``."""
        self.ledger.hear(to, now_s=self._clock.now_s())
        self._advance()

    def confirm(self) -> None:
        """The user's turn is certain to have ended."""
        self.ledger.confirm(now_s=self._clock.now_s())
        self._when_certain()
        self._drain()
        self._end_if_heard()

    def when_certain(self, do: Callable[[], None]) -> None:
        """Has ``do`` called in the instant in which the turn is certain; now, if it is."""
        if self.ledger.turn is Turn.CONFIRMED:
            do()
        else:
            self._when_certain = do

    def void(self, cause: VoidCause) -> None:
        """Withdraws a reply to a turn that is not confirmed; nothing of it was released."""
        self.cancel_source()
        self.ledger.void(cause, now_s=self._clock.now_s())
        self._close()

    def pause(self) -> None:
        """Holds the sound, reversibly."""
        self.ledger.pause(now_s=self._clock.now_s())
        self._drain()

    def resume(self) -> None:
        """Lets the sound go on."""
        self.ledger.resume(now_s=self._clock.now_s())
        self._drain()

    def settle(self) -> None:
        """Ends the reply if it is over: called when sound has been played."""
        self._end_if_heard()

    def end(self, reason: EndReason) -> None:
        """Breaks the reply off where it was heard; withdraws it if its turn is not confirmed."""
        if self.alive and self.ledger.turn is not Turn.CONFIRMED:
            self.void(VoidCause.SUPERSEDED)
        elif self.alive:
            self.cancel_source()
            self.ledger.end(reason, now_s=self._clock.now_s())
            self._close()

    def _advance(self) -> list[Commit]:
        self._drain()
        commits = self._reply.commits()
        self._end_if_heard()
        return commits

    def _end_if_heard(self) -> None:
        ledger = self.ledger
        if not ledger.alive or ledger.finished is None or ledger.heard < ledger.committed:
            return
        if ledger.turn is not Turn.CONFIRMED:
            return
        if self._sounding(self):
            return
        if not ledger.finished.is_complete or ledger.committed == ledger.verified:
            ledger.end(ledger.finished, now_s=self._clock.now_s())
            self._close()

    def _close(self) -> None:
        self._drain()
        self._over(self)

    def _drain(self) -> None:
        for event in self._reply.events():
            self._publish(event)
