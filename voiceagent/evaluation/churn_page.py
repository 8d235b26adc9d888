"""The churn sweep as one page."""

from collections.abc import Mapping
from typing import Any

from voiceagent.evaluation.charts import lines
from voiceagent.evaluation.page import render


def churn_page(report: Mapping[str, Any]) -> str:
    """The page of `voiceagent.evaluation.sweep.sweep`'s report."""
    rows = report["settings"]
    temperatures = sorted({each["temperature"] for each in rows})
    return render(
        "churn.html",
        title="Churn: what speculation shows and takes back",
        report=report,
        frontier=lines(
            [
                (
                    f"T {temperature:g}",
                    [
                        (each["speedup"], each["surfaces"]["chat/token_push"]["churn"])
                        for each in rows
                        if each["temperature"] == temperature and each["speedup"] is not None
                    ],
                )
                for temperature in temperatures
            ],
            title="Speed against churn, K from 0 upwards",
            x_label="speed-up over plain decoding",
            y_label="churn of a chat under token push",
            marks=[str(each["window"]) for each in rows if each["temperature"] == temperatures[0]],
        ),
        closed=lines(
            [
                curve
                for temperature in temperatures
                for curve in _closed_form(rows, temperature=temperature)
            ],
            title="Churn in tokens, measured and from the closed form",
            x_label="K",
            y_label="churn in tokens",
        ),
        setting_rows=[_setting_row(each) for each in rows],
        surface_rows=[
            [each["temperature"], each["window"], *name.split("/"), *_surface_row(found)]
            for each in rows
            for name, found in each["surfaces"].items()
        ],
        usual_rows=[
            [each["temperature"], each["window"], *each["usual_practice"].values()] for each in rows
        ],
        inversion_rows=[
            [each["temperature"], each["window"], *found.values()]
            for each in rows
            for found in each["surfaces"]["chat/token_push"]["inversions"]
        ],
        recommended_rows=[
            [name, found["protocol"], found["window"], found.get("speedup"), found["why"]]
            for name, found in report["recommended"].items()
        ],
    )


def _closed_form(
    rows: list[Mapping[str, Any]], *, temperature: float
) -> list[tuple[str, list[tuple[float, float]]]]:
    own = [each for each in rows if each["temperature"] == temperature and each["window"]]
    names = {
        "churn": "measured",
        "churn_closed_form": "one acceptance",
        "churn_by_position": "by position",
    }
    return [
        (
            f"{label}, T {temperature:g}",
            [
                (each["window"], each["tokens"][name])
                for each in own
                if each["tokens"][name] is not None
            ],
        )
        for name, label in names.items()
    ]


def _setting_row(row: Mapping[str, Any]) -> list[Any]:
    tokens = row["tokens"]
    return [
        *(row[k] for k in ("temperature", "window", "tokens_per_s", "speedup")),
        *(tokens[k] for k in ("acceptance", "churn", "churn_closed_form", "churn_by_position")),
        tokens["erasure"],
    ]


def _surface_row(found: Mapping[str, Any]) -> list[Any]:
    return [
        *(found[k] for k in ("default", "churn", "erasure", "erasure_bytes")),
        *(found["severity"].get(k, 0) for k in ("none", "rewording", "inversion")),
        *(found[k] for k in ("wrong_visible_ms", "wrong_visible_max_ms")),
        *(found[k] for k in ("first_text_ms", "first_commit_ms")),
    ]
