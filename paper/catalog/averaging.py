"""Appendix D: what the weight α of a new estimate does; α = 1 is the ablation, no averaging at all."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from consilience.data.predictions import Predictions
from paper.catalog.grids import OF_SIZES
from paper.catalog.run import Cell, Where
from paper.methods import SDS_OURS, SDS_PAPER, aggregators, posterior
from paper.scoring import scores
from paper.tables import WEIGHT_SIGN
from paper.tasks import TASKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paper.catalog.run import Run, Scores
    from paper.results import Row

WEIGHTS = (1, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
"""The range that the paper tunes in."""


def cells(run: Run) -> Iterator[Cell]:
    """Every weight, from either start, where the sizes of ensembles are compared too."""
    for task in run.tasks:
        for condition in OF_SIZES[task]:
            for number, seeds in enumerate(run.ensembles(task)):
                where = Where(condition, seeds, number)
                name = f"averaging/{condition}/{where.members}"
                yield Cell(where, f"{name}/EA", partial(_average, run, where))
                for method in (SDS_PAPER, SDS_OURS):
                    for weight in WEIGHTS:
                        yield Cell(where, f"{name}/{method}-{weight:g}", partial(_scores, run, where, method, weight))


def _average(run: Run, where: Where) -> Scores:
    array, labels = run.predictions(where.condition, where.seeds), run.store.labels(where.condition)
    return {"EA": scores(array.mean(axis=0, dtype="float64"), labels)}


def _scores(run: Run, where: Where, method: str, weight: float) -> Scores:
    array, labels = run.predictions(where.condition, where.seeds), run.store.labels(where.condition)
    model = aggregators(TASKS[where.condition.task].preset)[method]().set_params(averaging=weight)
    return {f"{method}{WEIGHT_SIGN}{weight:g}": scores(posterior(model, Predictions(array)), labels)}


def by_weight(rows: list[Row]) -> list[Row]:
    """Rows as they are drawn: a figure for each condition, over the weight; the average is the same at every weight."""
    found = []
    for row in rows:
        start, sign, weight = row.method.partition(WEIGHT_SIGN)
        weights = [float(weight)] if sign else WEIGHTS
        shift = f"{row.shift}-{row.severity:g}"
        found += [row._replace(method=start, shift=shift, severity=weight) for weight in weights]
    return found
