"""Variational Bayes against the bound written out term by term."""

import numpy as np
import pytest

import consilience as cs

import reference


def test_bcc_history_is_the_true_bound(labels):
    bcc = cs.BayesianClassifierCombination(max_iter=5, tol=None).fit(cs.Predictions.from_labels(labels, 3))
    expected = reference.elbo(
        labels, bcc.posterior_, bcc.parameters_.confusion, bcc.parameters_.classes, 1 + np.eye(3), np.ones(3)
    )
    assert bcc.history_[-1] == pytest.approx(expected, rel=1e-10)
