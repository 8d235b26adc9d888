"""Where the time of a response gap goes: the agent's trace and its own recording, beside the rig's.

The agent keeps two clocks' worth of evidence. Its trace has times on the session's clock, its own
recording (``talk --record``) has both sides of the conversation on that clock too: what came out of
the microphone and what went to the speaker. The rig's recording has both as sound. So

    response gap (rig) = device, there and back  +  response gap (the agent's own recording)

and the second part is cut into stages at what the trace says. Stages add up to it exactly, because
each begins where the one before ends. The device is the median over all turns of a run; what a
turn deviates from it is its residual, the part of the sound that no log explains.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from voiceagent.core.events import Committed, Confirmed, Drafted, Recorded, Released, Started, Turn
from voiceagent.core.kinds import Kind
from voiceagent.core.trace import Record, SpeechRecord, TurnRecord
from voiceagent.latency.places import Places
from voiceagent.sound.onset import speech_stretches
from voiceagent.sound.pcm import Float32

STAGES = (
    "vad",
    "recognizer",
    "end_of_turn",
    "prefill",
    "first_token",
    "first_commit",
    "synthesis",
    "release",
    "playout",
    "device",
)
"""In the order in which they are listed. ``end_of_turn`` is what was waited for the decision alone:
before the prompt where nothing was prepared, behind the synthesis where a reply lay ready."""
EARLIEST_S = 0.3
"""A reply is released after the user's last sound, or hardly before it (a cut-in has no
waterfall)."""


@dataclass(frozen=True, kw_only=True)
class OwnRecording:
    """What the agent recorded itself, on the clock of its trace: ``mouth`` and ``ear``
    (samples,)."""

    mouth: Float32
    ear: Float32
    rate_hz: int


@dataclass(frozen=True, kw_only=True)
class Heard:
    """A turn as the rig heard it.

    Attributes:
        mouth: the rig's recording of the user around the turn (samples,).
        end_s: the user's last sound, in ``mouth``.
        response_gap_ms: at the rig.
    """

    mouth: Float32
    rate_hz: int
    end_s: float
    response_gap_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Waterfall:
    """One turn.

    Attributes:
        stages_ms: by name, in the order of ``STAGES``.
        residual_ms: what of the gap is in none of them.
        reply: its name in the trace, and its epoch.
    """

    stages_ms: dict[str, float]
    residual_ms: float
    reply: tuple[str, int]

    @property
    def total_ms(self) -> float:
        """The response gap."""
        return sum(self.stages_ms.values()) + self.residual_ms


@dataclass(frozen=True, slots=True)
class _Traced:
    """One turn inside the agent: its stages, and the gap in its own recording."""

    stages_ms: dict[str, float]
    gap_ms: float
    reply: tuple[str, int]


def waterfalls(
    heard: Sequence[Heard | None], own: OwnRecording, records: Iterable[Record]
) -> list[Waterfall | None]:
    """The waterfall of each turn; None where the turn, its reply or its place cannot be found."""
    records = list(records)
    onsets_s = [
        each.begin_s for each in speech_stretches(own.ear, rate_hz=own.rate_hz, least_pause_s=0.2)
    ]
    places = Places(own.mouth, rate_hz=own.rate_hz)
    traced = [None if each is None else _traced(each, places, onsets_s, records) for each in heard]
    devices_ms = [
        turn.response_gap_ms - inside.gap_ms
        for turn, inside in zip(heard, traced, strict=True)
        if turn is not None and inside is not None
    ]
    device_ms = median(devices_ms) if devices_ms else 0.0
    return [
        None if turn is None or inside is None else _closed(turn, inside, device_ms)
        for turn, inside in zip(heard, traced, strict=True)
    ]


def _closed(turn: Heard, inside: _Traced, device_ms: float) -> Waterfall:
    residual_ms = turn.response_gap_ms - inside.gap_ms - device_ms
    stages_ms = {**inside.stages_ms, "device": round(device_ms, 2)}
    return Waterfall(stages_ms=stages_ms, residual_ms=round(residual_ms, 2), reply=inside.reply)


def _traced(
    turn: Heard, places: Places, onsets_s: list[float], records: list[Record]
) -> _Traced | None:
    shift_s = places.find_s(turn.mouth, rate_hz=turn.rate_hz)
    if shift_s is None:
        return None
    end_s = turn.end_s + shift_s
    onset_s = next((each for each in onsets_s if each > end_s), None)
    if onset_s is None:
        return None
    released = next(
        (
            each
            for each in records
            if isinstance(each, Released) and end_s - EARLIEST_S <= each.at_s <= onset_s + 0.1
        ),
        None,
    )
    points = None if released is None else waypoints_s(records, released)
    if released is None or points is None:
        return None
    stages_ms, at_s = {}, end_s
    for name, reached_s in [*points, ("playout", onset_s)]:
        # A stage that was over before the one in front of it has cost nothing.
        reached_s = min(max(reached_s, at_s), onset_s)
        stages_ms[name] = round(1000 * (reached_s - at_s), 2)
        at_s = reached_s
    ordered = {name: stages_ms[name] for name in STAGES if name in stages_ms}
    return _Traced(ordered, gap_ms=1000 * (onset_s - end_s), reply=(released.reply, released.epoch))


def waypoints_s(records: list[Record], released: Released) -> list[tuple[str, float]] | None:
    """When each stage of the reply that was then first released was over (seconds of the session),
    in the order in which the reply went through them; None where the trace lacks its beginning."""
    mine = [
        record
        for record in records
        if isinstance(record, Recorded | SpeechRecord)
        and (record.reply, record.epoch) == (released.reply, released.epoch)
    ]
    started = next((record for record in mine if isinstance(record, Started)), None)
    if started is None:
        return None
    turns = [
        record
        for record in records
        if isinstance(record, TurnRecord) and record.at_s <= released.at_s
    ]
    began_s = _latest_s(turns, "began", by_s=started.at_s) or 0.0
    turns = [each for each in turns if each.at_s >= began_s]  # what an earlier turn said is no part
    decided_s = _latest_s(turns, "confirmed", by_s=released.at_s)
    words_s = _latest_s(turns, "eager", by_s=started.at_s)
    if words_s is None:  # nothing was prepared: words and decision became known together
        words_s = started.at_s if decided_s is None else min(decided_s, started.at_s)
    silent_s = _latest_s(turns, "silent", by_s=words_s)
    was_ready = started.turn is Turn.EAGER
    decision = [("end_of_turn", decided_s if decided_s is not None else started.at_s)]
    token_s = _first_s(each.at_s for each in mine if isinstance(each, Drafted))
    commit_s = _first_s(each.at_s for each in mine if _is_spoken(each))
    speech_s = _first_s(
        each.at_s for each in mine if isinstance(each, SpeechRecord) and each.samples
    )
    if was_ready:
        confirmed_s = _first_s(each.at_s for each in mine if isinstance(each, Confirmed))
        decision = [("end_of_turn", confirmed_s if confirmed_s is not None else released.at_s)]
    points = [
        ("vad", words_s if silent_s is None else silent_s),
        ("recognizer", words_s),
        *([] if was_ready else decision),
        ("prefill", started.at_s),
        ("first_token", token_s),
        ("first_commit", commit_s),
        ("synthesis", speech_s),
        *(decision if was_ready else []),
        ("release", released.at_s),
    ]
    return [(name, released.at_s if at_s is None else at_s) for name, at_s in points]


def _latest_s(turns: list[TurnRecord], state: str, *, by_s: float) -> float | None:
    return max(
        (each.at_s for each in turns if each.state == state and each.at_s <= by_s), default=None
    )


def _first_s(times_s: Iterable[float]) -> float | None:
    return min(times_s, default=None)


def _is_spoken(record: object) -> bool:
    return isinstance(record, Committed) and record.kind is not Kind.SILENT
