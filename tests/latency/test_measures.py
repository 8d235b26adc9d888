"""What is said of exchanges whose sound is known."""

import numpy as np
import pytest
from known_sounds import LEVEL, voice

from voiceagent.latency.exchange import Cue, CueKind, Exchange
from voiceagent.latency.figures import FEWEST_FOR_P95, distribution, figures_of
from voiceagent.latency.measures import turns_of
from voiceagent.latency.soundness import soundness

RATE_HZ = 16_000
Spans = list[tuple[float, float]]


def side(spans: Spans, *, total_s: float, seed: int = 0) -> np.ndarray:
    """A voice in each span (begin, end), silence between them."""
    rng = np.random.default_rng(seed)
    pcm = np.zeros(int(total_s * RATE_HZ))
    for begin_s, end_s in spans:
        sound = voice(end_s - begin_s, rng, rate_hz=RATE_HZ)
        pcm[int(begin_s * RATE_HZ) :][: len(sound)] = sound
    return pcm.astype(np.float32)


def exchange(mouth: Spans, ear: Spans, *cues: Cue, total_s: float = 12.0) -> Exchange:
    return Exchange(
        mouth=side(mouth, total_s=total_s),
        ear=side(ear, total_s=total_s, seed=1),
        rate_hz=RATE_HZ,
        cues=cues,
    )


def cue(kind: CueKind, from_s: float, until_s: float, fixture: str = "x") -> Cue:
    return Cue(fixture=fixture, kind=kind, from_s=from_s, until_s=until_s)


def near(value: float) -> object:
    return pytest.approx(value, abs=2)


def test_a_question_and_its_answer() -> None:
    """The gap runs from the last sound of the question, over its inner pause, to the reply's
    first."""
    told = exchange([(1, 2), (3, 4)], [(4.7, 6)], cue(CueKind.TURN, 0.9, 4.2))
    (turn,) = turns_of(told)
    assert turn.response_gap_ms == near(700)
    assert (turn.begin_s, turn.end_s) == pytest.approx((1, 4), abs=0.002)
    assert not turn.is_missed
    assert not turn.is_cut_in
    assert turn.talk_over_ms == 0


def test_a_reply_into_a_pause_is_a_cut_in() -> None:
    """Who answers a pause has cut in, and both are heard for as long as they are."""
    told = exchange([(1, 2), (3, 4)], [(2.5, 3.4), (4.6, 5)], cue(CueKind.TURN, 0.9, 4.2))
    (turn,) = turns_of(told)
    assert turn.is_cut_in
    assert turn.response_gap_ms == near(-1500)
    assert turn.talk_over_ms == near(400)


def test_a_turn_without_an_answer_is_missed() -> None:
    """Missed is a turn that nobody answers before the next one; noise is none."""
    told = exchange(
        [(1, 2), (5, 6), (9, 10)],
        [(6.5, 7)],
        cue(CueKind.TURN, 0.9, 2.1),
        cue(CueKind.TURN, 4.9, 6.1),
        cue(CueKind.NOISE, 8.9, 10.1),
    )
    assert [turn.is_missed for turn in turns_of(told)] == [True, False, False]


def test_an_interruption_stops_the_reply() -> None:
    """Stop is from the user's onset to the agent's silence; the answer to it has a gap of its
    own."""
    told = exchange(
        [(1, 2), (4, 5)],
        [(2.6, 4.25), (5.8, 6.5)],
        cue(CueKind.TURN, 0.9, 2.1),
        cue(CueKind.INTERRUPTION, 3.9, 5.1),
    )
    question, interruption = turns_of(told)
    assert question.stop_ms is None
    assert interruption.stop_ms == near(250)
    assert interruption.hold_ms is None
    assert interruption.talk_over_ms == near(250)
    assert interruption.response_gap_ms == near(800)


