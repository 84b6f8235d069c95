"""Differences of gamma functions of large numbers against fifty digits."""

import mpmath as mp
import numpy as np
import pytest

from consilience.maths.dirichlet import correction, digamma_gap, large_log_normalizer, split_largest

LEVELS = 10.0 ** np.arange(-12, 13)
EXACT = 2e-13
"""Relative error: some hundred roundings of 1e-16, and series cut below them."""


@pytest.fixture(autouse=True)
def _fifty_digits():
    with mp.workdps(50):
        yield


def exact(values):
    return [mp.mpf(float(value)) for value in np.ravel(values)]


def relative_error(ours, truth):
    return max(float(abs((found - true) / true)) for found, true in zip(exact(ours), truth, strict=True))


@pytest.mark.parametrize("step", LEVELS[::3])
def test_the_difference_of_digammas(step):
    ours = digamma_gap(LEVELS, np.full_like(LEVELS, step))
    truth = [mp.digamma(start + mp.mpf(step)) - mp.digamma(start) for start in exact(LEVELS)]
    assert relative_error(ours, truth) < EXACT


@pytest.mark.parametrize("size", [1e4, 1e6, 1e9, 1e12])
@pytest.mark.parametrize(
    "shares",
    [[0.5, 0.5], [1 - 1e-9, 1e-9], [0.2, 0.3, 0.5], [1e-15, 1 - 1e-12, 1e-12]],
    ids=["even", "one and little", "three", "one and two little"],
)
def test_log_normalizers_of_large_sums(size, shares):
    """They are of the size of the concentrations times the entropy of their shares, and right to that."""
    row = size * np.array(shares)
    terms = exact(row)
    truth = mp.fsum(mp.loggamma(term) for term in terms) - mp.loggamma(mp.fsum(terms))
    assert relative_error(large_log_normalizer(row[None]), [truth]) < EXACT


def test_the_rest_of_the_series():
    """From 10 on; it is what log Γ has beyond (x - 1/2) log x - x + log √(2π)."""
    values = np.array([10.0, 12.5, 100.0, 1e4])
    truth = [mp.loggamma(x) - (x - mp.mpf(1) / 2) * mp.log(x) + x - mp.log(2 * mp.pi) / 2 for x in exact(values)]
    assert relative_error(correction(values), truth) < 1e-12


def test_the_rest_beside_the_largest_is_added_up_where_it_is_little():
    rows = np.array([[1e-9, 1e12, 2e-9], [3.0, 1.0, 2.0], [4.0, 4.0, 1.0]])
    before = rows.copy()
    largest, rest = split_largest(rows)
    assert largest.tolist() == [[1], [0], [0]]  # of a tie the first
    np.testing.assert_allclose(rest, [[3e-9], [3.0], [5.0]], rtol=1e-15)
    assert rows[0].sum() - rows[0, 1] == 0  # by subtraction nothing would be left
    np.testing.assert_array_equal(rows, before)
