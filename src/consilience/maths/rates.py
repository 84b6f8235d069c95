"""Counts of answers as rates, and rates as logarithms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from consilience.system.arrays import FloatArray

SMALLEST = np.finfo(np.float64).tiny
"""Replaces a rate of zero under the logarithm: the class is then ruled out unless all classes are."""


def pseudo_answers(n_classes: int, smoothing: float) -> FloatArray:
    """The answers (true, predicted) that smoothing adds: `smoothing` to each cell, twice that on the diagonal.

    Because of the diagonal, two classes that nobody has named yet are still told apart.
    """
    return smoothing * (1 + np.eye(n_classes))


def smoothed_rates(counts: FloatArray, smoothing: float) -> FloatArray:
    """Rows of counts and pseudo-answers as rates; a row without either is uniform."""
    table = counts + pseudo_answers(counts.shape[-1], smoothing)
    totals = table.sum(axis=-1, keepdims=True)
    is_empty = totals[..., 0] <= 0
    if is_empty.any():
        table[is_empty], totals[is_empty] = 1.0, counts.shape[-1]
    table /= totals
    return table


def log_rates(rates: FloatArray) -> FloatArray:
    """Logarithms that stay finite where a rate is zero."""
    logs = np.maximum(rates, SMALLEST)
    return np.log(logs, out=logs)