def test_an_interruption_in_a_pause_of_the_reply() -> None:
    """What the agent says within 0.3 s behind a pause of its own is the old reply, and no
    answer."""
    told = exchange(
        [(1, 2), (4, 5)],
        [(2.6, 3.8), (4.1, 4.4), (5.8, 6.5)],
        cue(CueKind.TURN, 0.9, 2.1),
        cue(CueKind.INTERRUPTION, 3.9, 5.1),
    )
    interruption = turns_of(told)[1]
    assert interruption.stop_ms == near(400)
    assert interruption.response_gap_ms == near(800)
    assert not interruption.is_cut_in


def test_a_backchannel_holds_the_reply() -> None:
    """Where the reply goes on, its silence is a hold and no answer."""
    told = exchange(
        [(1, 2), (4, 4.4)],
        [(2.6, 4.2), (5.1, 7)],
        cue(CueKind.TURN, 0.9, 2.1),
        cue(CueKind.BACKCHANNEL, 3.9, 4.5),
    )
    _, overlap = turns_of(told)
    assert overlap.stop_ms == near(200)
    assert overlap.hold_ms == near(900)
    assert overlap.response_gap_ms is None


def test_sound_where_nothing_was_to_follow() -> None:
    """An agent that answers noise, or speaks into silence, has made a false start."""
    told = exchange(
        [(1, 2)],
        [(2.6, 3.2), (6, 7)],
        cue(CueKind.NOISE, 0.9, 2.1),
        cue(CueKind.SILENCE, 4, 9),
    )
    assert [turn.is_false_start for turn in turns_of(told)] == [True, True]


def test_a_reply_that_falls_silent_has_stalled() -> None:
    """Pauses of sentences are none; a second and more is a stall."""
    told = exchange([(1, 2)], [(2.6, 3.2), (3.8, 4.4), (6.2, 7)], cue(CueKind.TURN, 0.9, 2.1))
    (turn,) = turns_of(told)
    assert turn.stalls_ms == (near(1800),)
    assert turn.reply_end_s == pytest.approx(7, abs=0.002)


def test_a_recording_without_cues() -> None:
    """Every stretch at the mouth is a turn."""
    turns = turns_of(exchange([(1, 2), (4, 5)], [(2.7, 3.2), (5.4, 6)]))
    assert [turn.response_gap_ms for turn in turns] == [near(700), near(400)]


def test_a_percentile_needs_turns() -> None:
    """Below twenty turns the 95th percentile is withheld, and the reason stands beside it."""
    few = distribution([1.0] * (FEWEST_FOR_P95 - 1)).to_object()
    assert few["p95_ms"] is None
    assert "19 turns" in few["withheld"]["p95_ms"]
    enough = distribution([1.0] * FEWEST_FOR_P95).to_object()
    assert enough["p95_ms"] == 1.0
    assert not enough["withheld"]
    assert figures_of([])["response_gap"]["p50_ms"] is None


def test_clipped_sound_is_refused() -> None:
    """A recording at full scale supports no figure; one with a single peak does."""
    told = exchange([(1, 2)], [(2.7, 3.2)])
    assert soundness(told).is_sound
    told.ear[int(2.8 * RATE_HZ)] = 1.0
    assert soundness(told).is_sound
    told.ear[:] = np.clip(told.ear * 1000, -1, 1)
    assert any("ear: clipped" in reason for reason in soundness(told).reasons)


def test_noise_is_refused() -> None:
    """Below 10 dB of signal to noise no edge has been validated."""
    told = exchange([(1, 2)], [(2.7, 3.2)])
    told.mouth[:] += LEVEL / 2 * np.random.default_rng(0).standard_normal(len(told.mouth))
    assert any("mouth: noise" in reason for reason in soundness(told).reasons)


def test_drift_is_refused() -> None:
    """A recording that is longer than the time it took has lost or doubled sound."""
    told = exchange([(1, 2)], [(2.7, 3.2)])
    drifted = Exchange(mouth=told.mouth, ear=told.ear, rate_hz=RATE_HZ, elapsed_s=11.5)
    assert any("drift" in reason for reason in soundness(drifted).reasons)
