"""log Γ and its derivative ψ, faster than SciPy's and as accurate where most numbers are small.

log Γ(x) = log Γ(1 + x) - log x and ψ(x) = ψ(1 + x) - 1/x. Both functions of 1 + x are so smooth that a short polynomial
is exact up to rounding. With many classes nearly all concentrations are small, and an M step spends its time here.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from collections.abc import Callable

    from consilience.system.arrays import FloatArray

SMALL = 1 / 16
"""Up to here the polynomial is used."""

DEGREE = 8
"""The least degree with the accuracy of SciPy's functions, 2e-16 of the result."""

LEAST_NUMBERS = 2**12
"""In a smaller array the many calls of NumPy take longer than SciPy's one."""

MOST_BEYOND = 0.1
"""If more than this share of the numbers is not small, all are left to SciPy."""


def digamma(values: FloatArray) -> FloatArray:
    """ψ of positive numbers."""
    return _fast(special.digamma, np.reciprocal, values)


def log_gamma(values: FloatArray) -> FloatArray:
    """Log Γ of positive numbers."""
    return _fast(special.gammaln, np.log, values)


def _fast(function: Callable[..., FloatArray], pole: Callable[..., FloatArray], values: FloatArray) -> FloatArray:
    """function(x), which is function(1 + x) - pole(x)."""
    if values.size < LEAST_NUMBERS:
        return np.asarray(function(values))
    is_beyond = values > SMALL
    if np.count_nonzero(is_beyond) > MOST_BEYOND * values.size:
        return np.asarray(function(values))
    highest, *others, constant = _coefficients(function)
    result = highest * values
    for coefficient in others:
        result += coefficient
        result *= values
    result += constant
    result -= pole(values)
    result[is_beyond] = function(values[is_beyond])
    return result


@cache
def _coefficients(function: Callable[..., FloatArray]) -> tuple[float, ...]:
    """The polynomial that equals function(1 + x) at the Chebyshev points of [0, SMALL], highest power first."""
    from numpy.polynomial import Chebyshev, Polynomial  # noqa: PLC0415 - needed for large tables alone

    series = Chebyshev.interpolate(lambda x: function(1 + x), DEGREE, domain=[0, SMALL])
    return tuple(map(float, reversed(series.convert(kind=Polynomial).coef)))
