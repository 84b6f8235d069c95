"""One figure that a person understands at once: the gain over averaging, a dot for each panel, by kind."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.quality.families import STRATA
from benchmarks.quality.methods import YARDSTICK
from benchmarks.quality.scores import readable
from benchmarks.quality.table import Scores, change, contest, kinds_of

FARTHEST = 20
"""Points beyond which dots stand at the edge."""


def draw(scores: Scores, method: str, path: Path) -> None:
    """The method's points of accuracy and its NLL against averaging."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra; pyplot would keep the figure open

    kinds = kinds_of(scores)[::-1]
    drawn = Figure(figsize=(11, 0.42 * len(kinds) + 1.6), layout="constrained")
    panels = drawn.subplots(1, 2, sharey=True)
    rng = np.random.default_rng(0)
    strata = {family: name for name, stratum in STRATA.items() for family in stratum["families"]}
    colors = {name: f"C{place}" for place, name in enumerate(STRATA)}
    for ax, metric in zip(panels, ("accuracy", "nll"), strict=True):
        center = readable(0, metric)
        for place, kind in enumerate(kinds):
            for name, color in colors.items():
                values = [
                    readable(change(found[method][metric], found[YARDSTICK][metric], metric), metric)
                    for cell, found in scores.items()
                    if cell.kind == kind and method in found and strata.get(cell.family) == name
                ]
                shown = np.clip(values, -FARTHEST, FARTHEST) if metric == "accuracy" else np.clip(values, 0.25, 4)
                ax.plot(shown, place + rng.uniform(-0.28, 0.28, len(shown)), "o", ms=3, color=color, alpha=0.55, mew=0)
            mean = contest(scores, method, metric, kind)
            if mean is not None:
                ax.plot([mean.value], [place], "|", ms=16, mew=2.5, color="black")
        ax.axvline(center, color="0.5", lw=1)
        ax.set_yticks(range(len(kinds)), kinds)
        ax.grid(axis="x", color="0.92")
        ax.set_axisbelow(True)
    panels[0].set(title="accuracy, points more than averaging →", xlim=(-FARTHEST - 1, FARTHEST + 1))
    panels[1].set(title="← NLL, × averaging's", xscale="log", xlim=(0.24, 4.2))
    panels[1].set_xticks([0.25, 0.5, 1, 2, 4], ["¼", "½", "1", "2", "4"])
    panels[1].minorticks_off()
    marks = [panels[0].plot([], [], "o", ms=5, color=color, label=name)[0] for name, color in colors.items()]
    mean_mark = panels[0].plot([], [], "|", ms=12, mew=2.5, color="black", ls="", label="mean of the families")
    drawn.legend(handles=[*marks, *mean_mark], loc="outside lower center", ncols=6, frameon=False)
    drawn.savefig(path, metadata={"Date": None})
