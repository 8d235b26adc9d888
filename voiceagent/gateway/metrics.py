"""What users saw and what the engine did, for Prometheus.

Names follow Prometheus: base units, ``_total`` for counters. Labels are a stream's surface and
protocol, or a position in a block; never anything that a client writes.
"""

import time
from collections import Counter as Counts
from collections import deque
from collections.abc import Iterable
from functools import partial
from typing import Any, Self

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from voiceagent.config import MAX_WINDOW
from voiceagent.core.churn import ChurnMeter, Retraction
from voiceagent.core.client import Client
from voiceagent.core.frames import (
    AppendFrame,
    CommitFrame,
    EndFrame,
    Frame,
    StartFrame,
    TextState,
    VerifyFrame,
)
from voiceagent.core.kinds import Kind
from voiceagent.core.severity import assess
from voiceagent.decoding.record import Round
from voiceagent.decoding.trial import Canary, Comparison
from voiceagent.gateway.requests import View

CONTENT_TYPE = CONTENT_TYPE_LATEST
_STREAM = ("surface", "protocol")
_RATIOS = (1.0, 1.05, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0)
_SHARES = (0.0, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0)
_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
MAX_UNJUDGED = 128
"""Retractions whose severity waits for the next scrape: half a second of work."""
_RICH = (Kind.BLOCK, Kind.VALUE, Kind.STATEMENT)


