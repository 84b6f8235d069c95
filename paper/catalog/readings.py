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
from paper.algorithm_1 import Algorithm1
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

COUNTS = "start from counts"

STARTS: dict[str, dict[str, Any]] = {
    "start from the votes": {"init_iterations": 0},
    "start from two iterations": {"init_iterations": 2},
    "start from 100 iterations": {"init_iterations": 100},
    "start with .01 pseudo-answers a cell": {"init_smoothing": 0.01},
    "start with one pseudo-answer a cell": {"init_smoothing": 1},
    "start with ten pseudo-answers a cell": {"init_smoothing": 10},
    "start with our smoothing": {"init_smoothing": "auto"},
    "start from the votes with our smoothing": {"init_iterations": 0, "init_smoothing": "auto"},
    COUNTS: {"init_rows": "counts"},
    "start from counts of the votes": {"init_rows": "counts", "init_iterations": 0},
    "start from counts and one pseudo-answer a cell": {"init_rows": "counts", "init_smoothing": 1},
    "silent classes at the floor": {"silent_classes": "floor"},
}
"""Each is read with the optimizer's moments kept and made anew."""

ANEW = {"optimizer_moments": "anew"}

OPTIONS: dict[str, dict[str, Any]] = {
    SDS_PAPER: {},
    "moments anew": ANEW,
    **STARTS,
    **{f"{name}, moments anew": options | ANEW for name, options in STARTS.items()},
    "silent classes like the average": {"silent_classes": "average"},
    "ties split": {"init_ties": "split"},
    "class prior fixed, uniform": {"class_prior": "uniform"},
    "class prior fixed, uniform, moments anew": {"class_prior": "uniform"} | ANEW,
    "class prior fixed, uniform, start from counts": {"class_prior": "uniform", "init_rows": "counts"},
    "no weight decay": {"weight_decay": 0},
    "weight decay .01, torch's default": {"weight_decay": 1e-2},
    "weight decay 1": {"weight_decay": 1},
    "learning rate .00001": {"learning_rate": 1e-5},
    "learning rate .001, torch's default": {"learning_rate": 1e-3},
    "learning rate .001, moments anew": {"learning_rate": 1e-3} | ANEW,
    "learning rate .01": {"learning_rate": 1e-2},
    "learning rate .01, moments anew": {"learning_rate": 1e-2} | ANEW,
    "one step of the optimizer": {"optimizer_steps": 1},
    "one step of the optimizer, moments anew": {"optimizer_steps": 1} | ANEW,
    "20 steps of the optimizer": {"optimizer_steps": 20},
    "probabilities of at least 1e-6": {"floor": 1e-6},
    "probabilities of at least 1e-15": {"floor": 1e-15},
    "hyper-parameters of CIFAR-100": {"averaging": {0: 1e-5, 100: 1e-3}, "max_iter": 200},
    "hyper-parameters of ImageNet": {"averaging": {0: 1e-3, 20: 1e-5}, "max_iter": 25, "optimizer_steps": 1},
}
"""The arguments of `SoftDawidSkene` that a reading changes."""

WRITTEN: dict[str, dict[str, Any]] = {
    "M step first": {"first_step": "M"},
    "M step first, moments anew": {"first_step": "M", "moments": "anew"},
    "M step on the new estimate alone": {"learns_from": "new"},
    "averaging of logarithms": {"averages": "logarithms"},
    "Q as a sum over items": {"loss": "sum"},
    "weight decay in the gradient": {"decay": "gradient"},
    "crowd-kit's matrices not turned": {"matrices": "said"},
    "optimizer on logarithms of concentrations": {"optimized": "logarithms"},
}
"""The arguments of `Algorithm1` that a reading changes."""

READINGS = (*OPTIONS, *WRITTEN)

CHOSEN_ON = ("mnist", "cifar10-published")
"""Where readings are compared. Elsewhere the best of them, the start from counts, is scored and no other."""


def cells(run: Run) -> Iterator[Cell]:
    """The readings, the average and our start on turned images, or on every corruption of one severity."""
    for task in run.tasks:
        names = READINGS if task in CHOSEN_ON else (SDS_PAPER, "moments anew", COUNTS)
        for condition in _conditions(task):
            for number, seeds in enumerate(run.ensembles(task)):
                where = Where(condition, seeds, number)
                for name in ("EA", *names, SDS_OURS):
                    yield Cell(
                        where, f"readings/{condition}/{where.members}/{name}", partial(_scores, run, where, name)
                    )


def _conditions(task: str) -> list[Condition]:
    if task in {"mnist", "fashion-mnist"}:
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
    if name in WRITTEN:
        return Algorithm1(preset=preset, **WRITTEN[name])
    return SoftDawidSkene.paper(preset).set_params(**OPTIONS[name])
