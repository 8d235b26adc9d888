"""What each stream protocol would have done to the people who watched a recorded conversation.

Streams are derived from the ledger events of a trace, not run again: one trace answers for all
three protocols.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from voiceagent.core.audit import ChurnAccount
from voiceagent.core.churn import ChurnFigures
from voiceagent.core.events import Author, Recorded, Started
from voiceagent.core.trace import Record, RoundRecord, TraceError


@dataclass(kw_only=True)
class ChurnReport:
    """Figures of one trace or several.

    Attributes:
        replies: replies that a model wrote.
        drafted: tokens guessed.
        accepted: guesses that the target let stand.
        protocols: figures by name of the protocol.
    """

    replies: int = 0
    drafted: int = 0
    accepted: int = 0
    protocols: dict[str, ChurnFigures] = field(default_factory=dict)

    @property
    def acceptance(self) -> float | None:
        """Share of the guesses that stood; None where nothing was guessed."""
        return self.accepted / self.drafted if self.drafted else None

    def add(self, records: Iterable[Record]) -> None:
        """Takes one whole trace; scripted replies are no work of the model and do not count.

        Raises:
            TraceError: a round does not say what was drafted and accepted.
        """
        account = ChurnAccount()
        scripted: set[str] = set()
        for record in records:
            if isinstance(record, Started) and record.author is Author.SCRIPT:
                scripted.add(record.reply)
            if isinstance(record, Recorded) and record.reply not in scripted:
                account.feed(record)
                self.replies += isinstance(record, Started)
            elif isinstance(record, RoundRecord):
                drafted, accepted = _counts(record)
                self.drafted += drafted
                self.accepted += accepted
        for name, figures in account.total().items():
            self.protocols[name] = self.protocols.get(name, ChurnFigures()) + figures

    def to_object(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "replies": self.replies,
            "drafted": self.drafted,
            "accepted": self.accepted,
            "acceptance": self.acceptance,
            "protocols": {name: each.to_object() for name, each in self.protocols.items()},
        }


def _counts(record: RoundRecord) -> tuple[int, int]:
    """Tokens drafted and accepted in one round."""
    drafted, accepted = record.fields.get("drafted"), record.fields.get("accepted")
    if not isinstance(drafted, list) or not isinstance(accepted, int):
        raise TraceError(f"round at {record.at_s:g} s: drafted is no list, or accepted no number")
    return len(drafted), accepted
