"""The committer: verified text in, commits out. The only maker of a :class:`Commit`.

The scanner finds every place where the text may be cut; the policy says at which of them this
surface wants to be cut. A commit is never revised: it ends at a boundary that no continuation can
undo, and the text that proved it was verified too.
"""

import re
from dataclasses import InitVar, dataclass

from voiceagent.core import characters as ch
from voiceagent.core.boundary import Boundary, Decision, Scanner
from voiceagent.core.errors import VoiceAgentError
from voiceagent.core.kinds import Kind

__all__ = ["Commit", "Committer", "Kind", "Policy"]

_SEAL = object()


class ForgedCommitError(VoiceAgentError):
    """Something other than the committer tried to make a commit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """Verified text up to a boundary. Only :class:`Committer` can make one.

    Attributes:
        reply: identifier of the reply.
        epoch: generation of the reply.
        start: position of the first character, in code points.
        end: position after the last character.
        text: the text between them, exactly; blanks at a join lead the segment on the right.
        kind: what ended the commit, or ``silent``.
        segment: number of the commit in its reply, from 0.
    """

    reply: str
    epoch: int
    start: int
    end: int
    text: str
    kind: Kind
    segment: int
    seal: InitVar[object] = None

    def __post_init__(self, seal: object) -> None:
        if seal is not _SEAL:
            raise ForgedCommitError("only the committer makes a Commit: verify text and drain it")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Where a surface wants to be cut. Lengths are in Latin characters; a CJK one counts as 4."""

    cuts: frozenset[Kind]
    """Boundaries at which to cut always."""
    inner: bool = False
    """Whether to cut inside blocks: at complete JSON values and statements."""
    for_ear: bool = True
    """Whether code and JSON are silent, because the text is spoken."""
    first_clause_min: int | None = None
    """Cut the first spoken segment at a clause that is at least this long; None: never."""
    first_clause_min_words: int = 4
    """... or that has at least this many words."""
    clause_min: int = 24
    """Least length of a later clause."""
    clause_below_buffered_ms: float | None = None
    """Cut at clauses too while less sound than this waits to be played; None: never."""
    first_limit: int | None = None
    """A first segment that grows longer without a cut is cut at a blank; None: never."""
    limit: int | None = None
    """The same for later segments; a clause is preferred to a blank."""

    @classmethod
    def sentences(cls) -> "Policy":
        """Cuts at sentences and lines."""
        return cls(cuts=_SENTENCES)

    @classmethod
    def clauses(cls) -> "Policy":
        """Cuts at every clause: the finest partition."""
        return cls(cuts=_SENTENCES | {Kind.CLAUSE})

    @classmethod
    def structured(cls) -> "Policy":
        """Cuts at sentences, lines and blocks; a block is one segment."""
        return cls(cuts=_SENTENCES)

    @classmethod
    def voice(cls) -> "Policy":
        """For a synthesizer: an early first clause, then sentences, clauses when sound runs low."""
        return cls(
            cuts=_SENTENCES,
            first_clause_min=24,
            clause_below_buffered_ms=1500.0,
            first_limit=80,
            limit=240,
        )


_SENTENCES = frozenset({Kind.SENTENCE, Kind.PARAGRAPH, Kind.BLOCK, Kind.VALUE})
_SPEAKABLE = re.compile(r"[^\W_]")


class Committer:
    """Cuts one reply's verified text into commits.

    Args:
        reply: identifier of the reply.
        epoch: generation of the reply.
        language: BCP 47 tag of the text.
        policy: where to cut; by default as for a voice.
        explain: keep every decision for :meth:`decisions`.
    """

    def __init__(
        self,
        *,
        reply: str,
        epoch: int,
        language: str = "en",
        policy: Policy | None = None,
        explain: bool = False,
    ) -> None:
        self._reply = reply
        self._epoch = epoch
        self._policy = Policy.voice() if policy is None else policy
        self._scanner = Scanner(language=language, explain=explain)
        self._start = 0
        self._segment = 0
        self._spoken = 0
        self._waiting: list[Boundary] = []
        self._ended = False

    def verify(self, text: str) -> None:
        """Appends verified text."""
        if self._ended:
            raise VoiceAgentError("the reply has ended: no more text can be verified")
        self._scanner.feed(text)

    def end(self) -> None:
        """There is no more text: the tail is committed."""
        if not self._ended:
            self._ended = True
            self._scanner.end()

    def commits(self, *, buffered_ms: float | None = None) -> list[Commit]:
        """Drains the commits that are certain.

        Args:
            buffered_ms: sound that waits to be played, in milliseconds; None if unknown.
        """
        commits = []
        for boundary in self._scanner.boundaries():
            if boundary.position <= self._start or boundary.inner and not self._policy.inner:
                continue
            if boundary.hard or boundary.kind in self._policy.cuts:
                commits.append(self._commit(boundary))
        return commits

    def decisions(self) -> list[Decision]:
        """Drains what was decided about each mark; empty unless asked to explain."""
        return self._scanner.decisions()

    def _commit(self, boundary: Boundary) -> Commit:
        start, self._start = self._start, boundary.position
        text = self._scanner.take(boundary.position)
        silent = not boundary.ear and self._policy.for_ear or not _SPEAKABLE.search(text)
        commit = Commit(
            reply=self._reply,
            epoch=self._epoch,
            start=start,
            end=boundary.position,
            text=text,
            kind=Kind.SILENT if silent else boundary.kind,
            segment=self._segment,
            seal=_SEAL,
        )
        self._segment += 1
        self._spoken += not silent
        return commit
