"""Ledger and history together, under anything that can happen to a conversation.

Hypothesis draws rollbacks, turn revisions, barge-ins, pauses, and playout reports that come late,
twice, out of order or from sound that was flushed. A model of a dozen lines says which steps are
legal; ledger, history, three clients and the audit have to agree with it throughout.
"""

from dataclasses import dataclass, field
from typing import Any

import pytest
from conversations import commit_of, round_fields
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from voiceagent.core.audit import Audit
from voiceagent.core.events import Committed, LedgerEvent, Started, Synthesized, Verified
from voiceagent.core.history import History, Message, Role
from voiceagent.core.kinds import Kind
from voiceagent.core.ledger import (
    Author,
    Draft,
    EndReason,
    Finish,
    Ledger,
    LedgerError,
    Rollback,
    Turn,
    Verify,
    VoidCause,
)
from voiceagent.core.streams import Client, Stream, StreamProtocol
from voiceagent.core.trace import (
    Header,
    Record,
    RoundRecord,
    SpeechRecord,
    TurnRecord,
    WordRecord,
    decode,
    encode,
)

BROKEN_OFF = (EndReason.INTERRUPTED, EndReason.CANCELLED, EndReason.ERROR)
WORDS = st.text(st.sampled_from("abc é👍"), min_size=1, max_size=5)
NUDGES = st.sampled_from([-1, 0, 0, 0, 1, 3])


@dataclass
class Model:
    """What a ledger should be, as plainly as it can be said."""

    eager: bool
    text: str = ""
    verified: int = 0
    committed: int = 0
    synthesized: int = 0
    released: int = 0
    heard: int = 0
    silent: set[int] = field(default_factory=set)
    paused: bool = False
    finished: EndReason | None = None
    over: bool = False

    @property
    def heard_text(self) -> str:
        spoken = (self.text[i] for i in range(self.heard) if i not in self.silent)
        return "".join(spoken).strip()


