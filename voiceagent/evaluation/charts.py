"""Small drawings for the pages: SVG, each with a title for those who cannot see it."""

from collections.abc import Sequence
from html import escape

_WIDTH, _ROW, _LABEL = 640, 22, 190
_SIDE, _PAD = 320, 44
_COLOURS = ("#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#a463f2")


def bars(values: Sequence[tuple[str, float | None]], *, title: str, mark: float = 1.0) -> str:
    """Horizontal bars with their figures; ``mark`` is drawn as a line."""
    known = [(name, value) for name, value in values if value is not None]
    top = max([mark * 1.1, *(value for _, value in known)])
    scale = (_WIDTH - _LABEL - 60) / top
    height = _ROW * len(known) + 10
    parts = [_open(_WIDTH, height, title)]
    for row, (name, value) in enumerate(known):
        y = row * _ROW + 4
        parts.append(
            f'<text x="0" y="{y + 13}" font-size="13" fill="currentColor">{escape(name)}</text>'
            f'<rect x="{_LABEL}" y="{y}" width="{value * scale:.1f}" height="{_ROW - 6}" '
            f'fill="{_COLOURS[0]}"/><text x="{_LABEL + value * scale + 6:.1f}" y="{y + 13}" '
            f'font-size="13" fill="currentColor">{value:.2f}</text>'
        )
    x = _LABEL + mark * scale
    parts.append(f'<path d="M{x:.1f} 0V{height}" stroke="currentColor" stroke-dasharray="4"/>')
    return "".join(parts) + "</svg>"


def lines(
    curves: Sequence[tuple[str, Sequence[tuple[float, float]]]],
    *,
    title: str,
    x_label: str,
    y_label: str,
    diagonal: bool = False,
    marks: Sequence[str] = (),
) -> str:
    """Curves of points, each with its name; ``marks`` are written beside their points."""
    points = [point for _, curve in curves for point in curve] or [(0.0, 0.0), (1.0, 1.0)]
    points += [(0.0, 0.0), (1.0, 1.0)] if diagonal else []
    low_x, high_x = _range([x for x, _ in points])
    low_y, high_y = _range([y for _, y in points])

    def place(x: float, y: float) -> tuple[float, float]:
        return (
            _PAD + (x - low_x) / (high_x - low_x) * (_SIDE * 1.5 - 2 * _PAD),
            _SIDE - _PAD - (y - low_y) / (high_y - low_y) * (_SIDE - 2 * _PAD),
        )

    parts = [_open(_SIDE * 2, _SIDE, title), _axes((low_x, high_x), (low_y, high_y))]
    parts.append(
        f'<text x="{_SIDE * 0.75}" y="{_SIDE - 6}" font-size="13" fill="currentColor" '
        f'text-anchor="middle">{escape(x_label)}</text>'
        f'<text x="4" y="16" font-size="13" fill="currentColor">{escape(y_label)}</text>'
    )
    if diagonal:
        (x1, y1), (x2, y2) = place(0, 0), place(1, 1)
        parts.append(
            f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="currentColor" '
            'stroke-dasharray="4" opacity="0.6"/>'
        )
    for number, (name, curve) in enumerate(curves):
        parts.append(_curve(name, [place(*point) for point in curve], number, marks))
    return "".join(parts) + "</svg>"


def _curve(
    name: str, places: Sequence[tuple[float, float]], number: int, marks: Sequence[str]
) -> str:
    colour = _COLOURS[number % len(_COLOURS)]
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>' for x, y in places)
    beside = "".join(
        f'<text x="{x + 5:.1f}" y="{y - 5:.1f}" font-size="11">{escape(mark)}</text>'
        for (x, y), mark in zip(places, marks, strict=False)
    )
    legend_y = 30 + 18 * number
    return (
        f'<g fill="{colour}"><path d="M{path}" stroke="{colour}" fill="none" stroke-width="2"/>'
        f'{dots}{beside}<rect x="{_SIDE * 1.5}" y="{legend_y - 10}" width="12" height="12"/></g>'
        f'<text x="{_SIDE * 1.5 + 18}" y="{legend_y}" font-size="13" fill="currentColor">'
        f"{escape(name)}</text>"
    )


def _axes(x: tuple[float, float], y: tuple[float, float]) -> str:
    right, bottom = _SIDE * 1.5 - _PAD, _SIDE - _PAD
    marks = (
        (f"{x[0]:.3g}", _PAD, bottom + 16),
        (f"{x[1]:.3g}", right, bottom + 16),
        (f"{y[0]:.3g}", 6, bottom),
        (f"{y[1]:.3g}", 6, _PAD + 4),
    )
    texts = "".join(
        f'<text x="{at_x}" y="{at_y}" font-size="12" fill="currentColor">{text}</text>'
        for text, at_x, at_y in marks
    )
    return f'<path d="M{_PAD} {_PAD}V{bottom}H{right}" stroke="currentColor" fill="none"/>{texts}'


def _range(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _open(width: float, height: float, title: str) -> str:
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" width="{width:g}" role="img" '
        f'aria-label="{escape(title)}"><title>{escape(title)}</title>'
    )
