"""What happened in one exchange, turn by turn, from its sound alone.

Definitions, with the user's sound at the mouth and the agent's at the ear:

response gap    from the last sound of a turn to the first sound of the reply
stop            from the user's onset during a reply to the agent's silence
hold            how long that silence lasts, where the reply goes on after it
talk-over       how long both are heard at once
false cut-in    a reply that begins before the turn it answers has ended
missed turn     a turn that is to be answered and is not, by its next cue or the recording's end
silent stall    silence within a reply that is longer than any pause of speech
"""

from dataclasses import dataclass
from itertools import pairwise

from voiceagent.latency.exchange import Cue, CueKind, Exchange
from voiceagent.sound.onset import Stretch, speech_stretches

STALL_S = 1.2
"""Between two sentences synthesizers leave up to 0.6 s; a second is heard as "is it still
there?"."""
RESUMES_WITHIN_S = 6.0
"""A reply that was held and goes on does so within this time; later sound is another one."""
REPLY_PAUSE_S = 0.2
"""Silences at the ear that are looked at: a stop is heard as one from about there on."""
REACTS_S = 0.3
"""Who speaks so soon after a user's onset has not reacted to it: a pause of the reply was over."""
ROUND_THE_CUE_S = 0.05
"""Sound may come out a little before the playing program is seen to start, never much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One thing the user did, and what came of it. Times in seconds of the recording.

    Attributes:
        fixture: what was played; empty where the recording came without cues.
        kind: what was to follow.
        begin_s: its first sound; None where none was heard.
        end_s: its last sound.
        reply_begin_s: first sound of the reply to it; None where there is none.
        reply_end_s: last sound of what the agent began to say before the next turn.
        response_gap_ms: see above; negative for a cut-in.
        stop_ms: see above, where the turn began during a reply.
        hold_ms: see above, where that reply went on.
        talk_over_ms: how long both were heard at once.
        is_cut_in: whether the agent began to speak before the turn had ended.
        is_missed: whether an answer was due and none came.
        is_false_start: whether the agent spoke where nothing was to follow.
        stalls_ms: silences inside the reply.
    """

    fixture: str
    kind: CueKind
    begin_s: float | None
    end_s: float | None
    reply_begin_s: float | None = None
    reply_end_s: float | None = None
    response_gap_ms: float | None = None
    stop_ms: float | None = None
    hold_ms: float | None = None
    talk_over_ms: float = 0.0
    is_cut_in: bool = False
    is_missed: bool = False
    is_false_start: bool = False
    stalls_ms: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class _Said:
    """A turn at the mouth, before anything is known of its reply."""

    fixture: str
    kind: CueKind
    stretches: tuple[Stretch, ...]
    """Of speech, with the pauses between them."""
    from_s: float
    until_s: float
    """When the next one begins."""

    @property
    def span(self) -> Stretch | None:
        """From the first sound to the last."""
        if not self.stretches:
            return None
        return Stretch(self.stretches[0].begin_s, self.stretches[-1].end_s)


def turns_of(exchange: Exchange) -> list[Turn]:
    """Every turn of the exchange, in order."""
    mouth = speech_stretches(exchange.mouth, rate_hz=exchange.rate_hz)
    ear = speech_stretches(exchange.ear, rate_hz=exchange.rate_hz, least_pause_s=REPLY_PAUSE_S)
    said = _cued(exchange, mouth) if exchange.cues else _uncued(exchange, mouth)
    return [_turn(each, ear) for each in said]


def _cued(exchange: Exchange, mouth: list[Stretch]) -> list[_Said]:
    """One turn a cue: all its stretches together, so that a pause inside it is no end."""
    said = []
    for i, cue in enumerate(exchange.cues):
        inside = tuple(each for each in mouth if _belongs(each, cue))
        last = i + 1 == len(exchange.cues)
        until_s = exchange.duration_s if last else exchange.cues[i + 1].from_s
        said.append(_Said(cue.fixture, cue.kind, inside, cue.from_s, until_s))
    return said


def _belongs(stretch: Stretch, cue: Cue) -> bool:
    return cue.from_s - ROUND_THE_CUE_S <= stretch.begin_s < cue.until_s


