"""Dirichlet functions against fifty digits, long sums against exact ones, the same answer on any number of threads."""

import math

import numpy as np
import pytest
from scipy.special import digamma, gammaln
from threadpoolctl import threadpool_limits

import consilience as cs
from consilience.aggregators import soft_dawid_skene
from consilience.data import predictions
from consilience.maths import dirichlet
from consilience.maths.stirling import digamma_gap
from consilience.passes import reader
from consilience.passes.reader import Reader

mp = pytest.importorskip("mpmath")
mp.mp.dps = 50

EXACT = 2e-13
"""Relative error of a function of one row: some hundred roundings of 1e-16, and series cut below them."""

NORMALIZER = 1e-11
"""That of log B, which is subtracted plainly up to a sum of 1e4, where log Γ is 8e4 and rounds to 1e-11."""

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


# ---- one row ----------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("step", LEVELS[::3])
def test_the_difference_of_digammas(step):
    ours = digamma_gap(LEVELS, np.full_like(LEVELS, step))
    truth = [mp.digamma(start + mp.mpf(step)) - mp.digamma(start) for start in exact(LEVELS)]
    assert relative_error(ours, truth) < EXACT


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


# ---- long sums --------------------------------------------------------------------------------------------

MILLION = 1_000_000


@pytest.fixture(scope="module")
def long():
    """A million items of two members and three classes."""
    return np.random.default_rng(0).dirichlet(np.full(3, 0.5), size=(2, MILLION))


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-13), (np.float32, 1e-6)])
def test_statistics_of_a_million_items(long, dtype, tolerance):
    """Sums over items against exactly rounded ones of the same numbers; single precision is that of a product."""
    given = long.astype(dtype)
    posterior = given.mean(axis=0, dtype=dtype)
    statistics = Reader(cs.Predictions(given)).statistics(posterior)
    for k in range(3):
        assert statistics.class_counts[k] == pytest.approx(math.fsum(posterior[:, k].tolist()), rel=tolerance)
        for j in range(3):
            terms = posterior[:, k].astype(np.float64) * given[1, :, j]
            assert statistics.sums[1, k, j] == pytest.approx(math.fsum(terms.tolist()), rel=tolerance)
    assert statistics.n_items == MILLION


def test_evidence_of_a_million_items(long):
    """Dawid-Skene's objective against its definition, item by item, exactly added up."""
    fitted = cs.DawidSkene(max_iter=2, tol=None, smoothing=0.0).fit(long)
    votes = long.argmax(axis=2)
    joint = fitted.class_prior_ * fitted.confusion_[0][:, votes[0]].T * fitted.confusion_[1][:, votes[1]].T
    assert fitted.history_[-1] == pytest.approx(math.fsum(np.log(joint.sum(axis=1)).tolist()), rel=1e-12)


def test_metrics_of_a_million_items(long):
    labels = np.random.default_rng(1).integers(3, size=MILLION)
    costs = -np.log(np.maximum(long[0][np.arange(MILLION), labels], 1e-12))
    assert cs.metrics.nll(long[0], labels) == pytest.approx(math.fsum(costs.tolist()) / MILLION, rel=1e-13)


REPEATED = np.broadcast_to(np.array([0.1, 0.2, 0.7]), (2, MILLION, 3))
FORMS = {
    "all answers": lambda dtype: cs.Predictions(REPEATED.astype(dtype)),
    "a list of answers": lambda dtype: cs.Predictions.from_answers(
        np.append(np.arange(MILLION), 0),
        np.zeros(MILLION + 1, int),
        probabilities=REPEATED[0, [0]].repeat(MILLION + 1, 0).astype(dtype),
    ),
    "labels": lambda dtype: cs.Predictions(REPEATED.astype(dtype)).harden(),
}


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 2e-11), (np.float32, 1e-5)])
@pytest.mark.parametrize("make", FORMS.values(), ids=FORMS)
def test_an_item_repeated_a_million_times_does_not_drift(make, dtype, tolerance):
    """The same rounding over and over does not cancel: plain sums drift by 1e-11, in single precision by 1e-3."""
    given = make(dtype)
    posterior = REPEATED[0].astype(dtype)
    statistics = Reader(given).statistics(posterior)
    one, n_answers = posterior[0].astype(np.float64), MILLION + (given.soft != () and given.soft[0].items is not None)
    np.testing.assert_allclose(statistics.class_counts / MILLION, one, rtol=1e-12)
    np.testing.assert_allclose(statistics.answer_counts[0] / n_answers, one, rtol=tolerance)
    np.testing.assert_allclose(statistics.sums[0].sum(axis=1) / n_answers, one, rtol=tolerance)


# ---- the same answer --------------------------------------------------------------------------------------

METHODS = [
    cs.Average(),
    cs.MajorityVote(),
    cs.DawidSkene(max_iter=10, tol=None),
    cs.BayesianClassifierCombination(max_iter=10, tol=None),
    cs.SoftDawidSkene(max_iter=10),
    cs.Consensus(max_iter=10, tol=None),
]


def fitted_on(method, array, n_threads, monkeypatch):
    for module in (predictions, reader, soft_dawid_skene):
        monkeypatch.setattr(module, "n_threads", lambda: n_threads)
    with threadpool_limits(n_threads):
        fitted = type(method)(**method.get_params()).fit(array)
        return [np.asarray(value) for value in (fitted.posterior_, fitted.confusion_, fitted.class_prior_)]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
def test_runs_and_threads_agree(method, monkeypatch):
    array = np.random.default_rng(0).dirichlet(np.full(10, 0.3), size=(5, 60_000))
    first = fitted_on(method, array, 1, monkeypatch)
    for ours, again in zip(first, fitted_on(method, array, 1, monkeypatch), strict=True):
        np.testing.assert_array_equal(ours, again)
    for n_threads in (2, 3):
        for ours, others in zip(first, fitted_on(method, array, n_threads, monkeypatch), strict=True):
            np.testing.assert_allclose(ours, others, rtol=0, atol=1e-10)
