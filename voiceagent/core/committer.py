"""The committer: verified text in, commits out. The only maker of a :class:`Commit`.

The scanner finds every place where the text may be cut; the policy says at which of them this
surface wants to be cut. A commit is never revised: it ends at a boundary that no continuation can
undo, and the text that proved it was verified too.
"""

import re
import sys
from dataclasses import InitVar, dataclass

from voiceagent.core.boundary import Boundary, Decision, Scanner
from voiceagent.core.errors import VoiceAgentError
from voiceagent.core.kinds import Kind
from voiceagent.core.policy import Policy
from voiceagent.core.scan.characters import WEIGHT_OF_WIDE, index_of_weight, weight
from voiceagent.core.scan.fallback import break_point
from voiceagent.core.scan.state import LONGEST_RUN

__all__ = ["Commit", "Committer", "CommitterError", "Decision", "Kind", "Policy"]

_SEAL = object()
_SPEAKABLE = re.compile(r"[^\W_]")


class CommitterError(VoiceAgentError):
    """The committer was used against its order, or a commit was forged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """Verified text up to a boundary. Only :class:`Committer` can make one.

    Attributes:
        reply: identifier of the reply.
        epoch: generation of the reply.
        start: position of the first character, in code points.
        end: position after the last character.
        text: the text between them, exactly; blanks at a join lead the segment on the right.
        kind: what ended the commit, or ``silent``: nothing of it is for the ear.
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
            raise CommitterError("only a Committer makes a Commit: verify text and drain it")


class Committer:
    """Cuts one reply's verified text into commits, which concatenate to it exactly.

    Args:
        reply: identifier of the reply.
        epoch: generation of the reply.
        language: BCP 47 tag of the text; other languages inside it are expected.
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
        self._explain = explain
        self._decisions: list[Decision] = []
        self._start = 0
        self._segment = 0
        self._spoke = False
        self._ended = False
        self._waiting: list[Boundary] = []  # found, not cut at, later than the last cut
        self._low_ms = self._policy.clause_below_buffered_ms
        self._ran_low = False  # whether sound ran low when commits were last drained
        self._look_again_at = 0  # before this position the segment at hand cannot be too long
        self._searched_to = 0  # before this position no cut for length was found

    # Input

    def verify(self, text: str) -> None:
        """Appends verified text.

        Raises:
            CommitterError: the reply has ended.
        """
        if self._ended:
            raise CommitterError("the reply has ended: no more text can be verified")
        self._scanner.feed(text)

    def end(self) -> None:
        """There is no more text: the tail is a boundary. A second call does nothing."""
        if not self._ended:
            self._ended = True
            self._scanner.end()

    # Output

    def commits(self, *, buffered_ms: float | None = None) -> list[Commit]:
        """Drains the commits that are certain.

        Args:
            buffered_ms: sound that waits to be played, in milliseconds; None if unknown, which
                counts as plenty.
        """
        low = self._low_ms
        runs_low = low is not None and buffered_ms is not None and buffered_ms < low
        scan = self._scanner.scan
        news = scan.found or runs_low != self._ran_low
        if not news and scan.base + scan.at < self._look_again_at:
            return []  # the common case, at every token
        self._ran_low = runs_low
        self._waiting += self._scanner.boundaries()
        commits = []
        while (boundary := self._next()) is not None:
            commits.append(self._commit(boundary))
        return commits

    def decisions(self) -> list[Decision]:
        """Drains why each mark was or was not a place to cut; empty unless asked to explain."""
        decisions = self._scanner.decisions() + self._decisions
        self._decisions = []
        return sorted(decisions, key=lambda decision: decision.position)

    # Which boundary is next

    def _next(self) -> Boundary | None:
        for index, boundary in enumerate(self._waiting):
            if boundary.position <= self._start:
                continue
            if not boundary.whole and (cut := self._overlong_cut(boundary.position)):
                return cut
            if self._wants(boundary):
                del self._waiting[: index + 1]
                return boundary
        settled = self._scanner.settled
        tail = self._scanner.peek(settled, begin=max(self._start, settled - LONGEST_RUN))
        blanks = len(tail) - len(tail.rstrip())
        return self._overlong_cut(settled - blanks) if blanks < len(tail) else None

    def _wants(self, boundary: Boundary) -> bool:
        if boundary.hard:
            return True
        if boundary.inner:
            return boundary.kind in self._policy.inner
        if boundary.kind in self._policy.cuts:
            return True
        if boundary.kind is not Kind.CLAUSE or not self._wants_clauses():
            return False
        return self._long_enough(self._scanner.peek(boundary.position).strip())

    def _wants_clauses(self) -> bool:
        return self._ran_low if self._spoke else self._policy.first_clause_min is not None

    def _long_enough(self, clause: str) -> bool:
        policy = self._policy
        if self._spoke or policy.first_clause_min is None:
            return weight(clause) >= policy.clause_min
        return (
            weight(clause) >= policy.first_clause_min
            or len(clause.split()) >= policy.first_clause_min_words
        )

    # Segments that grow too long

    def _overlong_cut(self, to: int) -> Boundary | None:
        """A cut inside the text before ``to``, if that is longer than the policy allows.

        The segment is searched one stretch of the limit's length after the other, each once.
        """
        limit = self._policy.limit if self._spoke else self._policy.first_limit
        if limit is None:
            self._look_again_at = sys.maxsize
            return None
        if to < self._look_again_at:
            return None
        while True:
            begin = max(self._start, self._searched_to)
            with_blanks = self._scanner.peek(to, begin=begin)
            text = with_blanks.rstrip()  # blanks at the end belong to the next segment
            if weight(text) <= limit:
                break
            if (cut := self._cut_within(text, begin, limit)) is not None:
                return cut
            self._searched_to = begin + index_of_weight(text, limit)
        # It cannot grow too long before so many more characters have come.
        self._look_again_at = to + max(0, limit - weight(with_blanks)) // WEIGHT_OF_WIDE + 1
        return None

    def _cut_within(self, text: str, begin: int, limit: int) -> Boundary | None:
        """The last clause, or else the best blank, of the stretch that ``text`` begins with."""
        first = begin == self._start
        least = self._policy.clause_min if first else 1
        most = begin + index_of_weight(text, limit)
        for boundary in reversed(self._waiting):
            usable = boundary.kind is Kind.CLAUSE and begin < boundary.position <= most
            if usable and weight(text[: boundary.position - begin]) >= least:
                return boundary
        scanner = self._scanner
        at = break_point(
            text[: most - begin + 1],
            least=least,
            relaxed=not first,
            language=scanner.language,
            keeps_together=lambda index: scanner.keeps_together(begin + index),
        )
        if at is None:
            return None
        return Boundary(begin + at, Kind.CLAUSE, "the segment grew long without a mark")

    # Making commits

    def _commit(self, boundary: Boundary) -> Commit:
        start, self._start = self._start, boundary.position
        text = self._scanner.take(boundary.position)
        deaf = not boundary.ear and (self._policy.for_ear or boundary.kind is Kind.SILENT)
        silent = deaf or (self._policy.for_ear and not _SPEAKABLE.search(text))
        if self._explain and boundary.kind is Kind.CLAUSE:
            self._decisions.append(Decision(boundary.position, "", True, boundary.reason))
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
        self._spoke = self._spoke or not silent
        self._look_again_at = 0
        return commit
