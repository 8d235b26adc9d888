"""What a stream did to the person who watched it.

Churn is streamed text over final text: 1 where nothing was taken back, and exactly 1 for the two
protocols that never retract. Erasure is retracted over final text (the normalised erasure of
Arivazhagan et al. 2020 [*Re-translation versus Streaming*], in code points and in bytes here). Edit
overhead is the share of edits that a perfect stream would not have needed (Baumann et al. 2009).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from voiceagent.core.events import RollbackCause, VoidCause
from voiceagent.core.frames import (
    AppendFrame,
    EndFrame,
    Frame,
    RollbackFrame,
    StartFrame,
    VoidFrame,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retraction:
    """Text that was shown and taken back."""

    reply: str
    epoch: int
    at: int
    """Position of its first code point."""
    text: str
    cause: RollbackCause | VoidCause
    at_s: float
    """When it was taken back."""
    visible_s: float
    """How long the oldest of it had been on the screen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChurnFigures:
    """Counts of one stream or several; code points unless the name says bytes (of UTF-8)."""

    streamed: int = 0
    """Sent to the client in ``append`` frames."""
    final: int = 0
    """What the client is left with."""
    erased: int = 0
    """Sent and taken back."""
    streamed_bytes: int = 0
    final_bytes: int = 0
    erased_bytes: int = 0
    rollbacks: int = 0
    voids: int = 0
    wrong_visible_s: float = 0.0
    """Time that wrong text stood on the screen, summed over the retractions."""
    wrong_visible_max_s: float = 0.0

    def __add__(self, other: "ChurnFigures") -> "ChurnFigures":
        """Both streams together."""
        added = {name: getattr(self, name) + getattr(other, name) for name in self.__slots__}
        longest_s = max(self.wrong_visible_max_s, other.wrong_visible_max_s)
        return ChurnFigures(**added | {"wrong_visible_max_s": longest_s})

    @property
    def churn(self) -> float | None:
        """Streamed over final; None where text was streamed and none is left."""
        return _ratio(self.streamed, self.final, nothing=1.0)

    @property
    def erasure(self) -> float | None:
        """Erased over final, in code points; None where none is left."""
        return _ratio(self.erased, self.final, nothing=0.0)

    @property
    def erasure_bytes(self) -> float | None:
        """Erased over final, in bytes; None where none is left."""
        return _ratio(self.erased_bytes, self.final_bytes, nothing=0.0)

    @property
    def edit_overhead(self) -> float:
        """Share of edits (appended and erased code points) beyond those of a perfect stream."""
        edits = self.streamed + self.erased
        return (edits - self.final) / edits if edits else 0.0

    def to_object(self) -> dict[str, Any]:
        """Counts and ratios as a JSON object; times rounded to the microsecond."""
        counts = {name: getattr(self, name) for name in self.__slots__}
        for name in ("wrong_visible_s", "wrong_visible_max_s"):
            counts[name] = round(counts[name], 6)
        ratios = {name: getattr(self, name) for name in _RATIOS}
        return counts | {
            name: None if ratio is None else round(ratio, 6) for name, ratio in ratios.items()
        }


_RATIOS = ("churn", "erasure", "erasure_bytes", "edit_overhead")


def _ratio(part: int, whole: int, *, nothing: float) -> float | None:
    if whole:
        return part / whole
    return None if part else nothing


def churn(frames: Iterable[Frame], *, times_s: Iterable[float] | None = None) -> ChurnFigures:
    """The figures of a stream of frames; without times, visible time is 0.

    Args:
        frames: of one stream, in order.
        times_s: when each was sent, in seconds; as many as there are frames.
    """
    meter = ChurnMeter()
    if times_s is None:
        for frame in frames:
            meter.feed(frame, at_s=0.0)
    else:
        for frame, at_s in zip(frames, times_s, strict=True):
            meter.feed(frame, at_s=at_s)
    return meter.figures()


@dataclass(slots=True)
class _Shown:
    """What a client shows of one reply, and since when."""

    text: str = ""
    since: list[tuple[int, float]] = field(default_factory=list)
    """Position and time of each append that still stands, in order."""

    def cut(self, to: int, *, at_s: float) -> float:
        """Cuts the text at ``to``; returns since when the oldest of what goes has been shown."""
        while self.since and self.since[-1][0] > to:
            self.since.pop()
        oldest_s = self.since[-1][1] if self.since else at_s
        if self.since and self.since[-1][0] == to:
            self.since.pop()
        self.text = self.text[:to]
        return oldest_s


class ChurnMeter:
    """Measures a stream as it goes; replies may interleave, and have several epochs."""

    def __init__(self) -> None:
        self._shown: dict[str, _Shown] = {}
        self._streamed = self._streamed_bytes = 0
        self._done = self._done_bytes = 0
        self._retractions: list[Retraction] = []

    def feed(self, frame: Frame, *, at_s: float) -> None:
        """Takes one frame of a legal stream, sent at ``at_s`` seconds."""
        match frame:
            case StartFrame():
                self._shown[frame.reply] = _Shown()
            case AppendFrame():
                self._append(frame, at_s=at_s)
            case RollbackFrame():
                self._retract(frame, to=frame.to, at_s=at_s)
            case VoidFrame():
                self._retract(frame, to=0, at_s=at_s)
            case EndFrame():
                text = self._shown.pop(frame.reply).text
                self._done += len(text)
                self._done_bytes += _bytes(text)
            case _:
                pass  # the others change no text

    def _append(self, frame: AppendFrame, *, at_s: float) -> None:
        shown = self._shown[frame.reply]
        shown.text += frame.text
        shown.since.append((frame.at, at_s))
        self._streamed += len(frame.text)
        self._streamed_bytes += _bytes(frame.text)

    def _retract(self, frame: RollbackFrame | VoidFrame, *, to: int, at_s: float) -> None:
        shown = self._shown[frame.reply]
        retracted = shown.text[to:]
        oldest_s = shown.cut(to, at_s=at_s)
        self._retractions.append(
            Retraction(
                reply=frame.reply,
                epoch=frame.epoch,
                at=to,
                text=retracted,
                cause=frame.cause,
                at_s=at_s,
                visible_s=at_s - oldest_s,
            )
        )

    def retractions(self) -> tuple[Retraction, ...]:
        """All that was taken back so far, in order."""
        return tuple(self._retractions)

    def figures(self) -> ChurnFigures:
        """The figures so far; replies that have not ended count with the text they show."""
        showing = [shown.text for shown in self._shown.values()]
        voids = sum(isinstance(each.cause, VoidCause) for each in self._retractions)
        visible = [each.visible_s for each in self._retractions]
        return ChurnFigures(
            streamed=self._streamed,
            streamed_bytes=self._streamed_bytes,
            final=self._done + sum(map(len, showing)),
            final_bytes=self._done_bytes + sum(map(_bytes, showing)),
            erased=sum(len(each.text) for each in self._retractions),
            erased_bytes=sum(_bytes(each.text) for each in self._retractions),
            rollbacks=len(self._retractions) - voids,
            voids=voids,
            wrong_visible_s=sum(visible, start=0.0),
            wrong_visible_max_s=max(visible, default=0.0),
        )


def _bytes(text: str) -> int:
    return len(text.encode())
