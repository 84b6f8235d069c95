"""The paper's experiments: each a function from a store and ensembles to rows."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from consilience import ood
from consilience.arrays import to_numpy
from consilience.experiments.corruptions import CORRUPTIONS
from consilience.experiments.methods import aggregators, posterior
from consilience.experiments.results import Row
from consilience.experiments.scoring import scores
from consilience.experiments.shifts import Condition
from consilience.predictions import Predictions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from consilience.aggregators.aggregator import AbstractAggregator
    from consilience.experiments.store import Store

ANGLES = tuple(range(0, 181, 15))
OOD_SHARES = (0.1, 0.2, 0.3, 0.4, 0.5)
SIZES = (3, 5, 7, 9)
LEARNED_SHARE = 0.2
"""Of the items, what online Soft Dawid-Skene learns from (appendix F)."""

Ensembles = list[list[int]]


@dataclass(frozen=True)
class Experiment:
    """One experiment of the paper."""

    name: str
    what: str  # the figure or table it belongs to
    tasks: tuple[str, ...]
    rows: Callable[[Store, Ensembles, Callable[[str], None]], Iterator[Row]]


def ensembles_of(n_members: int, size: int) -> Ensembles:
    """Independent ensembles of so many members: the first so many, the next so many, and so on."""
    return [list(range(first, first + size)) for first in range(0, n_members - size + 1, size)]


class Where(NamedTuple):
    """Where numbers come from."""

    experiment: str
    condition: Condition
    seeds: list[int]
    ensemble: int
    scale: str
    severity: float | None = None  # where it is not the condition's

    @property
    def members(self) -> str:
        """The members, for file names."""
        return "-".join(map(str, self.seeds))

    def rows(self, method: str, found: dict[str, float]) -> Iterator[Row]:
        """A row for each metric."""
        task, shift, severity = self.condition.task, self.condition.shift, self.condition.severity
        severity = float(severity if self.severity is None else self.severity)
        for metric, value in found.items():
            yield Row(
                self.experiment,
                task,
                shift,
                severity,
                len(self.seeds),
                self.ensemble,
                method,
                metric,
                float(value),
                self.scale,
            )


# ---- the grid: shift × severity × ensemble × method ------------------------------------------------------------


def grid(
    name: str, conditions: list[Condition], store: Store, ensembles: Ensembles, on_step: Callable[[str], None]
) -> Iterator[Row]:
    """Every method on every condition and ensemble."""
    for condition in conditions:
        for number, seeds in enumerate(ensembles):
            array, labels = store.predictions(condition, seeds, on_step), store.labels(condition)
            where = Where(name, condition, seeds, number, store.scale_name)
            for method, make in aggregators(condition.task).items():
                on_step(f"{method}: {condition}")
                cell = f"grid/{condition}/{where.members}/{method}"
                yield from where.rows(method, store.cell(cell, partial(_scored, make, array, labels)))
            if store.with_laplace:
                on_step(f"PE: {condition}")
                compute = partial(_laplace_scored, store, condition, seeds, on_step)
                yield from where.rows("PE", store.cell(f"grid/{condition}/{where.members}/PE", compute))


def _scored(make: Callable[[], AbstractAggregator], array: Any, labels: Any) -> dict[str, float]:
    return scores(posterior(make(), Predictions(array)), labels)


def mnist_rotation(store: Store, ensembles: Ensembles, on_step: Callable[[str], None]) -> Iterator[Row]:
    """Figure 2."""
    conditions = [Condition("mnist", "rotation", angle) for angle in ANGLES]
    yield from grid("mnist-rotation", conditions, store, ensembles, on_step)


def cifar10_c(store: Store, ensembles: Ensembles, on_step: Callable[[str], None]) -> Iterator[Row]:
    """Figure 3 and the tables of appendix J.1."""
    conditions = [Condition("cifar10", name, severity) for name in CORRUPTIONS for severity in range(1, 6)]
    yield from grid("cifar10-c", conditions, store, ensembles, on_step)


def clean(store: Store, ensembles: Ensembles, on_step: Callable[[str], None]) -> Iterator[Row]:
    """Appendix G."""
    yield from grid("clean", [Condition("mnist"), Condition("cifar10")], store, ensembles, on_step)


def ensemble_size(store: Store, _: Ensembles, on_step: Callable[[str], None]) -> Iterator[Row]:
    """Appendix H: three draws of each size from nine members (all nine make one)."""
    rng = np.random.default_rng(0)
    for size in SIZES:
        draws = (
            [sorted(rng.choice(9, size, replace=False).tolist()) for _ in range(3)] if size < 9 else [list(range(9))]
        )
        conditions = [Condition("mnist", "rotation", angle) for angle in (30, 60, 90)]
        yield from grid("ensemble-size", conditions, store, draws, on_step)


def _laplace_scored(
    store: Store, condition: Condition, seeds: list[int], on_step: Callable[[str], None]
) -> dict[str, float]:
    """Probabilistic ensembling: the mean of what the members' Laplace approximations say."""
    rows = store.laplace_predictions(condition, seeds, on_step)
    return scores(rows.mean(axis=0, dtype=np.float64), store.labels(condition))


# ---- online -----------------------------------------------------------------------------------------------


