"""Panels of two or three classes of which one is rare, judged by members with badly scaled scores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.quality.generated.answers import distort, log, softmax
from benchmarks.quality.generated.assembly import Draft
from benchmarks.quality.generated.draws import chance, draw_n_items, log_uniform, log_uniform_integer
from benchmarks.quality.generated.simulator import World, simulate_probabilities
from benchmarks.quality.generated.trained import draw_trained

Rng = np.random.Generator


def rare(rng: Rng) -> Draft:
    """A panel, trained or simulated, with one class at 1 to 30 %; most members know another share."""
    n_classes = 2 if chance(rng, 0.75) else 3
    shares = rare_shares(rng, n_classes)
    order = rng.permutation(n_classes)
    taught = np.full(n_classes, 1 / n_classes) if chance(rng, 0.5) else rare_shares(rng, n_classes)
    shares, taught = shares[order], taught[order]
    draft = draw_trained(rng, shares, taught) if chance(rng, 0.3) else _simulated(rng, shares)
    assert draft.probabilities is not None  # noqa: S101 - both give probabilities
    probabilities = draft.probabilities
    if chance(rng, 0.7):
        probabilities = _rescaled(probabilities, int(order.argmin()), rng)
    return replace(draft, probabilities=distort(probabilities, rng, rng.choice([0, 0.1, 0.4])))


def rare_shares(rng: Rng, n_classes: int) -> np.ndarray:
    """(classes,): the first class at 1 to 30 %."""
    first = log_uniform(rng, 0.01, 0.3)
    return np.concatenate([[first], (1 - first) * rng.dirichlet(np.full(n_classes - 1, 5))])


def _simulated(rng: Rng, shares: np.ndarray) -> Draft:
    n_members = log_uniform_integer(rng, 2, 20)
    worst = rng.uniform(0.52, 0.8)
    common = rng.uniform(0, 0.8)
    world = World(
        max(draw_n_items(rng, 1), int(5 / shares.min())) if chance(rng, 0.8) else draw_n_items(rng, 1),
        n_members,
        shares,
        accuracy=(worst, rng.uniform(worst, 0.97)),
        common=common,
        family=(1 - common) * rng.uniform(0, 0.9),
        n_families=int(rng.integers(1, 4)),
        ease_spread=rng.uniform(0, 1),
        decoyed=rng.choice([0, rng.uniform(0, 0.2)]),
        resistance=rng.random(),
        shared_bias=rng.choice([0, rng.uniform(0, 1)]),
        own_bias=rng.uniform(0, 1),
        sharpness=log_uniform(rng, 0.3, 4),
        sharpness_spread=rng.uniform(0, 0.8),
        is_honest=chance(rng, 0.5),
    )
    truth, probabilities = simulate_probabilities(world, rng)
    return Draft(truth, len(shares), probabilities=probabilities)


def _rescaled(probabilities: np.ndarray, rare_class: int, rng: Rng) -> np.ndarray:
    """The log-odds of the rare class stretched and moved: some members find it everywhere, or nowhere."""
    n_members = len(probabilities)
    stretch = np.exp(rng.uniform(0, 0.8) * rng.standard_normal(n_members))
    move = rng.uniform(0, 2) * rng.standard_normal(n_members) + rng.uniform(-1, 1.5)
    scores = log(probabilities) * stretch[:, None, None]
    scores[:, :, rare_class] += move[:, None]
    return softmax(scores)
