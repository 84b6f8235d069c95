"""One page about a stream: bands over time with marks at the alarms, and the tables. Plain HTML and SVG, no script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from string import Template
from typing import NamedTuple

import numpy as np

from consilience.insight.drift import MOST_APART
from consilience.insight.monitoring import Monitoring
from consilience.report.page import asset, policy
from consilience.system.tables import Table

WIDTH, HEIGHT = 720, 220
LEFT, RIGHT, TOP, BOTTOM = 44, 10, 12, 30  # the size of a figure, and the room for its axes

MOST_TICKS = 12

MOST_DRAWN_CLASSES = 6  # so many classes are drawn: those whose shares vary most
LINE_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  # Okabe and Ito's, as in `plots`

ALARM = "#D55E00"


class Line(NamedTuple):
    """A line over the windows, and its band if it has one."""

    name: str
    values: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None


def page(found: Monitoring) -> str:
    """The whole page."""
    style = asset("stream.css")
    alarms = "".join(f"<li>{escape(line.removeprefix('! '))}</li>" for line in found.told())
    windows = found.windows
    told = windows.to_dict()
    for name in ("reference", "measured", "alarm"):
        told[name] = ["yes" if value else "" for value in told[name]]
    parts = [
        _section(
            "Accuracy of the fused answer",
            "Estimated without labels, or measured where there are enough; the band is the 90 % interval. Grey: the "
            "reference. Vertical lines: alarms.",
            figure(found),
        ),
        _section(
            "Agreement and confidence",
            "How far members agree beyond chance (Krippendorff's alpha), and how sure they are in the mean.",
            chart(found, [Line(name, windows[name]) for name in ("agreement", "confidence")]),
        ),
        _section("Class shares", "Shares of the votes, of the classes that vary most.", chart(found, _shares(found))),
        _section("Members", "The accuracy of each member, with its 90 % interval.", _members(found)),
        _section("Windows", "", Table(told)._repr_html_()),
    ]
    return Template(asset("stream.html")).substitute(
        policy=policy(style),
        style=style,
        counts=f"{len(windows)} windows, {sum(windows['alarm'])} with an alarm.",
        chance=f"{1 / found.false_alarms:,.0f}",
        alarms=alarms,
        sections="".join(parts),
    )


def figure(found: Monitoring) -> str:
    """The accuracy of the fused answer over time, with its band and the alarms, as an SVG element."""
    windows = found.windows
    return chart(found, [Line("fused answer", windows["accuracy"], windows["from"], windows["to"])])


def chart(found: Monitoring, lines: Sequence[Line]) -> str:
    """Lines over the windows, from 0 to 1, with the reference shaded and the alarms marked."""
    lines = [line for line in lines if np.isfinite(line.values).any()]  # members who give labels have no confidence
    label = escape(", ".join(line.name for line in lines))
    drawn = [*_background(found)]
    for number, line in enumerate(lines):
        drawn += _drawn(found, line, LINE_COLORS[number % len(LINE_COLORS)])
    legend = " ".join(
        f'<tspan fill="{LINE_COLORS[number % len(LINE_COLORS)]}" dx="{12 if number else 0}">{escape(line.name)}</tspan>'
        for number, line in enumerate(lines)
    )
    drawn.append(f'<text font-size="12" x="{LEFT + 6}" y="{_y(0) - 8:.1f}">{legend}</text>')
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label} over the windows">'
        f"{''.join(drawn)}</svg>"
    )


def _x(found: Monitoring, place: float) -> float:
    """Where the middle of a window is in a figure."""
    return LEFT + (WIDTH - LEFT - RIGHT) / len(found.windows) * (place + 0.5)


def _y(share: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - min(max(share, 0), 1))


def _background(found: Monitoring) -> Iterator[str]:
    """The reference, a grid, names of windows, and the alarms; in the colour of the page's text."""
    floor, faint = _y(0), 'fill="currentColor" fill-opacity="0.65" font-size="11"'
    names, is_reference, is_alarm = (found.windows[name] for name in ("window", "reference", "alarm"))
    for place in np.flatnonzero(is_reference).tolist():
        x, width = _x(found, place - 0.5), _x(found, 1) - _x(found, 0)
        yield f'<rect x="{x:.1f}" y="{TOP}" width="{width:.1f}" height="{floor - TOP:.1f}" '
        yield 'fill="currentColor" fill-opacity="0.07"/>'
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = _y(share)
        yield f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="currentColor" '
        yield 'stroke-opacity="0.15"/>'
        yield f'<text {faint} x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{share:.0%}</text>'
    for place in range(0, len(names), -(-len(names) // MOST_TICKS)):
        yield f'<text {faint} x="{_x(found, place):.1f}" y="{HEIGHT - 10}" text-anchor="middle">'
        yield f"{escape(str(names[place]))}</text>"
    for place in np.flatnonzero(is_alarm).tolist():
        x = _x(found, place)
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{floor:.1f}" stroke="{ALARM}" stroke-width="2" '
        yield 'stroke-dasharray="4 3"/>'


def _drawn(found: Monitoring, line: Line, color: str) -> Iterator[str]:
    """A line, its band, and a dot for each window that tells its number."""
    shown = np.flatnonzero(np.isfinite(line.values)).tolist()
    if line.low is not None and line.high is not None:
        edges = [(place, line.low[place]) for place in shown] + [(place, line.high[place]) for place in shown[::-1]]
        yield f'<polygon points="{_points(found, edges)}" fill="{color}" fill-opacity="0.18"/>'
    middle = [(place, line.values[place]) for place in shown]
    yield f'<polyline points="{_points(found, middle)}" fill="none" stroke="{color}" stroke-width="2"/>'
    for place, value in middle:
        yield f'<circle cx="{_x(found, place):.1f}" cy="{_y(value):.1f}" r="3" fill="{color}">'
        yield f"<title>{escape(_told(found, line, place))}</title></circle>"


def _points(found: Monitoring, values: list[tuple[int, float]]) -> str:
    return " ".join(f"{_x(found, place):.1f},{_y(value):.1f}" for place, value in values)


def _told(found: Monitoring, line: Line, place: int) -> str:
    band = "" if line.low is None or line.high is None else f" ({line.low[place]:.1%} to {line.high[place]:.1%})"
    return f"window {found.windows['window'][place]}: {line.name} {line.values[place]:.1%}{band}"


def _shares(found: Monitoring) -> list[Line]:
    order = np.argsort(-np.ptp(found.shares, axis=0), kind="stable")[:MOST_DRAWN_CLASSES]
    return [Line(str(found.classes[place]), found.shares[:, place].tolist()) for place in np.sort(order)]


def _members(found: Monitoring) -> str:
    """A small figure of each member; of many members the first ones."""
    table, n_windows = found.members, len(found.windows)
    n_members = len(table) // n_windows
    lines = [
        Line(table["member"][place], *(table[name][place::n_members] for name in ("accuracy", "from", "to")))
        for place in range(min(n_members, MOST_APART))
    ]
    more = f"<p>{n_members - len(lines)} more members are in the table.</p>" if n_members > len(lines) else ""
    return f'<div class="small">{"".join(chart(found, [line]) for line in lines)}</div>{more}'


def _section(title: str, caption: str, content: str) -> str:
    note = f"<p>{caption}</p>" if caption else ""
    return f"<section><h2>{title}</h2>{note}{content}</section>"