def online(store: Store, ensembles: Ensembles, on_step: Callable[[str], None]) -> Iterator[Row]:
    """Appendix F: learn on a fifth of the items, answer the rest by one E step; scored on the rest."""
    for angle in ANGLES:
        condition = Condition("mnist", "rotation", angle)
        for number, seeds in enumerate(ensembles):
            array, labels = store.predictions(condition, seeds, on_step), store.labels(condition)
            on_step(f"online: {condition}")
            where = Where("online", condition, seeds, number, store.scale_name)
            cell = f"online/{condition}/{where.members}"
            for method, found in store.cell(cell, partial(_online_scores, array, labels, number)).items():
                yield from where.rows(method, found)


def _online_scores(array: Any, labels: Any, seed: int) -> dict[str, dict[str, float]]:
    order = np.random.default_rng(seed).permutation(len(labels))
    n_learned = round(LEARNED_SHARE * len(order))
    learned, rest = np.sort(order[:n_learned]), np.sort(order[n_learned:])
    methods = aggregators("mnist")
    model = methods["SDS"]().fit(array[:, learned])
    answers = {
        "EA": posterior(methods["EA"](), Predictions(array[:, rest])),
        "SDS": posterior(methods["SDS"](), Predictions(array[:, rest])),
        "SDS online": to_numpy(model.predict_proba(array[:, rest])).astype(np.float64),
        "SDS online pure": to_numpy(model.predict_proba(array[:, rest], pure=True)).astype(np.float64),  # type: ignore[call-arg]
    }
    return {method: scores(rows, labels[rest]) for method, rows in answers.items()}


# ---- out of distribution ----------------------------------------------------------------------------------

OOD_PAIRS = (
    ("mnist", "fashion-mnist"),
    ("mnist", "notmnist"),
    ("fashion-mnist", "mnist"),
    ("cifar10", "mnist"),
    ("cifar10", "fashion-mnist"),
    ("cifar10", "notmnist"),
)


def out_of_distribution(store: Store, ensembles: Ensembles, on_step: Callable[[str], None]) -> Iterator[Row]:
    """Figure 6: a growing share of the items is foreign, of which the answer should be less sure."""
    for own, foreign in OOD_PAIRS:
        if not (store.data_dir / foreign).exists():
            continue
        condition = Condition(own, foreign)
        for number, seeds in enumerate(ensembles):
            inside = store.predictions(Condition(own), seeds, on_step)
            outside = store.predictions(condition, seeds, on_step)
            for share in OOD_SHARES:
                on_step(f"ood: {condition} {share:.0%}")
                where = Where("ood", condition, seeds, number, store.scale_name, share)
                cell = f"ood/{condition}/{share:g}/{where.members}"
                compute = partial(_ood_scores, inside, outside, share, own, seed=number)
                for method, found in store.cell(cell, compute).items():
                    yield from where.rows(method, found)


def _ood_scores(inside: Any, outside: Any, share: float, task: str, *, seed: int) -> dict[str, dict[str, float]]:
    """A share of the own items is replaced by foreign ones; methods see the mixture."""
    rng = np.random.default_rng(seed)
    n_items = inside.shape[1]
    n_foreign = round(share * n_items)
    replaced = rng.choice(n_items, n_foreign, replace=False)
    mixed = inside.copy()
    mixed[:, replaced] = outside[:, rng.choice(outside.shape[1], n_foreign, replace=n_foreign > outside.shape[1])]
    is_foreign = np.zeros(n_items, dtype=bool)
    is_foreign[replaced] = True
    preset = "mnist" if "mnist" in task else task
    found = {}
    for method, make in aggregators(preset).items():
        rows = posterior(make(), Predictions(mixed))
        found[method] = {
            "auroc": ood.auroc(rows[~is_foreign], rows[is_foreign]),
            "auroc entropy": ood.auroc(rows[~is_foreign], rows[is_foreign], score="entropy"),
        }
    return found


# ---- cost -------------------------------------------------------------------------------------------------


def cost(store: Store, ensembles: Ensembles, on_step: Callable[[str], None]) -> Iterator[Row]:
    """Appendix I: seconds of predicting and aggregating, for one ensemble, measured here and now."""
    condition = Condition("mnist", "rotation", 45)
    seeds = ensembles[0]
    array = store.predictions(condition, seeds, on_step)
    for method, make in aggregators("mnist").items():
        on_step(f"timing: {method}")
        started = time.perf_counter()
        posterior(make(), Predictions(array))
        where = Where("cost", condition, seeds, 0, store.scale_name)
        yield from where.rows(method, {"aggr": time.perf_counter() - started})


EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment("mnist-rotation", "figures 1 and 2", ("mnist",), mnist_rotation),
        Experiment("cifar10-c", "figure 3, appendix J.1", ("cifar10",), cifar10_c),
        Experiment("clean", "appendix G", ("mnist", "cifar10"), clean),
        Experiment("ood", "figure 6", ("mnist", "fashion-mnist", "cifar10"), out_of_distribution),
        Experiment("online", "appendix F", ("mnist",), online),
        Experiment("ensemble-size", "appendix H", ("mnist",), ensemble_size),
        Experiment("cost", "appendix I", ("mnist",), cost),
    )
}
