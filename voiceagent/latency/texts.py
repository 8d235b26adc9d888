"""What an agent's trace says was said: by the user, by the agent, and how far that was heard."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from voiceagent.core.events import Committed, Heard, Released
from voiceagent.core.kinds import Kind
from voiceagent.core.trace import Record, SpeechRecord, TurnRecord
from voiceagent.latency.waterfall import Waterfall


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """One turn and the reply to it.

    Attributes:
        understood: the words of the user.
        committed: all of the reply that was committed for the ear.
        heard: the part of it that the agent believes was heard.
        believed_ms: how long the sound of that part is, from its first word to its last; None where
            the trace has no words.
    """

    understood: str
    committed: str
    heard: str
    believed_ms: float | None

    def to_object(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "understood": self.understood,
            "committed": self.committed,
            "heard": self.heard,
            "believed_ms": self.believed_ms,
        }


def texts_of(records: Sequence[Record], waterfall: Waterfall | None) -> Texts | None:
    """The texts of the turn with that waterfall; None where there is none."""
    if waterfall is None:
        return None
    reply, epoch = waterfall.reply
    mine = [each for each in records if _is_of(each, reply, epoch)]
    released_s = next(each.at_s for each in mine if isinstance(each, Released))
    understood = [
        each.text
        for each in records
        if isinstance(each, TurnRecord) and each.state == "confirmed" and each.at_s <= released_s
    ]
    commits = [
        each for each in mine if isinstance(each, Committed) and each.kind is not Kind.SILENT
    ]
    heard = max((each.to for each in mine if isinstance(each, Heard)), default=0)
    return Texts(
        understood=understood[-1] if understood else "",
        committed="".join(each.text for each in commits).strip(),
        heard="".join(each.text[: max(0, heard - each.start)] for each in commits).strip(),
        believed_ms=_believed_ms(
            (each for each in mine if isinstance(each, SpeechRecord)), heard=heard
        ),
    )


def _is_of(record: Record, reply: str, epoch: int) -> bool:
    return getattr(record, "reply", None) == reply and getattr(record, "epoch", None) == epoch


def _believed_ms(speeches: Iterable[SpeechRecord], *, heard: int) -> float | None:
    """From the first word to the last that ends within ``heard``, in the sound of the reply."""
    first = last = None
    before_ms = 0.0
    for speech in speeches:
        for word in speech.words:
            if word.end > heard:
                break
            begin_ms = before_ms + 1000 * word.begin_sample / speech.rate_hz
            first = begin_ms if first is None else first
            last = before_ms + 1000 * word.end_sample / speech.rate_hz
        before_ms += 1000 * speech.samples / speech.rate_hz
    return None if first is None or last is None else round(last - first, 1)


def word_errors(said: str, understood: str) -> dict[str, int]:
    """Words that differ between the two: substitutions, deletions and insertions together."""
    left, right = _words(said), _words(understood)
    costs = list(range(len(right) + 1))
    for i, word in enumerate(left, start=1):
        diagonal, costs[0] = costs[0], i
        for j, other in enumerate(right, start=1):
            diagonal, costs[j] = (
                costs[j],
                min(costs[j] + 1, costs[j - 1] + 1, diagonal + (word != other)),
            )
    return {"spoken": len(left), "errors": costs[-1]}


def _words(text: str) -> list[str]:
    return re.findall(r"[\w']+", text.casefold())
