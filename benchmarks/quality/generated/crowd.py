"""Crowds: few answers an item, many workers with few answers each, spammers, experts, neighboring classes confused."""

from __future__ import annotations

import numpy as np

from benchmarks.quality.generated.answers import normalized
from benchmarks.quality.generated.assembly import Draft
from benchmarks.quality.generated.draws import (
    chance,
    draw_classes,
    draw_n_items,
    draw_shares,
    draw_truth,
    log_uniform_integer,
)

Rng = np.random.Generator

MOST_WORKERS = 250
"""Crowds are larger than other panels, and their answers are few."""


def crowd(rng: Rng) -> Draft:
    """Votes of a crowd, -1 where a worker was not asked."""
    n_classes = int(rng.choice([2, 2, 2, 3, 4, 5, 5, 7, 10, 15]))
    truth = draw_truth(rng, draw_shares(rng, n_classes), draw_n_items(rng, 1))
    n_workers = min(log_uniform_integer(rng, 4, MOST_WORKERS), max(4, len(truth)))
    is_asked = _asked(n_workers, len(truth), rng)
    workers, items = np.nonzero(is_asked)
    confusions = _confusions(n_workers, n_classes, rng)
    hardness = rng.beta(1, rng.uniform(1.5, 8), len(truth))[items, None]
    misleading = _misleading(truth, n_classes, rng)
    chances = (1 - hardness) * confusions[workers, truth[items]] + hardness * misleading[items]
    labels = np.full((n_workers, len(truth)), -1)
    labels[workers, items] = draw_classes(rng, chances)
    return Draft(truth, n_classes, labels=labels)


def _asked(n_workers: int, n_items: int, rng: Rng) -> np.ndarray:
    """(workers, items): who was asked about what; some workers far more often than others (Zipf's law)."""
    diligence = -rng.uniform(0, 1.5) * np.log(np.arange(1, n_workers + 1))
    keenness = diligence[:, None] + rng.gumbel(size=(n_workers, n_items))
    rank = (-keenness).argsort(axis=0).argsort(axis=0)
    mean = log_uniform_integer(rng, 1, 20)
    wanted = np.full(n_items, mean) if chance(rng, 0.5) else rng.poisson(mean, n_items)
    return rank < np.clip(wanted, 1, n_workers)


def _confusions(n_workers: int, n_classes: int, rng: Rng) -> np.ndarray:
    """(workers, classes, classes): p(answer | truth) of ordinary workers, experts, spammers and the mistaken."""
    slips = _slips(n_workers, n_classes, rng)
    skill = rng.beta(*rng.uniform([1, 1], [8, 4]), n_workers)
    kinds = rng.choice(["ordinary", "expert", "random", "constant", "mistaken"], n_workers, p=_mixture(rng))
    skill = np.where(kinds == "expert", rng.uniform(0.85, 0.99, n_workers), skill)
    confusions = skill[:, None, None] * np.eye(n_classes) + (1 - skill[:, None, None]) * slips
    confusions[kinds == "random"] = rng.dirichlet(np.full(n_classes, 3))
    for worker in np.flatnonzero(kinds == "constant"):
        confusions[worker] = 0.97 * np.eye(n_classes)[rng.integers(n_classes)] + 0.03 / n_classes
    for worker in np.flatnonzero(kinds == "mistaken"):
        confusions[worker] = confusions[worker][:, rng.permutation(n_classes)]
    return confusions


def _mixture(rng: Rng) -> np.ndarray:
    """(5,): shares of the kinds of workers; about every other crowd has no spammers to speak of."""
    spam = rng.choice([0.05, 0.6])
    return rng.dirichlet([3, rng.uniform(0.1, 1), spam, spam, 0.3 * spam])


def _slips(n_workers: int, n_classes: int, rng: Rng) -> np.ndarray:
    """(workers, classes, classes): where errors go: to neighbors, to a class that all like, or anywhere."""
    order = np.arange(n_classes)
    reach = rng.uniform(0.5, 2) if chance(rng, 0.4) else 1e3  # classes may have an order
    shared = np.exp(-np.abs(order[:, None] - order) / reach) * rng.dirichlet(np.full(n_classes, 3))
    own = rng.dirichlet(np.full(n_classes, rng.uniform(0.3, 3)), (n_workers, 1))
    return normalized(shared * own + 1e-4)


def _misleading(truth: np.ndarray, n_classes: int, rng: Rng) -> np.ndarray:
    """(items, classes): what hard items look like: anything, or mostly one certain class."""
    focus = rng.uniform(0, 0.9)
    step = rng.choice([-1, 1], len(truth)) if chance(rng, 0.5) else rng.integers(1, n_classes, len(truth))
    decoys = (truth + step) % n_classes
    return focus * np.eye(n_classes)[decoys] + (1 - focus) / n_classes
