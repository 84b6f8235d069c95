"""Appendix I: seconds of predicting (pred), aggregating (aggr) and, for PE, approximating (lap), for one ensemble.

Measured here and kept like every other number. As in the paper, all methods but PE aggregate the same predictions, so
`pred` is measured once for them; PE predicts by samples from its approximations, and its aggregation is a mean.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from consilience.data.predictions import Predictions
from paper.catalog.run import Cell, Where, timed
from paper.devices import device
from paper.laplace import fit_laplace, predict_laplace
from paper.members import get_member
from paper.methods import aggregators, posterior
from paper.shifts import Condition
from paper.tasks import TASKS
from paper.training import features, predict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paper.catalog.run import Run, Scores


def cells(run: Run) -> Iterator[Cell]:
    """Every method on the clean test images, for the first ensemble."""
    for task in run.tasks:
        where = Where(Condition(task), run.ensembles(task)[0])
        work = {method: partial(_of_aggregator, run, where, method) for method in aggregators(TASKS[task].preset)}
        if run.has_laplace(task):
            work["PE"] = partial(_of_laplace, run, where)
        for method, compute in work.items():
            yield Cell(where, f"{_name(where)}/{method}", compute, machine=_machine())


def _machine() -> str:
    where = f"a CPU with threads: {torch.get_num_threads()}" if device().type == "cpu" else "a GPU"
    return f"seconds measured once on {where}"


def _name(where: Where) -> str:
    """Seconds are of a machine: those of another number of threads are others."""
    machine = f"cpu-{torch.get_num_threads()}" if device().type == "cpu" else "gpu"
    return f"cost/{machine}/{where.condition.task}/{where.members}"


def _of_aggregator(run: Run, where: Where, method: str) -> Scores:
    task = where.condition.task
    source = run.store.source(where.condition, where.seeds)
    pred = run.store.cell(task, f"{_name(where)}/pred", source, lambda: _seconds_of_predicting(run, where))
    array = run.predictions(where.condition, where.seeds)
    aggr, _ = timed(lambda: posterior(aggregators(TASKS[task].preset)[method](), Predictions(array)))
    return {method: {"pred": pred, "aggr": aggr, "total": pred + aggr}}


def _seconds_of_predicting(run: Run, where: Where) -> float:
    """Of images and networks that are in memory, as for PE, and as if no predictions were kept."""
    networks, examples = _networks(run, where), run.store.examples(where.condition)
    mixed = run.store.scale(where.condition.task).mixed
    return timed(lambda: [predict(network, examples, mixed=mixed) for network in networks])[0]


def _of_laplace(run: Run, where: Where) -> Scores:
    task, store = where.condition.task, run.store
    training = TASKS[task].training_examples(store.data_dir, store.scale(task))
    networks = _networks(run, where)
    lap, approximations = timed(lambda: [fit_laplace(network, training) for network in networks])
    examples = store.examples(where.condition)
    pred, said = timed(
        lambda: [
            predict_laplace(one, features(one.network, examples), seed=seed)
            for one, seed in zip(approximations, where.seeds, strict=True)
        ]
    )
    aggr, _ = timed(lambda: np.stack([one.numpy() for one in said]).mean(axis=0, dtype=np.float64))
    return {"PE": {"lap": lap, "pred": pred, "aggr": aggr, "total": lap + pred + aggr}}


def _networks(run: Run, where: Where) -> list[Any]:
    task, store = where.condition.task, run.store
    return [get_member(task, seed, store.data_dir, store.work_dir, store.scale(task)) for seed in where.seeds]
