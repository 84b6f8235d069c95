"""Dirichlet functions against SciPy's, against sampling, and against fifty digits."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import digamma, gammaln

from consilience.maths import dirichlet
from consilience.maths.dirichlet import kullback_leibler, log_normalizer, maximum_likelihood, mean_log


def test_density_is_scipys(rng):
    concentration = rng.gamma(1.0, size=4) + 0.1
    row = rng.dirichlet(np.ones(4))
    ours = ((concentration - 1) * np.log(row)).sum() - log_normalizer(concentration)
    assert ours == pytest.approx(stats.dirichlet.logpdf(row, concentration), rel=1e-12)


def test_mean_log_is_the_derivative_of_the_normalizer(rng):
    concentration, step = rng.gamma(2.0, size=5) + 0.2, 1e-6
    for place in range(5):
        shift = step * np.eye(5)[place]
        slope = (log_normalizer(concentration + shift) - log_normalizer(concentration - shift)) / (2 * step)
        assert mean_log(concentration)[place] == pytest.approx(slope, rel=1e-6)


def test_kullback_leibler_by_sampling(rng):
    p, q = np.array([2.0, 3.0, 1.5]), np.array([1.0, 1.0, 4.0])
    draws = rng.dirichlet(p, size=200_000)
    logs = np.log(draws)
    gaps = logs @ (p - q) - log_normalizer(p) + log_normalizer(q)
    error = gaps.std() / np.sqrt(len(gaps))
    assert abs(gaps.mean() - kullback_leibler(p, q)) < 5 * error
    assert kullback_leibler(p, p) == pytest.approx(0, abs=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(2, 8))
def test_maximum_likelihood_inverts_mean_log(seed, n_classes):
    """The estimate is the concentration whose mean logarithms are the ones given, from any start."""
    rng = np.random.default_rng(seed)
    truth = 10 ** rng.uniform(-2, 2, size=(5, n_classes))
    start = 10 ** rng.uniform(-3, 3, size=truth.shape)
    estimate = maximum_likelihood(mean_log(truth), start)
    np.testing.assert_allclose(estimate, truth, rtol=1e-3)


def test_maximum_likelihood_of_identical_rows_is_finite():
    row = np.log([[0.7, 0.2, 0.1]])
    estimate = maximum_likelihood(row, np.ones((1, 3)))
    assert np.isfinite(estimate).all()
    np.testing.assert_allclose(estimate / estimate.sum(), np.exp(row), atol=1e-3)


def test_maximum_likelihood_stays_where_no_step_can_be_computed():
    """So far apart, the differences of its digammas are 0, and Newton's step 0 / 0."""
    concentration = np.array([[1e6, 1e-12]])
    with np.errstate(all="ignore"):
        estimate = maximum_likelihood(mean_log(concentration), concentration, floor=1e-12)
    np.testing.assert_array_equal(estimate, concentration)


def test_the_mean_logarithm_is_the_plain_difference_where_that_loses_no_digits():
    """Correcting every row would cost more than all the rest of a fit."""
    plain = np.array([[0.5, 0.2, 3.0], [100.0, 40.0, 9.0], [1e6, 1e6, 1e6]])
    np.testing.assert_array_equal(mean_log(plain), digamma(plain) - digamma(plain.sum(axis=-1, keepdims=True)))
    mixed = np.vstack([plain, [[1e12, 1.0, 1e-3]]])
    np.testing.assert_array_equal(mean_log(mixed)[:3], mean_log(plain))
    assert mean_log(mixed)[3, 0] == pytest.approx(-1.001e-12, rel=1e-9)


def test_the_correction_is_left_out_where_it_is_not_needed(monkeypatch):
    monkeypatch.setattr(dirichlet, "digamma_gap", lambda *_: pytest.fail("it was corrected"))
    assert (mean_log(np.array([[5.0, 2.0, 3.0], [0.1, 90.0, 40.0]])) < 0).all()


# ---- fifty digits -----------------------------------------------------------------------------------------

EXACT = 2e-13
"""Relative error of a function of one row: some hundred roundings of 1e-16, and series cut below them."""

NORMALIZER = 1e-11
"""That of log B, which is subtracted plainly up to a sum of 1e4, where log Γ is 8e4 and rounds to 1e-11."""


@pytest.fixture(autouse=True)
def _fifty_digits():
    with mp.workdps(50):
        yield


LEVELS = 10.0 ** np.arange(-12, 13)
RNG = np.random.default_rng(0)
ROWS = {
    "equal": [np.full(3, level) for level in LEVELS],
    "one and another": [np.array([level, other]) for level in LEVELS[::2] for other in (1.0, 1e-12, 1e12, 9.99, 1e4)],
    "of all sizes": [10 ** RNG.uniform(-12, 12, size=size) for size in (2, 3, 10, 50) for _ in range(10)],
    "of many": [np.full(5000, level) for level in (1e-12, 1e-3, 1.0, 1e6)],
}
EVERY_ROW = [pytest.param(row, id=f"{kind} {place}") for kind, rows in ROWS.items() for place, row in enumerate(rows)]