def _uncued(exchange: Exchange, mouth: list[Stretch]) -> list[_Said]:
    ends_s = [each.begin_s for each in mouth[1:]] + [exchange.duration_s]
    return [
        _Said("", CueKind.TURN, (each,), each.begin_s, until_s)
        for each, until_s in zip(mouth, ends_s, strict=False)
    ]


def _turn(said: _Said, ear: list[Stretch]) -> Turn:
    span = said.span
    if span is None:
        return _silent_turn(said, ear)
    over = _spoken_over(said, span, ear)
    from_s = span.begin_s if over is None else max(span.begin_s, over.end_s)
    after = [each for each in ear if from_s <= each.begin_s < said.until_s]
    resumed = _resumed(said, over, after)
    # Where the reply before goes on, that is no answer.
    replies = [] if resumed is not None else after
    first = replies[0] if replies else None
    heard = replies or after
    return Turn(
        fixture=said.fixture,
        kind=said.kind,
        begin_s=span.begin_s,
        end_s=span.end_s,
        reply_begin_s=first.begin_s if first else None,
        reply_end_s=heard[-1].end_s if heard else None,
        response_gap_ms=_ms(first.begin_s - span.end_s) if first else None,
        stop_ms=_ms(over.end_s - span.begin_s) if over else None,
        hold_ms=_ms(resumed.begin_s - over.end_s) if over and resumed else None,
        talk_over_ms=_ms(sum(_overlap_s(word, each) for word in said.stretches for each in ear)),
        is_cut_in=first is not None and first.begin_s < span.end_s and _wants_answer(said),
        is_missed=first is None and said.kind is CueKind.TURN,
        is_false_start=first is not None and said.kind is CueKind.NOISE,
        stalls_ms=_stalls_ms(replies),
    )


def _silent_turn(said: _Said, ear: list[Stretch]) -> Turn:
    """Nothing was to be heard at the mouth, or nothing was."""
    spoken = [each for each in ear if said.from_s <= each.begin_s < said.until_s]
    first = spoken[0] if spoken else None
    return Turn(
        fixture=said.fixture,
        kind=said.kind,
        begin_s=None,
        end_s=None,
        reply_begin_s=first.begin_s if first else None,
        reply_end_s=spoken[-1].end_s if spoken else None,
        is_missed=said.kind is CueKind.TURN,
        is_false_start=first is not None and said.kind in (CueKind.NOISE, CueKind.SILENCE),
    )


def _spoken_over(said: _Said, span: Stretch, ear: list[Stretch]) -> Stretch | None:
    """What of a reply the user spoke over; in a pause of the reply, what came right behind it."""
    under_way = [each for each in ear if each.begin_s < span.begin_s < each.end_s]
    if under_way or said.kind is CueKind.TURN:
        return under_way[0] if under_way else None
    late = [each for each in ear if span.begin_s <= each.begin_s < span.begin_s + REACTS_S]
    was_speaking = any(0 <= span.begin_s - each.end_s < STALL_S for each in ear)
    return late[0] if late and was_speaking else None


def _wants_answer(said: _Said) -> bool:
    return said.kind in (CueKind.TURN, CueKind.INTERRUPTION)


def _resumed(said: _Said, over: Stretch | None, after: list[Stretch]) -> Stretch | None:
    """Where the reply that the user spoke over goes on; None where it does not."""
    goes_on = said.kind in (CueKind.BACKCHANNEL, CueKind.NOISE)
    if over is None or not goes_on or not after:
        return None
    return after[0] if after[0].begin_s - over.end_s <= RESUMES_WITHIN_S else None


def _overlap_s(left: Stretch, right: Stretch) -> float:
    return max(0.0, min(left.end_s, right.end_s) - max(left.begin_s, right.begin_s))


def _stalls_ms(replies: list[Stretch]) -> tuple[float, ...]:
    silences_s = [later.begin_s - earlier.end_s for earlier, later in pairwise(replies)]
    return tuple(_ms(silence_s) for silence_s in silences_s if silence_s >= STALL_S)


def _ms(seconds: float) -> float:
    return round(1000 * seconds, 2)
