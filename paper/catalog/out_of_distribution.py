"""Figure 6: a growing share of the items is foreign, of which the answer should be less sure.

As in the paper's appendix E, a share of the test images, drawn at random, is replaced by random test images of another
data set, and methods see the mixture. The paper names the measure (AUROC) but not the uncertainty it ranks by; here it
is 1 - the largest probability, and entropy beside it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from consilience.data.predictions import Predictions
from consilience.metrics import ood
from paper.catalog.run import Cell, Where
from paper.methods import aggregators, posterior
from paper.shifts import Condition
from paper.tasks import TASKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from paper.catalog.run import Run, Scores

SHARES = (0.1, 0.2, 0.3, 0.4, 0.5)
OF_CIFAR10 = ("cifar100", "svhn", "mnist", "fashion-mnist", "notmnist")
FOREIGN = {
    "mnist": ("fashion-mnist", "notmnist"),
    "fashion-mnist": ("mnist", "notmnist"),
    "cifar10": OF_CIFAR10,
    "cifar10-resnet20": OF_CIFAR10,
    "cifar10-published": OF_CIFAR10,
    "cifar100": ("cifar10", "svhn"),
}
"""The paper's pairs are CIFAR-10 and SVHN or CIFAR-100, CIFAR-100 and SVHN or CIFAR-10."""


def cells(run: Run) -> Iterator[Cell]:
    """Every pair whose data are there."""
    for task in run.tasks:
        has_laplace = run.has_laplace(task)
        methods = [*aggregators(TASKS[task].preset), *(["PE"] if has_laplace else [])]
        for foreign in (name for name in FOREIGN[task] if run.has_data(name, f"{task} against {name} is left out")):
            for number, seeds in enumerate(run.ensembles(task)):
                for share in SHARES:
                    where = Where(Condition(task, foreign), seeds, number, share)
                    for method in methods:
                        name = f"ood/{where.condition}/{share:g}/{where.members}/{method}"
                        yield Cell(where, name, partial(_scores, run, where, share, method))


def _scores(run: Run, where: Where, share: float, method: str) -> Scores:
    task, seeds = where.condition.task, where.seeds
    ask = run.laplace_predictions if method == "PE" else run.predictions
    mixed, is_foreign = mixture(ask(Condition(task), seeds), ask(where.condition, seeds), share, seed=where.ensemble)
    if method == "PE":
        rows = mixed.mean(axis=0, dtype=np.float64)
    else:
        rows = posterior(aggregators(TASKS[task].preset)[method](), Predictions(mixed))
    own, foreign = rows[~is_foreign], rows[is_foreign]
    return {method: {"auroc": ood.auroc(own, foreign), "auroc entropy": ood.auroc(own, foreign, score="entropy")}}


def mixture(
    inside: npt.NDArray[np.float32], outside: npt.NDArray[np.float32], share: float, *, seed: int
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
    """Predictions (members, items, classes) some of whose items are replaced by foreign ones, and which those are."""
    rng = np.random.default_rng(seed)
    n_items = inside.shape[1]
    n_foreign = round(share * n_items)
    replaced = rng.choice(n_items, n_foreign, replace=False)
    mixed = inside.copy()
    mixed[:, replaced] = outside[:, rng.choice(outside.shape[1], n_foreign, replace=n_foreign > outside.shape[1])]
    is_foreign = np.zeros(n_items, dtype=bool)
    is_foreign[replaced] = True
    return mixed, is_foreign