def exact(values):
    return [mp.mpf(float(value)) for value in np.ravel(values)]


def relative_error(ours, truth):
    return max(float(abs((found - true) / true)) for found, true in zip(exact(ours), truth, strict=True))


def exact_log_normalizer(row):
    terms = exact(row)
    return mp.fsum(mp.loggamma(term) for term in terms) - mp.loggamma(mp.fsum(terms))


def exact_mean_log(row):
    terms = exact(row)
    of_total = mp.digamma(mp.fsum(terms))
    known = {term: mp.digamma(term) - of_total for term in set(terms)}
    return [known[term] for term in terms]


@pytest.mark.parametrize("row", EVERY_ROW)
def test_log_normalizer(row):
    truth = exact_log_normalizer(row)
    error = abs(mp.mpf(float(dirichlet.log_normalizer(row))) - truth)
    assert float(error) < NORMALIZER * max(1.0, abs(float(truth)))  # of two ones it is 0


@pytest.mark.parametrize("row", EVERY_ROW)
def test_mean_log(row):
    assert relative_error(dirichlet.mean_log(row), exact_mean_log(row)) < EXACT


def test_trigamma():
    assert relative_error(dirichlet._trigamma(LEVELS), [mp.zeta(2, value) for value in exact(LEVELS)]) < EXACT


@pytest.mark.parametrize("prior", [np.ones(4), np.array([1e-12, 1e-3, 1.0, 1e6])], ids=["even", "uneven"])
@pytest.mark.parametrize("level", LEVELS[::2])
def test_kullback_leibler(level, prior):
    """Large terms cancel in it by nature; so the error is compared with them."""
    row = level * np.array([0.5, 1.0, 2.0, 4.0])
    weights = [term - before for term, before in zip(exact(row), exact(prior), strict=True)]
    parts = [weight * mean for weight, mean in zip(weights, exact_mean_log(row), strict=True)]
    parts += [-exact_log_normalizer(row), exact_log_normalizer(prior)]
    error = abs(mp.mpf(float(dirichlet.kullback_leibler(row, prior))) - mp.fsum(parts))
    assert float(error) <= NORMALIZER * float(mp.fsum(abs(part) for part in parts))


def test_many_rows_at_once_are_each_what_it_is_alone(rng):
    rows = 10 ** rng.uniform(-12, 12, size=(4, 30, 6))
    for function in (dirichlet.log_normalizer, dirichlet.mean_log):
        together = function(rows)
        alone = np.array([[function(row) for row in table] for table in rows])
        np.testing.assert_allclose(together, alone, rtol=1e-14)


@pytest.mark.parametrize("n_classes", [2, 5000])
@pytest.mark.parametrize("level", [1e-3, 1.0, 1e3])
def test_log_likelihood(n_classes, level, rng):
    """The log-density of a row: Σ (π - 1) log x - log B(π)."""
    row, concentration = rng.dirichlet(np.ones(n_classes)), level * rng.gamma(2.0, size=n_classes)
    ours = dirichlet._mean_log_likelihood(concentration[None], np.log(row)[None])
    terms = [(a - 1) * mp.log(x) for a, x in zip(exact(concentration), exact(row), strict=True)]
    truth = mp.fsum(terms) - exact_log_normalizer(concentration)
    size = float(mp.fsum(abs(term) for term in terms)) + abs(float(exact_log_normalizer(concentration)))
    assert abs(float(ours[0] - truth)) < EXACT * size


@pytest.mark.parametrize("n_classes", [2, 5, 100])
def test_maximum_likelihood_is_the_inverse(n_classes, rng):
    """From any start; concentrations from 1e-6 to 1e5, whose mean logarithms are given to sixteen digits."""
    truth = 10 ** rng.uniform(-6, 5, size=(60, n_classes))
    given = np.array([[float(value) for value in exact_mean_log(row)] for row in truth])
    estimate = dirichlet.maximum_likelihood(given, np.ones_like(truth))
    np.testing.assert_allclose(dirichlet.mean_log(estimate), given, rtol=1e-5, atol=1e-10)


def test_the_plain_formulas_would_fail():
    """What the tests above are for: SciPy's functions are right, and their differences are not."""
    row = np.array([1.0, 1e12])
    plain = gammaln(row).sum() - gammaln(row.sum())
    assert relative_error(plain, [exact_log_normalizer(row)]) > 1e-6
    assert relative_error(digamma(row) - digamma(row.sum()), exact_mean_log(row)) > 1e-4
