"""Truths that nobody can know: matches, peaks, rates of change.

Each item has probabilities, and the truth is drawn from them. Members know about these probabilities, and share most
of what they know: bookmakers of three outcomes, forecasters of classes with an order, or anyone.
"""

from __future__ import annotations

import numpy as np

from benchmarks.quality.generated.answers import log, silence, softmax
from benchmarks.quality.generated.assembly import Draft
from benchmarks.quality.generated.draws import chance, draw_classes, draw_n_items, log_uniform_integer

Rng = np.random.Generator

AGREEMENT = (0.86, 0.99)
"""How often two members choose the same class, from the least to the most."""


def unknowable(rng: Rng) -> Draft:
    """Probabilities of members who are about calibrated, and agree; some answers may be missing."""
    is_ordered = chance(rng, 0.35)
    n_classes = int(rng.choice([3, 5, 5, 7, 12, 28])) if is_ordered else _draw_n_classes(rng)
    n_members = log_uniform_integer(rng, 3, 30)
    n_items = draw_n_items(rng, n_classes * n_members)
    modesty = rng.uniform(max(0.4, 1 / n_classes + 0.07), 0.75)
    chances = (_bells if is_ordered else _mixtures)(n_items, n_classes, modesty, rng) + 1e-3 / n_classes
    chances /= chances.sum(axis=1, keepdims=True)
    truth = draw_classes(rng, chances)
    probabilities = _opinions(chances, n_members, rng, is_ordered=is_ordered)
    if chance(rng, 0.3):
        probabilities = silence(probabilities, rng, rng.uniform(0.02, 0.4), 0)
    return Draft(truth, n_classes, probabilities=probabilities)


def _draw_n_classes(rng: Rng) -> int:
    return 3 if chance(rng, 0.35) else log_uniform_integer(rng, 2, 30)


def _mixtures(n_items: int, n_classes: int, top: float, rng: Rng) -> np.ndarray:
    """(items, classes): rows from a Dirichlet whose largest entries are so large in the mean, if shares allow."""
    shares = rng.dirichlet(np.full(n_classes, 10 ** rng.uniform(0.3, 2)))
    shares = (shares + 0.02 / n_classes) / (shares + 0.02 / n_classes).sum()
    concentrations = np.geomspace(0.5, 200, 14)
    tops = [rng.dirichlet(one * shares, 100).max(axis=1).mean() for one in concentrations]
    return rng.dirichlet(concentrations[np.abs(np.array(tops) - top).argmin()] * shares, n_items)


def _bells(n_items: int, n_classes: int, top: float, rng: Rng) -> np.ndarray:
    """(items, classes): bell curves over classes in an order, at any place, of about this height."""
    places = np.arange(n_classes)
    middle, spread = rng.uniform(0.3, 0.7) * n_classes, rng.uniform(0.1, 0.35) * n_classes
    centers = np.clip(middle + spread * rng.standard_normal((n_items, 1)), 0, n_classes - 1)
    widths = 0.4 / top * np.exp(rng.uniform(0, 0.4) * rng.standard_normal((n_items, 1)))
    return softmax(-0.5 * ((places - centers) / widths) ** 2)


def _opinions(chances: np.ndarray, n_members: int, rng: Rng, *, is_ordered: bool) -> np.ndarray:
    """(members, items, classes): the logarithms of the chances, with noise that all share and less of their own."""
    n_items, n_classes = chances.shape
    places = np.arange(n_classes)
    smooth = 0.6 ** np.abs(places[:, None] - places) if is_ordered else np.eye(n_classes)
    smooth /= np.sqrt((smooth**2).sum(axis=0))
    known = log(chances) + rng.uniform(0.02, 0.25) * rng.standard_normal((n_items, n_classes)) @ smooth
    own = rng.standard_normal((n_members, n_items, n_classes), dtype=np.float32) @ smooth.astype(np.float32)
    sharpness = 1 / (rng.uniform(0.85, 1.2) * np.exp(0.04 * rng.standard_normal((n_members, 1, 1))))
    return softmax((known + _loudness(known, own, rng.uniform(*AGREEMENT)) * own) * sharpness)


def _loudness(known: np.ndarray, own: np.ndarray, agreement: float) -> float:
    """The most of their own noise with which two members still agree so often, judged by some items."""
    known, own, n_members = known[:200], own[:, :200], len(own)
    for loudness in np.geomspace(0.4, 0.005, 10):
        choices = (known + loudness * own).argmax(axis=2)
        shares = (choices[:, :, None] == np.arange(known.shape[1])).mean(axis=0)
        alike = (n_members * (shares**2).sum(axis=1) - 1) / (n_members - 1)
        if alike.mean() >= agreement:
            break
    return float(loudness)
