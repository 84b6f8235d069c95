"""One figure that a person understands at once: the gain over averaging, a dot for each panel, by kind."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.quality.families import STRATA
from benchmarks.quality.scores import readable
from benchmarks.quality.table import ALL, Cell, Scores, contest, slices

FARTHEST = {"accuracy": (-20.0, 20.0), "nll": (0.25, 4.0)}
"""Dots beyond stand at the edge."""

STRATUM = {family: name for name, stratum in STRATA.items() for family in stratum["families"]}

HUES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#f0e442", "#56b4e9")
"""Okabe and Ito's, which color-blind people tell apart."""

COLORS = dict(zip([*STRATA, "generated"], HUES, strict=True))


def draw(scores: Scores, method: str, path: Path) -> None:
    """The method's points of accuracy and its NLL against averaging."""
    from matplotlib import rc_context  # noqa: PLC0415 - an extra
    from matplotlib.figure import Figure  # noqa: PLC0415 - pyplot would keep the figure open

    rows = {name: cells for name, cells in reversed(slices(scores).items()) if name != ALL}
    drawn = Figure(figsize=(11, 0.4 * len(rows) + 1.7), layout="constrained")
    axes = drawn.subplots(1, 2, sharey=True)
    shown = {name: color for name, color in COLORS.items() if name in {_stratum(cell) for cell in scores}}
    for ax, metric in zip(axes, FARTHEST, strict=True):
        for place, cells in enumerate(rows.values()):
            values, colors, mean = _row(scores, method, metric, cells)
            heights = place + np.random.default_rng(0).uniform(-0.28, 0.28, len(values))
            ax.scatter(values, heights, s=12, c=colors, alpha=0.6, lw=0, zorder=2)
            ax.plot(mean, [place] * len(mean), "|", ms=17, mew=2.5, color="black", zorder=3)
        ax.axvline(readable(0, metric), color="0.4", lw=1, zorder=1)
        ax.set_yticks(range(len(rows)), list(rows))
        ax.set_ylim(-0.6, len(rows) - 0.4)
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="x", color="0.92")
        ax.set_axisbelow(True)
        ax.spines[["top", "left", "right"]].set_visible(False)
    axes[0].set(title="accuracy: points more than averaging", xlim=(-21, 21), xlabel="worse  ←   → better")
    axes[1].set(title="NLL: times averaging's", xscale="log", xlim=(0.24, 4.2), xlabel="better  ←   → worse")
    axes[1].set_xticks([0.25, 0.5, 1, 2, 4], ["¼", "½", "1", "2", "4"])
    axes[1].minorticks_off()
    marks = [axes[0].plot([], [], "o", ms=5, color=color, label=name)[0] for name, color in shown.items()]
    mean = axes[0].plot([], [], "|", ms=12, mew=2.5, color="black", ls="", label="mean of the families")
    drawn.legend(handles=[*marks, *mean], loc="outside lower center", ncols=len(shown) + 1, frameon=False)
    drawn.suptitle(f"{method} against averaging, one dot a panel")
    with rc_context({"svg.hashsalt": "quality"}):  # the same scores give the same file
        drawn.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def _row(scores: Scores, method: str, metric: str, cells: list[Cell]) -> tuple[np.ndarray, list[str], list[float]]:
    """Where the dots of some cells are, their colors, and the mean of the families where there are any."""
    cells = [cell for cell in cells if method in scores[cell]]
    values = np.array([readable(scores[cell][method].change(metric), metric) for cell in cells])
    found = contest(scores, method, metric, cells)
    mean = [] if found is None else [found.value]
    return np.clip(values, *FARTHEST[metric]), [COLORS[_stratum(cell)] for cell in cells], mean


def _stratum(cell: Cell) -> str:
    return STRATUM.get(cell.family, "generated")
