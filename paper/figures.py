"""Results as figures as wide as a page: a panel for each metric, a line or a point for each method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from consilience.system.errors import extra
from paper.results import HIGHER_IS_BETTER, summarized

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from paper.results import Key, Row, Summary

PANELS = {
    "accuracy": "Accuracy",
    "ece 300": "ECE, 300 bins",
    "ece debiased": "ECE, debiased",
    "brier": "Brier score",
    "nll": "NLL",
    "auroc": "AUROC",
    "auroc entropy": "AUROC by entropy",
}
"""The metrics that are drawn, and their titles."""


class Style(NamedTuple):
    """How a method looks; colours are Okabe and Ito's, and lines differ too, so that print without colour will do."""

    colour: str
    line: Any = "-"
    marker: str = "o"


STYLES = {
    "SDS (paper)": Style("#D55E00", "-", "^"),
    "SDS (ours)": Style("#E69F00", "-.", "v"),
    "SDS (paper) online": Style("#CC79A7", ":", "^"),
    "SDS (ours) online": Style("#009E73", ":", "v"),
    "EA": Style("#000000", "-", "o"),
    "PE": Style("#0072B2", "--", "s"),
}
"""What the paper is about, in the order of the legend. All else is grey, told apart by its line and marker."""

GREYS = [Style("#8c8c8c", line, marker) for line in ("-", "--", ":") for marker in ("x", "+", "d", "1")]

IN_TABLES = {"MV", "DS smoothed", "EA geometric", "SDS default", "SDS (paper), moments anew", "SDS (counts)"}
"""What the paper's figures do not show. Tables have it."""

FEW = 3
"""From so many ensembles on deviations are drawn."""

WIDTH, HEIGHT, N_COLUMNS = 7.0, 1.75, 3
"""Of a page and of a row of panels, in inches; panels in a row. The legend stands where the next panel would."""

PRINT = {
    "font.size": 7.5,
    "axes.titlesize": 8,
    "axes.linewidth": 0.6,
    "lines.markersize": 3.5,
    "legend.fontsize": 7.5,
    "svg.hashsalt": "paper",  # the same rows make the same file
}


def draw(
    rows: Sequence[Row],
    path: Path,
    *,
    axis: str,
    title: str = "",
    methods: Sequence[str] | None = None,
    log: bool = False,
) -> None:
    """One figure of the rows of one task and shift: each metric over severity, with standard deviations.

    Where there is one severity, methods stand below each other instead. The scale of the rows stands below the title.
    """
    library = extra("matplotlib", name="paper", use="figures")
    found = summarized(rows)
    shown = methods or _in_order({key.method for key in found} - IN_TABLES)
    styles = STYLES | dict(zip((name for name in shown if name not in STYLES), GREYS * len(shown), strict=False))
    metrics = [name for name in PANELS if any(key.metric == name for key in found)] or sorted({k.metric for k in found})
    with library.rc_context(PRINT):
        if len({key.severity for key in found}) == 1:
            figure = _points(found, metrics, shown, styles)
        else:
            figure = _lines(found, metrics, shown, styles, axis=axis, log=log)
        scales = "; ".join(dict.fromkeys(row.scale for row in rows))
        figure.suptitle(f"{title}\n{scales}" if title else scales, fontsize=8)
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def _in_order(methods: set[str]) -> list[str]:
    return [*(name for name in STYLES if name in methods), *sorted(methods - set(STYLES))]


def _title(metric: str) -> str:
    return f"{PANELS.get(metric, metric)} {'↑' if metric in HIGHER_IS_BETTER else '↓'}"


# ---- over severity ----------------------------------------------------------------------------------------


def _lines(
    found: Mapping[Key, Summary],
    metrics: Sequence[str],
    shown: Sequence[str],
    styles: Mapping[str, Style],
    *,
    axis: str,
    log: bool,
) -> Any:
    n_rows = -(-(len(metrics) + 1) // N_COLUMNS)
    figure = _figure(WIDTH, HEIGHT * n_rows + 0.35)
    places = [figure.add_subplot(n_rows, N_COLUMNS, number + 1) for number in range(len(metrics) + 1)]
    for axes, metric in zip(places, metrics, strict=False):
        for method in reversed(shown):  # the first are on top
            points = sorted((key.severity, value) for key, value in found.items() if key[4:] == (method, metric))
            _line(axes, method, points, styles[method])
        axes.set(title=_title(metric), xlabel=axis)
        if log:
            axes.set_xscale("log")
        elif "degrees" in axis:
            axes.set_xticks(range(0, 181, 45), [f"{angle}°" for angle in range(0, 181, 45)])
        _tidy(axes)
    handles = dict(zip(*reversed(places[0].get_legend_handles_labels()), strict=True))
    places[-1].axis("off")
    names = [name for name in shown if name in handles]
    places[-1].legend([handles[name] for name in names], names, loc="center left", frameon=False, handlelength=3.5)
    return figure


def _line(axes: Any, method: str, points: list[tuple[float, Summary]], style: Style) -> None:
    if not points:
        return
    severity = [place for place, _ in points]
    mean, std = (np.array([getattr(value, name) for _, value in points]) for name in ("mean", "std"))
    is_grey = method not in STYLES
    axes.plot(
        severity,
        mean,
        label=method,
        color=style.colour,
        linestyle=style.line,
        marker=style.marker,
        linewidth=0.8 if is_grey else 1.3,
        zorder=2 if is_grey else 3,
    )
    if all(value.n >= FEW for _, value in points):
        axes.fill_between(severity, mean - std, mean + std, color=style.colour, alpha=0.12, linewidth=0)


# ---- of one severity --------------------------------------------------------------------------------------


def _points(
    found: Mapping[Key, Summary], metrics: Sequence[str], shown: Sequence[str], styles: Mapping[str, Style]
) -> Any:
    figure = _figure(WIDTH, 0.9 + 0.17 * len(shown))
    panels = figure.subplots(1, len(metrics), squeeze=False, sharey=True)[0]
    for axes, metric in zip(panels, metrics, strict=True):
        for key, value in found.items():
            if key.metric == metric and key.method in shown:
                style = styles[key.method]
                axes.errorbar(
                    value.mean,
                    shown.index(key.method),
                    xerr=value.std if value.n >= FEW else None,
                    color=style.colour,
                    marker=style.marker,
                    label=key.method,
                    capsize=2,
                    linewidth=0.8,
                )
        axes.set_title(_title(metric))
        axes.locator_params(axis="x", nbins=3)
        _tidy(axes)
    panels[0].set_yticks(range(len(shown)), shown)
    panels[0].invert_yaxis()
    return figure


def _figure(width: float, height: float) -> Any:
    return extra("matplotlib.figure", name="paper", use="figures").Figure(figsize=(width, height), layout="constrained")


def _tidy(axes: Any) -> None:
    axes.grid(alpha=0.25, linewidth=0.5)
    axes.spines[["top", "right"]].set_visible(False)
