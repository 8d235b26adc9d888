"""Rounds that were never decoded: what a controller, an alarm or a table is told."""

from voiceagent.decoding.record import Outcome, Round, StageTimes


def guessed(
    window: int,
    accepted: int,
    *,
    claimed: float | None = 0.8,
    seconds: float = 0.01,
    draft_s: float = 0.0,
) -> Round:
    """A round of ``window`` guesses, the first ``accepted`` of which stood."""
    outcome = Outcome.BONUS if accepted == window else Outcome.RECOVERED
    return Round(
        index=1,
        start=0,
        fed=1,
        drafter="double",
        window=window,
        why="",
        drafted=tuple(range(1, window + 1)),
        draft_probabilities=(claimed,) * window,
        target_probabilities=(0.5,) * min(accepted + 1, window),
        accepted=accepted,
        emitted=(*range(1, accepted + 1), 0),
        outcome=outcome if window else Outcome.PLAIN,
        times=StageTimes(draft_s, seconds - draft_s, 0.0, 0.0, 0.0),
        drafted_text=tuple(f" d{at}" for at in range(window)),
        emitted_text=(*(f" d{at}" for at in range(accepted)), " own"),
    )
