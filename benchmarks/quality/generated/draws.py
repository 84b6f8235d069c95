"""Random sizes, shares and true classes: the numbers that every kind of panel begins with."""

from __future__ import annotations

import numpy as np

LARGEST = 2_000_000
"""A panel has at most so many probabilities: members × items × classes."""


def chance(rng: np.random.Generator, probability: float) -> bool:
    """True with this probability."""
    return bool(rng.random() < probability)


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    """A number whose logarithm is uniform."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def log_uniform_integer(rng: np.random.Generator, low: int, high: int) -> int:
    """An integer from low to high, both included, small ones more often."""
    return min(int(log_uniform(rng, low, high + 1)), high)


def draw_n_items(rng: np.random.Generator, numbers_per_item: int) -> int:
    """From 5 to 1,200 items, mostly more than 150; fewer where each takes many numbers."""
    low, high = (5, 150) if chance(rng, 0.15) else (150, 1200)
    return max(5, min(log_uniform_integer(rng, low, high), LARGEST // numbers_per_item))


def draw_n_classes(rng: np.random.Generator, high: int = 50) -> int:
    """From 2 to `high` classes: a quarter of the panels have two, half 3 to 10."""
    if high <= 3 or chance(rng, 0.25):
        return min(high, 2)
    if high <= 10 or chance(rng, 0.67):
        return log_uniform_integer(rng, 3, min(high, 10))
    return log_uniform_integer(rng, 10, high)


def draw_n_members(rng: np.random.Generator, low: int = 2, high: int = 40) -> int:
    """From `low` to `high` members; rarely one, and rarely a hundred."""
    if chance(rng, 0.02):
        return 1
    return log_uniform_integer(rng, low, 100 if chance(rng, 0.04) else high)


def draw_shares(rng: np.random.Generator, n_classes: int, even: float = 0.35) -> np.ndarray:
    """(classes,): the class shares, even with probability `even`, else from a Dirichlet of any concentration."""
    if chance(rng, even):
        return np.full(n_classes, 1 / n_classes)
    shares = rng.dirichlet(np.full(n_classes, 10 ** rng.uniform(-0.5, 1.5)))
    return (shares + 1e-4) / (shares + 1e-4).sum()


def draw_truth(rng: np.random.Generator, shares: np.ndarray, n_items: int) -> np.ndarray:
    """(items,): true classes, at least two different ones."""
    truth = rng.choice(len(shares), n_items, p=shares)
    if (truth == truth[0]).all():
        others = np.delete(np.arange(len(shares)), truth[0])
        truth[rng.integers(n_items)] = rng.choice(others)
    return truth


def draw_around(rng: np.random.Generator, n_classes: int, share: float) -> np.ndarray:
    """(classes,): a class drawn at random has this share, the others have what is left, from a Dirichlet."""
    rest = rng.dirichlet(np.full(n_classes - 1, log_uniform(rng, 0.5, 10))) + 1e-3
    return np.insert((1 - share) * rest / rest.sum(), rng.integers(n_classes), share)


def draw_classes(rng: np.random.Generator, chances: np.ndarray) -> np.ndarray:
    """A class for each row of probabilities."""
    heights = rng.random((*chances.shape[:-1], 1)) * chances.sum(axis=-1, keepdims=True)
    return (chances.cumsum(axis=-1) < heights).sum(axis=-1)


def some(rng: np.random.Generator, probability: float, high: float) -> float:
    """Nothing, or with this probability a number up to `high`."""
    return float(rng.uniform(0, high)) if chance(rng, probability) else 0.0


def above_chance(place: float, n_classes: int) -> float:
    """An accuracy at this place between chance (0) and 1."""
    return 1 / n_classes + (1 - 1 / n_classes) * place
