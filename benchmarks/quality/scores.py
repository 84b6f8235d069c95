"""Scores of a posterior, and what one method's scores are against another's."""

from __future__ import annotations

import numpy as np

from consilience.metrics import ood
from consilience.metrics.posteriors import read_posterior_and_labels
from consilience.metrics.scores import ItemScores

METRICS = ("accuracy", "nll", "brier", "ece debiased", "auroc")
"""NLL has a floor of 1e-12; ECE is of the top label in 15 equal bins, debiased; AUROC is that of the confidence for
the answers that are right."""

ADDED = {"nll": 0.02, "brier": 0.01}
"""NLL and Brier scores of panels differ by orders of magnitude, so they are compared by ratio; this is added to both,
because between next to nothing and even less no ratio means anything. The others are compared in points."""

MARGINS = {"accuracy": 0.2, "nll": np.log(1.02), "brier": np.log(1.02), "ece debiased": 0.5, "auroc": 0.5}
"""Less is a tie: .2 points of accuracy, a factor of 1.02, half a point of calibration error or AUROC."""


def scores(posterior: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """All metrics on the items whose truth is known; AUROC is NaN where all answers are right, or all wrong."""
    is_known = truth >= 0
    items = ItemScores.of(*read_posterior_and_labels(posterior[is_known], truth[is_known]))
    found = items.means()
    is_right = items.values[:, 0] > 0
    has_both = is_right.any() and not is_right.all()
    doubt = 1 - items.confidence
    found["auroc"] = ood.auroc(doubt[is_right], doubt[~is_right]) if has_both else np.nan
    return {name: float(found[name]) for name in METRICS}


def change(those: float, yardstick: float, metric: str) -> float:
    """What a score is against the yardstick's: the logarithm of their ratio, or points more."""
    if metric in ADDED:
        return float(np.log((those + ADDED[metric]) / (yardstick + ADDED[metric])))
    return 100 * (those - yardstick)


def readable(value: float, metric: str) -> float:
    """A change as a factor, or in points."""
    return float(np.exp(value)) if metric in ADDED else value


def gain(value: float, metric: str) -> float:
    """A change such that more is better, in units of the margin: above 1 is a win, below -1 a loss."""
    return (value if metric in {"accuracy", "auroc"} else -value) / MARGINS[metric]
