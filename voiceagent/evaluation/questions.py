"""What stands at the head of the report: the decision, and the seven questions about it."""

from typing import Any

from voiceagent.evaluation.thresholds import Thresholds
from voiceagent.evaluation.verdict import Verdict


def decision_and_questions(
    thresholds: Thresholds, verdict: Verdict, *, candidate: str
) -> dict[str, Any]:
    """The first two entries of a report."""
    decision = thresholds.decision
    return {
        "decision": {
            "question": decision.question,
            "candidate": candidate,
            "answer": str(verdict.answer),
            "wrong_adoption": decision.wrong_adoption,
            "wrong_refusal": decision.wrong_refusal,
            "known": decision.known,
            "owner": decision.owner,
        },
        "questions": {
            "goal": (
                "Fewer passes of the target for the same text: decoding waits for memory, and a "
                "pass over a few rows takes little longer than over one. Worth it from a speed-up "
                f"of {thresholds.speedup_median_min:g} in the median on "
                f"({thresholds.speedup_p95_min:g} at the 95th percentile of the reply times)."
            ),
            "mechanism": (
                "Stage 3 of 5 holds the change: the valid prefix of a guessed block is accepted by "
                "comparison with the target's own choices. Drafting (1) only makes it possible; "
                "scoring (2), resampling (4) and repeating (5) are what plain decoding does too."
            ),
            "baseline": (
                "Plain decoding of the full target (the same loop with K = 0) and the draft model "
                "alone as a smaller target, in the same run, prompt by prompt in turn."
            ),
            "evidence": (
                "Five populations (ordinary, hard, adversarial, other users, changed assumptions) "
                "with answer keys, their sub-populations, a third held out; exactness token by "
                "token; load from 1 to 8 sessions; a lossy rule that has to be found out."
            ),
            "operation": (
                "Memory of the draft model, a second cache for each conversation, processor time "
                "per useful reply, and docs/operations.md: who is called, what it takes to review."
            ),
            "risk": (
                "Speed collapses where draft and target disagree often. Earliest sign: confident "
                "guesses that are refused (voiceagent/decoding/early_warning.py), before the mean "
                "acceptance moves."
            ),
            "recovery": (
                "Shorter blocks at the first signs, plain decoding after three refused rounds, an "
                "alarm for the owner; the text is the target's at every moment, so nothing has to "
                "be taken back but provisional text on screens that asked for it."
            ),
        },
    }
