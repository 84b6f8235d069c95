"""Few events, each asked about many times: the week of a peak, the winner of a season, by place and by date.

The truth is the same for all items of an event, so that the shares of classes follow from a few events, and neither
what members say nor how much they agree tells them.
"""

from __future__ import annotations

import numpy as np

from benchmarks.quality.generated.answers import silence, softmax
from benchmarks.quality.generated.assembly import Draft
from benchmarks.quality.generated.draws import chance, draw_n_items, draw_truth, log_uniform, log_uniform_integer

Rng = np.random.Generator


def events(rng: Rng) -> Draft:
    """Probabilities of forecasters whose beliefs change slowly from item to item of an event."""
    n_classes, n_members = log_uniform_integer(rng, 3, 30), log_uniform_integer(rng, 2, 15)
    n_items = draw_n_items(rng, n_classes * n_members)
    n_events = min(log_uniform_integer(rng, 2, 40), n_items // 2)
    event = np.sort(rng.integers(n_events, size=n_items))
    truths = draw_truth(rng, np.full(n_classes, 1 / n_classes), n_events)
    truth = truths[event]
    is_ordered = chance(rng, 0.6)
    seen = _looks(truths, n_classes, rng.uniform(0, 1.5) * rng.random(n_events), is_ordered=is_ordered)
    common = rng.uniform(0.3, 1.5) * _smooth(rng.standard_normal((n_events, n_classes)), is_ordered=is_ordered)
    own = rng.standard_normal((n_members, n_events, n_classes))
    own = rng.uniform(0.2, 1.5) * _smooth(own, is_ordered=is_ordered)
    drift = _smooth(rng.standard_normal((n_members, n_items, n_classes)), is_ordered=is_ordered)
    scores = (seen + common)[event] + own[:, event] + rng.uniform(0, 1) * drift
    sharpness = log_uniform(rng, 0.4, 2) * np.exp(rng.uniform(0, 0.5) * rng.standard_normal((n_members, 1, 1)))
    probabilities = softmax(scores * sharpness)
    if chance(rng, 0.3):
        probabilities = silence(probabilities, rng, rng.uniform(0.02, 0.4), 0)
    return Draft(truth, n_classes, probabilities=probabilities)


def _looks(truths: np.ndarray, n_classes: int, strength: np.ndarray, *, is_ordered: bool) -> np.ndarray:
    """(events, classes): how far what can be seen of each event speaks for its truth, and for classes near it."""
    places = np.arange(n_classes)
    distance = np.abs(places - truths[:, None])
    return strength[:, None] * (0.8**distance if is_ordered else distance == 0)


def _smooth(noise: np.ndarray, *, is_ordered: bool) -> np.ndarray:
    """The noise, alike in neighboring classes where these have an order."""
    if not is_ordered:
        return noise
    places = np.arange(noise.shape[-1])
    kernel = 0.7 ** np.abs(places[:, None] - places)
    return noise @ (kernel / np.sqrt((kernel**2).sum(axis=0)))
