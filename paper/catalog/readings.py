"""What the paper's text leaves open, each reading by its name: how far the answers depend on it.

Each reading differs from `SDS (paper)` in what its name says and in nothing else. The text gives neither the memory of
the optimizer between M steps nor the rows of classes that nobody names; other readings change what it does give, to
see how much that matters.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from consilience.aggregators import Average, SoftDawidSkene
from consilience.data.predictions import Predictions
from paper.catalog.grids import ANGLES
from paper.catalog.run import Cell, Where
from paper.corruptions import CORRUPTIONS
from paper.methods import SDS_OURS, SDS_PAPER, posterior
from paper.scoring import scores
from paper.shifts import Condition
from paper.tasks import TASKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paper.catalog.run import Run, Scores
    from paper.tasks import Preset

SEVERITY = 3
"""Of the corruptions: the middle one, since there are many readings."""

METRICS = ("accuracy", "brier", "nll", "ece 300", "ece 15")

READINGS: dict[str, dict[str, Any]] = {
    SDS_PAPER: {},
    "moments anew": {"optimizer_moments": "anew"},
    "silent classes at the floor": {"silent_classes": "floor"},
    "both": {"optimizer_moments": "anew", "silent_classes": "floor"},
    "start from counts": {"init_rows": "counts"},
    "start from counts, moments anew": {"init_rows": "counts", "optimizer_moments": "anew"},
    "start from the votes": {"init_iterations": 0},
    "start from two iterations": {"init_iterations": 2},
    "start with one pseudo-answer a cell": {"init_smoothing": 1},
    "ties split": {"init_ties": "split"},
    "class prior fixed, uniform": {"class_prior": "uniform"},
    "no weight decay": {"weight_decay": 0},
    "weight decay .01, torch's default": {"weight_decay": 1e-2},
    "learning rate .001, torch's default": {"learning_rate": 1e-3},
    "one step of the optimizer": {"optimizer_steps": 1},
    "probabilities of at least 1e-6": {"floor": 1e-6},
}
"""The options that each reading changes."""


def cells(run: Run) -> Iterator[Cell]:
    """Every reading, the average and our start on rotated digits, or on every corruption of one severity."""
    for task in run.tasks:
        for condition in _conditions(task):
            for number, seeds in enumerate(run.ensembles(task)):
                where = Where(condition, seeds, number)
                for name in ("EA", *READINGS, SDS_OURS):
                    yield Cell(
                        where, f"readings/{condition}/{where.members}/{name}", partial(_scores, run, where, name)
                    )


def _conditions(task: str) -> list[Condition]:
    if task == "mnist":
        return [Condition(task, "rotation", angle) for angle in ANGLES]
    return [Condition(task, name, SEVERITY) for name in CORRUPTIONS]


def _scores(run: Run, where: Where, name: str) -> Scores:
    predictions = Predictions(run.predictions(where.condition, where.seeds))
    rows = posterior(method(name, TASKS[where.condition.task].preset), predictions)
    found = scores(rows, run.store.labels(where.condition))
    return {name: {metric: found[metric] for metric in METRICS}}


def method(name: str, preset: Preset) -> Any:
    """A reading, the average or our start, by name."""
    if name == "EA":
        return Average()
    if name == SDS_OURS:
        return SoftDawidSkene.paper(preset, start="ours")
    return SoftDawidSkene.paper(preset).set_params(**READINGS[name])