class Metrics:
    """All of one gateway's; each gateway has a registry of its own."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()

        def histogram(name: str, text: str, buckets: tuple[float, ...]) -> Histogram:
            return Histogram(name, text, _STREAM, buckets=buckets, registry=registry)

        def counter(name: str, text: str, labels: tuple[str, ...] = ()) -> Counter:
            return Counter(name, text, labels, registry=registry)

        self.churn = histogram("voiceagent_churn_ratio", "Streamed over final text.", _RATIOS)
        self.erasure = histogram("voiceagent_erasure_ratio", "Retracted over final text.", _SHARES)
        self.wrong = histogram(
            "voiceagent_wrong_text_visible_seconds", "How long retracted text was shown.", _SECONDS
        )
        self.firsts = {
            name: histogram(f"voiceagent_time_to_first_{name}_seconds", text, _SECONDS)
            for name, text in (
                ("provisional", "Until the first text that may be taken back."),
                ("verified", "Until the first text that stays."),
                ("commit", "Until the first commit."),
                ("block", "Until the first rich block, value or statement can be painted."),
            )
        }
        self.retractions = counter(
            "voiceagent_retractions", "Retractions by severity.", (*_STREAM, "severity")
        )
        self.unjudged = counter(
            "voiceagent_retractions_unjudged", "Too many between two scrapes.", _STREAM
        )
        self._unjudged: deque[tuple[tuple[str, str], Retraction, str]] = deque()
        self.ends = counter("voiceagent_replies_ended", "Replies by reason.", (*_STREAM, "reason"))
        self._rounds: Counts[tuple[bool, int, int, int, int]] = Counts()
        """Rounds not yet told, by what is told of them: there are few kinds and many rounds."""
        self._window: int | None = None
        self.rejected = counter("voiceagent_requests_rejected", "Refusals.", ("reason",))
        self.drafted = counter("voiceagent_draft_tokens", "Drafted tokens.", ("position",))
        self.accepted = counter("voiceagent_accepted_tokens", "Of them accepted.", ("position",))
        self.emitted = counter("voiceagent_generated_tokens", "Tokens of replies.")
        self.window = Histogram(
            "voiceagent_draft_window_tokens",
            "K, drafted tokens of a round at most.",
            buckets=tuple(float(k) for k in range(MAX_WINDOW + 1)),
            registry=registry,
        )
        self.speculating = Gauge(
            "voiceagent_speculation_active", "0: the engine fell back to K = 0.", registry=registry
        )
        self.alarm = Gauge(
            "voiceagent_speculation_alarm",
            "1: the drafter seems to have drifted.",
            registry=registry,
        )
        self.alarms = counter("voiceagent_speculation_alarms", "Times that the alarm went off.")
        self._alarmed = False
        self.streams = Gauge("voiceagent_streams_open", "Streams read now.", registry=registry)
        self.replies = Gauge("voiceagent_replies_running", "Being written.", registry=registry)
        self.talks = Gauge("voiceagent_talks_open", "Spoken conversations.", registry=registry)
        self.waiting = Gauge("voiceagent_queue_depth", "Not yet begun.", registry=registry)

    def follow_trial(self, comparison: Comparison, canary: Canary | None) -> None:
        """A drafter is on trial (`decoding.trial`): its guesses beside those of the one in use."""
        used, candidate = comparison.used, comparison.candidate
        if canary is not None:
            used, candidate = canary.tallies.values()
            stopped = Gauge("voiceagent_canary_stopped", "1: by itself.", registry=self.registry)
            stopped.set_function(lambda: float(canary.stopped is not None))
        for name, text in (("decided", "First guesses decided."), ("stood", "Of them accepted.")):
            gauge = Gauge(f"voiceagent_trial_{name}", text, ("role",), registry=self.registry)
            for role, tally in (("used", used), ("candidate", candidate)):
                gauge.labels(role).set_function(partial(getattr, tally, name))

    def judge_later(self, labels: tuple[str, str], retraction: Retraction, final: str) -> None:
        """Judging takes milliseconds, which no stream should wait for: it is done when asked."""
        if len(self._unjudged) == MAX_UNJUDGED:
            self.unjudged.labels(*self._unjudged.popleft()[0]).inc()
        self._unjudged.append((labels, retraction, final))

    def exposition(self) -> bytes:
        """What ``/metrics`` answers; takes a while, and may run beside the event loop."""
        while self._unjudged:
            labels, retraction, final = self._unjudged.popleft()
            (judged,) = assess([retraction], final={retraction.reply: final})
            self.retractions.labels(*labels, judged.judgement.severity.value).inc()
        text: bytes = generate_latest(self.registry)
        return text

    def see_round(self, record: Round) -> None:
        """Takes one round of the engine: noted here, told when somebody asks."""
        may_draft = record.index > 0  # the first token is never drafted
        self._rounds[
            may_draft, record.window, len(record.drafted), record.accepted, len(record.emitted)
        ] += 1
        if may_draft:
            self._window = record.window
            if record.alarm != self._alarmed:
                self._see_alarm(record.alarm)

    def tell_rounds(self) -> None:
        """Tells the registry the rounds since the last time; on the event loop, as the rest is."""
        for (may_draft, window, drafted, accepted, emitted), times in self._rounds.items():
            self.emitted.inc(times * emitted)
            for _ in range(times * may_draft):
                self.window.observe(window)
            for position in range(drafted):
                self.drafted.labels(str(position + 1)).inc(times)
                if position < accepted:
                    self.accepted.labels(str(position + 1)).inc(times)
        self._rounds.clear()
        if self._window is not None:
            self.speculating.set(self._window > 0)

    def _see_alarm(self, alarmed: bool) -> None:
        self.alarm.set(alarmed)
        self.alarms.inc(alarmed)
        self._alarmed = alarmed


class Watch:
    """What one reader was shown. A context: while it is entered, the stream counts as open."""

    def __init__(self, metrics: Metrics, view: View) -> None:
        self._metrics = metrics
        self._labels = (view.surface, view.protocol.value)
        self._began_s = time.monotonic()
        self._client = Client() if view.protocol.retracts else None
        """What is left of a stream that takes back; the others are what was sent."""
        self._meter = ChurnMeter()
        self._missing = set(metrics.firsts)
        self._is_whole: bool | None = None
        """Whether it was read from its beginning; None before the first frame."""

    def __enter__(self) -> Self:
        self._metrics.streams.inc()
        return self

    def __exit__(self, *exception: object) -> None:
        self._metrics.streams.dec()

    def show(self, frames: Iterable[Frame]) -> None:
        """Frames are on their way to the reader; one read on from the middle is not measured."""
        for frame in frames:
            self._show(frame)

    def _show(self, frame: Frame) -> None:
        if self._is_whole is None:
            self._is_whole = isinstance(frame, StartFrame) and frame.seq == 0
        if not self._is_whole:
            return
        if self._client is not None:
            self._client.apply(frame)
        now_s = time.monotonic() - self._began_s
        self._meter.feed(frame, at_s=now_s)
        self._see_firsts(frame, now_s)
        if isinstance(frame, EndFrame):
            self._see_end(frame)

    def _see_firsts(self, frame: Frame, now_s: float) -> None:
        match frame:
            case StartFrame():
                pass
            case AppendFrame(state=TextState.PROVISIONAL):
                self._see_first("provisional", now_s)
            case AppendFrame() | VerifyFrame():
                self._see_first("verified", now_s)
            case CommitFrame():
                self._see_first("commit", now_s)
                if frame.kind in _RICH:
                    self._see_first("block", now_s)
            case _:
                pass

    def _see_first(self, name: str, now_s: float) -> None:
        if name in self._missing:
            self._missing.remove(name)
            self._metrics.firsts[name].labels(*self._labels).observe(now_s)

    def _see_end(self, frame: EndFrame) -> None:
        metrics, labels = self._metrics, self._labels
        figures: dict[str, Any] = dict(frame.statistics)
        metrics.ends.labels(*labels, frame.reason.value).inc()
        if figures.get("churn") is not None:
            metrics.churn.labels(*labels).observe(figures["churn"])
            metrics.erasure.labels(*labels).observe(figures["erasure"])
        if self._client is None:
            return
        final = self._client.views[frame.reply].text
        for retraction in self._meter.retractions():
            if retraction.reply == frame.reply:
                metrics.wrong.labels(*labels).observe(retraction.visible_s)
                metrics.judge_later(labels, retraction, final)
