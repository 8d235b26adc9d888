"""The verify gate: what the loop emits becomes verified text, what it drafts stays provisional.

Text counts as verified once the target emitted it *and* it cannot be the beginning of a stop
string. Drafted text is shown at once and taken back as far as the target disagrees: down to the
last character that both have in common.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from voiceagent.core.events import (
    Draft,
    EndReason,
    Finish,
    Rollback,
    RollbackCause,
    SourceEvent,
    Verify,
)
from voiceagent.decoding.detokenizer import Detokenizer
from voiceagent.decoding.prefix import common_prefix


@dataclass(frozen=True, slots=True)
class Passed:
    """What came of a round's tokens: the events, and how many of the tokens the reply kept."""

    events: tuple[SourceEvent, ...]
    kept: int


class VerifyGate:
    """The text of one reply.

    Args:
        decode_bytes: the bytes of a token id.
        eos_ids: tokens that end the reply and have no text.
        stop: texts that end the reply; they are not part of it.
        max_tokens: so many tokens end the reply too; an end-of-sequence token counts.
    """

    def __init__(
        self,
        decode_bytes: Callable[[int], bytes],
        *,
        eos_ids: frozenset[int],
        stop: Sequence[str] = (),
        max_tokens: int,
    ) -> None:
        self._detokenizer = Detokenizer(decode_bytes)
        self._eos_ids = eos_ids
        self._stop = tuple(filter(None, stop))
        self._max_tokens = max_tokens
        self._shown = ""
        self._verified = 0
        self.tokens = 0
        self.finished: EndReason | None = None

    @property
    def text(self) -> str:
        """The verified text."""
        return self._shown[: self._verified]

    def draft(self, tokens: Sequence[int]) -> tuple[SourceEvent, ...]:
        """Shows a block that the target has not seen yet, up to a stop string in it."""
        settled = self._detokenizer.count
        self._detokenizer.push(token for token in tokens if token not in self._eos_ids)
        text = self._detokenizer.text
        self._detokenizer.rollback(settled)
        cut = self._find_stop(text)
        return self._extend(text if cut is None else text[:cut])

    def emit(self, tokens: Sequence[int]) -> Passed:
        """Takes what the target accepted or emitted; nothing behind the end is kept."""
        kept, cut = 0, None
        for token in tokens:
            kept += 1
            cut = self._take(token)
            if self.finished:
                break
        events = [*self._settle(cut)]
        if self.finished:
            events.append(Finish(reason=self.finished))
        return Passed(tuple(events), kept)

    def abandon(self, reason: EndReason) -> tuple[SourceEvent, ...]:
        """Ends the reply from outside: what is not verified is taken back."""
        self.finished = reason
        back = self._retract(self._verified, RollbackCause.INTERRUPTED)
        return (*back, Finish(reason=reason))

    def _take(self, token: int) -> int | None:
        """Counts one token; returns where a stop string that it completed begins."""
        self.tokens += 1
        cut = None
        if token in self._eos_ids:
            self.finished = EndReason.STOP
        else:
            self._detokenizer.push([token])
            cut = self._find_stop(self._detokenizer.text)
        if cut is not None:
            self.finished = EndReason.STOP
        if self.tokens >= self._max_tokens and not self.finished:
            self.finished = EndReason.LENGTH
        return cut

    def _settle(self, cut: int | None) -> tuple[SourceEvent, ...]:
        text = self._detokenizer.text
        agreed = common_prefix(self._shown, text)
        events = [*self._retract(agreed, RollbackCause.DRAFT_REJECTED)]
        if cut is not None:
            events += self._retract(cut, RollbackCause.STOP)
            text = text[:cut]
        events += self._extend(text)
        held = 0 if self.finished else self._held_back(text)
        if len(text) - held > self._verified:
            self._verified = len(text) - held
            events.append(Verify(to=self._verified))
        return tuple(events)

    def _extend(self, text: str) -> tuple[SourceEvent, ...]:
        more = text[len(self._shown) :]
        self._shown += more
        return (Draft(text=more),) if more else ()

    def _retract(self, to: int, cause: RollbackCause) -> tuple[SourceEvent, ...]:
        if to >= len(self._shown):
            return ()
        self._shown = self._shown[:to]
        return (Rollback(to=to, cause=cause),)

    def _find_stop(self, text: str) -> int | None:
        """Where the first stop string begins; verified text holds none and begins none."""
        found = [text.find(stop, self._verified) for stop in self._stop]
        return min((at for at in found if at >= 0), default=None)

    def _held_back(self, text: str) -> int:
        """The length of the longest end of the text that may be the beginning of a stop string."""
        longest = 0
        for stop in self._stop:
            for length in range(min(len(stop) - 1, len(text)), longest, -1):
                if text.endswith(stop[:length]):
                    longest = length
                    break
        return longest
