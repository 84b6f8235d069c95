"""Differences of gamma functions of large numbers. Their large terms cancel; Stirling's series leaves them out.

log Γ(x) = (x - 1/2) log x - x + log √(2π) + Σ_n B_2n / (2n (2n - 1) x^(2n - 1)), and ψ is its derivative.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import gammaln

if TYPE_CHECKING:
    from consilience.system.arrays import FloatArray, IntArray

BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730)
"""B_2, B_4, …: for arguments from 10 on, the rest of the series is smaller than rounding."""

FROM = 10.0
LARGE_SUM = 1e4
"""Up to this sum plain subtraction is right to 1e-11, and three times as fast."""

FEW_DIGITS_LOST = 0.01
"""If the rest of a sum is at least this fraction of it, subtraction finds it accurately enough."""

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
