import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

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
