"""Figure 1: how members err on rotated digits, as the labels tell and as Soft Dawid-Skene learned without them.

The paper shows the former. What its method learns looks otherwise: few steps of a small rate leave the concentrations
near their start, which both of our rows show.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from consilience.data.predictions import Predictions
from consilience.plots import plot_confusion
from consilience.system.errors import extra
from paper.methods import SDS_OURS, SDS_PAPER, aggregators, fitted
from paper.shifts import Condition

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

    from consilience.system.arrays import FloatArray
    from paper.catalog.run import Run

DEGREES = 60
"""The rotation that the paper's figure shows."""


def draw_confusion(run: Run, out_dir: Path) -> list[Path]:
    """The first ensemble's confusion matrices: the true ones above, those learned from either start below."""
    condition = Condition("mnist", "rotation", DEGREES)
    seeds = run.ensembles("mnist")[0]
    array, labels = run.predictions(condition, seeds), run.store.labels(condition)
    tables = {f"Figure 1 of the paper: true confusion, MNIST rotated by {DEGREES}°": true_confusion(array, labels)}
    for method in (SDS_PAPER, SDS_OURS):
        tables[f"Learned without labels: {method}"] = fitted(
            aggregators("mnist")[method](), Predictions(array)
        ).confusion_
    figure = extra("matplotlib.figure", name="paper", use="figures").Figure(
        figsize=(2.4 * len(seeds) + 1, 2.8 * len(tables)), layout="constrained"
    )
    for part, (title, found) in zip(figure.subfigures(len(tables)), tables.items(), strict=True):
        plot_confusion({f"member {seed}": table for seed, table in zip(seeds, found, strict=True)}, figure=part)
        part.suptitle(title, fontsize="medium")
    path = out_dir / "mnist-rotation-confusion.svg"
    figure.savefig(path, metadata={"Date": None})
    return [path]


def true_confusion(array: npt.NDArray[np.float32], labels: npt.NDArray[np.int64]) -> FloatArray:
    """(members, true, predicted): the share of each class's items that a member calls so; NaN where there are none."""
    n_members, _, n_classes = array.shape
    counts = np.zeros((n_members, n_classes, n_classes))
    for table, said in zip(counts, array.argmax(axis=2), strict=True):
        np.add.at(table, (labels, said), 1)
    n_items = counts.sum(axis=2, keepdims=True)
    return np.asarray(np.divide(counts, n_items, out=np.full_like(counts, np.nan), where=n_items > 0))
