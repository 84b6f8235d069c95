"""Results as figures like the paper's: a panel for each metric, a line or a point for each method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from consilience.experiments.results import HIGHER_IS_BETTER, summarized

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from consilience.experiments.results import Row, Summary

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
    line: str = "-"
    marker: str = "o"


STYLES = {
    "EA": Style("#000000", "-", "o"),
    "PE": Style("#0072B2", "--", "s"),
    "SDS (paper)": Style("#D55E00", "-", "^"),
    "SDS (ours)": Style("#E69F00", "-.", "v"),
    "SDS (paper) online": Style("#CC79A7", ":", "^"),
    "SDS (ours) online": Style("#009E73", ":", "v"),
}
"""What the paper is about. All else is grey, told apart by its line and marker."""

GREYS = [Style("#8c8c8c", line, marker) for line in ("-", "--", ":") for marker in ("x", "+", "d", "1")]
FEW = 3
"""From so many ensembles on deviations are drawn."""


def draw(rows: Sequence[Row], path: Path, *, axis: str, title: str = "", methods: Sequence[str] | None = None) -> None:
    """One figure of the rows of one task and shift: each metric over severity, with standard deviations.

    Where there is one severity, methods stand beside each other instead.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

    found = summarized(rows)
    metrics = [name for name in PANELS if any(key[5] == name for key in found)] or sorted({key[5] for key in found})
    shown = sorted(methods or dict.fromkeys(key[4] for key in found), key=lambda name: name in STYLES)  # on top
    styles = STYLES | dict(zip((name for name in shown if name not in STYLES), GREYS * len(shown), strict=False))
    n_columns = min(len(shown), max(3, round(2.5 * len(metrics))))  # of the legend, which is to fit below the panels
    n_rows = -(-len(shown) // n_columns)
    figure = Figure(figsize=(3.2 * len(metrics), 3.0 + 0.25 * n_rows), layout="constrained")
    is_single = len({key[2] for key in found}) == 1
    for axes, metric in zip(figure.subplots(1, len(metrics), squeeze=False)[0], metrics, strict=True):
        for place, method in enumerate(shown):
            points = sorted((key[2], value) for key, value in found.items() if key[4:] == (method, metric))
            _line(axes, method, [(place, value) for _, value in points] if is_single else points, styles[method])
        arrow = "↑" if metric in HIGHER_IS_BETTER else "↓"
        axes.set(title=f"{PANELS.get(metric, metric)} {arrow}", xlabel="" if is_single else axis)
        _mark_places(axes, axis, is_single=is_single)
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    figure.suptitle(title, fontsize="medium")
    handles, names = axes.get_legend_handles_labels()
    figure.legend(handles[::-1], names[::-1], loc="outside lower center", ncols=n_columns, frameon=False)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def _mark_places(axes: Any, axis: str, *, is_single: bool) -> None:
    if is_single:
        axes.set_xticks([])
    elif "degrees" in axis:
        axes.set_xticks(range(0, 181, 45), [f"{angle}°" for angle in range(0, 181, 45)])


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
        linewidth=1.0 if is_grey else 1.8,
        markersize=4,
        zorder=2 if is_grey else 3,
    )
    if all(value.n >= FEW for _, value in points):
        if len(points) == 1:
            axes.errorbar(severity, mean, std, color=style.colour, capsize=2)
        else:
            axes.fill_between(severity, mean - std, mean + std, color=style.colour, alpha=0.12, linewidth=0)
