"""Long sums against exact ones, and the same answer on any number of threads."""

import math

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import consilience as cs
from consilience.aggregators import soft_dawid_skene
from consilience.data import predictions
from consilience.passes import reader
from consilience.passes.reader import Reader

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
    votes = long.argmax(axis=2)  # of a million rows some are so close to a tie that they are split
    fitted = cs.DawidSkene(max_iter=2, tol=None, smoothing=0.0).fit(cs.Predictions.from_labels(votes, 3))
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
    cs.Consensus(),
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
