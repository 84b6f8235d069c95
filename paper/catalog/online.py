"""Appendix F: learn on a fifth of the items, answer the rest by one E step; scored on the rest.

Beside the scores stand the seconds: of learning (`learn`), and of answering the rest (`infer`); what is not online does
both at once.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from consilience.data.predictions import Predictions
from consilience.system.arrays import to_numpy
from paper.catalog.grids import ANGLES, SEVERITIES
from paper.catalog.run import Cell, Where, timed
from paper.methods import SDS_OURS, SDS_PAPER, aggregators, fitted, posterior
from paper.scoring import scores
from paper.shifts import Condition
from paper.tasks import TASKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paper.catalog.run import Run, Scores

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
    seen, new, truth = Predictions(array[:, learned]), Predictions(array[:, rest]), labels[rest]
    found = {"EA": scores(posterior(methods["EA"](), new), truth)}
    for name in (SDS_PAPER, SDS_OURS):
        seconds, rows = timed(partial(posterior, methods[name](), new))
        found[name] = scores(rows, truth) | {"learn": seconds}
        learn, model = timed(partial(fitted, methods[name](), seen))
        for suffix, is_pure in ((" online", False), (" online pure", True)):
            infer, said = timed(partial(model.predict_proba, new, pure=is_pure))
            rows = to_numpy(said).astype(np.float64)
            found[name + suffix] = scores(rows, truth) | {"learn": learn, "infer": infer}
    return found
