"""Identifiers of many classes: tools that know some of them, some give labels only, some keep silent."""

from __future__ import annotations

import numpy as np

from benchmarks.quality.generated.answers import distort, one_hot, silence, softmax
from benchmarks.quality.generated.assembly import Draft
from benchmarks.quality.generated.draws import chance, draw_n_items, draw_shares, log_uniform, log_uniform_integer
from benchmarks.quality.generated.simulator import World, simulate

Rng = np.random.Generator


def identifiers(rng: Rng) -> Draft:
    """Probabilities of tools for 10 to 50 classes, one-hot for some, with missing answers."""
    n_classes, n_members = log_uniform_integer(rng, 10, 50), log_uniform_integer(rng, 3, 20)
    truth, scores = simulate(_world(rng, n_classes, n_members), rng)
    is_known = _known(n_members, n_classes, rng)
    wanted = scores.argmax(axis=2)
    scores = np.where(is_known[:, None, :], scores, -np.inf)
    probabilities = softmax(scores)
    probabilities = distort(probabilities, rng, rng.choice([0, 0.2]))
    labels_only = rng.random(n_members) < rng.choice([0, 0.2, 0.5])
    probabilities[labels_only] = one_hot(probabilities[labels_only])
    return Draft(truth, n_classes, probabilities=_with_silence(probabilities, is_known, wanted, rng))


def _world(rng: Rng, n_classes: int, n_members: int) -> World:
    worst = rng.uniform(0.5, 0.98)
    common = rng.uniform(0, 0.5)
    return World(
        draw_n_items(rng, n_classes * n_members),
        n_members,
        draw_shares(rng, n_classes, even=0.6),
        accuracy=(worst, rng.uniform(worst, 0.998)),
        common=common,
        family=(1 - common) * rng.uniform(0, 0.5),
        n_families=int(rng.integers(1, 5)),
        ease_spread=rng.uniform(0.1, 0.5),
        likeness=rng.uniform(0, 0.7),
        class_spread=rng.uniform(0, 0.6),
        decoyed=rng.choice([0, rng.uniform(0, 0.2)]),
        resistance=rng.random(),
        own_bias=rng.uniform(0, 0.5),
        shared_bias=rng.choice([0, rng.uniform(0, 0.5)]),
        sharpness=log_uniform(rng, 0.3, 4),
        sharpness_spread=rng.uniform(0, 0.8),
        is_honest=chance(rng, 0.5),
    )


def _known(n_members: int, n_classes: int, rng: Rng) -> np.ndarray:
    """(members, classes): which classes each member knows, at least two; about half of the members know all."""
    breadth = np.where(rng.random(n_members) < rng.random(), 1.0, rng.uniform(0.3, 1, n_members))
    is_known = rng.random((n_members, n_classes)) < breadth[:, None]
    is_known[np.arange(n_members)[:, None], rng.integers(n_classes, size=(n_members, 2))] = True
    return is_known


def _with_silence(probabilities: np.ndarray, is_known: np.ndarray, wanted: np.ndarray, rng: Rng) -> np.ndarray:
    """Some members say nothing where they would have said a class that they do not know; then more at random."""
    knows = np.take_along_axis(is_known, wanted, axis=1)
    is_candid = rng.random(len(wanted)) < rng.choice([0, 0.5])
    probabilities = probabilities.copy()
    probabilities[is_candid[:, None] & ~knows] = np.nan
    if chance(rng, 0.7):
        probabilities = silence(probabilities, rng, rng.uniform(0, 0.35), rng.choice([0, rng.random()]))
    return probabilities
