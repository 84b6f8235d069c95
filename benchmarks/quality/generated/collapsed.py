"""Networks under a shift that collapse into a few classes, while the true classes are even or nearly."""

from __future__ import annotations

import numpy as np

from benchmarks.quality.generated.answers import softmax
from benchmarks.quality.generated.assembly import Draft
from benchmarks.quality.generated.draws import above_chance, chance, draw_n_items, log_uniform, log_uniform_integer
from benchmarks.quality.generated.simulator import World, simulate

Rng = np.random.Generator


def collapsed(rng: Rng) -> Draft:
    """Probabilities of like-minded members, too sure, who see one or a few classes nearly everywhere."""
    n_classes, n_members = log_uniform_integer(rng, 3, 20), log_uniform_integer(rng, 2, 15)
    middle = rng.uniform(0.3, 0.9)
    world = World(
        draw_n_items(rng, n_classes * n_members),
        n_members,
        np.full(n_classes, 1 / n_classes) if chance(rng, 0.7) else rng.dirichlet(np.full(n_classes, 50)),
        accuracy=(above_chance(middle - 0.1, n_classes), above_chance(min(0.98, middle + 0.1), n_classes)),
        common=rng.uniform(0.2, 0.75),
        ease_spread=rng.uniform(0.1, 0.6),
        likeness=rng.uniform(0, 0.6),
        own_bias=rng.uniform(0, 0.5),
        sharpness=log_uniform(rng, 1, 5),
        is_honest=chance(rng, 0.5),
        knows_shares=False,
    )
    truth, scores = simulate(world, rng)
    scores += scores.std(axis=2).mean() * _leanings(n_members, n_classes, rng)[:, None]
    return Draft(truth, n_classes, probabilities=softmax(scores))


def _leanings(n_members: int, n_classes: int, rng: Rng) -> np.ndarray:
    """(members, classes): towards one class or a few, shared by all, and stronger in some members."""
    leanings = np.zeros((n_members, n_classes))
    drawn = rng.choice(n_classes, int(rng.integers(1, n_classes // 4 + 2)), replace=False)
    depth = rng.uniform(0.7, 2) * rng.uniform(0.6, 1, len(drawn))
    leanings[:, drawn] = depth * np.exp(0.25 * rng.standard_normal((n_members, len(drawn))))
    return leanings
