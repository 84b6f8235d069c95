"""Accuracies measured on labelled items, with the help of all others: prediction-powered inference.

The labelled items alone give an unbiased share of right answers. What `Consensus` believes of each answer is known for
all items, so its mean over all, less its mean over the labelled ones, tells whether the labelled items were easier than
the rest. Adding that, times a factor chosen by how well belief follows the truth, narrows the interval; a belief that
follows nothing gets the factor 0, and the interval is that of the labels alone (Angelopoulos, Duchi, Zrnic 2023).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

from consilience.metrics.wilson import wilson

if TYPE_CHECKING:
    from consilience.system.arrays import FloatArray

LEAST_LABELS = 10
"""With fewer labelled votes nothing is measured."""

COVERAGE = 0.9


def measured(is_right: FloatArray, believed: FloatArray, believed_of_all: FloatArray) -> tuple[float, float, float]:
    """The accuracy and the ends of its interval.

    `is_right` and `believed` are of the labelled votes, which must be a random sample; `believed_of_all` of all votes.
    Where every vote is labelled, the accuracy is known, and the interval is of other items of the same kind.
    """
    n, n_all = len(is_right), len(believed_of_all)
    if n == n_all:
        value = float(is_right.mean())
        return value, *wilson(value, n, COVERAGE)
    factor = _factor(is_right, believed)
    value = float(np.clip(is_right.mean() + factor * (believed_of_all.mean() - believed.mean()), 0, 1))
    rest = is_right - factor * believed
    # Half a right and half a wrong answer more: where all labels are right, the plain variance would be zero.
    more = 0.5 * ((1 - is_right.mean()) ** 2 + is_right.mean() ** 2)
    variance = (np.sum((rest - rest.mean()) ** 2) + more) / (n * (n + 1))
    variance *= 1 - n / n_all  # it is the accuracy on these items that is asked for, and of some it is known
    reach = float(stdtrit(n - 1, (1 + COVERAGE) / 2) * np.sqrt(variance))
    return value, max(0.0, value - reach), min(1.0, value + reach)


def _factor(is_right: FloatArray, believed: FloatArray) -> float:
    """How far belief is used, from 0 to 1: by the regression of being right on it."""
    spread = believed.var()
    if spread < 1e-12:
        return 0.0
    slope = np.mean((is_right - is_right.mean()) * (believed - believed.mean())) / spread
    return float(np.clip(slope, 0, 1))
