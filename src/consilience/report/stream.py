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
    style, windows = asset("stream.css"), found.windows
    listed = windows.to_dict()
    for name in ("reference", "measured", "alarm"):
        listed[name] = ["yes" if value else "" for value in listed[name]]
    return Template(asset("stream.html")).substitute(
        policy=policy(style),
        style=style,
        counts=f"{len(windows)} windows, {sum(windows['alarm'])} with an alarm.",
        chance=f"{1 / found.false_alarms:,.0f}",
        alarms="".join(_element("li", escape(line.removeprefix("! "))) for line in found.told()),
        accuracy=figure(found),
        agreement=chart(found, [Line(name, windows[name]) for name in ("agreement", "confidence")]),
        shares=chart(found, _shares(found)),
        members=_members(found),
        windows=Table(listed)._repr_html_(),
    )


def figure(found: Monitoring) -> str:
    """The accuracy of the fused answer over time, with its band and the alarms, as an SVG element."""
    windows = found.windows
    return chart(found, [Line("fused answer", windows["accuracy"], windows["from"], windows["to"])])


def chart(found: Monitoring, lines: Sequence[Line]) -> str:
    """Lines over the windows, from 0 to 1, with the reference shaded and the alarms marked."""
    shown = [line for line in lines if np.isfinite(line.values).any()]  # members who give labels have no confidence
    drawn, names = [*_background(found)], []
    for number, line in enumerate(shown):
        color = LINE_COLORS[number % len(LINE_COLORS)]
        drawn += _drawn(found, line, color)
        names.append(_element("tspan", escape(line.name), fill=color, dx=12 if number else 0))
    drawn.append(_element("text", " ".join(names), font_size=12, x=LEFT + 6, y=_y(0) - 8))
    label = f"{', '.join(line.name for line in shown)} over the windows"
    return _element("svg", *drawn, class_="chart", viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", aria_label=label)


def _element(tag: str, *content: str, **attributes: object) -> str:
    """An element of HTML or SVG around markup; attributes are text, or lengths, which keep one decimal."""
    said = ""
    for name, value in attributes.items():
        shown = f"{value:.1f}" if isinstance(value, float) else escape(str(value))
        said += f' {name.strip("_").replace("_", "-")}="{shown}"'
    return f"<{tag}{said}>{''.join(content)}</{tag}>"


def _x(found: Monitoring, place: float) -> float:
    """Where the middle of a window is in a figure."""
    return LEFT + (WIDTH - LEFT - RIGHT) / len(found.windows) * (place + 0.5)


def _y(share: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - min(max(share, 0), 1))


def _background(found: Monitoring) -> Iterator[str]:
    """The reference, a grid, names of windows, and the alarms; in the colour of the page's text."""
    ink, small = "currentColor", {"fill": "currentColor", "fill_opacity": "0.65", "font_size": 11}
    names, is_reference, is_alarm = (found.windows[name] for name in ("window", "reference", "alarm"))
    width, height = _x(found, 1) - _x(found, 0), _y(0) - TOP
    for place in np.flatnonzero(is_reference).tolist():
        left = _x(found, place - 0.5)
        yield _element("rect", x=left, y=TOP, width=width, height=height, fill=ink, fill_opacity="0.07")
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = _y(share)
        yield _element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, stroke=ink, stroke_opacity="0.15")
        yield _element("text", f"{share:.0%}", x=LEFT - 6, y=y + 4, text_anchor="end", **small)
    for place in range(0, len(names), -(-len(names) // MOST_TICKS)):
        name = escape(str(names[place]))
        yield _element("text", name, x=_x(found, place), y=HEIGHT - 10, text_anchor="middle", **small)
    for place in np.flatnonzero(is_alarm).tolist():
        x = _x(found, place)
        yield _element("line", x1=x, x2=x, y1=TOP, y2=_y(0), stroke=ALARM, stroke_width=2, stroke_dasharray="4 3")


def _drawn(found: Monitoring, line: Line, color: str) -> Iterator[str]:
    """A line, its band, and a dot for each window that tells its number."""
    shown = np.flatnonzero(np.isfinite(line.values)).tolist()

    def along(places: list[int], values: Sequence[float]) -> str:
        return " ".join(f"{_x(found, place):.1f},{_y(values[place]):.1f}" for place in places)

    if line.low is not None and line.high is not None:
        edges = f"{along(shown, line.low)} {along(shown[::-1], line.high)}"
        yield _element("polygon", points=edges, fill=color, fill_opacity="0.18")
    yield _element("polyline", points=along(shown, line.values), fill="none", stroke=color, stroke_width=2)
    for place in shown:
        band = "" if line.low is None or line.high is None else f" ({line.low[place]:.1%} to {line.high[place]:.1%})"
        told = f"window {found.windows['window'][place]}: {line.name} {line.values[place]:.1%}{band}"
        dot = {"cx": _x(found, place), "cy": _y(line.values[place]), "r": 3, "fill": color}
        yield _element("circle", _element("title", escape(told)), **dot)


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
    more = _element("p", f"{n_members - len(lines)} more members are in the table.") if n_members > len(lines) else ""
    return _element("div", *(chart(found, [line]) for line in lines), class_="small") + more
