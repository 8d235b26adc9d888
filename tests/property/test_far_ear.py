"""What a far ear is believed to have heard, whatever its client reports and in whatever order."""

from hypothesis import given
from hypothesis import strategies as st

from voiceagent.gateway.talk.far_ear import FarEar

RATE_HZ, WIRE_HZ = 22_050, 24_000
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.integers(1, 5000), st.just(0)),
        st.tuples(st.just("report"), st.integers(0, 2**60), st.integers(0, 4)),
        st.tuples(st.just("cut"), st.just(0), st.just(0)),
    ),
    max_size=60,
)


def sent(samples: int) -> int:
    """The same sound at the wire's rate."""
    return samples * WIRE_HZ // RATE_HZ


@given(steps=STEPS)
def test_it_never_falls_and_never_exceeds_what_was_written(
    steps: list[tuple[str, int, int]],
) -> None:
    """Reports may be old, doubled, from before a cut, or lies."""
    ear, since, heard = FarEar(rate_hz=RATE_HZ, wire_hz=WIRE_HZ), 0, 0
    for kind, number, cuts in steps:
        before = ear.played_samples()
        if kind == "write":
            ear.write(number, sent=sent(number))
            since += number
        elif kind == "report":
            ear.report(number, cuts=cuts)
            assert cuts == ear.cuts or ear.played_samples() == before
        else:
            ear.cut()
            heard, since = ear.played_samples(), 0
        assert kind == "report" or ear.played_samples() == before
        assert before <= ear.played_samples() <= heard + since


@given(pieces=st.lists(st.integers(1, 3000), min_size=1, max_size=30), share=st.floats(0, 1))
def test_honest_reports_are_believed_to_the_sample(pieces: list[int], share: float) -> None:
    """Part of the way within a sample of the wire, and all of it exactly."""
    ear = FarEar(rate_hz=RATE_HZ, wire_hz=WIRE_HZ)
    for piece in pieces:
        ear.write(piece, sent=sent(piece))
    whole = sum(map(sent, pieces))
    part = int(whole * share)
    ear.report(part, cuts=0)
    if part < whole:
        assert abs(ear.played_samples() - part * RATE_HZ / WIRE_HZ) <= 1
        assert ear.is_waiting
    ear.report(whole, cuts=0)
    assert ear.played_samples() == sum(pieces)
    assert not ear.is_waiting
