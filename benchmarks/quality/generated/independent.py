"""Members who err independently of each other once the truth is given: where confusion matrices tell everything.

Voters of any quality, excellent ones with a rare class, a crowd of which each worker is a coin, judges who mostly let
pass; and members who state what their own noisy look at the item makes probable.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.quality.generated.assembly import Draft
from benchmarks.quality.generated.draws import (
    above_chance,
    chance,
    draw_around,
    draw_classes,
    draw_n_items,
    draw_shares,
    draw_truth,
    log_uniform,
    log_uniform_integer,
)
from benchmarks.quality.generated.simulator import World, simulate_probabilities

Rng = np.random.Generator


def independent(rng: Rng) -> Draft:
    """A panel of any manner."""
    shares, manners = zip(*MANNERS.values(), strict=True)
    return manners[rng.choice(len(manners), p=shares)](rng)


def voters(rng: Rng) -> Draft:
    """Votes by confusion matrices, the same for all classes or not; at times one member always says the same."""
    n_classes, n_members = _draw_n_classes(rng), log_uniform_integer(rng, 3, 30)
    truth = draw_truth(rng, _draw_shares(rng, n_classes), draw_n_items(rng, n_classes * n_members))
    worst = rng.uniform(0.05, 0.6)
    best = rng.uniform(max(worst, 0.5), 0.97)
    skill = above_chance(rng.uniform(worst, best, (n_members, 1)), n_classes)
    if chance(rng, 0.6):  # not the same for all classes
        spread = rng.uniform(0.3, 2)
        odds = np.log(skill / (1 - skill)) + spread * rng.standard_normal((n_members, n_classes))
        confusions = _confusions(1 / (1 + np.exp(-odds)), log_uniform(rng, 0.2, 3), rng)
    else:
        confusions = _confusions(np.repeat(skill, n_classes, axis=1), None, rng)
    if chance(rng, 0.2):
        confusions[rng.integers(n_members)] = np.eye(n_classes)[rng.integers(n_classes)]
    return _voted(truth, confusions, rng.uniform(0, 0.5) if chance(rng, 0.2) else 0.0, rng)


def excellent(rng: Rng) -> Draft:
    """Votes of members who are right nine times of ten or more, of classes of which one is at 1 to 5 %."""
    n_classes, n_members = int(rng.choice([2, 2, 3, 4, 5])), log_uniform_integer(rng, 3, 12)
    share = rng.uniform(0.01, 0.05)
    truth = draw_truth(rng, draw_around(rng, n_classes, share), max(draw_n_items(rng, 1), int(5 / share)))
    return _voted(truth, _confusions(rng.uniform(0.85, 0.99, (n_members, n_classes)), 2, rng), 0, rng)


def coins(rng: Rng) -> Draft:
    """A one-coin crowd: 30 to 300 workers, each as often right in every class, 3 to 10 answers an item."""
    n_classes, n_workers = _draw_n_classes(rng), log_uniform_integer(rng, 30, 300)
    truth = draw_truth(rng, _draw_shares(rng, n_classes), draw_n_items(rng, 1))
    skill = above_chance(rng.beta(rng.uniform(1, 3), rng.uniform(1, 3), (n_workers, 1)), n_classes)
    wrong = (truth + rng.integers(1, n_classes, (n_workers, len(truth)))) % n_classes
    labels = np.where(rng.random(wrong.shape) < skill, truth, wrong)
    n_answers = int(rng.integers(3, 11))
    asked = rng.random(wrong.shape).argpartition(n_answers, axis=0)[:n_answers]
    is_asked = np.zeros(wrong.shape, dtype=bool)
    np.put_along_axis(is_asked, asked, values=True, axis=0)
    return Draft(truth, n_classes, labels=np.where(is_asked, labels, -1))


def passing(rng: Rng) -> Draft:
    """Judges of two classes, "pass" and "fail": nearly all that is good passes, and some that is not."""
    n_members = log_uniform_integer(rng, 3, 15)
    passed = int(rng.integers(2))
    shares = np.roll([1 - (share := rng.uniform(0.5, 0.92)), share], 1 - passed)
    truth = draw_truth(rng, shares, draw_n_items(rng, 1))
    right = np.empty((n_members, 2))
    right[:, passed] = rng.uniform(0.9, 0.99, n_members)
    right[:, 1 - passed] = rng.uniform(0.5, 0.9, n_members)
    return _voted(truth, _confusions(right, None, rng), 0, rng)


def lookers(rng: Rng) -> Draft:
    """Probabilities: what each member's own noisy look makes probable, given the shares or even classes."""
    n_classes, n_members = _draw_n_classes(rng), log_uniform_integer(rng, 3, 30)
    worst = rng.uniform(0.05, 0.6)
    world = World(
        draw_n_items(rng, n_classes * n_members),
        n_members,
        _draw_shares(rng, n_classes),
        accuracy=(above_chance(worst, n_classes), above_chance(rng.uniform(worst, 0.95), n_classes)),
        ease_spread=0,
        knows_shares=chance(rng, 0.7),
    )
    truth, probabilities = simulate_probabilities(world, rng)
    return Draft(truth, n_classes, probabilities=probabilities)


MANNERS: dict[str, tuple[float, Callable[[Rng], Draft]]] = {
    "voters": (0.4, voters),
    "excellent": (0.1, excellent),
    "coins": (0.12, coins),
    "passing": (0.13, passing),
    "lookers": (0.25, lookers),
}
"""By name: the share of each manner, and its generator."""


def _draw_n_classes(rng: Rng) -> int:
    return log_uniform_integer(rng, 11, 20) if chance(rng, 0.1) else log_uniform_integer(rng, 2, 10)


def _draw_shares(rng: Rng, n_classes: int) -> np.ndarray:
    """(classes,): even, from a Dirichlet, or with one class that is frequent or rare."""
    kind = rng.choice(["any", "frequent", "rare"], p=[0.6, 0.2, 0.2])
    if kind == "any":
        return draw_shares(rng, n_classes, even=0.4)
    return draw_around(rng, n_classes, rng.uniform(0.6, 0.95) if kind == "frequent" else rng.uniform(0.01, 0.05))


def _confusions(right: np.ndarray, concentration: float | None, rng: Rng) -> np.ndarray:
    """(members, classes, classes): p(answer | truth) with these chances to be right, (members, classes).

    Errors go to all other classes alike, or to those that a Dirichlet prefers.
    """
    n_members, n_classes = right.shape
    shape = (n_members, n_classes, n_classes)
    slips = np.ones(shape)
    if concentration is not None:
        slips = rng.dirichlet(np.full(n_classes, concentration), shape[:2]) + 1e-6
    slips[:, np.arange(n_classes), np.arange(n_classes)] = 0
    slips /= slips.sum(axis=2, keepdims=True)
    return right[:, :, None] * np.eye(n_classes) + (1 - right[:, :, None]) * slips


def _voted(truth: np.ndarray, confusions: np.ndarray, missing: float, rng: Rng) -> Draft:
    """Votes drawn from the rows of the true classes, without about a share of the answers."""
    labels = draw_classes(rng, confusions[:, truth])
    return Draft(truth, confusions.shape[1], labels=np.where(rng.random(labels.shape) < missing, -1, labels))
