"""A report as one self-contained page: distributions, waterfalls, every turn to see and to hear."""

import base64
import html
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import soundfile  # type: ignore[import-untyped]

from voiceagent.core.errors import VoiceAgentError
from voiceagent.sound.files import read_channels
from voiceagent.sound.pcm import Float32
from voiceagent.sound.resample import resample

COLUMNS = 600
SOUND_HZ = 16_000
MOST_PLAYABLE = 120
"""Turns whose sound is inside the page; more make it too large for a browser."""
AROUND_S = 0.4
COLOURS = {
    "vad": "#54aeff",
    "recognizer": "#0969da",
    "end_of_turn": "#8250df",
    "prefill": "#bf8700",
    "first_token": "#e16f24",
    "first_commit": "#cf222e",
    "synthesis": "#1a7f37",
    "release": "#2da44e",
    "playout": "#6e7781",
    "device": "#424a53",
    "residual": "#d0d7de",
}
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem;
  color: #1b1f24; background: #fff }
table { border-collapse: collapse } td, th { text-align: left; vertical-align: top;
  padding: .25rem .7rem; border-bottom: 1px solid #d8dee4 } td.n { text-align: right }
details { border-bottom: 1px solid #d8dee4; padding: .4rem 0 } summary { cursor: pointer }
svg { width: 100%; background: #f6f8fa } audio { width: 100%; height: 2rem }
.mouth { fill: #0969da } .ear { fill: #1a7f37 } .gap { fill: #cf222e; opacity: .15 }
.committed { font-weight: 600 } .heard { font-weight: 600; text-decoration: underline }
.key { display: inline-block; width: .8em; height: .8em; margin: 0 .3em 0 1em }
.worse { color: #cf222e } .better { color: #1a7f37 } .trouble { color: #b42318 }
@media (prefers-color-scheme: dark) { body { color: #e6edf3; background: #0d1117 }
  td, th, details { border-color: #30363d } svg { background: #161b22 } }
"""


def page(report: dict[str, Any], *, folder: Path) -> str:
    """The page as HTML.

    Args:
        report: as ``report_of`` makes it.
        folder: where its recordings are; turns whose recording is missing have no sound.
    """
    agents = report["agents"]
    title = f"Latency: {html.escape(report['title'])}"
    return "".join(
        [
            f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>",
            "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; "
            "style-src 'unsafe-inline'; media-src data:\">",
            f"<style>{STYLE}</style><h1>{title}</h1><p>{_about(report)}</p>",
            _figures(agents),
            *map(_comparison, report["comparisons"]),
            _distributions(agents),
            _stages(agents),
            *(_turns(agent, folder) for agent in agents),
            "</html>\n",
        ]
    )


def _about(report: dict[str, Any]) -> str:
    about = {"made": report["created"], "seed": report["seed"], **report["about"]}
    return html.escape(", ".join(f"{name} {value}" for name, value in about.items()))


def _figures(agents: list[dict[str, Any]]) -> str:
    rows = []
    for name, label in (
        ("response_gap", "response gap"),
        ("stop", "stop after an onset"),
        ("hold", "hold"),
        ("talk_over", "talk-over"),
    ):
        for figure, of in (("p50_ms", "median"), ("p95_ms", "95th percentile")):
            cells = (_figure(agent["figures"][name], figure) for agent in agents)
            rows.append(_row(f"{label}, {of}, ms", cells))
    for count in ("due", "missed", "cut_ins", "false_starts", "silent_stalls"):
        cells = (str(agent["figures"]["counts"][count]) for agent in agents)
        rows.append(_row(count.replace("_", " "), cells))
    rows.append(
        _row(
            "pipecat's observer minus sound, median, ms",
            (_of(agent, "observer_minus_sound", "p50_ms") for agent in agents),
        )
    )
    rows.append(
        _row("heard error, median, ms", (_of(agent, "heard_error", "p50_ms") for agent in agents))
    )
    rows.append(
        _row(
            "words understood wrong",
            (_of(agent, "words_understood_wrong", "rate") for agent in agents),
        )
    )
    head = "".join(f"<th>{html.escape(agent['name'])}" for agent in agents)
    return f"<h2>Figures, from sound</h2><table><tr><th>{head}</tr>{''.join(rows)}</table>"


def _of(agent: dict[str, Any], figure: str, name: str) -> str:
    value = agent["figures"].get(figure, {}).get(name)
    return "-" if value is None else f"{value:g}"


def _figure(distribution: dict[str, Any], name: str) -> str:
    if distribution[name] is not None:
        return f"{distribution[name]:g}"
    return f"<small>withheld: {html.escape(distribution['withheld'].get(name, ''))}</small>"


def _row(label: str, cells: Iterable[str]) -> str:
    return f"<tr><td>{html.escape(label)}" + "".join(f"<td class=n>{cell}" for cell in cells)


def _comparison(comparison: dict[str, Any]) -> str:
    gap = comparison["response_gap"]
    rows = "".join(
        _row(
            name,
            [
                _signed(each["median_ms"]),
                f"{_signed(each['low_ms'])} to {_signed(each['high_ms'])}",
                str(each["pairs"]),
                str(each["verdict"]),
            ],
        )
        for name, each in {"response gap": gap, **comparison["stages"]}.items()
    )
    kind = html.escape(comparison["verdict"].split()[0])
    culprit = comparison["culprit"]
    blame = f", by {html.escape(culprit)}" if culprit else ""
    return (
        f"<h2>{html.escape(comparison['second'])} against {html.escape(comparison['first'])}: "
        f"<span class={kind}>{html.escape(comparison['verdict'])}{blame}</span></h2>"
        "<p>Paired by fixture; the interval is the bootstrap's, with 95 % confidence.</p>"
        f"<table><tr><th><th>median, ms<th>interval<th>pairs<th>verdict</tr>{rows}</table>"
    )


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.0f}"


def _distributions(agents: list[dict[str, Any]]) -> str:
    """Every response gap as a dot on one axis, one line an agent."""
    gaps = {
        agent["name"]: [
            turn["response_gap_ms"]
            for turn in agent["turns"]
            if turn["response_gap_ms"] is not None and not turn["withheld"]
        ]
        for agent in agents
    }
    most_ms = max([1000.0, *(gap for each in gaps.values() for gap in each)])
    lines = []
    for i, (name, values) in enumerate(gaps.items()):
        y = 24 + 30 * i
        dots = "".join(
            f"<circle cx={_x(value, most_ms)} cy={y} r=4 class=ear opacity=.5>"
            f"<title>{value:.0f} ms</title></circle>"
            for value in values
        )
        lines.append(f"<text x=4 y={y - 9} font-size=10>{html.escape(name)}</text>{dots}")
    height = 30 * len(gaps) + 24
    ticks = "".join(
        f"<text x={_x(at, most_ms)} y={height - 4} font-size=9>{at}</text>"
        for at in range(0, int(most_ms) + 1, 500)
    )
    drawing = f"<svg viewBox='0 0 {COLUMNS} {height}'>{''.join(lines)}{ticks}</svg>"
    return f"<h2>Response gaps, ms</h2>{drawing}"


def _x(value_ms: float, most_ms: float) -> float:
    return round(20 + max(value_ms, 0) / most_ms * (COLUMNS - 40), 1)


def _stages(agents: list[dict[str, Any]]) -> str:
    found = [agent for agent in agents if agent["stages"]]
    if not found:
        return ""
    keys = "".join(
        f"<span class=key style='background:{colour}'></span>{name.replace('_', ' ')}"
        for name, colour in COLOURS.items()
    )
    rows = "".join(
        f"<p>{html.escape(agent['name'])}: median of each stage{_bar(agent['stages'])}"
        for agent in found
    )
    return f"<h2>Where the time goes</h2><p>{keys}</p>{rows}"


def _bar(stages_ms: dict[str, float]) -> str:
    total = sum(max(value, 0) for value in stages_ms.values()) or 1.0
    at, parts = 0.0, []
    for name, value in stages_ms.items():
        width = COLUMNS * max(value, 0) / total
        parts.append(
            f"<rect x={at:.1f} y=0 width={width:.1f} height=22 fill='{COLOURS.get(name, '#999')}'>"
            f"<title>{html.escape(name)} {value:.0f} ms</title></rect>"
        )
        if width > 26:
            parts.append(f"<text x={at + 3:.1f} y=15 font-size=10 fill=#fff>{value:.0f}</text>")
        at += width
    return f"<svg viewBox='0 0 {COLUMNS} 22'>{''.join(parts)}</svg>"


def _turns(agent: dict[str, Any], folder: Path) -> str:
    blocks = [
        _turn(turn, folder if i < MOST_PLAYABLE else None) for i, turn in enumerate(agent["turns"])
    ]
    return f"<h2>Turns of {html.escape(agent['name'])}</h2>{''.join(blocks)}"


def _turn(turn: dict[str, Any], folder: Path | None) -> str:
    """One turn: closed it is a line, open it has sound, waveforms, stages and texts."""
    facts = [turn["scenario"], turn["fixture"], turn["kind"]]
    for name in ("response_gap_ms", "stop_ms", "hold_ms", "observer_ms", "heard_error_ms"):
        if turn.get(name) is not None:
            facts.append(f"{name.removesuffix('_ms').replace('_', ' ')} {turn[name]:.0f} ms")
    for name in ("is_missed", "is_cut_in", "is_false_start"):
        if turn[name]:
            facts.append(name.removeprefix("is_").replace("_", " "))
    line = html.escape(" · ".join(filter(None, facts)))
    troubles = "".join(f"<p class=trouble>{html.escape(why)}" for why in turn["withheld"])
    waterfall = turn["waterfall"]
    bar = ""
    if waterfall:
        bar = _bar({**waterfall["stages_ms"], "residual": waterfall["residual_ms"]})
    sound = "" if folder is None else _sound(turn, folder)
    return f"<details><summary>{line}</summary>{troubles}{sound}{bar}{_texts(turn)}</details>"


def _texts(turn: dict[str, Any]) -> str:
    texts = turn.get("texts")
    spoken = f"<p>recognized again: {html.escape(turn['spoken'])}" if turn.get("spoken") else ""
    said = f"<p>played: {html.escape(turn['said'])}" if turn.get("said") else ""
    if not texts:
        return said + spoken
    rest = texts["committed"][len(texts["heard"]) :]
    return (
        f"{said}<p>understood: {html.escape(texts['understood'])}"
        f"<p>reply: <span class=heard>{html.escape(texts['heard'])}</span>"
        f"<span class=committed>{html.escape(rest)}</span>{spoken}"
    )


def _sound(turn: dict[str, Any], folder: Path) -> str:
    """Waveforms of both sides around the turn, its gap marked, and both to listen to."""
    try:
        sides = read_channels(folder / turn["recording"])
    except VoiceAgentError:
        return "<p>its recording is not beside the report"
    times = [turn[name] for name in ("begin_s", "end_s", "reply_begin_s", "reply_end_s")]
    known = [at_s for at_s in times if at_s is not None]
    duration_s = len(sides.pcm) / sides.rate_hz
    first_s = max(0.0, min(known) - AROUND_S) if known else 0.0
    last_s = min(duration_s, max(known) + AROUND_S) if known else duration_s
    part = sides.pcm[int(first_s * sides.rate_hz) : int(last_s * sides.rate_hz)]
    both = np.stack(
        [
            resample(np.ascontiguousarray(part[:, side]), from_hz=sides.rate_hz, to_hz=SOUND_HZ)
            for side in (0, 1)
        ],
        axis=1,
    )
    gap = ""
    if turn["response_gap_ms"] is not None and turn["end_s"] is not None:
        scale = COLUMNS / max(last_s - first_s, 1e-3)
        left = (min(turn["end_s"], turn["reply_begin_s"]) - first_s) * scale
        width = abs(turn["response_gap_ms"]) / 1000 * scale
        gap = f"<rect class=gap x={left:.1f} y=0 width={width:.1f} height=80></rect>"
    waves = "".join(
        _wave(both[:, side], name, middle=20 + 40 * side)
        for side, name in enumerate(("mouth", "ear"))
    )
    return f"<svg viewBox='0 0 {COLUMNS} 80'>{waves}{gap}</svg>{_player(both)}"


def _wave(pcm: Float32, name: str, *, middle: int) -> str:
    columns = np.array_split(np.abs(pcm), min(COLUMNS, max(len(pcm), 1)))
    peaks = [min(19, round(19 * float(column.max(initial=0)))) for column in columns]
    bars = "".join(
        f"M{at} {middle - peak}v{2 * peak}h.8v-{2 * peak}z" for at, peak in enumerate(peaks) if peak
    )
    return f"<path class={name} d='{bars}'><title>{name}</title></path>"


def _player(both: Float32) -> str:
    """Both sides, as Vorbis inside the page."""
    file = io.BytesIO()
    with soundfile.SoundFile(
        file, "w", samplerate=SOUND_HZ, channels=2, format="OGG", subtype="VORBIS"
    ) as sink:
        for block in np.array_split(both, len(both) // SOUND_HZ + 1):
            sink.write(block)
    data = base64.b64encode(file.getvalue()).decode("ascii")
    return f"<audio controls preload=none src='data:audio/ogg;base64,{data}'></audio>"
