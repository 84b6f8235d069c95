"""Counts of answers as rates, and rates as logarithms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from consilience.system.arrays import FloatArray

SMALLEST = np.finfo(np.float64).tiny
"""What a rate of zero counts as under the logarithm: it forbids a class unless all classes are forbidden."""


def pseudo_answers(n_classes: int, smoothing: float) -> FloatArray:
    """The answers (true, predicted) that smoothing adds: `smoothing` to each cell, twice that on the diagonal.

    The diagonal tells a class that nobody has shown yet from another such class.
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
