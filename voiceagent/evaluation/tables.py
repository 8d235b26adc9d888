"""Tables of the report that are only put together, not measured."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from voiceagent.core.streams import StreamProtocol
from voiceagent.evaluation.lab import PLAIN, Run, Setting
from voiceagent.evaluation.measure import Runs, figures
from voiceagent.evaluation.prompts import PromptSet
from voiceagent.evaluation.shown import UsualPractice, ledger_events, show
from voiceagent.evaluation.statistics import ratio, rounded


def settings(runs: Runs, chosen: Sequence[Setting], part: PromptSet) -> dict[str, Any]:
    """Each setting on all that it decoded, and on the part that all of them decoded."""
    common = {each.id for each in part.prompts}
    return {
        setting.name: asdict(setting)
        | {
            "all": figures(runs.pairs(setting.name)),
            "common": figures(
                [pair for pair in runs.pairs(setting.name) if pair.other.prompt.id in common]
            ),
        }
        for setting in chosen
    }


def ablation(runs: Runs, chosen: Sequence[Setting], part: PromptSet) -> list[dict[str, Any]]:
    """Where the gain comes from: more tokens in a round, and what the round then costs."""
    common = {each.id for each in part.prompts}
    plain_round_s = _round_s(run for run in runs.of(PLAIN.name) if run.prompt.id in common)
    rows = []
    for setting in chosen:
        own = [run for run in runs.of(setting.name) if run.prompt.id in common]
        rounds = [each for run in own for each in run.rounds[1:]]
        tokens = ratio(sum(len(each.emitted) for each in rounds), len(rounds))
        cost = ratio(_round_s(own), plain_round_s)
        rows.append(
            {
                "setting": setting.name,
                "tokens_per_round": rounded(tokens),
                "round_cost_over_plain": rounded(cost),
                "product": rounded(ratio(tokens, cost)),
                "draft_share": rounded(
                    ratio(
                        sum(each.times.draft_s for each in rounds),
                        sum(each.times.total_s for each in rounds),
                    )
                ),
            }
        )
    return rows


def _round_s(runs: Iterable[Run]) -> float | None:
    times = [each.times.total_s for run in runs for each in run.rounds[1:]]
    return sum(times) / len(times) if times else None


def failed_replies(runs: Runs, candidate: Setting) -> list[dict[str, Any]]:
    """Wrong replies one by one, the worst first, beside what plain decoding said."""
    order = {"critical": 0, "major": 1, "minor": 2}
    wrong = [pair for pair in runs.pairs(candidate.name) if not pair.other.grade.right]
    wrong.sort(key=lambda pair: order[pair.other.grade.severity])
    return [
        {
            "prompt": pair.other.prompt.id,
            "group": pair.other.prompt.group,
            "severity": pair.other.grade.severity,
            "failed": list(pair.other.grade.failed),
            "reply": pair.other.completion.text[:200],
            "plain_was_right": pair.plain.grade.right,
        }
        for pair in wrong
    ]


def usual_practice(runs: Runs, candidate: Setting) -> dict[str, Any]:
    """What clients without retraction would have been left with."""
    total = UsualPractice()
    for run in runs.of(candidate.name):
        events = ledger_events(run.events, surface="chat")
        total.add(show(events, protocol=StreamProtocol.TOKEN_PUSH))
    return total.to_object()


def summary(report: dict[str, Any]) -> list[str]:
    """The report in a few lines."""
    verdict, candidate = report["verdict"], report["decision"]["candidate"]
    found = report["settings"][candidate]["all"]
    surfaces = f": {', '.join(verdict['surfaces'])}" if verdict["surfaces"] else ""
    lines = [
        f"{verdict['answer']}{surfaces} ({candidate}, {found['prompts']} prompts)",
        f"  speed-up {found['engine']['speedup_median']} in the median, "
        f"{found['engine']['speedup_p95']} at the 95th percentile of the reply times; "
        f"{found['algorithm']['tokens_per_round']} tokens a round, "
        f"acceptance {found['algorithm']['acceptance']}",
        f"  right {found['quality']['right']} of {found['prompts']}, equal to plain "
        f"{found['quality']['equal_to_plain']}; sabotage caught: "
        f"{report['sabotage'].get('caught', 'not run')}",
    ]
    lines += [f"  fails: {each}" for each in verdict["failed"]]
    return [*lines, f"  {verdict['reversal']}"]
