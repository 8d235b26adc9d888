"""Why a reply was slow or wrong: the five stages of a trace, forwards and backwards.

Forwards, the tables of `voiceagent.evaluation.stages` say where the time of all rounds went.
Backwards, one round is found (the slowest, or the one that a text came from) and read from its last
stage to its first: what was emitted, what the target chose and why, what was refused, what had been
guessed, and who had decided how much to guess.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from voiceagent.core.errors import VoiceAgentError
from voiceagent.core.trace import Record, RoundRecord
from voiceagent.evaluation.stages import STAGES, read_round, stage_tables

_NEEDED = ("drafted", "emitted", "accepted")


class ExplainError(VoiceAgentError, ValueError):
    """The trace does not hold what was asked for."""


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Of a trace, or of one reply in it.

    Attributes:
        replies: how many replies have rounds.
        forwards: a table for each stage.
        backwards: from the last stage of one round to its first.
        chosen: which round that is, and why.
    """

    replies: int
    forwards: list[dict[str, Any]]
    backwards: list[dict[str, Any]]
    chosen: str

    def to_object(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "replies": self.replies,
            "chosen": self.chosen,
            "forwards": self.forwards,
            "backwards": self.backwards,
        }


def explain(
    records: Iterable[Record], *, reply: str | None = None, text: str | None = None
) -> Explanation:
    """Explains a trace.

    Args:
        records: of the trace.
        reply: only this one.
        text: the round that emitted this text, or had it refused; None takes the slowest round.

    Raises:
        ExplainError: there are no rounds of that reply, they lack what a round needs, or none has
            to do with the text.
    """
    rounds = [
        each for each in records if isinstance(each, RoundRecord) and reply in (None, each.reply)
    ]
    if not rounds:
        whose = "" if reply is None else f" of reply {reply}"
        raise ExplainError(f"the trace has no rounds{whose}: nothing was decoded here")
    for each in rounds:
        if any(name not in each.fields for name in _NEEDED):
            raise ExplainError(f"the round at {each.at_s:g} s lacks {', '.join(_NEEDED)}")
    rounds = [replace(each, fields=read_round(each.fields)) for each in rounds]
    found, why = _slowest(rounds) if text is None else _about(rounds, text)
    return Explanation(
        replies=len({(each.reply, each.epoch) for each in rounds}),
        forwards=stage_tables([each.fields for each in rounds]),
        backwards=_read_back(found),
        chosen=f"reply {found.reply}, round {found.fields.get('round')}: {why}",
    )


def total_ms(record: RoundRecord) -> float:
    """The time of all stages of a round."""
    return float(sum(record.fields["times_ms"].values()))


def _slowest(rounds: Sequence[RoundRecord]) -> tuple[RoundRecord, str]:
    slowest = max(rounds, key=total_ms)
    times = slowest.fields["times_ms"]
    stage = max(times, key=times.__getitem__, default="score")
    return slowest, f"the slowest, {total_ms(slowest):.1f} ms, most of it in stage {stage}"


def _about(rounds: Sequence[RoundRecord], text: str) -> tuple[RoundRecord, str]:
    """The last round whose refused guesses hold the text, else the one that emitted its end."""
    for record in reversed(rounds):
        if text in _text(record, "drafted_text", record.fields["accepted"]):
            return record, f"its guess {text!r} was shown and refused"
    so_far: dict[tuple[str, int], str] = {}
    for record in rounds:
        key = record.reply, record.epoch
        so_far[key] = so_far.get(key, "") + _text(record, "emitted_text")
        if text in so_far[key]:
            return record, f"it emitted the end of {text!r}"
    raise ExplainError(f"no round of the trace emitted {text!r} or had it refused")


def _text(record: RoundRecord, name: str, start: int = 0) -> str:
    return "".join(str(each) for each in record.fields.get(name, ())[start:])


def _read_back(record: RoundRecord) -> list[dict[str, Any]]:
    """From what was wrong or late to what began it."""
    facts = {
        "advance": _advanced,
        "resample": _resampled,
        "accept": _accepted,
        "score": _scored,
        "draft": _drafted,
    }
    times = record.fields["times_ms"]
    owners = {stage.name: stage.owner for stage in STAGES}
    return [
        {
            "stage": name,
            "time_ms": times.get(name),
            "owner": owners[name],
            "says": says(record.fields),
        }
        for name, says in facts.items()
    ]


def _advanced(fields: Mapping[str, Any]) -> str:
    texts = fields.get("emitted_text", fields["emitted"])
    return f"verified {len(fields['emitted'])} tokens: {_quoted(texts)}"


def _resampled(fields: Mapping[str, Any]) -> str:
    outcome = str(fields.get("outcome", "?"))
    texts = fields.get("emitted_text", fields["emitted"])
    last = _quoted(texts[fields["accepted"] :])
    reasons = {
        "recovered": f"the target's own {last} in place of the first refused guess",
        "bonus": f"the target's own {last} behind a block accepted whole",
        "plain": f"the target's own {last}; nothing had been guessed",
        "end": "nothing: an accepted guess ended the reply",
    }
    return reasons.get(outcome, outcome)


def _accepted(fields: Mapping[str, Any]) -> str:
    drafted, accepted = fields["drafted"], fields["accepted"]
    if not drafted:
        return "nothing to accept"
    if accepted >= len(drafted):
        return f"all {accepted} guesses accepted"
    claims, found = fields.get("draft_probabilities", ()), fields.get("target_probabilities", ())
    refused = _quoted(fields.get("drafted_text", drafted)[accepted : accepted + 1])
    return (
        f"{accepted} of {len(drafted)} accepted; {refused} refused: "
        f"the draft gave it {_share(claims, accepted)}, the target {_share(found, accepted)}"
    )


def _share(values: Sequence[Any], at: int) -> str:
    value = values[at] if at < len(values) else None
    return "no probability" if value is None else f"{value:.2f}"


def _scored(fields: Mapping[str, Any]) -> str:
    rows = fields.get("fed", 1) + len(fields["drafted"])
    fed = fields.get("fed", 1)
    prompt = f", {fed} of them of the prompt" if fed > 1 else ""
    sharing = fields.get("sharing", 1)
    shared = f", in a pass shared by {sharing} replies" if sharing > 1 else ""
    return f"one pass of the target over {rows} rows{prompt}{shared}"


def _drafted(fields: Mapping[str, Any]) -> str:
    texts = fields.get("drafted_text", fields["drafted"])
    why = f"K = {fields.get('window', '?')} because: {fields.get('why', '?')}"
    if not fields["drafted"]:
        return f"no guess; {why}"
    return f"drafter {fields.get('drafter', '?')} guessed {_quoted(texts)}; {why}"


def _quoted(texts: Sequence[Any]) -> str:
    return repr("".join(map(str, texts)))
