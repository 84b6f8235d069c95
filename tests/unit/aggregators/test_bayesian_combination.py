"""Variational Bayes against the bound written out term by term."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import digamma

import consilience as cs
from consilience.aggregators.bayesian_combination import Counts, VariationalModel

import reference
from assertions import assert_within_errors


def test_bcc_history_is_the_true_bound(labels):
    bcc = cs.BayesianClassifierCombination(max_iter=5, tol=None).fit(cs.Predictions.from_labels(labels, 3))
    expected = reference.elbo(
        labels, bcc.posterior_, bcc.parameters_.confusion, bcc.parameters_.classes, 1 + np.eye(3), np.ones(3)
    )
    assert bcc.history_[-1] == pytest.approx(expected, rel=1e-10)


@pytest.fixture
def model():
    return VariationalModel(np.full(3, 1.5), 1 + np.eye(3), None)


def counts_of(rng, model):
    """Counts of which some cells nobody moved from the prior."""
    added = rng.gamma(1.0, size=(2, 3, 3)) * (rng.random((2, 3, 3)) < 0.7)
    return Counts(model.prior_classes + rng.gamma(1.0, size=3), model.prior_confusion + added)


def test_scores_are_mean_logarithms(rng, model):
    """E ln κ and E ln π of Dirichlet distributions, against digamma functions of every cell."""
    counts = counts_of(rng, model)
    scores = model.scores(counts)
    log_pi = digamma(counts.confusion) - digamma(counts.confusion.sum(axis=2, keepdims=True))
    np.testing.assert_allclose(scores.weights + scores.bias[:, :, None], log_pi, rtol=1e-10)
    np.testing.assert_allclose(scores.log_prior, digamma(counts.classes) - digamma(counts.classes.sum()), rtol=1e-10)


def test_the_prior_is_a_divergence(rng, model):
    """-Σ KL(Dirichlet || Dirichlet), row by row: by drawing, log q - log p is that much on average."""
    counts = counts_of(rng, model)
    divergence, error = 0.0, 0.0
    rows = [(counts.classes, model.prior_classes)]
    rows += [(counts.confusion[m, k], model.prior_confusion[k]) for m in range(2) for k in range(3)]
    for own, prior in rows:
        draws = rng.dirichlet(own, size=20_000)
        gaps = stats.dirichlet.logpdf(draws.T, own) - stats.dirichlet.logpdf(draws.T, prior)
        divergence += gaps.mean()
        error += gaps.var() / len(gaps)
    assert_within_errors(-model.log_prior(counts), divergence, np.sqrt(error))
    nothing = Counts(model.prior_classes, np.tile(model.prior_confusion, (2, 1, 1)))
    assert model.log_prior(nothing) == pytest.approx(0, abs=1e-12)


def test_one_step_by_hand():
    """From the shares of votes: expected counts, priors added, and the mean rates."""
    votes = np.array([[0, 1], [0, 0]])
    bcc = cs.BayesianClassifierCombination(max_iter=1, tol=None).fit(cs.Predictions.from_labels(votes))
    # Shares: item 0 (1, 0), item 1 (1/2, 1/2).
    np.testing.assert_allclose(bcc.parameters_.classes, [1 + 1.5, 1 + 0.5])
    np.testing.assert_allclose(bcc.parameters_.confusion, [[[3, 1.5], [1, 2.5]], [[3.5, 1], [1.5, 2]]])
    np.testing.assert_allclose(bcc.class_prior_, [2.5 / 4, 1.5 / 4])
    np.testing.assert_allclose(bcc.confusion_[0], [[3 / 4.5, 1.5 / 4.5], [1 / 3.5, 2.5 / 3.5]])


def test_a_fixed_class_prior_has_no_divergence(rng):
    fixed = VariationalModel(np.ones(2), 1 + np.eye(2), np.array([0.3, 0.7]))
    counts = Counts(np.array([5.0, 1.0]), np.tile(fixed.prior_confusion, (1, 1, 1)))
    assert fixed.log_prior(counts) == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(fixed.scores(counts).log_prior, np.log([0.3, 0.7]))
    np.testing.assert_array_equal(fixed.rates(counts)[0], [0.3, 0.7])
