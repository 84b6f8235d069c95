"""Labelling functions: each says one class, at times one of two, or nothing."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from benchmarks.quality.generated.assembly import Draft
from benchmarks.quality.generated.draws import (
    LARGEST,
    chance,
    draw_n_items,
    draw_shares,
    draw_truth,
    log_uniform,
    log_uniform_integer,
)

Rng = np.random.Generator


def functions(rng: Rng) -> Draft:
    """Votes of labelling functions; items without a vote are left to be dropped."""
    n_classes = int(rng.choice([2, 2, 2, 3, 4, 4, 5, 6, 8, 12, 18]))
    n_functions = max(log_uniform_integer(rng, 5, 60), n_classes + int(rng.integers(1, 6)))
    shares = draw_shares(rng, n_classes, even=0.3)
    classes = np.concatenate([np.arange(n_classes), rng.choice(n_classes, n_functions - n_classes)])
    coverage = np.exp(rng.uniform(np.log(log_uniform(rng, 0.005, 0.1)), np.log(0.5), n_functions))
    n_wanted = draw_n_items(rng, n_functions)
    n_items = min(round(n_wanted / (1 - np.prod(1 - coverage))) + 20, LARGEST // n_functions)
    truth = draw_truth(rng, shares, n_items)
    fires = _chances_to_fire(classes, coverage, shares, rng)
    labels = np.where(_fired(fires[:, truth], rng), classes[:, None], -1)
    if chance(rng, 0.3):
        _say_two(labels, classes, truth, n_classes, rng)
    answered = np.flatnonzero((labels >= 0).any(axis=0))[:n_wanted]
    return Draft(truth[answered], n_classes, labels=labels[:, answered])


def _chances_to_fire(classes: np.ndarray, coverage: np.ndarray, shares: np.ndarray, rng: Rng) -> np.ndarray:
    """(functions, classes): p(speaks | truth), so that each has its coverage and accuracy as far as shares allow."""
    n_functions, n_classes = len(classes), len(shares)
    accuracy = rng.uniform(*np.sort(rng.uniform(0.4, 0.99, 2)), n_functions)
    right = np.minimum(coverage * accuracy / shares[classes], 0.95)
    confused = rng.dirichlet(np.full(n_classes, rng.uniform(0.2, 3)), n_functions)
    confused[np.arange(n_functions), classes] = 0
    confused /= confused.sum(axis=1, keepdims=True) + 1e-9
    spoken = right * shares[classes] * (1 - accuracy) / accuracy  # the share of items with a wrong answer
    fires = np.minimum(spoken[:, None] * confused / shares, 0.9)
    fires[np.arange(n_functions), classes] = right
    if chance(rng, 0.4):  # some rules are far too wide: they speak whatever the truth is
        wide = rng.choice(n_functions, min(n_functions, int(rng.integers(1, 4))), replace=False)
        fires[wide] = np.maximum(fires[wide], rng.uniform(0.1, 0.9, (len(wide), 1)) * rng.uniform(0.5, 1, n_classes))
    return fires


def _fired(chances: np.ndarray, rng: Rng) -> np.ndarray:
    """(functions, items): who speaks; functions of a group, and all a little, speak of the same items."""
    n_functions, n_items = chances.shape
    groups = rng.integers(int(rng.integers(1, n_functions)), size=n_functions)
    common, group = rng.dirichlet([0.5, 1, 2])[:2]
    drawn = np.sqrt(common) * rng.standard_normal(n_items)
    drawn = drawn + np.sqrt(group) * rng.standard_normal((n_functions, n_items))[groups]
    drawn = drawn + np.sqrt(1 - common - group) * rng.standard_normal((n_functions, n_items))
    return ndtr(drawn) < chances


def _say_two(labels: np.ndarray, classes: np.ndarray, truth: np.ndarray, n_classes: int, rng: Rng) -> None:
    """Let some functions say a second class too, more often where it is true."""
    for function in np.flatnonzero(rng.random(len(classes)) < rng.uniform(0.05, 0.5)):
        second = (classes[function] + int(rng.integers(1, n_classes))) % n_classes
        chances = np.where(truth == second, rng.uniform(0.5, 0.95), rng.uniform(0.02, 0.3))
        swapped = (labels[function] >= 0) & (rng.random(len(truth)) < chances)
        labels[function, swapped] = second
