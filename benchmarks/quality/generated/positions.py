"""Examinations: options whose order means nothing, answered by language models from hopeless to excellent."""

from __future__ import annotations

import numpy as np

from benchmarks.quality.generated.assembly import Draft
from benchmarks.quality.generated.draws import chance, draw_n_items, log_uniform, log_uniform_integer, some
from benchmarks.quality.generated.simulator import World, simulate_probabilities

Rng = np.random.Generator


def positions(rng: Rng) -> Draft:
    """Votes with missing answers, or probabilities; each option is right as often as any other."""
    n_classes, n_members = int(rng.integers(4, 11)), log_uniform_integer(rng, 5, 40)
    common = rng.uniform(0, 0.35)
    world = World(
        draw_n_items(rng, n_classes * n_members),
        n_members,
        np.full(n_classes, 1 / n_classes),
        accuracy=(rng.uniform(0.15, 0.5), rng.uniform(0.7, 0.99)),
        common=common,
        family=(0.7 - common) * rng.uniform(0, 0.7),
        n_families=int(rng.integers(1, 7)),
        ease_spread=rng.uniform(0.2, 0.7),
        domain_spread=some(rng, 0.5, 0.6),
        decoyed=rng.uniform(0.05, 0.5),  # a wrong option that seems right unless one knows better
        pull=rng.uniform(0.4, 0.8),
        resistance=rng.uniform(0.5, 1),
        shared_bias=some(rng, 0.5, 0.3),  # towards positions
        own_bias=rng.uniform(0, 0.8),
        sharpness=log_uniform(rng, 0.5, 4),
        is_honest=chance(rng, 0.5),
    )
    truth, probabilities = simulate_probabilities(world, rng)
    draft = Draft(truth, n_classes, probabilities=probabilities)
    if chance(rng, 0.7):
        return draft.silenced(rng, rng.uniform(0, 0.2), caution=rng.choice([0, rng.random()])).hardened()
    return draft
