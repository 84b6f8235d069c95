"""Counts of answers as rates, and rates as logarithms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from consilience.system.arrays import FloatArray

SMALLEST = np.finfo(np.float64).tiny
"""Replaces a rate of zero under the logarithm: the class is then ruled out unless all classes are."""


def leaning(n_classes: int, *, ordered: bool) -> FloatArray:
    """How far a wrong answer leans to each class (true, predicted): 1 in the mean of a row, and on the diagonal.

    Wrong answers are spread evenly; of ordered classes one half of them is, and the other half falls by half with each
    step away from the truth.

    >>> leaning(4, ordered=True)[0].round(2).tolist()
    [1.0, 1.36, 0.93, 0.71]
    """
    table = np.ones((n_classes, n_classes))
    if not ordered:
        return table
    places, is_wrong = np.arange(n_classes), ~np.eye(n_classes, dtype=bool)
    near = np.where(is_wrong, 0.5 ** np.abs(places[:, None] - places), 0.0)
    near *= (n_classes - 1) / near.sum(axis=1, keepdims=True)
    return np.where(is_wrong, (1 + near) / 2, table)


def pseudo_answers(n_classes: int, smoothing: float, *, ordered: bool = False) -> FloatArray:
    """The answers (true, predicted) that smoothing adds: `smoothing` to each cell, twice that on the diagonal.

    Because of the diagonal, two classes that nobody has named yet are still told apart. Of ordered classes, the
    neighbours of the true one get more of it than those far away.
    """
    return smoothing * (leaning(n_classes, ordered=ordered) + np.eye(n_classes))


def smoothed_rates(counts: FloatArray, smoothing: float, *, ordered: bool = False) -> FloatArray:
    """Rows of counts and pseudo-answers as rates; a row without either is uniform."""
    table = counts + pseudo_answers(counts.shape[-1], smoothing, ordered=ordered)
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