class Conversation(RuleBasedStateMachine):
    """One conversation. Nothing ends a reply in its first steps, or all would be short."""

    def __init__(self) -> None:
        super().__init__()
        self.history = History(system_prompt="")
        self.trace: list[Record] = [Header(preset="tiny")]
        self.streams = {protocol: Stream(protocol) for protocol in StreamProtocol}
        self.clients = {protocol: Client() for protocol in StreamProtocol}
        self.said: list[tuple[str, Any]] = []
        self.turns = self.replies = self.ticks = 0

    # The conversation ---------------------------------------------------------------------------

    @initialize(eager=st.booleans())
    def first_turn(self, eager: bool) -> None:
        self.next_turn(eager)

    def next_turn(self, eager: bool) -> None:
        """The user says something, and a reply begins."""
        self.turns += 1
        self.replies += 1
        self.epoch = 0
        self.user_says(f"turn {self.turns}", confirmed=True)
        self.said.append(("user", f"turn {self.turns}"))
        self.open(eager)

    def user_says(self, text: str, *, confirmed: bool) -> None:
        self.history.hear_user(text, turn=str(self.turns))
        state = "confirmed" if confirmed else "revised"
        self.trace.append(TurnRecord(turn=self.turns, at_s=self.tick(), text=text, state=state))

    def open(self, eager: bool) -> None:
        turn = Turn.EAGER if eager else Turn.CONFIRMED
        self.ledger = Ledger(
            reply=f"r{self.replies}",
            epoch=self.epoch,
            turn=turn,
            author=Author.MODEL,
            now_s=self.tick(),
        )
        self.model = Model(eager=eager)
        self.patience = 6
        self.said.append(("assistant", self.model))
        self.drain()

    def tick(self) -> float:
        self.ticks += 1
        return self.ticks / 4

    def drain(self) -> None:
        for event in self.ledger.events():
            self.history.feed(event)
            self.trace += self.evidence(event)
            for protocol, stream in self.streams.items():
                stream.feed(event)
                for frame in stream.frames():
                    self.clients[protocol].apply(frame)

    def evidence(self, event: LedgerEvent) -> list[Record]:
        """The event, and what an honest trace has beside it: rounds and sound."""
        common: dict[str, Any] = {"reply": event.reply, "epoch": event.epoch, "at_s": event.at_s}
        match event:
            case Started():
                self.rounds: list[dict[str, Any]] = []
                self.proven = 0
                self.spoken: list[Committed] = []
            case Verified() if event.to > self.proven:
                new = self.ledger.text[self.proven : event.to]
                self.proven = event.to
                self.rounds.append(round_fields(self.rounds, drafted=[], accepted=0, then=new))
                return [event, RoundRecord(**common, fields=self.rounds[-1])]
            case Committed() if event.kind is not Kind.SILENT:
                self.spoken.append(event)
            case Synthesized():
                return [*self.sounds(event), event]
            case _:
                pass
        return [event]

    def sounds(self, event: Synthesized) -> list[Record]:
        """The sound of every spoken part of what was synthesized, in one word each."""
        records: list[Record] = []
        for commit in self.spoken:
            start, end = max(commit.start, event.start), min(commit.end, event.to)
            if start < end:
                span: dict[str, Any] = {
                    "start": start,
                    "end": end,
                    "text": commit.text[start - commit.start : end - commit.start],
                }
                word = WordRecord(**span, begin_sample=0, end_sample=1)
                records.append(
                    SpeechRecord(
                        reply=event.reply,
                        epoch=event.epoch,
                        at_s=event.at_s,
                        **span,
                        samples=1,
                        rate_hz=1,
                        words=(word,),
                    )
                )
        return records

    def attempt(self, legal: bool, step: str, *arguments: Any) -> None:
        """Does a step that the model calls legal; one that it does not must change nothing."""
        do = getattr(self.ledger, step)
        self.patience -= 1
        if legal:
            do(*arguments, now_s=self.tick())
            self.drain()
            return
        before = (self.ledger.marks, self.ledger.text, self.ledger.paused, self.ledger.alive)
        with pytest.raises(LedgerError):
            do(*arguments, now_s=self.tick())
        after = (self.ledger.marks, self.ledger.text, self.ledger.paused, self.ledger.alive)
        assert (before, []) == (after, self.ledger.events())

    # The source ---------------------------------------------------------------------------------

    @rule(text=WORDS)
    def draft(self, text: str) -> None:
        legal = not self.model.over and not self.model.finished
        self.attempt(legal, "apply", Draft(text=text))
        if legal:
            self.model.text += text

    @rule(share=st.floats(0, 1), nudge=NUDGES)
    def verify(self, share: float, nudge: int) -> None:
        model = self.model
        to = self.position(model.verified, len(model.text), share) + nudge
        legal = not (model.over or model.finished) and model.verified <= to <= len(model.text)
        self.attempt(legal, "apply", Verify(to=to))
        if legal:
            model.verified = to

    @rule(share=st.floats(0, 1), nudge=NUDGES)
    def roll_back(self, share: float, nudge: int) -> None:
        model = self.model
        to = self.position(model.verified, len(model.text), share) + nudge
        legal = not (model.over or model.finished) and model.verified <= to <= len(model.text)
        self.attempt(legal, "apply", Rollback(to=to))
        if legal:
            model.text = model.text[:to]

    @precondition(lambda self: self.patience < 3)
    @rule(reason=st.sampled_from(EndReason))
    def finish(self, reason: EndReason) -> None:
        model = self.model
        legal = not (model.over or model.finished)
        self.attempt(legal, "apply", Finish(reason=reason))
        if legal:
            model.text = model.text[: model.verified]
            model.finished = reason

    @precondition(lambda self: not (self.model.over or self.model.finished))
    @rule(text=WORDS, silent=st.booleans(), far=st.integers(0, 3))
    def race_ahead(self, text: str, silent: bool, far: int) -> None:
        """A whole segment at once: single steps would seldom come to the ear or a closed gate."""
        self.draft(text)
        self.verify(1.0, 0)
        if self.model.committed < self.model.verified:
            self.commit(1.0, 0, silent=silent)
        self.synthesize(1.0, 0)
        if far > 0:
            self.release(1.0, 0)
        if far > 1 and not (self.model.eager or self.model.paused):
            self.playout_report(1.0 if far == 2 else 0.7, 0)

    @precondition(lambda self: self.patience < 0 and not (self.model.over or self.model.finished))
    @rule(text=WORDS, far=st.sampled_from([1, 1, 0, 2]), more=st.booleans(), ready=st.booleans())
    def last_words(self, text: str, far: int, more: bool, ready: bool) -> None:
        """The source comes to its end, and whoever is hasty calls that the end of the reply."""
        if ready:
            self.confirm()
            self.resume()
        self.race_ahead(text, False, far)
        if more:
            self.draft(text)
            self.verify(1.0, 0)
        self.finish(EndReason.STOP)
        self.end(EndReason.STOP)

    @precondition(lambda self: self.patience < 0 and not (self.model.over or self.model.finished))
    @rule(text=WORDS, reason=st.sampled_from(BROKEN_OFF))
    def broken_off(self, text: str, reason: EndReason) -> None:
        """The reply ends behind text that is verified and went to nobody yet."""
        self.draft(text)
        self.verify(1.0, 0)
        self.end(reason)

    # The turn -----------------------------------------------------------------------------------

    @rule()
    def confirm(self) -> None:
        self.attempt(not self.model.over, "confirm")
        self.model.eager = self.model.eager and self.model.over

    @precondition(lambda self: self.patience < 0)
    @rule(cause=st.sampled_from(VoidCause))
    def revise(self, cause: VoidCause) -> None:
        """The user went on: the epoch is withdrawn, and the next one answers the longer turn."""
        legal = self.model.eager and not self.model.over
        self.attempt(legal, "void", cause)
        if legal:
            self.said.pop()
            self.said[-1] = ("user", f"turn {self.turns} and more")
            self.user_says(f"turn {self.turns} and more", confirmed=False)
            self.epoch += 1
            self.open(eager=True)

    @precondition(lambda self: self.patience < 0 and not self.model.eager)
    @rule(eager=st.booleans())
    def barge_in(self, eager: bool) -> None:
        """The user takes the floor: the reply ends where it was heard."""
        self.attempt(not self.model.over, "end", EndReason.INTERRUPTED)
        self.model.over = True
        self.next_turn(eager)

    @precondition(lambda self: self.patience < 0)
    @rule(reason=st.sampled_from(EndReason))
    def end(self, reason: EndReason) -> None:
        model = self.model
        complete = (
            model.finished is reason
            and not model.eager
            and model.committed == model.verified
            and model.heard == model.released
        )
        legal = not model.over and (
            complete
            if reason.is_complete
            else reason is not EndReason.INTERRUPTED or not model.eager
        )
        self.attempt(legal, "end", reason)
        if legal:
            model.text = model.text[: model.verified]
            model.released = model.heard
            model.over = True

    @precondition(lambda self: self.model.over)
    @rule(eager=st.booleans())
    def next_question(self, eager: bool) -> None:
        self.next_turn(eager)

    # The way to the ear -------------------------------------------------------------------------

    @rule(share=st.floats(0, 1), nudge=NUDGES, silent=st.booleans(), gap=NUDGES)
    def commit(self, share: float, nudge: int, silent: bool, gap: int = 0) -> None:
        model = self.model
        to = self.position(model.committed, model.verified, share) + nudge
        legal = not model.over and model.committed < to <= model.verified and gap == 0
        kind = Kind.SILENT if silent else Kind.SENTENCE
        self.attempt(legal, "commit", commit_of(self.ledger, to, kind=kind, gap=gap))
        if legal:
            model.silent |= set(range(model.committed, to)) if silent else set()
            model.committed = to

    @rule(share=st.floats(0, 1), nudge=NUDGES)
    def synthesize(self, share: float, nudge: int) -> None:
        model = self.model
        to = self.position(model.synthesized, model.committed, share) + nudge
        legal = not model.over and model.synthesized <= to <= model.committed
        self.attempt(legal, "synthesize", to)
        if legal:
            model.synthesized = to

    @rule(share=st.floats(0, 1), nudge=NUDGES)
    def release(self, share: float, nudge: int) -> None:
        model = self.model
        to = self.position(model.released, model.synthesized, share) + nudge
        gate = not (model.over or model.eager or model.paused)
        legal = gate and model.released <= to <= model.synthesized
        self.attempt(legal, "release", to)
        if legal:
            model.released = to

    @rule()
    def pause(self) -> None:
        self.attempt(not self.model.over, "pause")
        self.model.paused = self.model.paused or not self.model.over

    @rule()
    def resume(self) -> None:
        self.attempt(not self.model.over, "resume")
        self.model.paused = self.model.paused and self.model.over

    @rule()
    def flush(self) -> None:
        self.attempt(not self.model.over, "flush")
        if not self.model.over:
            self.model.released = self.model.heard

    @rule(share=st.floats(0, 1), nudge=NUDGES)
    def playout_report(self, share: float, nudge: int) -> None:
        """In order, late, twice, or of sound that was flushed: only the first kind moves."""
        model = self.model
        to = self.position(0, model.synthesized, share) + nudge
        legal = not model.over and max(to, model.heard) <= model.released
        self.attempt(legal, "hear", to)
        if legal:
            model.heard = max(to, model.heard)

    def position(self, low: int, high: int, share: float) -> int:
        return low + round((high - low) * share)

    # What holds at every step -------------------------------------------------------------------

    @invariant()
    def the_ledger_is_as_the_model_says(self) -> None:
        ledger, model = self.ledger, self.model
        marks = (ledger.verified, ledger.committed, ledger.synthesized, ledger.released)
        assert (ledger.text, ledger.drafted) == (model.text, len(model.text))
        assert marks == (model.verified, model.committed, model.synthesized, model.released)
        assert (ledger.heard, ledger.paused) == (model.heard, model.paused)
        assert ledger.marks.in_order

    @invariant()
    def the_history_is_what_was_heard(self) -> None:
        expected: list[Message] = []
        for role, what in self.said:
            content = what if isinstance(what, str) else what.heard_text
            if content and expected and expected[-1].role == role:
                expected[-1] = Message(Role(role), f"{expected[-1].content} {content}")
            elif content:
                expected.append(Message(Role(role), content))
        assert self.history.messages() == tuple(expected)

    @invariant()
    def the_display_shows_the_ledger(self) -> None:
        client = self.clients[StreamProtocol.TOKEN_PUSH]
        assert client.text == self.ledger.text
        assert (client.verified, client.committed, client.heard) == (
            self.ledger.verified,
            self.ledger.committed,
            self.ledger.heard,
        )

    def teardown(self) -> None:
        """The trace of it all is honest, read back from its lines."""
        auditor = Audit()
        for number, record in enumerate(self.trace, start=1):
            auditor.feed(decode(encode(record)), line=number)
        assert auditor.violations == []


TestConversation = Conversation.TestCase
TestConversation.settings = settings(
    max_examples=120,
    stateful_step_count=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],  # a busy machine is no fault of the ledger
)
