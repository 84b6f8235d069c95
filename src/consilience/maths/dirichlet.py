"""Dirichlet distributions, many at a time: one for each row of an array of concentrations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import zeta

from consilience.maths.small_gamma import digamma, log_gamma
from consilience.maths.stirling import LARGE_SUM, digamma_gap, large_log_normalizer, split_largest

if TYPE_CHECKING:
    from consilience.system.arrays import FloatArray

LARGEST = 1e6
"""The largest concentration that is fitted: for a single row, or identical rows, the best one is infinite."""

DIGITS_LOST = 0.005
"""A difference smaller than this fraction of the numbers subtracted has lost more than two digits."""

ROUNDING = 4e-15
"""A step may lower the likelihood by this fraction: close to its maximum such changes are rounding."""


def log_normalizer(concentration: FloatArray) -> FloatArray:
    """Log B(π) = Σ_l log Γ(π_l) - log Γ(Σ_l π_l), over the last axis."""
    rows = concentration.reshape(-1, concentration.shape[-1])
    is_large = rows.sum(axis=-1) > LARGE_SUM
    if is_large.all():
        result = large_log_normalizer(rows)
    else:
        result = log_gamma(rows).sum(axis=-1) - log_gamma(rows.sum(axis=-1))
        if is_large.any():
            result[is_large] = large_log_normalizer(rows[is_large])
    return np.asarray(result.reshape(concentration.shape[:-1]))


def mean_log(concentration: FloatArray) -> FloatArray:
    """E log c = ψ(π_l) - ψ(Σ_l π_l): the mean logarithms of Dirichlet rows."""
    of_total = digamma(concentration.sum(axis=-1, keepdims=True))
    result = digamma(concentration)
    result -= of_total
    # Where one concentration is nearly the whole sum, little but rounding is left: of 1e12 and 1 it should be -1e-12.
    # The largest concentration has the smallest difference, so only that one is checked.
    is_lost = -result.max(axis=-1) < DIGITS_LOST * (1 + np.abs(of_total[..., 0]))
    if is_lost.any():
        rows, corrected = concentration[is_lost], result[is_lost]
        largest, rest = split_largest(rows)
        value = np.take_along_axis(rows, largest, axis=-1)
        np.put_along_axis(corrected, largest, -digamma_gap(value, rest), axis=-1)
        result[is_lost] = corrected
    return result


def kullback_leibler(concentration: FloatArray, prior: FloatArray) -> FloatArray:
    """KL(Dirichlet(concentration) || Dirichlet(prior)), over the last axis."""
    difference = ((concentration - prior) * mean_log(concentration)).sum(axis=-1)
    return np.asarray(difference - log_normalizer(concentration) + log_normalizer(prior))


def maximum_likelihood(
    mean_log_rows: FloatArray, start: FloatArray, *, floor: float = 1e-10, max_iter: int = 200, tol: float = 1e-10
) -> FloatArray:
    """The concentrations (rows, classes) under which rows with these mean logarithms are most likely.

    Newton's method on all rows at once. The log-likelihood of a row is concave, its Hessian is a diagonal plus a
    constant (Minka 2000), so a step costs as much as a gradient; steps are halved until they stay positive
    and climb.
    """
    concentration = np.clip(start, floor, LARGEST)
    value = _mean_log_likelihood(concentration, mean_log_rows)
    for _ in range(max_iter):
        step = _newton_step(concentration, mean_log_rows)
        size = np.ones_like(value)
        for _ in range(40):
            trial = np.clip(concentration + size[:, None] * step, concentration / 10, LARGEST)
            trial_value = _mean_log_likelihood(trial, mean_log_rows)
            is_worse = ~(trial_value >= value - ROUNDING * np.abs(value))  # and where it is NaN
            if not is_worse.any():
                break
            size = np.where(is_worse, size / 2, size)
        better = ~is_worse
        moved = np.maximum(np.where(better[:, None], trial, concentration), floor)
        change = np.abs(moved / concentration - 1).max(initial=0.0)
        concentration, value = moved, np.where(better, trial_value, value)
        if change < tol:
            break
    return concentration


def _mean_log_likelihood(concentration: FloatArray, mean_log_rows: FloatArray) -> FloatArray:
    return np.asarray(((concentration - 1) * mean_log_rows).sum(axis=-1) - log_normalizer(concentration))


def _newton_step(concentration: FloatArray, mean_log_rows: FloatArray) -> FloatArray:
    """-H⁻¹ g by the Sherman-Morrison formula, with H = -diag(ψ'(π)) + ψ'(Σπ) 1 1ᵀ."""
    gradient = mean_log_rows - mean_log(concentration)
    diagonal = -_trigamma(concentration)
    constant = _trigamma(concentration.sum(axis=-1, keepdims=True))
    shared = (gradient / diagonal).sum(axis=-1, keepdims=True) / (
        1 / constant + (1 / diagonal).sum(axis=-1, keepdims=True)
    )
    return np.asarray(-(gradient - shared) / diagonal)


def _trigamma(values: FloatArray) -> FloatArray:
    return np.asarray(zeta(2, values))  # many times faster than polygamma(1, values), and the same function
