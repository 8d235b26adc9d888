"""The minutes of a conversation: who said what, what became of it, and the figures."""

from dataclasses import dataclass, field
from typing import Any

from voiceagent.core.churn import ChurnFigures
from voiceagent.core.events import (
    Author,
    Committed,
    Ended,
    Finished,
    Heard,
    Recorded,
    Started,
    Synthesized,
    Voided,
)
from voiceagent.core.frames import StreamProtocol
from voiceagent.core.kinds import Kind
from voiceagent.core.streams import Stream
from voiceagent.session.happenings import (
    Happening,
    RoundHappened,
    SpeechHappened,
    ToolHappened,
    Trouble,
    TurnHappened,
)

WITHDRAWN = "withdrawn"
"""The reason of a reply whose turn went on."""


@dataclass(slots=True)
class ReplyMinutes:
    """One reply."""

    name: str
    author: Author
    turn: int | None
    """The turn it answers; None for what the agent said by itself."""
    commits: list[Committed] = field(default_factory=list)
    heard: int = 0
    reason: str = ""
    accepted: int = 0
    rejected: int = 0
    drafted: int = 0
    rounds: int = 0
    tokens: int = 0
    speech_s: float = 0.0
    """How long its sound is, made or played."""
    times_s: dict[str, float] = field(default_factory=dict)
    """When, on the conversation's clock: started, first_commit, first_speech, finished, ended."""

    @property
    def text(self) -> str:
        """All that was committed."""
        return "".join(commit.text for commit in self.commits)

    @property
    def spoken(self) -> list[Committed]:
        """The commits that are for the ear."""
        return [commit for commit in self.commits if commit.kind is not Kind.SILENT]

    @property
    def heard_text(self) -> str:
        """What was heard of it."""
        return "".join(
            commit.text[: max(0, self.heard - commit.start)] for commit in self.spoken
        ).strip()


@dataclass(slots=True)
class TurnMinutes:
    """One turn of the user."""

    number: int
    text: str = ""
    state: str = "began"
    confirmed_s: float | None = None


