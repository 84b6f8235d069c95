"""Appendix F: learn on a fifth of the items, answer the rest by one E step; scored on the rest."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from consilience.data.predictions import Predictions
from consilience.experiments.catalog.grids import ANGLES, SEVERITIES, scores
from consilience.experiments.catalog.run import Cell, Where
from consilience.experiments.methods import aggregators, fitted, posterior
from consilience.experiments.shifts import Condition
from consilience.experiments.tasks import TASKS
from consilience.system.arrays import to_numpy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from consilience.experiments.catalog.run import Run, Scores

LEARNED_SHARE = 0.2
"""Of the items, what online Soft Dawid-Skene learns from: 10,000 of ImageNet's 50,000 in the paper."""


def cells(run: Run) -> Iterator[Cell]:
    """Rotated digits; fog elsewhere, as the paper has it for ImageNet."""
    for task in run.tasks:
        shift, severities = ("rotation", ANGLES) if task == "mnist" else ("fog", SEVERITIES)
        for severity in severities:
            for number, seeds in enumerate(run.ensembles(task)):
                where = Where(Condition(task, shift, severity), seeds, number)
                yield Cell(where, f"online/{where.condition}/{where.members}", partial(_scores, run, where))


def _scores(run: Run, where: Where) -> Scores:
    array, labels = run.predictions(where.condition, where.seeds), run.store.labels(where.condition)
    order = np.random.default_rng(where.ensemble).permutation(len(labels))
    n_learned = round(LEARNED_SHARE * len(order))
    learned, rest = np.sort(order[:n_learned]), np.sort(order[n_learned:])
    methods = aggregators(TASKS[where.condition.task].preset)
    model = fitted(methods["SDS"](), Predictions(array[:, learned]))
    answers = {
        "EA": posterior(methods["EA"](), Predictions(array[:, rest])),
        "SDS": posterior(methods["SDS"](), Predictions(array[:, rest])),
        "SDS online": to_numpy(model.predict_proba(array[:, rest])).astype(np.float64),
        "SDS online pure": to_numpy(model.predict_proba(array[:, rest], pure=True)).astype(np.float64),  # type: ignore[call-arg]
    }
    return {method: scores(rows, labels[rest]) for method, rows in answers.items()}
