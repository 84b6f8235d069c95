"""Results as figures like the paper's: a panel for each metric, a line for each method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from consilience.experiments.results import summarized

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from consilience.experiments.results import Row

PANELS = ("accuracy", "ece 300", "brier", "nll")
COLOURS = {  # Okabe and Ito's, which colour-blind readers tell apart
    "DS": "#E69F00",
    "BCC": "#56B4E9",
    "EA": "#000000",
    "MV": "#999999",
    "PE": "#CC79A7",
    "SDS": "#D55E00",
    "SDS default": "#882255",
    "SDS online": "#0072B2",
    "Consensus": "#009E73",
    "DS smoothed": "#F0E442",
    "EA geometric": "#0072B2",
}


def draw(rows: Sequence[Row], path: Path, *, axis: str, methods: Sequence[str] | None = None) -> None:
    """One figure of the rows of one task and shift: each metric over severity, with standard deviations."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

    found = summarized(rows)
    metrics = [name for name in PANELS if any(key[5] == name for key in found)] or sorted({key[5] for key in found})
    shown = methods or list(dict.fromkeys(key[4] for key in found))
    n_columns = min(len(shown), max(3, round(2.5 * len(metrics))))  # of the legend, which is to fit below the panels
    n_rows = -(-len(shown) // n_columns)
    figure = Figure(figsize=(3.4 * len(metrics), 2.75 + 0.25 * n_rows), layout="constrained")
    for axes, metric in zip(figure.subplots(1, len(metrics), squeeze=False)[0], metrics, strict=True):
        for method in shown:
            _line(axes, method, sorted((key[2], value) for key, value in found.items() if key[4:] == (method, metric)))
        axes.set(title=metric, xlabel=axis)
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=n_columns, frameon=False)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def _line(axes: Any, method: str, points: list[tuple[float, Any]]) -> None:
    if not points:
        return
    severity = [place for place, _ in points]
    mean, std = (np.array([getattr(value, name) for _, value in points]) for name in ("mean", "std"))
    colour = COLOURS.get(method)
    axes.plot(severity, mean, label=method, color=colour, linewidth=1.6, marker="o", markersize=3)
    axes.fill_between(
        severity, mean - np.nan_to_num(std), mean + np.nan_to_num(std), color=colour, alpha=0.12, linewidth=0
    )
