"""Members who learned from even classes, asked about items whose classes are uneven.

Each is calibrated for even classes; what is probable at these items also depends on the shares, which nobody knows.
"""

from __future__ import annotations

import numpy as np

from benchmarks.quality.generated.assembly import Draft
from benchmarks.quality.generated.draws import (
    above_chance,
    chance,
    draw_around,
    draw_n_items,
    log_uniform,
    log_uniform_integer,
)
from benchmarks.quality.generated.simulator import World, simulate_probabilities

Rng = np.random.Generator


def shifted(rng: Rng) -> Draft:
    """Probabilities without the prior of the shares, by members who share part of their noise."""
    n_classes, n_members = log_uniform_integer(rng, 2, 12), log_uniform_integer(rng, 3, 20)
    worst = rng.uniform(0.05, 0.85)
    world = World(
        draw_n_items(rng, n_classes * n_members),
        n_members,
        _draw_shares(rng, n_classes),
        accuracy=(above_chance(worst, n_classes), above_chance(rng.uniform(worst, 0.97), n_classes)),
        common=rng.uniform(0, 0.7),
        ease_spread=rng.choice([0, rng.uniform(0, 0.3)]),
        knows_shares=False,
    )
    truth, probabilities = simulate_probabilities(world, rng)
    return Draft(truth, n_classes, probabilities=probabilities)


def _draw_shares(rng: Rng, n_classes: int) -> np.ndarray:
    """(classes,): from a Dirichlet, or one class at 50 to 90 %."""
    if chance(rng, 0.5):
        return draw_around(rng, n_classes, rng.uniform(0.5, 0.9))
    shares = rng.dirichlet(np.full(n_classes, log_uniform(rng, 0.3, 5))) + 1e-3
    return shares / shares.sum()
