"""Random classification problems: a problem draws features for given true classes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.ndimage import gaussian_filter

from benchmarks.quality.generated.draws import chance, log_uniform

Rng = np.random.Generator
Problem = Callable[[np.ndarray, Rng], np.ndarray]  # truth (items,), rng -> features (items, features)

SIDE = 8
"""Pixels along each side of a picture."""


def draw_problem(rng: Rng, n_classes: int) -> Problem:
    """A problem of any form, some of its features without meaning, scaled to about unit variance."""
    problem = FORMS[rng.integers(len(FORMS))](rng, n_classes)
    sample = problem(rng.integers(n_classes, size=400), rng)
    mean, spread = sample.mean(axis=0), sample.std(axis=0) + 1e-3
    n_useless = int(rng.integers(1, 15)) if chance(rng, 0.4) else 0

    def scaled(truth: np.ndarray, rng: Rng) -> np.ndarray:
        features = (problem(truth, rng) - mean) / spread
        return np.hstack([features, rng.standard_normal((len(truth), n_useless))])

    return scaled


def clusters(rng: Rng, n_classes: int) -> Problem:
    """Each class is one to three stretched clusters, as in `make_classification`."""
    n_features, n_clusters = int(rng.integers(3, 30)), int(rng.integers(1, 4))
    centers = rng.standard_normal((n_classes, n_clusters, n_features))
    distance = log_uniform(rng, 0.8, 5) * np.sqrt(6 / n_features)
    stretch = rng.standard_normal((n_classes, n_features, n_features)) / np.sqrt(n_features)

    def draw(truth: np.ndarray, rng: Rng) -> np.ndarray:
        noise = rng.standard_normal((len(truth), n_features))
        features = distance * centers[truth, rng.integers(n_clusters, size=len(truth))]
        for label in np.unique(truth):
            features[truth == label] += noise[truth == label] @ stretch[label]
        return features

    return draw


def blobs(rng: Rng, n_classes: int) -> Problem:
    """Each class is one round cluster; some are wide."""
    n_features = int(rng.integers(2, 20))
    centers = log_uniform(rng, 0.8, 5) * rng.standard_normal((n_classes, n_features))
    widths = np.exp(0.5 * rng.standard_normal(n_classes)) * np.sqrt(n_features) / 2
    return lambda truth, rng: centers[truth] + widths[truth, None] * rng.standard_normal((len(truth), n_features))


def rings(rng: Rng, n_classes: int) -> Problem:
    """Each class is an arc of a ring (moons, circles), seen in a few more dimensions than two."""
    radius = 1 + rng.random(n_classes) * log_uniform(rng, 0.5, 4)
    start, length = rng.uniform(0, 2 * np.pi, n_classes), rng.uniform(1, 2 * np.pi, n_classes)
    centers = rng.standard_normal((n_classes, 2)) * rng.uniform(0, 2)
    views = rng.standard_normal((2, int(rng.integers(2, 8))))
    width = log_uniform(rng, 0.05, 0.4)

    def draw(truth: np.ndarray, rng: Rng) -> np.ndarray:
        angle = start[truth] + length[truth] * rng.random(len(truth))
        points = centers[truth] + radius[truth, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        return (points + width * rng.standard_normal(points.shape)) @ views

    return draw


def teacher(rng: Rng, n_classes: int) -> Problem:
    """Classes are what a random network says of normal features, but for some noise."""
    n_features, width = int(rng.integers(4, 20)), int(rng.integers(4, 24))
    first = rng.standard_normal((n_features, width)) / np.sqrt(n_features)
    second = rng.standard_normal((width, n_classes)) / np.sqrt(width)
    noise = rng.uniform(0, 0.2)

    def draw(truth: np.ndarray, rng: Rng) -> np.ndarray:
        pool = rng.standard_normal((4 * len(truth) + 100, n_features))
        scores = np.tanh(2 * pool @ first) @ second
        scores = (scores - scores.mean(axis=0)) / scores.std(axis=0) + noise * rng.standard_normal(scores.shape)
        said = scores.argmax(axis=1)
        features = np.empty((len(truth), n_features))
        for label in np.unique(truth):
            places = np.flatnonzero(said == label)
            wanted = truth == label
            features[wanted] = pool[rng.choice(places if len(places) else len(pool), wanted.sum())]
        return features

    return draw


def pictures(rng: Rng, n_classes: int) -> Problem:
    """Each class is a smooth picture of 8 × 8, moved about, blended with others' and strewn with noise."""
    prototypes = gaussian_filter(rng.standard_normal((n_classes, SIDE, SIDE)), (0, 1, 1), mode="wrap")
    prototypes /= prototypes.std(axis=(1, 2), keepdims=True)
    blend, noise, reach = rng.uniform(0, 0.8), log_uniform(rng, 0.2, 1.5), int(rng.integers(2))

    def draw(truth: np.ndarray, rng: Rng) -> np.ndarray:
        others = prototypes[rng.integers(n_classes, size=len(truth))]
        images = prototypes[truth] + blend * rng.random((len(truth), 1, 1)) * others
        moves = rng.integers(-reach, reach + 1, size=(2, len(truth), 1))
        rows = (np.arange(SIDE) + moves[0]) % SIDE
        columns = (np.arange(SIDE) + moves[1]) % SIDE
        moved = images[np.arange(len(truth))[:, None, None], rows[:, :, None], columns[:, None, :]]
        return (moved + noise * rng.standard_normal(moved.shape)).reshape(len(truth), -1)

    return draw


FORMS: tuple[Callable[[Rng, int], Problem], ...] = (clusters, clusters, blobs, rings, teacher, pictures, pictures)
