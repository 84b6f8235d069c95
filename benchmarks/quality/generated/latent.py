"""Simulated panels of seven manners: networks, annotators, prompts, tools, unequal or independent members, any."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.quality.generated.answers import distort, silence
from benchmarks.quality.generated.assembly import Draft
from benchmarks.quality.generated.draws import (
    above_chance,
    chance,
    draw_n_classes,
    draw_n_items,
    draw_n_members,
    draw_shares,
    log_uniform,
    log_uniform_integer,
    some,
)
from benchmarks.quality.generated.simulator import World, simulate_probabilities

Rng = np.random.Generator


def latent(rng: Rng) -> Draft:
    """A simulated panel of any manner."""
    shares, manners = zip(*MANNERS.values(), strict=True)
    return manners[rng.choice(len(manners), p=shares)](rng)


def networks(rng: Rng) -> Draft:
    """Like-minded networks, surer than they should be, mostly under a shift that fools them all alike."""
    n_classes, n_members = draw_n_classes(rng), log_uniform_integer(rng, 2, 12)
    middle = above_chance(rng.beta(2.2, 1) * 0.98, n_classes)
    spread = rng.choice([0.02, 0.08, 0.25])
    harm = 1.0 if chance(rng, 0.65) else 0.15  # of the shift, if there is one
    world = _world(
        rng,
        n_classes,
        n_members,
        accuracy=(middle - spread, min(0.99, middle + spread)),
        common=rng.uniform(0.2, 0.85),
        n_families=int(rng.integers(1, 4)),
        family=rng.uniform(0, 0.15),
        likeness=rng.uniform(0, 0.8),
        ease_spread=rng.uniform(0.1, 0.8),
        decoyed=harm * some(rng, 0.6, 0.4),
        pull=rng.uniform(0.3, 0.9),
        favorite=rng.random(),
        shared_bias=harm * some(rng, 0.5, 1.5),
        own_bias=harm * some(rng, 0.6, 1.5),
        class_spread=some(rng, 0.4, 0.5),
        sharpness=log_uniform(rng, 0.7, 5),
        sharpness_spread=rng.uniform(0, 0.5),
        is_honest=chance(rng, 0.5),
    )
    return _soft(world, rng, bad_scores=0.05)


def annotators(rng: Rng) -> Draft:
    """Language models of several families as annotators: small ones say one class, families err together; votes."""
    n_classes, n_members = draw_n_classes(rng, 24), log_uniform_integer(rng, 5, 20)
    worst = above_chance(rng.uniform(0, 0.5), n_classes)
    world = _world(
        rng,
        n_classes,
        n_members,
        accuracy=(worst, above_chance(rng.uniform(0.55, 0.99), n_classes)),
        common=rng.uniform(0, 0.5),
        family=rng.uniform(0, 0.45),
        n_families=int(rng.integers(2, 6)),
        likeness=rng.uniform(0, 0.8),
        ease_spread=rng.uniform(0.2, 0.9),
        decoyed=some(rng, 0.7, 0.35),
        pull=rng.uniform(0.4, 0.9),
        resistance=rng.uniform(0, 0.6),
        favorite=rng.random() ** 2,
        shared_bias=some(rng, 0.5, 0.8),
        own_bias=rng.uniform(0.1, 1),
        class_spread=rng.uniform(0, 0.5),
        collapsed=some(rng, 0.7, 0.7),
        sharpness=log_uniform(rng, 0.5, 6),
        is_honest=chance(rng, 0.2),
    )
    draft = _soft(world, rng, bad_scores=0.2)
    return draft.hardened() if chance(rng, 0.8) else draft


def prompts(rng: Rng) -> Draft:
    """Prompts of one model: much alike, modest, each leaning towards some answers."""
    n_classes = int(rng.integers(2, 7))
    middle = above_chance(rng.uniform(0.1, 0.85), n_classes)
    world = _world(
        rng,
        n_classes,
        log_uniform_integer(rng, 3, 20),
        accuracy=(middle - 0.05, min(0.99, middle + 0.1)),
        common=rng.uniform(0.4, 0.92),
        likeness=rng.uniform(0, 0.4),
        ease_spread=rng.uniform(0.2, 1.2),
        decoyed=some(rng, 0.6, 0.4),
        pull=rng.uniform(0.3, 0.8),
        shared_bias=some(rng, 0.6, 0.8),
        own_bias=rng.uniform(0, 1),
        sharpness=log_uniform(rng, 0.1, 1.5),
        sharpness_spread=rng.uniform(0, 0.4),
        is_honest=chance(rng, 0.5),
    )
    return _soft(world, rng, bad_scores=0.02)


def unequal(rng: Rng) -> Draft:
    """Modest and sure members, weak and strong ones, mixed without order."""
    n_classes = draw_n_classes(rng)
    world = _world(
        rng,
        n_classes,
        draw_n_members(rng, 3, 40),
        accuracy=(
            above_chance(rng.uniform(0, 0.6), n_classes),
            above_chance(rng.uniform(0.65, 0.99), n_classes),
        ),
        common=rng.uniform(0, 0.4),
        family=rng.uniform(0, 0.3),
        n_families=int(rng.integers(1, 6)),
        likeness=rng.uniform(0, 0.7),
        ease_spread=rng.uniform(0, 0.7),
        class_spread=rng.uniform(0, 0.8),
        decoyed=some(rng, 0.3, 0.3),
        shared_bias=some(rng, 0.3, 0.8),
        own_bias=rng.uniform(0, 1.5),
        collapsed=some(rng, 0.3, 0.4),
        sharpness=log_uniform(rng, 0.3, 3),
        sharpness_spread=rng.uniform(0, 1.2),
        is_honest=chance(rng, 0.5),
    )
    return _soft(world, rng, bad_scores=rng.uniform(0, 0.4))


def independent(rng: Rng) -> Draft:
    """Members who err on their own, each in its own way: where confusion matrices tell most."""
    n_classes = draw_n_classes(rng, 20)
    middle = above_chance(rng.uniform(0.15, 0.85), n_classes)
    world = _world(
        rng,
        n_classes,
        draw_n_members(rng, 3, 30),
        accuracy=(max(middle - 0.3, 1 / n_classes), min(0.98, middle + 0.2)),
        ease_spread=rng.uniform(0, 0.3),
        likeness=rng.uniform(0, 0.5),
        class_spread=rng.uniform(0, 0.8),
        shared_bias=some(rng, 0.5, 1.5),
        own_bias=rng.uniform(0.3, 2.5),
        collapsed=some(rng, 0.3, 0.5),
        sharpness=log_uniform(rng, 0.2, 3),
        sharpness_spread=rng.uniform(0, 0.8),
        is_honest=chance(rng, 0.5),
    )
    return _soft(world, rng, bad_scores=0.1)


def tools(rng: Rng) -> Draft:
    """Tools and word lists for two or three classes: near copies, one-sided, silent where they know no word."""
    n_classes, n_members = int(rng.choice([2, 2, 2, 3])), log_uniform_integer(rng, 3, 20)
    world = _world(
        rng,
        n_classes,
        n_members,
        accuracy=(
            above_chance(rng.uniform(0.05, 0.5), n_classes),
            above_chance(rng.uniform(0.5, 0.95), n_classes),
        ),
        common=rng.uniform(0, 0.6),
        family=rng.uniform(0, 0.39),
        n_families=int(rng.integers(2, 5)),
        ease_spread=rng.uniform(0.3, 1),
        decoyed=some(rng, 0.5, 0.3),
        shared_bias=some(rng, 0.6, 1.0),
        own_bias=rng.uniform(0.1, 1.2),
        sharpness=log_uniform(rng, 0.3, 6),
        sharpness_spread=rng.uniform(0, 1),
        is_honest=chance(rng, 0.5),
    )
    draft = _soft(world, rng, bad_scores=rng.uniform(0, 0.5))
    return draft.silenced(rng, rng.uniform(0, 0.5), caution=rng.random())


def anything(rng: Rng) -> Draft:
    """Every number drawn from its whole range."""
    n_classes = draw_n_classes(rng)
    low, high = np.sort(rng.random(2))
    common, family = rng.dirichlet([1, 1, 1])[:2]
    world = _world(
        rng,
        n_classes,
        draw_n_members(rng),
        accuracy=(above_chance(low, n_classes), above_chance(0.5 + 0.49 * high, n_classes)),
        common=common,
        family=family,
        n_families=int(rng.integers(1, 7)),
        ease_spread=rng.uniform(0, 1.2),
        likeness=rng.uniform(0, 0.9),
        class_spread=some(rng, 0.5, 1),
        decoyed=some(rng, 0.5, 0.5),
        pull=rng.uniform(0.2, 1),
        resistance=rng.random(),
        favorite=rng.random(),
        shared_bias=some(rng, 0.5, 2),
        own_bias=some(rng, 0.7, 2),
        collapsed=some(rng, 0.3, 0.5),
        sharpness=log_uniform(rng, 0.1, 8),
        sharpness_spread=rng.uniform(0, 1),
        is_honest=chance(rng, 0.5),
    )
    return _soft(world, rng, bad_scores=some(rng, 0.5, 0.6))


MANNERS: dict[str, tuple[float, Callable[[Rng], Draft]]] = {
    "networks": (0.2, networks),
    "annotators": (0.2, annotators),
    "prompts": (0.1, prompts),
    "unequal": (0.14, unequal),
    "independent": (0.16, independent),
    "tools": (0.1, tools),
    "anything": (0.1, anything),
}
"""By name: the share of each manner, and its generator."""


def _world(rng: Rng, n_classes: int, n_members: int, **rest: Any) -> World:
    n_items, domain_spread = draw_n_items(rng, n_classes * n_members), some(rng, 0.25, 0.8)
    return World(n_items, n_members, draw_shares(rng, n_classes), domain_spread=domain_spread, **rest)


def _soft(world: World, rng: Rng, *, bad_scores: float) -> Draft:
    truth, probabilities = simulate_probabilities(world, rng)
    probabilities = distort(probabilities, rng, bad_scores)
    if chance(rng, 0.08):
        probabilities = silence(probabilities, rng, rng.uniform(0.02, 0.5), rng.random())
    return Draft(truth, world.n_classes, probabilities=probabilities)
