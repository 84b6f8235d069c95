"""What members make of their scores: temperatures, clipping, rounding, votes, silence.

Arrays of probabilities are (members, items, classes) or one member's (items, classes); a row of NaN is no answer.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.quality.generated.draws import chance, log_uniform

FLOOR = 1e-7
"""The least probability before a logarithm is taken."""


def softmax(scores: np.ndarray) -> np.ndarray:
    """Probabilities over the last axis; a score of minus infinity has probability 0."""
    powers = np.exp(np.maximum(scores - scores.max(axis=-1, keepdims=True), -80))
    powers[scores == -np.inf] = 0
    return powers / powers.sum(axis=-1, keepdims=True)


def log(probabilities: np.ndarray) -> np.ndarray:
    """Logarithms that stay finite."""
    return np.log(np.maximum(probabilities, FLOOR))


def normalized(weights: np.ndarray) -> np.ndarray:
    """Rows divided by their sums; rows without any weight become even."""
    sums = weights.sum(axis=-1, keepdims=True)
    return np.where(sums > 0, weights, 1) / np.where(sums > 0, sums, weights.shape[-1])


def one_hot(probabilities: np.ndarray) -> np.ndarray:
    """All probability on the first of the most probable classes; rows of NaN stay."""
    hard = np.eye(probabilities.shape[-1], dtype=probabilities.dtype)[np.nan_to_num(probabilities).argmax(axis=-1)]
    hard[np.isnan(probabilities).any(axis=-1)] = np.nan
    return hard


def tempered(probabilities: np.ndarray, sharpness: float | np.ndarray) -> np.ndarray:
    """Surer (above 1) or more modest (below 1) probabilities with the same order."""
    return softmax(log(probabilities) * sharpness)


def distort(probabilities: np.ndarray, rng: np.random.Generator, share: float) -> np.ndarray:
    """The same with about a share of the members reporting their scores badly, each in its own way."""
    distorted = probabilities.copy()
    for member in range(len(probabilities)):
        if chance(rng, share):
            way = DISTORTIONS[rng.integers(len(DISTORTIONS))]
            distorted[member] = way(probabilities[member], rng)
    return distorted


def silence(probabilities: np.ndarray, rng: np.random.Generator, share: float, caution: float) -> np.ndarray:
    """The same without about a share of the answers, by chance (caution 0) or the least sure ones (caution 1).

    Every item keeps at least one answer if it had one.
    """
    n_members, n_items = probabilities.shape[:2]
    had_answer = ~np.isnan(probabilities[:, :, 0])
    sureness = np.nan_to_num(probabilities.max(axis=2)).argsort(axis=1).argsort(axis=1) / n_items
    keenness = caution * sureness + (1 - caution) * rng.random((n_members, n_items))
    shares = np.clip(share * rng.gamma(2, 0.5, n_members), 0, 0.95)  # members differ in how much they say
    order = keenness.argsort(axis=1).argsort(axis=1) / n_items
    is_silent = order < shares[:, None]
    kept = np.where(had_answer, keenness, -1).argmax(axis=0)
    is_silent[kept, np.arange(n_items)] = False
    thinned = probabilities.copy()
    thinned[is_silent] = np.nan
    return thinned


def _clipped(probabilities: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    least = log_uniform(rng, 0.001, 0.4) / probabilities.shape[-1]
    most = rng.uniform(0.6, 1)
    return normalized(np.clip(probabilities, least, most))


def _rounded(probabilities: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    step = rng.choice([0.01, 0.05, 0.1, 0.25, 0.5])
    rounded = np.round(probabilities / step) * step
    return np.where(rounded.sum(axis=-1, keepdims=True) > 0, normalized(rounded), one_hot(probabilities))


def _flattened(probabilities: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    weight = rng.uniform(0.05, 0.8)
    return weight * probabilities + (1 - weight) / probabilities.shape[-1]


def _sharpened(probabilities: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return tempered(probabilities, log_uniform(rng, 2, 20))


def _hardened(probabilities: np.ndarray, _: np.random.Generator) -> np.ndarray:
    return one_hot(probabilities)


def _top_only(probabilities: np.ndarray, _: np.random.Generator) -> np.ndarray:
    """Says the first class and how sure it is; the rest is spread evenly."""
    top = probabilities.max(axis=-1, keepdims=True)
    rest = (1 - top) / (probabilities.shape[-1] - 1)
    return np.where(one_hot(probabilities) > 0, top, rest)


DISTORTIONS: tuple[Callable[[np.ndarray, np.random.Generator], np.ndarray], ...] = (
    _clipped,
    _rounded,
    _flattened,
    _sharpened,
    _hardened,
    _top_only,
)
