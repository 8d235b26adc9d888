"""A reply: its ledger and its committer, joined, so that every source is treated alike."""

from voiceagent.core.committer import Commit, Committer, Policy
from voiceagent.core.ledger import (
    Author,
    Draft,
    Finish,
    Ledger,
    LedgerEvent,
    SourceEvent,
    Turn,
    Verify,
)


class Reply:
    """Text of one epoch on its way from a source to commits.

    What the source says goes through :meth:`apply`; verified text reaches the committer in the same
    step. All else (confirm, void, pause, synthesize, release, hear, end) is said to :attr:`ledger`.

    Args:
        reply: identifier of the reply.
        epoch: generation of the reply, from 0.
        turn: whether the user's turn is confirmed already.
        author: who writes the text.
        now_s: the time, in seconds on the session's clock.
        language: of the text, as a BCP 47 primary tag.
        policy: where to cut; by default as for a voice.
    """

    def __init__(
        self,
        *,
        reply: str,
        epoch: int,
        turn: Turn,
        now_s: float,
        author: Author = Author.MODEL,
        language: str = "en",
        policy: Policy | None = None,
    ) -> None:
        self.ledger = Ledger(reply=reply, epoch=epoch, turn=turn, author=author, now_s=now_s)
        self._committer = Committer(
            reply=reply,
            epoch=epoch,
            language=language,
            policy=Policy.voice() if policy is None else policy,
        )
        self._commits: list[Commit] = []

    @classmethod
    def scripted(
        cls,
        text: str,
        *,
        reply: str,
        now_s: float,
        epoch: int = 0,
        turn: Turn = Turn.CONFIRMED,
        language: str = "en",
        policy: Policy | None = None,
    ) -> "Reply":
        """A reply that no model wrote: verified on entry and complete at once."""
        scripted = cls(
            reply=reply,
            epoch=epoch,
            turn=turn,
            now_s=now_s,
            author=Author.SCRIPT,
            language=language,
            policy=policy,
        )
        for event in (Draft(text=text), Verify(to=len(text)), Finish()):
            scripted.apply(event, now_s=now_s)
        return scripted

    def apply(self, event: SourceEvent, *, now_s: float, buffered_ms: float | None = None) -> None:
        """Takes one event of the source; commits that follow from it are ready to be drained.

        Args:
            event: what the source says.
            now_s: the time, in seconds on the session's clock.
            buffered_ms: sound waiting to be played, which decides how fine the committer cuts.

        Raises:
            LedgerError: the step is illegal; nothing has changed.
        """
        known = self.ledger.verified
        self.ledger.apply(event, now_s=now_s)
        if self.ledger.verified > known:
            self._committer.verify(self.ledger.text[known : self.ledger.verified])
        if isinstance(event, Finish) and event.reason.is_complete:
            # Text that a failure or an interruption cut short has no boundary at its end.
            self._committer.end()
        self.poll(now_s=now_s, buffered_ms=buffered_ms)

    def poll(self, *, now_s: float, buffered_ms: float | None = None) -> None:
        """Asks the committer again, because the buffered sound has changed."""
        if not self.ledger.alive:
            return  # what is over has nothing more to hand over
        for commit in self._committer.commits(buffered_ms=buffered_ms):
            self.ledger.commit(commit, now_s=now_s)
            self._commits.append(commit)

    def commits(self) -> list[Commit]:
        """Commits since the last call, in order."""
        commits, self._commits = self._commits, []
        return commits

    def events(self) -> list[LedgerEvent]:
        """Ledger events since the last call, in order."""
        return self.ledger.events()
