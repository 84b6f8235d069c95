"""The grid: shift × severity × ensemble × method."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from consilience.data.predictions import Predictions
from paper.catalog.run import Cell, Where
from paper.corruptions import CORRUPTIONS
from paper.datasets import CORRUPTED
from paper.methods import aggregators, posterior
from paper.scoring import scores
from paper.shifts import Condition
from paper.tasks import TASKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paper.catalog.run import Run, Scores

ANGLES = tuple(range(0, 181, 15))
SEVERITIES = (1, 2, 3, 4, 5)
SIZES = (3, 5, 7, 9, 10)
OF_SIZES = {
    "mnist": [Condition("mnist", "rotation", angle) for angle in (30, 60, 90)],
    "imagenet": [Condition("imagenet", "frost", 3)],
} | {
    task: [Condition(task, "gaussian_noise", 3)]
    for task in ("cifar10", "cifar10-resnet20", "cifar10-published", "cifar100")
}
"""Where ensembles of different sizes are compared; those of CIFAR-100 and ImageNet are the paper's."""


def mnist_rotation(run: Run) -> Iterator[Cell]:
    """Figure 2."""
    for angle in ANGLES:
        yield from grid(run, Condition("mnist", "rotation", angle))


def corruptions(run: Run) -> Iterator[Cell]:
    """Figures 3 to 5 and the tables of appendix J: every corruption at every severity."""
    for task in run.tasks:
        data_set = TASKS[task].data_set
        if data_set in CORRUPTED:
            run.has_data(CORRUPTED[data_set], f"Corruptions of {task} are made here, with the published constants")
        for name in CORRUPTIONS:
            for severity in SEVERITIES:
                yield from grid(run, Condition(task, name, severity))


def clean(run: Run) -> Iterator[Cell]:
    """Appendix G."""
    for task in run.tasks:
        yield from grid(run, Condition(task))


def clean_and_corrupted(run: Run) -> Iterator[Cell]:
    """The clean images and every corruption, for networks that the paper does not have."""
    yield from clean(run)
    yield from corruptions(run)


def ensemble_size(run: Run) -> Iterator[Cell]:
    """Appendix H: of each size as many ensembles as the members make without sharing any, so that they are independent.

    Nine members make three of 3, and one of 5, 7 or 9. The paper has three of each, and does not say of how many.
    """
    for task in run.tasks:
        for size in SIZES:
            for condition in OF_SIZES[task]:
                yield from grid(run, condition, run.ensembles(task, size))


def grid(run: Run, condition: Condition, ensembles: list[list[int]] | None = None) -> Iterator[Cell]:
    """Every method on a condition, for each ensemble."""
    has_laplace = run.has_laplace(condition.task)
    for number, seeds in enumerate(run.ensembles(condition.task) if ensembles is None else ensembles):
        where = Where(condition, seeds, number)
        for method in [*aggregators(TASKS[condition.task].preset), *(["PE"] if has_laplace else [])]:
            name = f"grid/{condition}/{where.members}/{method}"
            yield Cell(where, name, partial(_scored, run, where, method))


def _scored(run: Run, where: Where, method: str) -> Scores:
    labels = run.store.labels(where.condition)
    if method == "PE":
        rows = run.laplace_predictions(where.condition, where.seeds).mean(axis=0, dtype=np.float64)
    else:
        make = aggregators(TASKS[where.condition.task].preset)[method]
        rows = posterior(make(), Predictions(run.predictions(where.condition, where.seeds)))
    return {method: scores(rows, labels)}
