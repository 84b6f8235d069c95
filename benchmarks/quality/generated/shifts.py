"""Shifts: how the features that members are asked about differ from those that they have learned from."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.quality.generated.draws import chance

Rng = np.random.Generator
Shift = Callable[[np.ndarray, float, Rng], np.ndarray]  # features, strength from 0 to 1, rng -> features


def shift(features: np.ndarray, rng: Rng) -> np.ndarray:
    """The features, two times in three shifted by one or two of the shifts; at times only for some of the items."""
    shifted = features
    n_shifts = int(rng.choice([0, 1, 2], p=[0.33, 0.5, 0.17]))
    for one in rng.choice(len(SHIFTS), n_shifts, replace=False):
        shifted = SHIFTS[one](shifted, rng.uniform(0.05, 0.85), rng)
    if chance(rng, 0.2):
        is_spared = rng.random(len(features)) < rng.random()
        shifted = np.where(is_spared[:, None], features, shifted)
    return shifted


def _noise(features: np.ndarray, strength: float, rng: Rng) -> np.ndarray:
    is_noisy = rng.random(features.shape[1]) < rng.uniform(0.2, 1)
    return features + 2 * strength * is_noisy * rng.standard_normal(features.shape)


def _rotation(features: np.ndarray, strength: float, rng: Rng) -> np.ndarray:
    n_features = features.shape[1]
    turned = np.eye(n_features) + strength * rng.standard_normal((n_features, n_features)) / np.sqrt(n_features)
    rotation, triangle = np.linalg.qr(turned)
    return features @ (rotation * np.sign(np.diag(triangle)))


def _dropped(features: np.ndarray, strength: float, rng: Rng) -> np.ndarray:
    return features * (rng.random(features.shape[1]) >= 0.6 * strength)


def _impulses(features: np.ndarray, strength: float, rng: Rng) -> np.ndarray:
    return np.where(rng.random(features.shape) < 0.5 * strength, 2 * rng.standard_normal(features.shape), features)


def _scale(features: np.ndarray, strength: float, rng: Rng) -> np.ndarray:
    return features * (1 + strength * rng.standard_normal(features.shape[1]))


def _mean(features: np.ndarray, strength: float, rng: Rng) -> np.ndarray:
    return features + 1.5 * strength * rng.standard_normal(features.shape[1])


def _contrast(features: np.ndarray, strength: float, _: Rng) -> np.ndarray:
    return features * (1 - 0.95 * strength)


def _mixture(features: np.ndarray, strength: float, rng: Rng) -> np.ndarray:
    """Each item is blended with another one."""
    return (1 - 0.5 * strength) * features + 0.5 * strength * rng.permutation(features)


SHIFTS: tuple[Shift, ...] = (_noise, _rotation, _dropped, _impulses, _scale, _mean, _contrast, _mixture)
