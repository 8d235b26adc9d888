"""A conversation on one self-contained page: turns, text by state, waveforms, figures."""

import base64
import html
import io
from collections.abc import Mapping
from typing import Any

import numpy as np
import soundfile  # type: ignore[import-untyped]

from voiceagent.session.minutes import Minutes, ReplyMinutes, TurnMinutes
from voiceagent.sound.pcm import Int16

_COLUMNS = 900
_LONGEST_SOUND_S = 300.0
"""Longer sound makes a page of over 10 MB, which a browser takes long to open."""
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  color: #1b1f24; background: #fff }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; vertical-align: top;
  padding: .3rem .6rem; border-bottom: 1px solid #d8dee4 }
.heard { text-decoration: underline; font-weight: 600 } .committed { font-weight: 600 }
.trouble { color: #b42318 } svg { width: 100%; height: 5rem; background: #f6f8fa }
audio { width: 100% }
.mouth { fill: #0969da } .ear { fill: #1a7f37 }
@media (prefers-color-scheme: dark) { body { color: #e6edf3; background: #0d1117 }
  td, th { border-color: #30363d } svg { background: #161b22 } }
"""


def report(
    minutes: Minutes,
    *,
    title: str,
    figures: Mapping[str, Any],
    mouth: Int16,
    ear: Int16,
    rate_hz: int,
) -> str:
    """The page as HTML.

    Args:
        minutes: of the conversation.
        title: its heading.
        figures: name to value, as they are to be read.
        mouth: what the user said (samples,), over the whole conversation.
        ear: what the user heard (samples,), over the same time.
        rate_hz: of both.
    """
    turns = "".join(_turn(minutes, turn) for turn in minutes.confirmed)
    rows = "".join(
        f"<tr><th>{html.escape(name)}</th><td>{html.escape(str(value))}</td></tr>"
        for name, value in figures.items()
    )
    troubles = "".join(f"<li class=trouble>{html.escape(line)}</li>" for line in minutes.troubles)
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{html.escape(title)}</title>"
        f"<style>{_STYLE}</style><h1>{html.escape(title)}</h1>"
        f"<h2>Sound</h2><p>What the user said, and what the user heard, on one clock.</p>"
        f"{_waveform(mouth, name='mouth')}{_waveform(ear, name='ear')}"
        f"{_player(np.stack([mouth, ear], axis=1), rate_hz=rate_hz)}"
        "<h2>Turns</h2><table><tr><th>the user said<th>the agent said (bold: committed; "
        f"underlined: heard)<th>segments</tr>{turns}</table>"
        f"<h2>Figures</h2><table>{rows}</table>"
        + (f"<h2>Troubles</h2><ul>{troubles}</ul>" if troubles else "")
        + "</html>\n"
    )


def _player(both: Int16, *, rate_hz: int) -> str:
    """Both sides to listen to, as FLAC inside the page; nothing where that would be too much."""
    if not 0 < len(both) <= _LONGEST_SOUND_S * rate_hz:
        return ""
    flac = io.BytesIO()
    soundfile.write(flac, both, rate_hz, format="FLAC")
    data = base64.b64encode(flac.getvalue()).decode("ascii")
    return f"<audio controls src='data:audio/flac;base64,{data}'></audio>"


def _turn(minutes: Minutes, turn: TurnMinutes) -> str:
    answers = minutes.answers(turn)
    said = "<br>".join(_reply(reply) for reply in answers)
    segments = "<br>".join(
        f"{html.escape(str(commit.kind))} {commit.start}&ndash;{commit.end}"
        for reply in answers
        for commit in reply.commits
    )
    return f"<tr><td>{html.escape(turn.text)}<td>{said}<td>{segments}</tr>"


def _reply(reply: ReplyMinutes) -> str:
    heard = html.escape(reply.text[: reply.heard])
    rest = html.escape(reply.text[reply.heard :])
    note = "" if reply.reason in ("stop", "length") else f" <small>({reply.reason})</small>"
    return f"<span class=heard>{heard}</span><span class=committed>{rest}</span>{note}"


def _waveform(pcm: Int16, *, name: str) -> str:
    """The peaks of each column as one filled path."""
    if len(pcm) == 0:
        return f"<svg role=img aria-label='{name}: silence'></svg>"
    columns = np.array_split(np.abs(pcm.astype(np.int32)), min(_COLUMNS, len(pcm)))
    peaks = [int(column.max()) * 48 // 32768 for column in columns]
    bars = "".join(
        f"M{at} {50 - peak}v{2 * peak}h.8v-{2 * peak}z" for at, peak in enumerate(peaks) if peak
    )
    return (
        f"<svg role=img aria-label='waveform of the {name}' preserveAspectRatio=none "
        f"viewBox='0 0 {len(columns)} 100'><path class={name} d='{bars}'/></svg>"
    )
