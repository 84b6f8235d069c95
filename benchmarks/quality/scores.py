"""Scores of a posterior, and how two posteriors of the same items differ, with what chance may have done to it.

Chance is the choice of items: all methods are scored on the same resampled items, so that what is common to them
cancels. A score array is (1 + draws, metrics): on the items as they are, then on each draw.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from consilience.metrics.inputs import read_posterior_and_labels
from consilience.metrics.scores import METRICS, ItemScores

IS_RATIO = np.array([False, True, True, False, False])
"""NLL and Brier scores of sets differ by orders of magnitude, so they are compared by ratio; the rest in points."""

MARGINS = np.array([0.2, np.log(1.02), np.log(1.02), 0.5, 0.5])
"""Less is a tie: .2 points of accuracy, a factor of 1.02, half a point of calibration error."""


def item_weights(n_items: int, n_draws: int, seed: int = 0) -> np.ndarray:
    """(1 + draws, items): how often each item counts; once each, then as bootstraps draw them."""
    drawn = np.random.default_rng(seed).multinomial(n_items, np.full(n_items, 1 / n_items), size=n_draws)
    return np.concatenate([np.ones((1, n_items)), drawn])


def scores(posterior: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(1 + draws, metrics); NLL with a floor of 1e-12, ECE of the top label in 15 equal bins, plain and debiased."""
    items = ItemScores.of(*read_posterior_and_labels(posterior, labels))
    return np.array([list(items.means(draw).values()) for draw in weights])


def changes(those: np.ndarray, yardstick: np.ndarray) -> np.ndarray:
    """What one method's scores are against another's: log-ratios of NLL and Brier score, points of the others.

    Draws are centered on the change itself, because resampling alone makes a calibration error larger.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        change = np.where(IS_RATIO, np.log(those / yardstick), 100 * (those - yardstick))
    if len(change) > 1:
        change[1:] += change[0] - change[1:].mean(axis=0)
    return change


class Change(NamedTuple):
    """A change and its interval, in points or as a factor."""

    value: float
    low: float
    high: float


def interval(change: np.ndarray, metric: int, level: float = 0.95) -> Change:
    """A metric's change in readable units; of several sets: of the mean of their changes."""
    ends = (
        np.quantile(change[1:, metric], [(1 - level) / 2, (1 + level) / 2]) if len(change) > 1 else change[:1, metric]
    )
    values = (change[0, metric], ends[0], ends[-1])
    return Change(*(float(np.exp(value) if IS_RATIO[metric] else value) for value in values))


def gains(change: np.ndarray) -> np.ndarray:
    """The same changes such that more is better, in units of the margin: above 1 is a win, below -1 a loss."""
    return change * np.where(np.arange(len(METRICS)) == 0, 1, -1) / MARGINS
