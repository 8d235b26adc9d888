"""Random runs of ledgers: any legal sequence of steps, as Hypothesis draws it."""

from collections.abc import Callable
from dataclasses import dataclass, field

from conversations import commit_of
from hypothesis import strategies as st

from voiceagent.core.kinds import Kind
from voiceagent.core.ledger import (
    Author,
    Draft,
    EndReason,
    Finish,
    Ledger,
    LedgerEvent,
    Rollback,
    RollbackCause,
    Turn,
    Verify,
    VoidCause,
)


@dataclass
class Run:
    """A reply under way, through as many epochs as it takes, and everything that happened."""

    turn: Turn
    events: list[LedgerEvent] = field(default_factory=list)
    epoch: int = -1
    ticks: int = 0
    ledger: Ledger = field(init=False)

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        self.epoch += 1
        self.ledger = Ledger(
            reply="r", epoch=self.epoch, turn=self.turn, author=Author.MODEL, now_s=self.tick()
        )

    def tick(self) -> float:
        self.ticks += 1
        return self.ticks / 8

    def between(self, low: int, high: int, share: int) -> int:
        return low + (high - low) * share // 100

    def apply(self, step: str, text: str, share: int) -> None:
        """Does the step, if it is legal now, with a position of that share of its room."""
        if self.ledger.alive:
            STEPS[step](self, text, share)
            self.events += self.ledger.events()

    def finish(self, reason: EndReason) -> None:
        """Brings the reply to an end that is legal now."""
        if self.ledger.alive:
            if reason is EndReason.INTERRUPTED:
                self.ledger.confirm(now_s=self.tick())
            if reason.is_complete and self.ledger.finished not in (None, reason):
                reason = EndReason.CANCELLED
            if reason.is_complete:
                self.complete(reason)
            self.ledger.end(reason, now_s=self.tick())
            self.events += self.ledger.events()

    def complete(self, reason: EndReason) -> None:
        ledger = self.ledger
        if ledger.finished is None:
            ledger.apply(Finish(reason=reason), now_s=self.tick())
        if ledger.committed < ledger.verified:
            ledger.commit(commit_of(ledger, ledger.verified), now_s=self.tick())
        ledger.confirm(now_s=self.tick())
        ledger.hear(ledger.released, now_s=self.tick())


def _draft(run: Run, text: str, share: int) -> None:
    if run.ledger.finished is None:
        run.ledger.apply(Draft(text=text), now_s=run.tick())


def _verify(run: Run, text: str, share: int) -> None:
    ledger = run.ledger
    if ledger.finished is None:
        to = run.between(ledger.verified, ledger.drafted, share)
        ledger.apply(Verify(to=to), now_s=run.tick())


def _roll_back(run: Run, text: str, share: int) -> None:
    ledger = run.ledger
    if ledger.finished is None:
        to = run.between(ledger.verified, ledger.drafted, share)
        cause = list(RollbackCause)[share % 3]
        ledger.apply(Rollback(to=to, cause=cause), now_s=run.tick())


def _commit(run: Run, text: str, share: int) -> None:
    ledger = run.ledger
    to = run.between(ledger.committed, ledger.verified, share)
    if to > ledger.committed:
        kind = Kind.SILENT if share % 5 == 0 else Kind.SENTENCE
        ledger.commit(commit_of(ledger, to, kind=kind), now_s=run.tick())


def _synthesize(run: Run, text: str, share: int) -> None:
    ledger = run.ledger
    ledger.synthesize(run.between(ledger.synthesized, ledger.committed, share), now_s=run.tick())


def _release(run: Run, text: str, share: int) -> None:
    ledger = run.ledger
    if ledger.turn is Turn.CONFIRMED and not ledger.paused:
        ledger.release(run.between(ledger.released, ledger.synthesized, share), now_s=run.tick())


def _hear(run: Run, text: str, share: int) -> None:
    ledger = run.ledger
    ledger.hear(run.between(0, ledger.released, share), now_s=run.tick())


def _void(run: Run, text: str, share: int) -> None:
    if run.ledger.turn is Turn.EAGER:
        run.ledger.void(list(VoidCause)[share % 2], now_s=run.tick())
        run.events += run.ledger.events()
        run.start()


def _finish(run: Run, text: str, share: int) -> None:
    if run.ledger.finished is None and share > 80:
        run.ledger.apply(Finish(reason=list(EndReason)[share % 5]), now_s=run.tick())


def _simple(step: str) -> Callable[[Run, str, int], None]:
    def do(run: Run, text: str, share: int) -> None:
        getattr(run.ledger, step)(now_s=run.tick())

    return do


STEPS: dict[str, Callable[[Run, str, int], None]] = {
    "draft": _draft,
    "verify": _verify,
    "roll_back": _roll_back,
    "commit": _commit,
    "synthesize": _synthesize,
    "release": _release,
    "hear": _hear,
    "void": _void,
    "finish": _finish,
    "confirm": _simple("confirm"),
    "pause": _simple("pause"),
    "resume": _simple("resume"),
    "flush": _simple("flush"),
}


def _segment(run: Run, text: str, share: int) -> None:
    """A whole segment at once, or few replies would come as far as the ear."""
    for step in (_draft, _verify, _commit, _synthesize, _release):
        step(run, text, 100 if step is not _release else share)


STEPS["segment"] = _segment
_WEIGHTED = [*STEPS, *2 * ["draft", "verify", "roll_back", "segment", "release", "confirm", "hear"]]
_TEXTS = ["a", " b", "é", "。", "👍🏽", "\n", "ab é。👍"]


@st.composite
def runs(draw: st.DrawFn) -> Run:
    """A reply from its start to its end.

    Each step is one whole number, from which its kind, text and share follow: drawing them one by
    one takes three times as long.
    """
    run = Run(turn=draw(st.sampled_from(Turn)))
    count = draw(st.integers(0, 40))  # a list left to itself stays short, and reaches nothing
    for code in draw(st.lists(st.integers(0, 1 << 16), min_size=count, max_size=count)):
        code, step = divmod(code, len(_WEIGHTED))
        code, text = divmod(code, len(_TEXTS))
        run.apply(_WEIGHTED[step], _TEXTS[text], min(100, code % 128))
    run.finish(draw(st.sampled_from(EndReason)))
    return run
