"""How bad the retractions of recorded conversations were, for those who saw provisional text."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from voiceagent.core.churn import ChurnMeter
from voiceagent.core.events import Author, Recorded, Started
from voiceagent.core.frames import AppendFrame, Frame, RollbackFrame, StreamProtocol, VoidFrame
from voiceagent.core.severity import Assessment, Meaning, Severity, assess
from voiceagent.core.streams import Stream
from voiceagent.core.trace import Record


@dataclass(kw_only=True)
class SeverityReport:
    """The retractions of token push, each judged against what stood there in the end.

    Attributes:
        meaning: asked for the distance in meaning of each change that can be seen, if given.
        assessments: one for each retraction, in order.
    """

    meaning: Meaning | None = None
    assessments: list[Assessment] = field(default_factory=list)

    def add(self, records: Iterable[Record]) -> None:
        """Takes one whole trace; scripted replies are no work of the model and do not count."""
        stream, meter = Stream(StreamProtocol.TOKEN_PUSH), ChurnMeter()
        final: dict[str, str] = {}
        scripted: set[str] = set()
        for record in records:
            if not isinstance(record, Recorded):
                continue
            if isinstance(record, Started) and record.author is Author.SCRIPT:
                scripted.add(record.reply)
            if record.reply not in scripted:
                stream.feed(record)
                for frame in stream.frames():
                    meter.feed(frame, at_s=record.at_s)
                    _follow(frame, final)
        self.assessments += assess(meter.retractions(), final=final, meaning=self.meaning)

    @property
    def classes(self) -> dict[str, int]:
        """How many retractions of each class."""
        counts = Counter(str(each.judgement.severity) for each in self.assessments)
        return {str(severity): counts[severity] for severity in Severity}

    @property
    def worst(self) -> list[Assessment]:
        """Those that changed words, the heaviest first."""
        seen = [each for each in self.assessments if each.judgement.severity is not Severity.NONE]
        return sorted(seen, key=lambda each: each.score, reverse=True)

    def to_object(self) -> dict[str, Any]:
        """As a JSON object."""
        score = round(sum(each.score for each in self.assessments), 3)
        return {
            "classes": self.classes,
            "score": score,
            "retractions": [_to_object(each) for each in self.worst],
        }


def _follow(frame: Frame, final: dict[str, str]) -> None:
    """Keeps the text that a client shows of each reply."""
    match frame:
        case AppendFrame():
            final[frame.reply] = final.get(frame.reply, "") + frame.text
        case RollbackFrame():
            final[frame.reply] = final[frame.reply][: frame.to]
        case VoidFrame():
            final.pop(frame.reply, None)
        case _:
            pass  # the others change no text


def _to_object(assessment: Assessment) -> dict[str, Any]:
    retraction = assessment.retraction
    return {
        "reply": retraction.reply,
        "at": retraction.at,
        "retracted": retraction.text,
        "replacement": assessment.replacement,
        "visible_s": round(retraction.visible_s, 6),
        "score": round(assessment.score, 3),
        **asdict(assessment.judgement),
    }
