"""One class, "none", that most items have, and members who differ in how readily they leave it."""

from __future__ import annotations

import numpy as np

from benchmarks.quality.generated.answers import softmax
from benchmarks.quality.generated.assembly import Draft
from benchmarks.quality.generated.draws import (
    above_chance,
    chance,
    draw_around,
    draw_n_items,
    log_uniform,
    log_uniform_integer,
    some,
)
from benchmarks.quality.generated.simulator import World, simulate

Rng = np.random.Generator


def dominated(rng: Rng) -> Draft:
    """Votes or probabilities of members for 3 to 40 classes, one of them at 50 to 95 %."""
    n_classes, n_members = log_uniform_integer(rng, 3, 40), log_uniform_integer(rng, 3, 30)
    share = rng.uniform(0.52, 0.95)
    worst = rng.uniform(0.1, 0.7)
    world = World(
        draw_n_items(rng, n_classes * n_members),
        n_members,
        draw_around(rng, n_classes, share),
        accuracy=(above_chance(worst, n_classes), above_chance(rng.uniform(worst, 0.96), n_classes)),
        common=rng.uniform(0, 0.6),
        family=some(rng, 0.3, 0.3),
        n_families=int(rng.integers(1, 4)),
        ease_spread=rng.uniform(0, 0.6),
        likeness=some(rng, 0.5, 0.6),
        class_spread=some(rng, 0.4, 0.4),
        own_bias=some(rng, 0.5, 0.4),
        sharpness=log_uniform(rng, 0.6, 2),
        knows_shares=False,
    )
    truth, scores = simulate(world, rng)
    scores[:, :, world.shares.argmax()] += _reluctance(n_members, n_classes, share, rng)[:, None]
    draft = Draft(truth, n_classes, probabilities=softmax(scores))
    return draft.hardened() if chance(rng, 0.5) else draft


def _reluctance(n_members: int, n_classes: int, share: float, rng: Rng) -> np.ndarray:
    """(members,): what each adds to the score of "none": about what its share is worth, far less, or far too much."""
    worth = np.log(share * (n_classes - 1) / (1 - share))
    added = rng.uniform(0, 1.3) * worth + rng.uniform(0.2, 1.5) * rng.standard_normal(n_members)
    way = rng.choice([0, -1, 1], n_members, p=rng.dirichlet([6, 1, 1]))
    return added + way * rng.uniform(2, 6, n_members)