class Minutes:
    """A listener that keeps what a summary needs."""

    def __init__(self) -> None:
        self.turns: list[TurnMinutes] = []
        self.replies: list[ReplyMinutes] = []
        self.troubles: list[str] = []
        self.tools: list[ToolHappened] = []
        self._latest_turn: int | None = None
        self._display = Stream(StreamProtocol.TOKEN_PUSH)

    def __call__(self, happening: Happening) -> None:
        """Takes what happened."""
        match happening:
            case TurnHappened():
                self._note_turn(happening)
            case Trouble():
                self.troubles.append(happening.line)
            case RoundHappened():
                self._note_round(happening)
            case SpeechHappened():
                reply = self._reply(happening.speech.commit.reply)
                reply.speech_s += happening.speech.duration_s
                if len(happening.speech.pcm):
                    reply.times_s.setdefault("first_speech", happening.at_s)
            case ToolHappened():
                self.tools.append(happening)
            case _:
                self._note_event(happening)

    @property
    def confirmed(self) -> list[TurnMinutes]:
        """The turns that had words."""
        return [turn for turn in self.turns if turn.state == "confirmed"]

    def answers(self, turn: TurnMinutes) -> list[ReplyMinutes]:
        """The replies to a turn; usually one."""
        return [reply for reply in self._kept if reply.turn == turn.number]

    def waste(self) -> dict[str, Any]:
        """What was prepared for turns that went on."""
        gone = [reply for reply in self.replies if reply.reason == WITHDRAWN]
        return {
            "replies": len(gone),
            "tokens": sum(reply.tokens for reply in gone),
            "speech_s": round(sum(reply.speech_s for reply in gone), 3),
        }

    @property
    def _kept(self) -> list[ReplyMinutes]:
        return [reply for reply in self.replies if reply.reason != WITHDRAWN]

    def churn(self) -> ChurnFigures:
        """What the display stream did."""
        return self._display.figures()

    def total(self, name: str) -> int:
        """The sum of one count over all replies."""
        return sum(getattr(reply, name) for reply in self._kept)

    def _note_turn(self, happened: TurnHappened) -> None:
        turn = next((each for each in self.turns if each.number == happened.turn), None)
        if turn is None:
            turn = TurnMinutes(happened.turn)
            self.turns.append(turn)
        self._latest_turn = turn.number
        turn.text, turn.state = happened.text, happened.state
        if happened.state == "confirmed":
            turn.confirmed_s = happened.at_s

    def _note_round(self, happened: RoundHappened) -> None:
        reply, round_ = self._reply(happened.reply), happened.round
        drafted = len(getattr(round_, "drafted", ()))
        accepted = int(getattr(round_, "accepted", 0))
        reply.rounds += 1
        reply.drafted += drafted
        reply.accepted += accepted
        reply.rejected += len(getattr(round_, "rejected", ()))
        reply.tokens += len(getattr(round_, "emitted", ()))

    def _note_event(self, event: Recorded) -> None:
        self._display.feed(event)  # type: ignore[arg-type]  # every Recorded is a ledger event
        self._display.frames()
        if isinstance(event, Started):
            self._open(event)
        reply = self._reply(event.reply)
        match event:
            case Started():
                reply.times_s["started"] = event.at_s
            case Committed():
                reply.commits.append(event)
                reply.times_s.setdefault("first_commit", event.at_s)
            case Synthesized():
                reply.times_s.setdefault("first_synthesized", event.at_s)
            case Heard():
                reply.heard = event.to
                reply.times_s.setdefault("first_heard", event.at_s)
            case Finished():
                reply.times_s["finished"] = event.at_s
            case Voided():
                reply.reason = WITHDRAWN
                reply.times_s["ended"] = event.at_s
            case Ended():
                reply.reason = str(event.reason)
                reply.times_s["ended"] = event.at_s

    def _open(self, event: Started) -> None:
        turn = self._latest_turn if event.author is Author.MODEL else None
        self.replies.append(ReplyMinutes(event.reply, event.author, turn))

    def _reply(self, name: str) -> ReplyMinutes:
        return next(reply for reply in reversed(self.replies) if reply.name == name)

    def summary(self) -> dict[str, Any]:
        """The minutes as a JSON object, without what only sound can tell."""
        model = [reply for reply in self._kept if reply.author is Author.MODEL]
        return {
            "user_text": " ".join(turn.text for turn in self.confirmed),
            "reply_text": " ".join(reply.heard_text for reply in model if reply.heard_text),
            "turns": [self._turn_object(turn) for turn in self.confirmed],
            "dropped": [turn.state for turn in self.turns if turn.state.startswith("dropped")],
            "said": [reply.heard_text for reply in self.replies if reply.author is Author.SCRIPT],
            "commits": [commit.text for reply in model for commit in reply.spoken],
            "churn": self.churn().churn,
            "accepted": self.total("accepted"),
            "rejected": self.total("rejected"),
            "drafted": self.total("drafted"),
            "rounds": self.total("rounds"),
            "tokens": self.total("tokens"),
            "waste": self.waste(),
            "tools": [{"name": each.name, "outcome": each.outcome} for each in self.tools],
            "troubles": self.troubles,
        }

    def _turn_object(self, turn: TurnMinutes) -> dict[str, Any]:
        answers = self.answers(turn)
        return {
            "turn": turn.number,
            "user_text": turn.text,
            "confirmed_s": turn.confirmed_s,
            "replies": [_reply_object(reply) for reply in answers],
        }


def _reply_object(reply: ReplyMinutes) -> dict[str, Any]:
    return {
        "reply": reply.name,
        "text": reply.text,
        "heard_text": reply.heard_text,
        "reason": reply.reason,
        "commits": [{"text": each.text, "kind": str(each.kind)} for each in reply.commits],
        "drafted": reply.drafted,
        "accepted": reply.accepted,
        "rejected": reply.rejected,
        "rounds": reply.rounds,
        "tokens": reply.tokens,
        "times_s": {name: round(at_s, 4) for name, at_s in reply.times_s.items()},
    }
