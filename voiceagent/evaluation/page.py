"""A report as one page: nothing is fetched, no script runs."""

from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from voiceagent.evaluation.charts import bars, lines
from voiceagent.evaluation.prompts import DATA


def speculation_page(report: Mapping[str, Any]) -> str:
    """The page of `voiceagent.evaluation.speculation.evaluate`'s report, lineage included."""
    common = {name: found["common"] for name, found in report["settings"].items()}
    candidate = report["settings"][report["decision"]["candidate"]]["all"]
    speeds = [(name, each["engine"]["speedup_median"]) for name, each in common.items()]
    honest = [
        (each["claimed"], each["stood"])
        for each in report["calibration"]["bins"]
        if each["decided"]
    ]
    return render(
        "speculation.html",
        title="Speculation: " + report["verdict"]["answer"],
        setting_rows=[_setting_row(name, each) for name, each in common.items()],
        speed_chart=bars(speeds, title="Median speed-up over plain decoding"),
        ablation_rows=[list(each.values()) for each in report["ablation"]],
        population_rows=[_population_row(*each) for each in report["populations"].items()],
        group_rows=[[name, *each.values()] for name, each in report["groups"].items()],
        failure_rows=[
            [each[key] for key in ("prompt", "group", "severity")]
            + [", ".join(each["failed"]), each["reply"], each["plain_was_right"]]
            for each in report["failed_replies"]
        ],
        exact_rows=[
            [name, *(each[key] for key in ("replies", "equal", "near_ties", "unexplained"))]
            for name, each in report["exactness"].items()
        ],
        calibration_chart=lines(
            [("guesses", honest)],
            title="Reliability of the draft's confidence",
            x_label="claimed",
            y_label="stood",
            diagonal=True,
        ),
        surface_rows=[_surface_row(*each) for each in report["surfaces"].items()],
        load_rows=_load_rows(report["load"]),
        wait_rows=[
            [
                name.replace("_", " "),
                candidate["session"][name]["p50"],
                candidate["session"][name]["p95"],
            ]
            for name in ("drafted_to_verified_ms", "verified_to_committed_ms")
        ],
        variant_rows=list(report["variants"].items()),
        algorithm=candidate["algorithm"],
        schedule=report.get("schedule"),
        lineage_rows=list(report["lineage"].items()),
        **{
            key: report[key]
            for key in (
                *("decision", "questions", "verdict", "thresholds", "sabotage", "calibration"),
                *("usual_practice", "load", "drift", "stages", "took_s", "load_average", "memory"),
            )
        },
    )


def render(template: str, **values: Any) -> str:
    """A page of this room; every text in it is escaped.

    Raises:
        jinja2.UndefinedError: the page names something that is not there.
    """
    environment = Environment(
        loader=FileSystemLoader(DATA), autoescape=True, undefined=StrictUndefined
    )
    environment.filters["figure"] = figure
    return environment.get_template(template).render(**values)


def figure(value: Any) -> str:
    """A value for the eye: few digits, and no bare Python."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {figure(each)}" for key, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(figure, value))
    return str(value)


def _setting_row(name: str, found: Mapping[str, Any]) -> list[Any]:
    return [
        name,
        found["algorithm"]["tokens_per_round"],
        found["algorithm"]["acceptance"],
        *(found["engine"][k] for k in ("tokens_per_s", "speedup_median", "speedup_p95")),
        found["engine"]["slower_than_plain"],
        found["session"]["first_commit_ms"]["p50"],
        found["quality"]["right"],
        found["quality"]["equal_to_plain"],
        found["prompts"],
        found["service"]["cpu_s_per_useful_reply"],
    ]


def _population_row(name: str, found: Mapping[str, Any]) -> list[Any]:
    return [
        name,
        found["prompts"],
        found["algorithm"]["acceptance"],
        *(found["engine"][k] for k in ("speedup_median", "speedup_p95", "slower_than_plain")),
        found["quality"]["right"],
        found["session"]["first_commit_ratio"],
    ]


def _surface_row(name: str, found: Mapping[str, Any]) -> list[Any]:
    shown, speed = found["shown"], found["speed"]
    return [
        name,
        *(shown[k] for k in ("protocol", "churn", "erasure", "erasure_bytes")),
        shown["inversions_per_1000"],
        speed["engine"]["compared"],
        speed["engine"]["speedup_median"],
        speed["session"]["first_commit_ratio"],
    ]


def _load_rows(load: Mapping[str, Any]) -> list[list[Any]]:
    return [
        [
            sessions,
            setting,
            *(found[f"first_{name}_ms"]["p50"] for name in ("provisional", "verified", "commit")),
            found["first_commit_ms"]["p95"],
            found["last_token_ms"]["p95"],
            *(found[k] for k in ("steady_tokens_per_s", "throughput_tokens_per_s")),
            *(found[k] for k in ("utilisation", "failures", "cpu_s_per_useful_reply")),
        ]
        for sessions, level in load["sessions"].items()
        for setting, found in level.items()
    ]
