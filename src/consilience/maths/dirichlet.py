"""Dirichlet distributions, many at a time: one for each row of an array of concentrations."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy import special
from scipy.special import gammaln, zeta

from consilience.system.arrays import FloatArray, IntArray

SMALL = 1 / 16  # up to here the polynomial is used
DEGREE = 8  # the least degree with the accuracy of SciPy's functions, 2e-16 of the result
LEAST_NUMBERS = 2**12  # in a smaller array the many calls of NumPy take longer than SciPy's one
MOST_BEYOND = 0.1  # if more than this share of the numbers is not small, all are left to SciPy


def digamma(values: FloatArray) -> FloatArray:
    """ψ of positive numbers."""
    return _fast(special.digamma, np.reciprocal, values)


def log_gamma(values: FloatArray) -> FloatArray:
    """Log Γ of positive numbers."""
    return _fast(special.gammaln, np.log, values)


def _fast(function: Callable[..., FloatArray], pole: Callable[..., FloatArray], values: FloatArray) -> FloatArray:
    """function(x), which is function(1 + x) - pole(x)."""
    is_beyond = values > SMALL
    if values.size < LEAST_NUMBERS or np.count_nonzero(is_beyond) > MOST_BEYOND * values.size:
        return np.asarray(function(values))
    highest, *others = _coefficients(function)
    result = np.full_like(values, highest)
    for coefficient in others:
        result *= values
        result += coefficient
    result -= pole(values)
    result[is_beyond] = function(values[is_beyond])
    return result


@cache
def _coefficients(function: Callable[..., FloatArray]) -> tuple[float, ...]:
    """The polynomial that equals function(1 + x) at the Chebyshev points of [0, SMALL], highest power first."""
    from numpy.polynomial import Chebyshev, Polynomial  # noqa: PLC0415 - needed for large tables alone

    series = Chebyshev.interpolate(lambda x: function(1 + x), DEGREE, domain=[0, SMALL])
    return tuple(map(float, reversed(series.convert(kind=Polynomial).coef)))


BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730)
"""B_2, B_4, …: for arguments from 10 on, the rest of the series is smaller than rounding."""

FROM = 10.0
LARGE_SUM = 1e4  # up to this sum plain subtraction is right to 1e-11, and three times as fast
FEW_DIGITS_LOST = 0.01  # if the rest of a sum is at least this fraction of it, subtraction finds it accurately enough

HALF_LOG_TAU = 0.5 * np.log(2 * np.pi)


def large_log_normalizer(rows: FloatArray) -> FloatArray:
    """Log B (rows,) of rows of concentrations whose sum is large.

    The parts of log Γ(π_l) and log Γ(Σ) that grow like x log x are put together as π_l log(π_l / Σ), those that grow
    like x cancel exactly. Concentrations below 10 have no series, and no large part either.
    """
    total = rows.sum(axis=-1, keepdims=True)
    is_large = rows >= FROM
    large = np.where(is_large, rows, FROM)
    log_shares = np.log(large / total)
    largest, rest = split_largest(rows)
    np.put_along_axis(log_shares, largest, np.log1p(-rest / total), axis=-1)
    of_large = rows * log_shares - 0.5 * np.log(large) + HALF_LOG_TAU + correction(large)
    of_small = gammaln(np.where(is_large, 1.0, rows)) + rows * (1 - np.log(total))  # with `where=`, SciPy 1.17 crashes
    parts = np.where(is_large, of_large, of_small).sum(axis=-1)
    total = total[..., 0]
    return np.asarray(parts + 0.5 * np.log(total) - HALF_LOG_TAU - correction(total))


def digamma_gap(start: FloatArray, step: FloatArray) -> FloatArray:
    """ψ(start + step) - ψ(start) for positive numbers: a sum of positive terms, so exact to rounding."""
    gap = np.zeros(np.broadcast_shapes(start.shape, step.shape))
    for shift in range(int(FROM)):
        gap += step / (start + shift) / (start + shift + step)
    base = start + FROM
    log_ratio = np.log1p(step / base)
    gap += log_ratio - np.expm1(-log_ratio) / (2 * base)
    for n, number in enumerate(BERNOULLI, start=1):
        gap -= number / (2 * n) * base ** (-2 * n) * np.expm1(-2 * n * log_ratio)
    return gap


def correction(values: FloatArray) -> FloatArray:
    """The sum of Stirling's series Σ_n B_2n / (2n (2n - 1) x^(2n - 1)), for values from 10 on."""
    inverse = 1 / values
    square = inverse * inverse
    total: Any = np.zeros_like(values)
    for n, number in reversed(list(enumerate(BERNOULLI, start=1))):
        total = total * square + number / (2 * n * (2 * n - 1))
    return np.asarray(total * inverse)


def split_largest(rows: FloatArray) -> tuple[IntArray, FloatArray]:
    """The position of the largest of each row (…, 1) and the sum of the others (…, 1), exact even where it is small."""
    largest = np.argmax(rows, axis=-1, keepdims=True)
    total = rows.sum(axis=-1, keepdims=True)
    rest = total - np.take_along_axis(rows, largest, axis=-1)
    is_little = (rest < FEW_DIGITS_LOST * total)[..., 0]
    if is_little.any():
        others = rows[is_little]
        np.put_along_axis(others, largest[is_little], 0.0, axis=-1)
        rest[is_little] = others.sum(axis=-1, keepdims=True)
    return largest, rest


LARGEST = 1e6  # the largest concentration that is fitted: for a single row, or identical rows, the best one is infinite
DIGITS_LOST = 0.005  # a difference smaller than this fraction of the numbers subtracted has lost more than two digits

STEP_ROUNDING = 4e-15
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
            is_worse = ~(trial_value >= value - STEP_ROUNDING * np.abs(value))  # and where it is NaN
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
    sum_of_ratios = (gradient / diagonal).sum(axis=-1, keepdims=True)
    shared = sum_of_ratios / (1 / constant + (1 / diagonal).sum(axis=-1, keepdims=True))
    return np.asarray(-(gradient - shared) / diagonal)


def _trigamma(values: FloatArray) -> FloatArray:
    return np.asarray(zeta(2, values))  # many times faster than polygamma(1, values), and the same function
